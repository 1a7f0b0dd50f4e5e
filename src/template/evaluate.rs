//! Evaluates bound functions: appends their values to the workspace.

use std::fmt::Write;
use std::ops::{Range, RangeInclusive};

use super::document::{RunKind, write_run};
use super::function::{BoundFunction, ConditionTest, Operation};
use super::shape::{KnownWords, occurrence};
use super::text::graphemes;
use super::text_function::TextInputCell;
use super::values::Values;
use super::workspace::{Scratch, Workspace};
use crate::error::{Error, Result};
use crate::sentence::{Sentence, SentenceRef};

/// Largest magnitude of a number in a column, so that products of several numbers stay finite.
const MAX_NUMBER: f64 = 1e15;

/// The input cell that memoized functions are evaluated on.
pub(super) struct InputCell {
    /// The text of the cell in the arena; outside the sentence, the text that the dialect has
    /// there.
    pub text: Range<usize>,
    /// Whether it lies inside the sentence.
    pub inside: bool,
    /// The cell of the function that the function is computed from, if it is.
    pub source: usize,
}

impl BoundFunction {
    /// Evaluates the function on one input cell.
    pub(super) fn fill_cell(
        &self,
        input: &InputCell,
        known_words: &KnownWords,
        ws: &mut Workspace,
    ) {
        let cell = input.source;
        let Workspace { values, scratch, .. } = ws;
        match &self.operation {
            Operation::Text => values.push_range(input.text.clone()),
            Operation::Length => push_written(values, scratch, |values, out| {
                let length = graphemes(&values.arena[values.cell_text(cell)]).count();
                write!(out, "{length}").is_ok()
            }),
            Operation::OfText(function) if input.inside || function.is_total => {
                let text = values.cell_text(cell);
                function.evaluate(&mut TextInputCell { text, known_words, values, scratch });
            }
            Operation::Test(test) => push_test(test, cell, input.inside, values),
            _ => {} // no value here, or evaluated per sentence
        }
        ws.values.finish_cell();
    }

    /// Evaluates a function that depends on its context at every position of `sentence`.
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
        let mut tags = std::mem::take(&mut ws.scratch.phrase_tags);
        let word = |t: usize| &ws.values.arena[ws.text_at(self.source, t as i64)];
        if let Operation::Lexicon(lexicon) = &self.operation {
            lexicon.tag(ws.tokens, word, &mut tags);
        }
        ws.scratch.phrase_tags = tags;
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
            Operation::Bag(window) => push_bag(window, source, t as i64, ws),
            Operation::Occurrence => {
                let word = |u: usize| &ws.values.arena[ws.text_at(source, u as i64)];
                if let Some(value) = occurrence(ws.tokens, word, t) {
                    ws.values.push_text(value);
                }
            }
            Operation::Lexicon(_) => match ws.scratch.phrase_tags.get(t) {
                Some(&tag) if tag != b' ' => {
                    ws.values.push_text(char::from(tag).encode_utf8(&mut [0; 4]));
                }
                _ => {}
            },
            Operation::Value => {
                let number = parse_number(sentence.cell(t, source));
                ws.values.push_number(number.ok_or_else(|| not_a_number(sentence, t, source))?);
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
                for i in ws.document.gathered(*number, ws.tokens, t) {
                    for j in ws.values.cell_range(ws.document.gathered[i] as usize) {
                        ws.values.push_distinct(*ws.values.get(j));
                    }
                }
            }
            Operation::GatheredRuns { kind, offset } => {
                push_other_runs(*kind, *offset, source, context, t, ws);
            }
            _ => {} // memoized per word
        }
        Ok(())
    }
}

/// Pushes the set of what is known about the runs in a column of other occurrences of a token of a
/// sentence, or of the tokens at an offset from them.
fn push_other_runs(
    kind: RunKind,
    offset: i32,
    column: usize,
    context: SentenceRef<'_>,
    t: usize,
    ws: &mut Workspace,
) {
    let document = context.document().map(|(document, _)| document);
    for i in ws.document.others(t) {
        let other = ws.document.occurrence(i);
        if let Some(sentence) = document.and_then(|d| d.sentence(other.sentence as usize)) {
            let position = i64::from(other.t) + i64::from(offset);
            push_run(kind, sentence, column, position, ws);
            ws.values.drop_duplicate();
        }
    }
}

/// Pushes the set of texts in the window around position `p`, with the empty text outside the
/// sentence.
fn push_bag(window: &RangeInclusive<i32>, source: usize, p: i64, ws: &mut Workspace) {
    for offset in window.clone().map(i64::from) {
        if let Some(&value) = ws.values_at(source, p + offset).first() {
            ws.values.push_distinct(value);
        }
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

fn parse_number(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.abs() <= MAX_NUMBER).then_some(number)
}

fn not_a_number(sentence: &Sentence, t: usize, column: usize) -> Error {
    let (name, text) = (&sentence.schema().names()[column], sentence.cell(t, column));
    let message =
        format!("column '{name}' holds '{text}'; expected a number of at most {MAX_NUMBER:e}");
    Error::input(sentence.place(t), message)
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
