//! Bound functions: which of them are memoized per word, and how they are evaluated.

use std::fmt::Write;
use std::ops::Range;

use super::ast::{ConditionTest, Dialect, Operation};
use super::document::{RunKind, write_run};
use super::shape::{KnownWords, occurrence};
use super::text::graphemes;
use super::text_function::TextInputCell;
use super::workspace::{FunctionCells, Scratch, Values, Workspace};
use crate::error::{Error, Result};
use crate::sentence::{Sentence, SentenceRef};

/// Largest magnitude of a number in a column, so that products of several numbers stay finite.
const MAX_NUMBER: f64 = 1e15;

/// A function bound to a column or to the value of an earlier bound function. One that several
/// templates use is bound, and computed, once.
#[derive(Clone, Debug)]
pub(super) struct BoundFunction {
    pub operation: Operation,
    /// The index of that function; for what reads cells, of a column; for
    /// [`Operation::Mention`], the number of an index of documents.
    pub source: usize,
}

/// How each bound function is evaluated, and where its values are.
#[derive(Clone, Debug)]
pub(super) struct EvaluationPlan {
    /// The texts at the positions before a sentence and after it that have distinct values.
    boundaries: Vec<String>, // [2·padding]
    /// The columns whose texts have memo entries. Each has a row in the workspace.
    pub columns: Vec<MemoizedColumn>,
    /// The cells of each function. Those that are evaluated once per distinct text of a column are
    /// in the row of the column; the others, evaluated for every sentence, have rows of their own
    /// after these, in order.
    pub cells: Vec<FunctionCells>, // [functions]
    /// Number of memos of each value of a function.
    pub memos_per_value: Vec<u32>, // [functions]
}

/// A column whose texts have memo entries.
#[derive(Clone, Debug)]
pub(super) struct MemoizedColumn {
    pub column: usize,
    /// The functions whose values an entry holds.
    pub functions: Vec<usize>,
}

impl EvaluationPlan {
    /// Plans the evaluation of `functions`.
    pub(super) fn new(functions: &[BoundFunction], dialect: Option<Dialect>) -> Self {
        let is_text = |function: &&BoundFunction| matches!(function.operation, Operation::Text);
        let mut rows = functions.iter().filter(is_text).count(); // those of columns come first
        let mut columns: Vec<MemoizedColumn> = Vec::with_capacity(rows);
        let mut cells: Vec<FunctionCells> = Vec::with_capacity(functions.len());
        for (number, function) in functions.iter().enumerate() {
            let row = match (&function.operation, function.source()) {
                // There is one such function for each column.
                (Operation::Text, _) => {
                    columns.push(MemoizedColumn { column: function.source, functions: Vec::new() });
                    Some(columns.len() - 1)
                }
                (_, source) => source.map(|i| cells[i].row).filter(|row| *row < columns.len()),
            };
            let offset = row.map_or(0, |row| {
                columns[row].functions.push(number);
                columns[row].functions.len() - 1
            });
            rows += usize::from(row.is_none());
            cells.push(FunctionCells { row: row.unwrap_or(rows - 1), offset });
        }
        Self {
            boundaries: dialect.map_or(vec![String::new(); 2], Dialect::boundaries),
            columns,
            cells,
            memos_per_value: vec![0; functions.len()],
        }
    }

    /// Returns the number of positions on either side of a sentence with distinct values.
    pub(super) fn padding(&self) -> usize {
        self.boundaries.len() / 2
    }

    /// Returns the text at a position outside of a sentence of `length` tokens.
    pub(super) fn boundary(&self, position: i64, length: usize) -> &str {
        let (padding, length) = (self.padding() as i64, length as i64);
        let i = match position {
            ..0 => padding + position.max(-padding),
            _ => padding + (position - length).min(padding - 1),
        };
        &self.boundaries[i as usize]
    }

    /// Returns whether the values of a function are memoized per word.
    pub(super) fn is_memoized(&self, function: usize) -> bool {
        self.cells[function].row < self.columns.len()
    }
}

impl BoundFunction {
    /// Returns the function it is computed from, if it depends on nothing but the value of that
    /// function at the same position.
    pub(super) fn source(&self) -> Option<usize> {
        let is_of_source =
            matches!(self.operation, Operation::Length | Operation::OfText(_) | Operation::Test(_));
        is_of_source.then_some(self.source)
    }

    /// Evaluates the function on a `text` of the arena that is memoized, given whether it is inside
    /// of a sentence, and the cell of the function that this one is computed from.
    pub(super) fn fill_cell(
        &self,
        text: Range<usize>,
        inside: bool,
        source: usize,
        known_words: &KnownWords,
        ws: &mut Workspace,
    ) {
        let Workspace { values, scratch, .. } = ws;
        match &self.operation {
            Operation::Text => values.push_range(text),
            Operation::Length => push_written(values, scratch, |values, out| {
                let length = graphemes(&values.arena[values.cell_text(source)]).count();
                write!(out, "{length}").is_ok()
            }),
            Operation::OfText(function) if inside || function.is_total => {
                let text = values.cell_text(source);
                (function.evaluate)(&mut TextInputCell { text, known_words, values, scratch });
            }
            Operation::Test(test) => push_test(test, source, inside, values),
            _ => {} // no value here, or evaluated per sentence
        }
        values.finish_cell();
    }

