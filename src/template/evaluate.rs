//! Evaluates bound functions: appends their values to the workspace.

use std::fmt::Write;
use std::ops::{Range, RangeInclusive};

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use super::clusters::Clusters;
use super::document::{RunKind, write_run};
use super::function::{
    BoundFunction, ConditionTest, NGRAM_WINDOW, OPEN_BYTES, OPEN_LENGTH, Operation, SubstringKind,
};
use super::shape::{ShapeScratch, capitalization, character_classes, is_title, occurrence};
use super::text::{graphemes, push_lower};
use super::values::Values;
use super::vectors::Vectors;
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
    /// The first cell of its memo entry.
    pub first_cell: usize,
}

impl BoundFunction {
    /// Evaluates the function on one input cell; `offset` returns the offset of another function's
    /// cell in the memo entry.
    pub(super) fn fill_cell(
        &self,
        input: &InputCell,
        offset: impl Fn(usize) -> usize,
        ws: &mut Workspace,
    ) {
        let inside = input.inside;
        let cell = self.source().map_or(0, |source| input.first_cell + offset(source));
        let Workspace { values, scratch, .. } = ws;
        let source = |values: &Values| values.cell_text(cell);
        match &self.operation {
            Operation::Text => values.push_range(input.text.clone()),
            Operation::Lower => {
                push_derived(source(values), ws, |text, _, out| push_lower(text, out));
            }
            Operation::Shape(shape, known) => {
                push_derived(source(values), ws, |text, scratch, out| {
                    shape.write(text, known, None, scratch, out);
                });
            }
            Operation::Length => push_derived(source(values), ws, |text, _, out| {
                // Writing to a String cannot fail.
                let _ = write!(out, "{}", graphemes(text).count());
            }),
            Operation::Capitalization => {
                values.push_text(capitalization(&values.arena[source(values)]));
            }
            Operation::Class => values.push_text(character_classes(&values.arena[source(values)])),
            Operation::Test(test) => push_test(test, cell, inside, values),
            Operation::Matches(regex) => {
                let matches = regex.is_match(&values.arena[source(values)]);
                values.push_text(if matches { "true" } else { "false" });
            }
            Operation::Match(regex, lower) => push_derived(source(values), ws, |text, _, out| {
                match regex.find(text).map_or("", |found| found.as_str()) {
                    found if *lower => push_lower(found, out),
                    found => out.push_str(found),
                }
            }),
            _ if !inside => {}
            Operation::Substrings(kind, lengths) => {
                push_substrings(*kind, lengths, source(values), values, scratch);
            }
            Operation::Regex(regex) => push_group(regex, source(values), values),
            Operation::Title => values.push_flag(is_title(&values.arena[source(values)])),
            Operation::Cluster(clusters, lengths) => {
                push_paths(clusters, lengths, source(values), values);
            }
            Operation::Vector(vectors, scale) => {
                push_vector(vectors, *scale, source(values), values);
            }
            Operation::LengthValue => {
                let length = graphemes(&values.arena[source(values)]).count();
                values.push_number(length as f64);
            }
            _ => {} // evaluated per sentence
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
                Operation::ShapeWhileReading(..) if !inside => ws.values.push_text(""),
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
            Operation::ShapeWhileReading(shape, known) => {
                let here = ws.training_sentence.map(|number| (number, t as u32));
                push_derived(ws.text_at(source, t as i64), ws, |text, scratch, out| {
                    shape.write(text, known, here, scratch, out);
                });
            }
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
                push_written(values, scratch, |text| {
                    document.write_mention(*kind, source, t, window, text)
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
            Operation::GatheredRuns { .. } => self.push_other_runs(context, t, ws),
            _ => {} // memoized per word
        }
        Ok(())
    }

    /// Pushes the set of what is known about the runs of other occurrences of token `t` of the
    /// sentence, or of the tokens at an offset from them.
    fn push_other_runs(&self, context: SentenceRef<'_>, t: usize, ws: &mut Workspace) {
        let Operation::GatheredRuns { kind, offset, group } = self.operation else {
            return;
        };
        let document = context.document().map(|(document, _)| document);
        for i in ws.document.others(group, ws.tokens, t) {
            let other = ws.document.occurrence(i);
            if let Some(sentence) = document.and_then(|d| d.sentence(other.sentence as usize)) {
                let position = i64::from(other.t) + i64::from(offset);
                push_run(kind, sentence, self.source, position, ws);
                ws.values.drop_duplicate();
            }
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

/// Pushes the text that `write` derives from a text in the arena.
fn push_derived(
    source: Range<usize>,
    ws: &mut Workspace,
    write: impl FnOnce(&str, &mut ShapeScratch, &mut String),
) {
    let Workspace { values, scratch, .. } = ws;
    scratch.text.clear();
    write(&values.arena[source], &mut scratch.shape, &mut scratch.text);
    values.push_text(&scratch.text);
}

/// Pushes the text that `write` writes, if that returns that there is one.
fn push_written(
    values: &mut Values,
    scratch: &mut Scratch,
    write: impl FnOnce(&mut String) -> bool,
) {
    scratch.text.clear();
    if write(&mut scratch.text) {
        values.push_text(&scratch.text);
    }
}

/// Pushes what is known about a token in a run of capitalized cells of a column.
fn push_run(kind: RunKind, sentence: &Sentence, column: usize, position: i64, ws: &mut Workspace) {
    let length = sentence.len();
    let Some(t) = usize::try_from(position).ok().filter(|&t| t < length) else {
        return;
    };
    push_written(&mut ws.values, &mut ws.scratch, |text| {
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

fn push_substrings(
    kind: SubstringKind,
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    values: &mut Values,
    scratch: &mut Scratch,
) {
    let text = match kind {
        SubstringKind::Prefix | SubstringKind::Suffix => word,
        SubstringKind::Affixes | SubstringKind::Ngrams => {
            let start = values.arena.len();
            values.arena.push('<');
            values.arena.extend_from_within(word);
            values.arena.push('>');
            start..values.arena.len()
        }
    };
    if matches!(kind, SubstringKind::Prefix | SubstringKind::Affixes) {
        push_prefixes(lengths, text.clone(), values, scratch);
    }
    if matches!(kind, SubstringKind::Suffix | SubstringKind::Affixes) {
        push_suffixes(lengths, text.clone(), values, scratch);
    }
    if kind == SubstringKind::Ngrams {
        push_ngrams(lengths, text, values, scratch);
    }
}

/// Returns the length of the longest prefix or suffix in bytes, which open ranges limit.
fn longest_affix(lengths: &RangeInclusive<usize>) -> usize {
    if *lengths.end() == OPEN_LENGTH { OPEN_BYTES } else { usize::MAX }
}

/// Returns the lengths in bytes of the affixes of these lengths in characters, given the characters
/// from that end of the word on.
fn affix_lengths<'s>(
    lengths: &RangeInclusive<usize>,
    characters: impl Iterator<Item = &'s str>,
) -> impl Iterator<Item = usize> {
    let longest = longest_affix(lengths);
    let ends = characters.scan(0, |end, character| {
        *end += character.len();
        Some(*end)
    });
    let ends = ends.take(*lengths.end()).take_while(move |end| *end <= longest);
    ends.skip(lengths.start() - 1)
}

fn push_prefixes(
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    values: &mut Values,
    scratch: &mut Scratch,
) {
    scratch.boundaries.clear();
    let characters = graphemes(&values.arena[word.clone()]);
    scratch.boundaries.extend(affix_lengths(lengths, characters));
    for length in &scratch.boundaries {
        values.push_range(word.start..word.start + length);
    }
}

/// Pushes the suffixes that are not among the values yet. A suffix may be a prefix as well: the
/// whole text is, and so is `<>` in `<>a<>`.
fn push_suffixes(
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    values: &mut Values,
    scratch: &mut Scratch,
) {
    scratch.boundaries.clear();
    let characters = graphemes(&values.arena[word.clone()]).rev();
    scratch.boundaries.extend(affix_lengths(lengths, characters));
    for length in &scratch.boundaries {
        let range = word.end - length..word.end;
        let text = &values.arena[range.clone()];
        if !values.current().iter().any(|value| values.text(*value) == text) {
            values.push_range(range);
        }
    }
}

/// Pushes the distinct n-grams of `lengths` characters within the first [`NGRAM_WINDOW`].
fn push_ngrams(
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    values: &mut Values,
    scratch: &mut Scratch,
) {
    let Scratch { boundaries, seen_ngrams, .. } = scratch;
    boundaries.clear();
    boundaries.push(word.start);
    let mut end = word.start;
    for grapheme in graphemes(&values.arena[word]).take(NGRAM_WINDOW) {
        end += grapheme.len();
        boundaries.push(end);
    }
    seen_ngrams.clear();
    for length in lengths.clone() {
        for i in length..boundaries.len() {
            let range = boundaries[i - length]..boundaries[i];
            let arena = values.arena.as_bytes();
            let text = |&(start, end): &(u32, u32)| &arena[start as usize..end as usize];
            let key = (range.start as u32, range.end as u32);
            let bytes = &arena[range.clone()];
            let hash = xxh3_64(bytes);
            if range.end <= u32::MAX as usize
                && seen_ngrams.find(hash, |k| text(k) == bytes).is_none()
            {
                seen_ngrams.insert_unique(hash, key, |k| xxh3_64(text(k)));
                values.push_range(range);
            }
        }
    }
}

/// Pushes a flag, or the text of the first group, if the expression matches.
fn push_group(regex: &Regex, word: Range<usize>, values: &mut Values) {
    let text = &values.arena[word.clone()];
    if regex.captures_len() == 1 {
        values.push_flag(regex.is_match(text));
    } else if let Some(groups) = regex.captures(text) {
        let range = groups.get(1).map_or(0..0, |group| group.range());
        values.push_range(word.start + range.start..word.start + range.end);
    }
}

/// Pushes prefixes of the cluster path. Lengths beyond the path yield the whole path, once.
fn push_paths(clusters: &Clusters, lengths: &[usize], word: Range<usize>, values: &mut Values) {
    let Some(path) = clusters.path(&values.arena[word]) else {
        return;
    };
    let start = values.arena.len();
    values.arena.push_str(path);
    let prefix_end = |length: usize| path.char_indices().nth(length).map(|(i, _)| i);
    let mut whole = lengths.is_empty();
    for &length in lengths {
        match prefix_end(length) {
            Some(end) => values.push_range(start..start + end),
            None => whole = true,
        }
    }
    if whole {
        values.push_range(start..start + path.len());
    }
}

/// Pushes the nonzero components of the word's vector, each with its index as text.
fn push_vector(vectors: &Vectors, scale: f64, word: Range<usize>, values: &mut Values) {
    let Some(components) = vectors.get(&values.arena[word]) else {
        return;
    };
    for (i, &component) in components.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        let start = values.arena.len();
        let _ = write!(values.arena, "{i}"); // writing to a String cannot fail
        values.push_weighted(start..values.arena.len(), scale * f64::from(component));
    }
}

/// Pushes a flag if the values of a cell pass the test.
fn push_test(test: &ConditionTest, cell: usize, inside: bool, values: &mut Values) {
    let mut texts = values.of_cell(cell).iter().map(|value| values.text(*value));
    let holds = match test {
        ConditionTest::Length(compare, number) => {
            let length = texts.next().map_or(0, |text| graphemes(text).count());
            compare(&length, number)
        }
        ConditionTest::Equal(expected) => texts.any(|text| text == expected),
        ConditionTest::NotEqual(expected) => !texts.any(|text| text == expected),
        ConditionTest::Matches(expression) => texts.any(|text| expression.is_match(text)),
        ConditionTest::Exists => inside && texts.next().is_some(),
    };
    values.push_flag(holds);
}
