//! The compiled templates at work: a sentence's attributes.

use std::ops::Range;
use std::sync::Arc;

use super::attribute::Attribute;
use super::pattern::Pattern;
use super::syntax::Position;
use super::view::{Source, View};
use super::workspace::{self, Workspace};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, Fragment};
use crate::sentence::{Schema, Sentence};

/// Takes the attributes of a token, in the order of the template lines.
///
/// A line of dropchain's own language gives an attribute once, and no other line gives the same
/// one. Lines of CRF++ and Wapiti files may give the same one again; values then add up.
pub trait AttributeSink {
    /// An attribute that is crossed with the label.
    fn node(&mut self, attribute: &Attribute<'_>, value: f64);
    /// An attribute that is crossed with the label pair; none at the first token.
    fn edge(&mut self, attribute: &Attribute<'_>, value: f64);
}

/// Templates bound to the columns of a corpus; immutable, to be shared between threads.
#[derive(Clone, Debug)]
pub struct Extractor {
    identity: Arc<()>, // what tells it from others that use the same workspace
    base: Fingerprinter,
    views: Vec<View>,
    plan: Plan,
    memos: Vec<u32>, // of each value of each view
    lines: Vec<Compiled>,
    columns: Vec<(usize, String)>, // that are read, with their names
}

/// How views are computed.
#[derive(Clone, Debug)]
struct Plan {
    padding: usize, // positions on either side of a sentence that have a value of their own
    columns: Vec<Kept>, // those that there are entries of
    places: Vec<Place>, // of each view
}

/// A column whose texts have entries, and the views that an entry holds.
#[derive(Clone, Debug)]
struct Kept {
    column: usize,
    views: Vec<usize>,
}

/// How a view is computed.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the entries of column number `kept`, as number `offset`.
    Kept { kept: usize, offset: usize },
    /// In every sentence.
    Around,
}

/// A template line.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub node: bool,
    pub edge: bool,
    pub head: Arc<[u8]>,
    pub print: u64, // of the head
    pub slots: Vec<Slot>,
    pub escape: bool,
    pub conditions: Vec<Asked>,
    pub memo: Option<u32>, // which of its value's memos is this line's
}

/// A place for a value in an attribute.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub view: usize,
    pub position: Position,
    pub after: Arc<[u8]>,
    pub piece: Fragment, // of what stands after
}

/// A condition of a line.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub view: usize,
    pub position: Position,
    pub negated: bool,
}

impl Plan {
    fn new(views: &[View]) -> Self {
        let mut columns: Vec<Kept> = Vec::new();
        let mut places: Vec<Place> = Vec::with_capacity(views.len());
        for (number, view) in views.iter().enumerate() {
            let kept = match view {
                View::Column(column) | View::Pattern(Pattern { column, .. }) => {
                    let known = columns.iter().position(|kept| kept.column == *column);
                    Some(known.unwrap_or_else(|| {
                        let (column, views) = (*column, Vec::new());
                        columns.push(Kept { column, views });
                        columns.len() - 1
                    }))
                }
                view => view.made_of().and_then(|source| match places[source] {
                    Place::Kept { kept, .. } => Some(kept),
                    Place::Around => None,
                }),
            };
            places.push(match kept {
                None => Place::Around,
                Some(kept) => {
                    columns[kept].views.push(number);
                    let offset = columns[kept].views.len() - 1;
                    Place::Kept { kept, offset }
                }
            });
        }
        let padding = views.iter().map(View::padding).max().unwrap_or(1);
        Self {
            padding,
            columns,
            places,
        }
    }

    /// Where a view stands in an entry.
    fn offset(&self, view: usize) -> usize {
        match self.places[view] {
            Place::Kept { offset, .. } => offset,
            Place::Around => 0,
        }
    }
}

