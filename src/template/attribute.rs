//! Attributes of a token, represented by the parts of their names.

use std::cell::Cell;

use super::compiled::CompiledTemplate;
use super::syntax::escape_value;
use super::workspace::Workspace;
use crate::fingerprint::{self, Fingerprinter, append};

/// An attribute of a token. Its name is assembled on request only.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a>(AttributeForm<'a>);

#[derive(Clone, Copy, Debug)]
enum AttributeForm<'a> {
    Named(&'a [u8], Fingerprinter),
    /// A template with one value, by index, for each of its terms.
    Template(&'a CompiledTemplate, &'a [u32], &'a Workspace),
}

impl<'a> Attribute<'a> {
    /// Creates an attribute from its name.
    #[must_use]
    pub fn named(name: &'a [u8], fingerprinter: Fingerprinter) -> Self {
        Self(AttributeForm::Named(name, fingerprinter))
    }

    /// Creates an attribute from a template and one value for each of its terms.
    #[inline(always)]
    pub(super) fn from_template(
        template: &'a CompiledTemplate,
        values: &'a [u32],
        ws: &'a Workspace,
    ) -> Self {
        Self(AttributeForm::Template(template, values, ws))
    }

    /// Returns the 64-bit key of the attribute, a function of its name and the fingerprinter.
    #[inline]
    #[must_use]
    pub fn key(&self) -> u64 {
        let fingerprint = match self.0 {
            AttributeForm::Named(name, fingerprinter) => fingerprinter.fingerprint(name),
            AttributeForm::Template(template, values, ws) => {
                let terms = template.terms.iter().zip(values);
                terms.fold(template.head_fingerprint, |fingerprint, (term, &value)| {
                    let value = ws.value(value);
                    let fragment = if template.escape && value.needs_escape {
                        ws.escaped_fragment(*value)
                    } else {
                        value.fragment
                    };
                    let fingerprint = append(fingerprint, fragment);
                    if term.literal.is_empty() {
                        fingerprint
                    } else {
                        append(fingerprint, term.literal_fragment)
                    }
                })
            }
        };
        fingerprint::key(fingerprint)
    }

    /// Returns the number of the group of template lines with the same options, as numbered by
    /// [`Template::groups`](super::Template::groups); 0 for attributes without a template.
    #[must_use]
    pub fn group(&self) -> u32 {
        match self.0 {
            AttributeForm::Template(template, ..) => template.group,
            AttributeForm::Named(..) => 0,
        }
    }

    /// Returns a cell, initially 0, in which a sink can memoize the result of its lookup of the
    /// attribute. It lives as long as the workspace memoizes the word. Only attributes that
    /// depend on a single word have a memo.
    #[inline]
    #[must_use]
    pub fn memo(&self) -> Option<&'a Cell<u64>> {
        match self.0 {
            AttributeForm::Template(CompiledTemplate { memo, .. }, &[value], ws) => {
                memo.map(|index| ws.memo(*ws.value(value), index))
            }
            _ => None,
        }
    }

    /// Appends the name to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.for_each_part(&mut |part| {
            out.extend_from_slice(part);
            true
        });
    }

    /// Returns whether the attribute has this name.
    #[must_use]
    pub fn has_name(&self, name: &[u8]) -> bool {
        let mut rest = name;
        let all = self.for_each_part(&mut |part| match rest.strip_prefix(part) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        });
        all && rest.is_empty()
    }

    /// Calls `visit` with each part of the name until it returns `false`. Returns whether all
    /// parts were visited.
    #[inline]
    fn for_each_part(&self, visit: &mut impl FnMut(&[u8]) -> bool) -> bool {
        match self.0 {
            AttributeForm::Named(name, _) => visit(name),
            AttributeForm::Template(template, values, ws) => {
                let mut terms = template.terms.iter().zip(values);
                visit(&template.head)
                    && terms.all(|(term, &value)| {
                        let value = ws.value(value);
                        let text = ws.text(*value).as_bytes();
                        let proceed = if template.escape && value.needs_escape {
                            escape_value(text, visit)
                        } else {
                            visit(text)
                        };
                        proceed && (term.literal.is_empty() || visit(&term.literal))
                    })
            }
        }
    }
}
