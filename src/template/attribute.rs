//! An attribute of a token: not its name but what the name is put together of.

use std::cell::Cell;

use super::extract::Compiled;
use super::workspace::Workspace;
use crate::fingerprint::{self, Fingerprinter, append};

/// An attribute of a token. Its name is written only where it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a>(Parts<'a>);

#[derive(Clone, Copy, Debug)]
enum Parts<'a> {
    Name(&'a [u8], Fingerprinter),
    /// What a template line makes of one value for each of its slots, by number.
    Line(&'a Compiled, &'a [u32], &'a Workspace),
}

impl<'a> Attribute<'a> {
    /// The attribute `name`, with its fingerprint at `base`.
    #[must_use]
    pub(crate) fn named(name: &'a [u8], base: Fingerprinter) -> Self {
        Self(Parts::Name(name, base))
    }

    /// The attribute that a template line makes of one value for each of its slots.
    #[inline(always)]
    pub(super) fn of_line(line: &'a Compiled, values: &'a [u32], ws: &'a Workspace) -> Self {
        Self(Parts::Line(line, values, ws))
    }

    /// The key of its name: 64 bits that depend on the name alone.
    #[inline]
    #[must_use]
    pub(crate) fn key(&self) -> u64 {
        let print = match self.0 {
            Parts::Name(name, base) => base.fingerprint(name),
            Parts::Line(line, values, ws) => {
                let slots = line.slots.iter().zip(values);
                slots.fold(line.print, |print, (slot, &value)| {
                    let item = ws.item(value);
                    let piece = if line.escape && item.special {
                        ws.escaped(*item)
                    } else {
                        item.piece
                    };
                    let print = append(print, piece);
                    if slot.after.is_empty() {
                        print
                    } else {
                        append(print, slot.piece)
                    }
                })
            }
        };
        fingerprint::key(print)
    }

    /// A number that stays with the attribute as long as the workspace remembers it, 0 at first:
    /// room for what was found out about it. Only attributes that come again and again have one.
    #[inline]
    #[must_use]
    pub fn memo(&self) -> Option<&'a Cell<u64>> {
        match self.0 {
            Parts::Line(Compiled { memo, .. }, &[value], ws) => {
                memo.map(|line| ws.memo(*ws.item(value), line))
            }
            _ => None,
        }
    }

    /// Appends its name.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.pieces(&mut |piece| {
            out.extend_from_slice(piece);
            true
        });
    }

    /// Whether it has this name.
    #[must_use]
    pub fn has_name(&self, name: &[u8]) -> bool {
        let mut rest = name;
        let all = self.pieces(&mut |piece| match rest.strip_prefix(piece) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        });
        all && rest.is_empty()
    }

    /// Gives the pieces of the name to `take` as long as it says yes; whether it always did.
    #[inline]
    fn pieces(&self, take: &mut impl FnMut(&[u8]) -> bool) -> bool {
        match self.0 {
            Parts::Name(name, _) => take(name),
            Parts::Line(line, values, ws) => {
                let mut slots = line.slots.iter().zip(values);
                take(&line.head)
                    && slots.all(|(slot, &value)| {
                        let item = ws.item(value);
                        let text = ws.text(*item).as_bytes();
                        let written = if line.escape && item.special {
                            escaped(text, take)
                        } else {
                            take(text)
                        };
                        written && (slot.after.is_empty() || take(&slot.after))
                    })
            }
        }
    }
}

/// Gives a text to `take` with a backslash before what has a meaning in names.
pub(super) fn escaped(text: &[u8], take: &mut impl FnMut(&[u8]) -> bool) -> bool {
    text.iter().all(|byte| match byte {
        b'|' => take(br"\|"),
        b'\\' => take(br"\\"),
        _ => take(std::slice::from_ref(byte)),
    })
}