impl Extractor {
    pub(super) fn new(views: Vec<View>, lines: Vec<Compiled>, schema: &Schema) -> Self {
        let mut columns: Vec<(usize, String)> = Vec::new();
        for column in views.iter().filter_map(View::column) {
            if let Some(name) = schema.names().get(column) {
                columns.push((column, name.clone()));
            }
        }
        let mut extractor = Self {
            identity: Arc::new(()),
            base: Fingerprinter::default(),
            plan: Plan::new(&views),
            memos: Vec::new(),
            views,
            lines,
            columns,
        };
        extractor.number_memos();
        extractor.with_fingerprinter(Fingerprinter::default())
    }

    /// The same, with fingerprints at another base.
    #[must_use]
    pub(crate) fn with_fingerprinter(mut self, base: Fingerprinter) -> Self {
        self.identity = Arc::new(());
        self.base = base;
        for line in &mut self.lines {
            line.print = base.fingerprint(&line.head);
            for slot in &mut line.slots {
                slot.piece = base.fragment(&slot.after);
            }
        }
        self
    }

    /// Gives a memo to each line that consists of one value which depends on one cell. Values of a
    /// bag are those of the view that it collects.
    fn number_memos(&mut self) {
        let mut memos = vec![0; self.views.len()];
        for line in &mut self.lines {
            let [slot] = &line.slots[..] else { continue };
            let view = match &self.views[slot.view] {
                View::Bag(_, source) => *source,
                _ => slot.view,
            };
            if line.node != line.edge && matches!(self.plan.places[view], Place::Kept { .. }) {
                line.memo = Some(memos[view]);
                memos[view] += 1;
            }
        }
        self.memos = memos;
    }

    /// Computes once what the templates need of every token of `sentence`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the sentence has other columns than those bound to, when a cell
    /// should be a number and is none, and when the sentence has gigabytes of text.
    pub fn prepare(&self, sentence: &Sentence, ws: &mut Workspace) -> Result<()> {
        let filled = self.fill(sentence, ws);
        if filled.is_err() {
            ws.clear();
        }
        filled
    }

