//! The tokens of a sentence.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::attributes::Attributes;
use super::layout::{Layout, Offsets};
use super::schema::{Schema, list_names};
use super::storage::{LineNumbers, TextList};
use super::token_label::TokenLabel;
use crate::error::{Error, Place, Result};
use crate::source_file::SourceFile;

/// Maximum weight of a sentence; sums of larger ones would lose the others to rounding.
const MAX_WEIGHT: f64 = 1e9;

/// Maximum number of bytes of all cells.
pub(super) const MAX_TEXT: usize = u32::MAX as usize;

const OVERLONG: &str = "the sentence has more than 4 GiB of text";

/// Overhead of an allocation in bytes: the bookkeeping of the allocator, and rounding up.
const ALLOCATION: usize = 16;

/// A sentence: T tokens in C columns.
///
/// All cells share one string, so a sentence takes two allocations, however many tokens it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::box_collection, reason = "rare, and a sentence should be small")]
pub struct Sentence {
    schema: Arc<Schema>,
    file: SourceFile,
    pub(super) cells: TextList, // [T][C]
    lines: LineNumbers,         // [T]
    pub(super) overlong: bool,  // there were words that did not fit
    pub(super) weight: f64,
    pub(super) partial: Option<Box<Vec<(u32, TokenLabel)>>>, // tokens without one known label
    /// Pre-extracted attributes, which are used instead of templates.
    pub attributes: Option<Box<Attributes>>,
    /// The position of each token in [`Layout::source`]; empty if the input was pre-tokenized.
    pub offsets: Vec<Offsets>,
    /// Everything around the tokens in the input: comments, other lines, the original text.
    pub layout: Layout,
}

impl Sentence {
    /// An empty sentence from `file` (`-` is standard input).
    pub fn new(schema: Arc<Schema>, file: impl Into<SourceFile>) -> Self {
        Self {
            schema,
            file: file.into(),
            cells: TextList::default(),
            lines: LineNumbers::default(),
            overlong: false,
            weight: 1.0,
            partial: None,
            attributes: None,
            offsets: Vec::new(),
            layout: Layout::default(),
        }
    }

    /// Shares the schema and the name of the file with another sentence if they are the same: for
    /// sentences that were deserialized one by one.
    pub fn share_with(&mut self, other: &Self) {
        if self.schema.line_rules() == other.schema.line_rules() && self.schema == other.schema {
            self.schema = Arc::clone(&other.schema);
        }
        if self.file == other.file {
            self.file = other.file.clone();
        }
    }

    /// Appends a token, which is on `line` (from 1) of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the number of cells is not the schema's, or the sentence would exceed
    /// 4 GiB of text.
    pub fn push<S: AsRef<str>>(
        &mut self,
        cells: impl IntoIterator<Item = S>,
        line: u64,
    ) -> Result<()> {
        let (len, bytes) = (self.cells.len(), self.cells.bytes());
        for cell in cells {
            self.cells.push(cell.as_ref());
        }
        let found = self.cells.len() - len;
        let fault = match found == self.schema.width() {
            false => ragged(self.schema.names(), found),
            true if self.cells.bytes() > MAX_TEXT => OVERLONG.to_owned(),
            true => {
                self.lines.push(line);
                return Ok(());
            }
        };
        self.cells.truncate(len, bytes);
        Err(Error::input(Place::line(&*self.file, line), fault))
    }

    /// Appends a token with the cells of the columns of the input; if the labels join several of
    /// these, their column is filled.
    ///
    /// # Errors
    ///
    /// Same as [`push`](Self::push), and [`Error::Input`] if the cells cannot be joined.
    pub fn push_input<S: AsRef<str>>(
        &mut self,
        cells: impl IntoIterator<Item = S>,
        line: u64,
    ) -> Result<()> {
        let schema = Arc::clone(&self.schema);
        let Some(joined) = schema.joined() else { return self.push(cells, line) };
        let cells: Vec<S> = cells.into_iter().collect();
        let columns = schema.input_names();
        let label = match cells.len() == columns.len() {
            true => joined.join(joined.positions().iter().map(|&c| cells[c].as_ref())),
            false => Err(ragged(columns, cells.len())),
        };
        let place = Place::line(&*self.file, line);
        let label = label.map_err(|fault| Error::input(place, fault))?;
        self.push(cells.iter().map(AsRef::as_ref).chain([&*label]), line)
    }

    /// Returns a copy with another schema, whose labels join some of the same columns.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the columns or the cells of a token cannot be joined.
    pub fn with_joined_label(&self, schema: &Arc<Schema>) -> Result<Self> {
        let mut copy = self.without_cells(Arc::clone(schema));
        copy.partial = None;
        for t in 0..self.len() {
            copy.push_input(self.cells(t), self.lines.get(t).unwrap_or(0))?;
        }
        Ok(copy)
    }

