//! What is known of one sentence: the values of every view at every position.

use std::ops::Range;

use hashbrown::HashTable;

use super::shape::ShapeScratch;

/// A value: a piece of the arena, and a number for templates that have one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    start: u32,
    end: u32,
    pub weight: f64,
}

impl Item {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Reusable memory of an [`Extractor`](super::Extractor); allocates nothing once it is warm.
///
/// Texts lie in one arena, values are ranges of it, and the values of a cell (a view at a
/// position) are consecutive. A view has cells beyond either end of the sentence too, since what
/// lies outside has a value.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(super) tokens: usize,
    pub(super) arena: String,
    items: Vec<Item>,
    ends: Vec<u32>, // [cell + 1] end of each cell in `items`, after a leading 0
    views: Vec<View>,
    overflow: bool,
    scratch: String,
    pub(super) boundary: String,
    shapes: ShapeScratch,
    pub(super) cuts: Vec<usize>,
    pub(super) seen: HashTable<(u32, u32)>,
    pub(super) tags: Vec<u8>,
    pub(super) buffer: Vec<u8>,
}

/// Where the cells of a view lie.
#[derive(Clone, Copy, Debug)]
struct View {
    first: usize, // in `ends`, the cell farthest before the sentence
    padding: usize,
}

impl Workspace {
    /// Forgets the last sentence; the next has `tokens` tokens.
    pub(super) fn reset(&mut self, tokens: usize) {
        self.tokens = tokens;
        self.arena.clear();
        self.items.clear();
        self.ends.clear();
        self.ends.push(0);
        self.views.clear();
        self.overflow = false;
    }

    /// Begins a view whose cells run from `-padding` to T + `padding` − 1.
    pub(super) fn begin_view(&mut self, padding: usize) {
        let first = self.ends.len() - 1;
        self.views.push(View { first, padding });
    }

    /// Ends a cell.
    pub(super) fn end_cell(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    /// Whether the sentence outgrew the 4 GiB of text that ranges can address.
    pub(super) fn overflowed(&self) -> bool {
        self.overflow
    }

    /// Adds a range of the arena to the cell.
    pub(super) fn push_range(&mut self, range: Range<usize>) {
        self.push_item(range, 1.0);
    }

    /// Adds a range of the arena with a number to the cell.
    pub(super) fn push_weighted(&mut self, range: Range<usize>, weight: f64) {
        self.push_item(range, weight);
    }

    /// Adds a number without text to the cell.
    pub(super) fn push_number(&mut self, weight: f64) {
        self.push_item(0..0, weight);
    }

    fn push_item(&mut self, range: Range<usize>, weight: f64) {
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) if self.items.len() < u32::MAX as usize => {
                self.items.push(Item { start, end, weight });
            }
            _ => self.overflow = true,
        }
    }

    /// Adds a text to the cell.
    pub(super) fn push_text(&mut self, text: &str) {
        let start = self.arena.len();
        self.arena.push_str(text);
        self.push_range(start..self.arena.len());
    }

    /// Adds what `write` makes of a range of the arena to the cell.
    pub(super) fn push_made(
        &mut self,
        source: Range<usize>,
        write: impl FnOnce(&str, &mut ShapeScratch, &mut String),
    ) {
        self.scratch.clear();
        write(&self.arena[source], &mut self.shapes, &mut self.scratch);
        let start = self.arena.len();
        self.arena.push_str(&self.scratch);
        self.push_range(start..self.arena.len());
    }

    /// The values of `view` at `position`; beyond the padding those of the farthest cell.
    #[inline]
    pub(super) fn cell(&self, view: usize, position: i64) -> &[Item] {
        let View { first, padding } = self.views[view];
        let padding = padding as i64;
        let position = position.clamp(-padding, self.tokens as i64 + padding - 1);
        let cell = first + (position + padding) as usize;
        &self.items[self.ends[cell] as usize..self.ends[cell + 1] as usize]
    }

    /// The text of the only value of `view` at `position`; nothing if there is none.
    pub(super) fn source(&self, view: usize, position: i64) -> Range<usize> {
        self.cell(view, position)
            .first()
            .map_or(0..0, |item| item.range())
    }

    /// The text of a value.
    pub(super) fn text(&self, item: Item) -> &str {
        &self.arena[item.range()]
    }
}