    fn fill(&self, sentence: &Sentence, ws: &mut Workspace) -> Result<()> {
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
        let overflow = |ws: &Workspace| {
            let message = "the sentence is too long for its templates (4 GiB of text)";
            let fault = || Error::input(sentence.place(0), message);
            if ws.overflowed() {
                Err(fault())
            } else {
                Ok(())
            }
        };
        let known = ws.enter(&self.identity, self.base);
        ws.reset(sentence.len(), self.plan.padding);
        if !known {
            self.keep_outside(ws);
        }
        for (number, kept) in self.plan.columns.iter().enumerate() {
            ws.begin_row(number);
            for t in 0..sentence.len() {
                let text = sentence.cell(t, kept.column);
                let first = match ws.entry(number, text) {
                    Some(first) => first,
                    None => self.keep(number, text, ws),
                };
                ws.push_row(first);
            }
            ws.end_row(number);
            overflow(ws)?;
        }
        for (view, place) in self.views.iter().zip(&self.plan.places) {
            match *place {
                Place::Kept { kept, offset } => {
                    let row = kept * (sentence.len() + 2 * self.plan.padding);
                    ws.begin_view(workspace::View { row, offset });
                }
                Place::Around => {
                    let first = ws.next_cell();
                    ws.set_memos(0);
                    view.fill_around(sentence, ws)?;
                    let row = ws.push_cells(first);
                    ws.begin_view(workspace::View { row, offset: 0 });
                    overflow(ws)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the entry of a text in a column and returns its first cell.
    fn keep(&self, number: usize, text: &str, ws: &mut Workspace) -> u32 {
        let start = ws.arena.len();
        ws.arena.push_str(text);
        let range = start..ws.arena.len();
        let first = self.fill_entry(number, range.clone(), None, ws);
        ws.keep(number, range, first);
        first as u32
    }

    /// Makes the entries of what lies outside of every sentence.
    fn keep_outside(&self, ws: &mut Workspace) {
        let padding = self.plan.padding;
        for number in 0..self.plan.columns.len() {
            let before = (1..=padding).rev().map(|distance| (true, distance));
            for outside in before.chain((1..=padding).map(|distance| (false, distance))) {
                let first = self.fill_entry(number, 0..0, Some(outside), ws);
                ws.keep_outside(first);
            }
        }
    }

    fn fill_entry(
        &self,
        number: usize,
        text: Range<usize>,
        outside: Option<(bool, usize)>,
        ws: &mut Workspace,
    ) -> usize {
        let first = ws.next_cell();
        let source = Source {
            text,
            outside,
            first,
        };
        for &view in &self.plan.columns[number].views {
            ws.set_memos(self.memos[view]);
            self.views[view].fill_kept(&source, |other| self.plan.offset(other), ws);
        }
        first
    }

    /// Gives `sink` all attributes of token `t` of the sentence that `ws` was prepared for.
    ///
    /// A position beyond the sentence has no attributes. The workspace must come from a
    /// [`Extractor::prepare`] of this extractor that succeeded.
    pub fn extract(
        &self,
        sentence: &Sentence,
        t: usize,
        ws: &mut Workspace,
        sink: &mut impl AttributeSink,
    ) {
        debug_assert_eq!(sentence.len(), ws.tokens, "prepared for another sentence");
        if t >= ws.tokens {
            return;
        }
        let mut chosen = std::mem::take(&mut ws.chosen);
        for line in &self.lines {
            let edge = line.edge && t > 0;
            if !(line.node || edge) || !(line.conditions.is_empty() || line.applies(t, ws)) {
                continue;
            }
            let mut emit = |attribute: &Attribute<'_>, value: f64| {
                if line.node {
                    sink.node(attribute, value);
                }
                if edge {
                    sink.edge(attribute, value);
                }
            };
            let mut emit = |values: &[u32], number: f64| {
                emit(&Attribute::of_line(line, values, ws), number);
            };
            match &line.slots[..] {
                [slot] => {
                    for value in slot.values(t, ws) {
                        emit(&[value], ws.item(value).weight);
                    }
                }
                [first, second] => {
                    let seconds = second.values(t, ws);
                    for a in first.values(t, ws) {
                        for b in seconds.clone() {
                            emit(&[a, b], ws.item(a).weight * ws.item(b).weight);
                        }
                    }
                }
                [first, second, third] => {
                    let (seconds, thirds) = (second.values(t, ws), third.values(t, ws));
                    for a in first.values(t, ws) {
                        for b in seconds.clone() {
                            let number = ws.item(a).weight * ws.item(b).weight;
                            for c in thirds.clone() {
                                emit(&[a, b, c], number * ws.item(c).weight);
                            }
                        }
                    }
                }
                slots => expand(slots, t, ws, (&mut chosen, 1.0), &mut emit),
            }
        }
        ws.chosen = chosen;
    }
}

impl Slot {
    #[inline(always)]
    fn values(&self, t: usize, ws: &Workspace) -> Range<u32> {
        ws.values_of(ws.cell_number(self.view, self.position.resolve(t, ws.tokens)))
    }
}

impl Compiled {
    fn applies(&self, t: usize, ws: &Workspace) -> bool {
        self.conditions.iter().all(|condition| {
            let position = condition.position.resolve(t, ws.tokens);
            ws.cell(condition.view, position).is_empty() == condition.negated
        })
    }
}

/// Gives `emit` every combination of values of `slots`, by number, with the product of their numbers:
/// those before them have the values `chosen` and the product `number`.
fn expand(
    slots: &[Slot],
    t: usize,
    ws: &Workspace,
    (chosen, number): (&mut Vec<u32>, f64),
    emit: &mut impl FnMut(&[u32], f64),
) {
    let Some((slot, rest)) = slots.split_first() else {
        emit(chosen, number);
        return;
    };
    for value in slot.values(t, ws) {
        chosen.push(value);
        let number = number * ws.item(value).weight;
        expand(rest, t, ws, (chosen, number), emit);
        chosen.pop();
    }
}