    /// Returns a copy with other cells, `[T][C]`, in the columns of `schema`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a token does not have a cell for every column, or the sentence would
    /// exceed 4 GiB of text.
    pub fn with_cells<S: AsRef<str>>(
        &self,
        schema: Arc<Schema>,
        cells: impl IntoIterator<Item = impl IntoIterator<Item = S>>,
    ) -> Result<Self> {
        let mut copy = self.without_cells(schema);
        for (t, cells) in cells.into_iter().enumerate() {
            copy.push(cells, self.lines.get(t).unwrap_or(0))?;
        }
        Ok(copy)
    }

    /// Returns a copy with more columns: the cells of each token in those that `schema` adds to the
    /// sentence's own.
    ///
    /// # Errors
    ///
    /// Same as [`with_cells`](Self::with_cells).
    pub fn with_columns(
        &self,
        schema: Arc<Schema>,
        cells: impl IntoIterator<Item = impl IntoIterator<Item = String>>,
    ) -> Result<Self> {
        let cells = cells.into_iter().enumerate().map(|(t, more)| {
            self.cells(t).map(Cow::Borrowed).chain(more.into_iter().map(Cow::Owned))
        });
        self.with_cells(schema, cells)
    }

    fn without_cells(&self, schema: Arc<Schema>) -> Self {
        Self { schema, cells: TextList::default(), lines: LineNumbers::default(), ..self.clone() }
    }

    /// Checks that the sentence holds all of its text.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if it was built from more than 4 GiB.
    pub fn check_text(&self) -> Result<()> {
        match self.overlong {
            true => Err(Error::input(self.place(0), OVERLONG)),
            false => Ok(()),
        }
    }

    /// The columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of tokens T.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether the sentence has no tokens.
    pub fn is_empty(&self) -> bool {
        self.lines.len() == 0
    }

    /// The cell of token `t` in column `column`.
    pub fn cell(&self, t: usize, column: usize) -> &str {
        self.cells.get(t * self.schema.width() + column)
    }

    /// The words: the cells of the column `word` or `form`, else of the first one; `None` if the
    /// sentence has no columns.
    pub fn words(&self) -> Option<impl Iterator<Item = &str>> {
        let column = self.schema.position("word").unwrap_or(0);
        let has_words = column < self.schema.width();
        has_words.then(|| (0..self.len()).map(move |t| self.cell(t, column)))
    }

    /// All cells of token `t`.
    pub fn cells(&self, t: usize) -> impl Iterator<Item = &str> {
        (0..self.schema.width()).map(move |column| self.cell(t, column))
    }

    /// The label of token `t`, if the corpus has a label column. If it is a partial label, this is
    /// its text ([`Sentence::partial_label`]).
    pub fn label(&self, t: usize) -> Option<&str> {
        self.schema.label().map(|column| self.cell(t, column))
    }

    /// All labels, if the corpus has a label column.
    pub fn labels(&self) -> Option<Vec<&str>> {
        let column = self.schema.label()?;
        Some((0..self.len()).map(|t| self.cell(t, column)).collect())
    }

    /// What is known about the label of token `t`, if that is not one label.
    pub fn partial_label(&self, t: usize) -> Option<&TokenLabel> {
        let partial = self.partial.as_ref()?;
        partial.binary_search_by_key(&t, |(token, _)| *token as usize).ok().map(|i| &partial[i].1)
    }

    /// The first token without one known label, if there is any.
    pub fn first_partial_label(&self) -> Option<usize> {
        self.partial.as_ref()?.first().map(|(token, _)| *token as usize)
    }

    /// The labels that each token may have, none for any; `None` if each has one known label.
    pub fn allowed_labels(&self) -> Option<Vec<Vec<&str>>> {
        self.first_partial_label()?;
        let allowed = |t| match self.partial_label(t) {
            Some(label) => label.labels().iter().map(String::as_str).collect(),
            None => self.label(t).into_iter().collect(),
        };
        Some((0..self.len()).map(allowed).collect())
    }

    /// Sets the label of the last token, if it is not one known label. Its cell has the text.
    pub fn set_last_label(&mut self, label: TokenLabel) {
        let tokens = self.len() as u32;
        if tokens > 0 && !matches!(label, TokenLabel::Known(_)) {
            self.partial.get_or_insert_default().push((tokens - 1, label));
        }
    }

    /// The weight of the sentence in training, 1 by default ([`Sentence::with_weight`]).
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Sets the weight in training: a weight of 2 counts like the sentence and a copy of it.
    ///
    /// ```
    /// # use dropchain::{Result, Sentence};
    /// # fn main() -> Result<()> {
    /// let sentence = Sentence::from_words(["Ada", "left"]).with_weight(0.5)?;
    /// assert_eq!(sentence.weight(), 0.5);
    /// assert!(sentence.with_weight(-1.0).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the weight is negative, not a number, or above 10⁹.
    pub fn with_weight(mut self, weight: f64) -> Result<Self> {
        self.set_weight(weight).map_err(|message| Error::input(self.place(0), message))?;
        Ok(self)
    }

