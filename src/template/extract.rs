//! The compiled templates at work: attributes of a token as bytes.

use std::sync::Arc;

use super::syntax::Position;
use super::view::View;
use super::workspace::{Item, Workspace};
use crate::error::{Error, Result};
use crate::sentence::{Schema, Sentence};

/// Takes the attributes of a token, in the order of the template lines.
///
/// A line of dropchain's own language gives an attribute once, and no other line gives the same
/// one. Lines of CRF++ and Wapiti files may give the same one again; values then add up.
pub trait Sink {
    /// An attribute that is crossed with the label.
    fn node(&mut self, attribute: &[u8], value: f64);
    /// An attribute that is crossed with the label pair; none at the first token.
    fn edge(&mut self, attribute: &[u8], value: f64);
}

/// Templates bound to the columns of a corpus; immutable, to be shared between threads.
#[derive(Clone, Debug)]
pub struct Extractor {
    views: Vec<View>,
    lines: Vec<Compiled>,
    columns: Vec<(usize, String)>, // that are read, with their names
}

/// A template line.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub node: bool,
    pub edge: bool,
    pub head: Arc<[u8]>,
    pub slots: Vec<Slot>,
    pub escape: bool,
    pub conditions: Vec<Asked>,
}

/// A place for a value in an attribute.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub view: usize,
    pub position: Position,
    pub after: Arc<[u8]>,
}

/// A condition of a line.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub view: usize,
    pub position: Position,
    pub negated: bool,
}

impl Extractor {
    pub(super) fn new(views: Vec<View>, lines: Vec<Compiled>, schema: &Schema) -> Self {
        let mut columns: Vec<(usize, String)> = Vec::new();
        for column in views.iter().filter_map(View::column) {
            if let Some(name) = schema.names().get(column) {
                columns.push((column, name.clone()));
            }
        }
        Self {
            views,
            lines,
            columns,
        }
    }

    /// Computes once what the templates need of every token of `sentence`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the sentence has other columns than those bound to, when a cell
    /// should be a number and is none, and when the sentence has gigabytes of text.
    pub fn prepare(&self, sentence: &Sentence, ws: &mut Workspace) -> Result<()> {
        ws.reset(0);
        let names = sentence.schema().names();
        for (column, bound) in &self.columns {
            if names.get(*column) != Some(bound) {
                let message = format!(
                    "expected column {column} to be '{bound}', found the columns {}",
                    names.join(" ")
                );
                return Err(Error::input(sentence.place(0), message));
            }
        }
        ws.reset(sentence.len());
        let filled = self.views.iter().try_for_each(|view| {
            view.fill(sentence, ws)?;
            if ws.overflowed() {
                let message = "the sentence is too long for its templates (4 GiB of text)";
                return Err(Error::input(sentence.place(0), message));
            }
            Ok(())
        });
        if filled.is_err() {
            ws.reset(0);
        }
        filled
    }

    /// Gives `sink` all attributes of token `t` of the sentence that `ws` was prepared for.
    ///
    /// A position beyond the sentence has no attributes. The workspace must come from a
    /// [`Extractor::prepare`] of this extractor that succeeded.
    pub fn extract(&self, sentence: &Sentence, t: usize, ws: &mut Workspace, sink: &mut impl Sink) {
        debug_assert_eq!(sentence.len(), ws.tokens, "prepared for another sentence");
        if t >= ws.tokens {
            return;
        }
        let mut buffer = std::mem::take(&mut ws.buffer);
        for line in &self.lines {
            let edge = line.edge && t > 0;
            if !(line.node || edge) || !line.applies(t, ws) {
                continue;
            }
            buffer.clear();
            buffer.extend_from_slice(&line.head);
            let mut emit = |attribute: &[u8], value: f64| {
                if line.node {
                    sink.node(attribute, value);
                }
                if edge {
                    sink.edge(attribute, value);
                }
            };
            line.expand(&line.slots, t, ws, (&mut buffer, 1.0), &mut emit);
        }
        ws.buffer = buffer;
    }
}

impl Compiled {
    fn applies(&self, t: usize, ws: &Workspace) -> bool {
        self.conditions.iter().all(|condition| {
            let position = condition.position.resolve(t, ws.tokens);
            ws.cell(condition.view, position).is_empty() == condition.negated
        })
    }

    /// Emits one attribute for every combination of values of `slots`: `written` holds what
    /// stands before them and the product of the numbers so far.
    fn expand(
        &self,
        slots: &[Slot],
        t: usize,
        ws: &Workspace,
        written: (&mut Vec<u8>, f64),
        emit: &mut impl FnMut(&[u8], f64),
    ) {
        let (buffer, value) = written;
        let Some((slot, rest)) = slots.split_first() else {
            emit(buffer, value);
            return;
        };
        let length = buffer.len();
        for &item in ws.cell(slot.view, slot.position.resolve(t, ws.tokens)) {
            self.push_value(item, ws, buffer);
            buffer.extend_from_slice(&slot.after);
            self.expand(rest, t, ws, (buffer, value * item.weight), emit);
            buffer.truncate(length);
        }
    }

    #[inline]
    fn push_value(&self, item: Item, ws: &Workspace, buffer: &mut Vec<u8>) {
        let text = &ws.arena.as_bytes()[item.range()];
        let special = |byte: &u8| matches!(byte, b'|' | b'\\');
        if !self.escape || !text.iter().any(special) {
            buffer.extend_from_slice(text);
            return;
        }
        for byte in text {
            if special(byte) {
                buffer.push(b'\\');
            }
            buffer.push(*byte);
        }
    }
}