    /// Evaluates a function that depends on its context at every position of the sentence, which
    /// sees the document as far as `window` tokens away.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a token whose cell should be a number and is not.
    pub(super) fn fill_sentence(
        &self,
        context: SentenceRef<'_>,
        window: u32,
        ws: &mut Workspace,
    ) -> Result<()> {
        if let Operation::Lexicon(lexicon) = &self.operation {
            let mut tags = std::mem::take(&mut ws.scratch.phrase_tags);
            lexicon.tag(ws.tokens, |t| ws.text_at(self.source, t), &mut tags);
            ws.scratch.phrase_tags = tags;
        }
        let length = ws.tokens as i64;
        for p in -1..=length {
            let inside = (0..length).contains(&p);
            match &self.operation {
                Operation::Bias => ws.values.push_flag(true),
                Operation::Test(test) => {
                    push_test(test, ws.cell_index(self.source, p), inside, &mut ws.values);
                }
                _ if !inside => {}
                _ => self.fill_token(context, p as usize, window, ws)?,
            }
            ws.values.finish_cell();
        }
        Ok(())
    }

    /// Evaluates a function that depends on its context at token `t`.
    fn fill_token(
        &self,
        context: SentenceRef<'_>,
        t: usize,
        window: u32,
        ws: &mut Workspace,
    ) -> Result<()> {
        let (sentence, source) = (context.sentence(), self.source);
        match &self.operation {
            Operation::Start => ws.values.push_flag(t == 0),
            Operation::End => ws.values.push_flag(t + 1 == ws.tokens),
            Operation::Bag(offsets) => {
                // Outside of the sentence is the empty text.
                for offset in offsets.clone() {
                    let values = ws.values_at(source, t as i64 + i64::from(offset));
                    if let Some(&value) = values.first() {
                        ws.values.push_distinct(value);
                    }
                }
            }
            Operation::Occurrence => {
                if let Some(value) = occurrence(ws.tokens, |u| ws.text_at(source, u), t) {
                    ws.values.push_text(value);
                }
            }
            Operation::Lexicon(_) => {
                let tag = char::from(ws.scratch.phrase_tags[t]);
                if tag != ' ' {
                    ws.values.push_text(tag.encode_utf8(&mut [0; 4]));
                }
            }
            Operation::Value => {
                let text = sentence.cell(t, source);
                let number = text.parse().ok().filter(|number: &f64| number.abs() <= MAX_NUMBER);
                ws.values.push_number(number.ok_or_else(|| {
                    let name = &sentence.schema().names()[source];
                    let expected = format!("expected a number of at most {MAX_NUMBER:e}");
                    let message = format!("column '{name}' holds '{text}'; {expected}");
                    Error::input(sentence.place(t), message)
                })?);
            }
            Operation::Mention(kind) => {
                let Workspace { values, scratch, document, .. } = ws;
                push_written(values, scratch, |_, text| {
                    document.write_mention(*kind, source, t, window, text);
                    true
                });
            }
            Operation::Run(kind) => push_run(*kind, sentence, source, t as i64, ws),
            Operation::Gathered { number, .. } => {
                for cell in ws.document.gathered(*number, t) {
                    for i in ws.values.cell_range(ws.document.gathered[cell] as usize) {
                        ws.values.push_distinct(*ws.values.get(i));
                    }
                }
            }
            Operation::GatheredRuns { kind, offset } => {
                let document = context.document().map(|(document, _)| document);
                for i in ws.document.others(t) {
                    let other = ws.document.nearest[i];
                    if let Some(sentence) = document.and_then(|d| d.sentence(other.sentence)) {
                        push_run(*kind, sentence, source, other.t + i64::from(*offset), ws);
                        ws.values.drop_duplicate();
                    }
                }
            }
            _ => {} // memoized per word
        }
        Ok(())
    }
}

/// Pushes the text that `write` writes, if that returns that there is one.
fn push_written(
    values: &mut Values,
    scratch: &mut Scratch,
    write: impl FnOnce(&Values, &mut String) -> bool,
) {
    scratch.text.clear();
    if write(values, &mut scratch.text) {
        values.push_text(&scratch.text);
    }
}

/// Pushes what is known about a token in a run of capitalized cells of a column.
fn push_run(kind: RunKind, sentence: &Sentence, column: usize, position: i64, ws: &mut Workspace) {
    let length = sentence.len();
    let Some(t) = usize::try_from(position).ok().filter(|&t| t < length) else { return };
    push_written(&mut ws.values, &mut ws.scratch, |_, text| {
        write_run(kind, length, |u| sentence.cell(u, column), t, text)
    });
}

/// Pushes a flag if the values of a cell pass the test.
fn push_test(test: &ConditionTest, cell: usize, inside: bool, values: &mut Values) {
    let mut texts = values.of_cell(cell).iter().map(|value| values.text(*value));
    let holds = match test {
        ConditionTest::Length(compare, number) => {
            let length = texts.next().and_then(|length| length.parse().ok());
            compare(&length.unwrap_or(0), number)
        }
        ConditionTest::Equal(expected) => texts.any(|text| text == expected),
        ConditionTest::Matches(expression) => texts.any(|text| expression.is_match(text)),
        ConditionTest::Exists => inside && texts.next().is_some(),
    };
    values.push_flag(holds);
}