    /// Sets the weight, or returns what is wrong with it.
    pub fn set_weight(&mut self, weight: f64) -> Result<(), String> {
        self.weight = check_weight(weight)?;
        Ok(())
    }

    /// The file that the sentence was read from.
    pub fn file(&self) -> &SourceFile {
        &self.file
    }

    /// Returns the sentence with another name of its [file](Place::file); with a line, all tokens
    /// are on it.
    pub fn placed(mut self, file: SourceFile, line: Option<u64>) -> Self {
        self.file = file;
        if let Some(line) = line {
            self.lines = LineNumbers::one(line, self.len());
        }
        self
    }

    /// The file and line of token `t`; if there is no such token, those of the first token, or the
    /// file alone.
    pub fn place(&self, t: usize) -> Place {
        let line = self.lines.get(t).or(self.lines.get(0));
        Place::line(&*self.file, line.unwrap_or(0))
    }

    /// The line of the first token.
    pub fn first_line(&self) -> Option<u64> {
        self.lines.get(0)
    }

    /// Hashes what training in two passes uses of a sentence: columns, cells, labels, the weight,
    /// and what documents depend on.
    pub fn hash_content(&self, hasher: &mut impl Hasher) {
        self.schema.names().hash(hasher);
        self.schema.label().hash(hasher);
        if let Some(joined) = self.schema.joined() {
            joined.hash(hasher);
        }
        (&self.cells, self.len()).hash(hasher);
        self.weight.to_bits().hash(hasher);
        self.partial.hash(hasher);
        let layout = &self.layout;
        (layout.document_start, layout.separation).hash(hasher);
    }

    /// The memory usage in bytes, with the overhead of its allocations. What several sentences
    /// share is divided among them.
    pub fn memory(&self) -> usize {
        let [text, ends] = self.cells.allocations();
        let attributes = self.attributes.as_deref();
        let held = [
            text,
            ends,
            self.lines.memory(),
            size_of::<Offsets>() * self.offsets.capacity(),
            attributes.map_or(0, |attributes| size_of::<Attributes>() + attributes.memory()),
            self.layout.memory(),
            self.partial.as_ref().map_or(0, |partial| {
                let labels: usize = partial.iter().map(|(_, label)| label.memory()).sum();
                size_of::<(u32, TokenLabel)>() * partial.capacity() + 40 + labels
            }),
        ];
        let held = held.into_iter().filter(|bytes| *bytes > 0).map(|bytes| bytes + ALLOCATION);
        size_of::<Self>() + held.sum::<usize>()
    }

    /// Frees excess capacity, which repeated pushes leave.
    pub fn shrink_to_fit(&mut self) {
        self.cells.shrink();
    }
}

/// The error message for a row of `found` cells.
fn ragged(columns: &[String], found: usize) -> String {
    let (expected, names) = (columns.len(), list_names(columns));
    format!("expected {expected} columns ({names}), found {found}")
}

/// Returns the weight of a sentence, or what is wrong with it.
pub fn check_weight(weight: f64) -> Result<f64, String> {
    if !(0.0..=MAX_WEIGHT).contains(&weight) {
        let expected = format!("expected a number from 0 to {MAX_WEIGHT:e}");
        return Err(format!("the weight of a sentence is {weight}; {expected}"));
    }
    // Without the sign of −0.
    Ok(weight.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Arc<Schema> {
        Arc::new(Schema::new(vec!["word".into(), "ner".into()], Some(1)).unwrap())
    }

    #[test]
    fn cells_are_stored_unchanged() {
        let mut s = Sentence::new(schema(), "x.conll");
        s.push(["Köln", "B-LOC"], 7).unwrap();
        s.push(["", "O"], 8).unwrap();
        assert_eq!(s.cells(0).collect::<Vec<_>>(), ["Köln", "B-LOC"]);
        assert_eq!(s.cells(1).collect::<Vec<_>>(), ["", "O"]);
        assert_eq!(s.labels().unwrap(), ["B-LOC", "O"]);
        assert_eq!(s.place(1).to_string(), "x.conll:8");
    }

    #[test]
    fn a_ragged_row_is_an_error_with_its_line_and_changes_nothing() {
        let mut s = Sentence::new(schema(), "x.conll");
        s.push(["a", "O"], 1).unwrap();
        let error = s.push(["b"], 2).unwrap_err().to_string();
        assert_eq!(error, "x.conll:2: expected 2 columns (word ner), found 1");
        assert_eq!(s.len(), 1);
        s.push(["c", "O"], 3).unwrap();
        assert_eq!(s.cell(1, 0), "c");
    }
}
