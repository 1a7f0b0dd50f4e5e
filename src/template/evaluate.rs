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
use super::mined::MinedNames;
use super::shape::{capitalization, character_classes, is_title, occurrence};
use super::text::{graphemes, push_lower};
use super::vectors::Vectors;
use super::workspace::{FunctionValue, Workspace};
use crate::error::{Error, Result};
use crate::sentence::{Document, Sentence, SentenceRef};

/// Largest magnitude of a number in a column, so that products of several numbers stay finite.
const MAX_NUMBER: f64 = 1e15;

/// The input cell that memoized functions are evaluated on.
pub(super) struct InputCell {
    /// Its text in the arena; outside the sentence, that of macros.
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
        let source = |ws: &Workspace| ws.cell_text(cell);
        match &self.operation {
            Operation::Text => ws.push_range(input.text.clone()),
            Operation::Lower => {
                ws.push_derived(source(ws), |text, _, out| push_lower(text, out));
            }
            Operation::Shape(shape, known) => {
                ws.push_derived(source(ws), |text, scratch, out| {
                    shape.write(text, known, |_| true, scratch, out);
                });
            }
            Operation::Length => ws.push_derived(source(ws), |text, _, out| {
                // Writing to a String cannot fail.
                let _ = write!(out, "{}", graphemes(text).count());
            }),
            Operation::Capitalization => ws.push_text(capitalization(&ws.arena[source(ws)])),
            Operation::Class => ws.push_text(character_classes(&ws.arena[source(ws)])),
            Operation::Test(test) => push_test(test, cell, inside, ws),
            Operation::Macro(pattern_macro) => {
                ws.push_derived(input.text.clone(), |text, _, out| {
                    pattern_macro.write(text, out);
                });
            }
            _ if !inside => {}
            Operation::Substrings(kind, lengths) => {
                push_substrings(*kind, lengths, source(ws), ws);
            }
            Operation::Regex(regex) => push_group(regex, source(ws), ws),
            Operation::Title => push_flag(is_title(&ws.arena[source(ws)]), ws),
            Operation::Cluster(clusters, lengths) => {
                push_paths(clusters, lengths, source(ws), ws);
            }
            Operation::Vector(vectors, scale) => push_vector(vectors, *scale, source(ws), ws),
            Operation::LengthValue => {
                let length = graphemes(&ws.arena[source(ws)]).count();
                push_number(length as f64, ws);
            }
            _ => {} // evaluated per sentence
        }
        ws.finish_cell();
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
        let mut tags = std::mem::take(&mut ws.phrase_tags);
        let word = |t: usize| &ws.arena[ws.text_at(self.source, t as i64)];
        match &self.operation {
            Operation::Lexicon(lexicon) => lexicon.tag(ws.tokens, word, &mut tags),
            Operation::MinedNames(names) => {
                names.tag(ws.tokens, word, ws.training_sentence, &mut tags);
            }
            _ => {}
        }
        ws.phrase_tags = tags;
        let length = ws.tokens as i64;
        for p in -1..=length {
            let inside = (0..length).contains(&p);
            match &self.operation {
                Operation::Bias => ws.push_range(0..0),
                Operation::Test(test) => push_test(test, ws.cell_index(self.source, p), inside, ws),
                Operation::ShapeWhileReading(..) if !inside => ws.push_text(""),
                _ if !inside => {}
                _ => self.fill_token(context, p as usize, window, ws)?,
            }
            ws.finish_cell();
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
            Operation::Start => push_flag(t == 0, ws),
            Operation::End => push_flag(t + 1 == ws.tokens, ws),
            Operation::ShapeWhileReading(shape, known, first_read) => {
                let here = ws.training_sentence.map(|number| (number, t as u32));
                let is_read = |word: &str| {
                    here.is_none_or(|here| first_read.get(word).is_none_or(|first| *first <= here))
                };
                let text = ws.text_at(source, t as i64);
                ws.push_derived(text, |text, scratch, out| {
                    shape.write(text, known, is_read, scratch, out);
                });
            }
            Operation::Bag(window) => push_bag(window, source, t as i64, ws),
            Operation::Occurrence => {
                let word = |u: usize| &ws.arena[ws.text_at(source, u as i64)];
                if let Some(value) = occurrence(ws.tokens, word, t) {
                    ws.push_text(value);
                }
            }
            Operation::Lexicon(_) => match ws.phrase_tags.get(t) {
                Some(&(tag, _)) if tag != b' ' => {
                    ws.push_text(char::from(tag).encode_utf8(&mut [0; 4]));
                }
                _ => {}
            },
            Operation::MinedNames(names) => push_types(names, t, ws),
            Operation::Value => {
                let number = parse_number(sentence.cell(t, source));
                push_number(number.ok_or_else(|| not_a_number(sentence, t, source))?, ws);
            }
            Operation::Mention(kind) => push_written(ws, |ws, text| {
                ws.document.write_mention(*kind, source, t, window, text)
            }),
            Operation::Run(kind) => push_run(*kind, sentence, source, t as i64, ws),
            Operation::Gathered { number, .. } => push_gathered(*number, t, ws),
            Operation::GatheredRuns { kind, offset, group } => {
                if let Some((document, _)) = context.document() {
                    push_other_runs((*kind, source, *offset), document, *group, t, ws);
                }
            }
            _ => {} // memoized per word
        }
        Ok(())
    }
}

/// Pushes the text that `write` writes, if that returns that there is one.
fn push_written(ws: &mut Workspace, write: impl FnOnce(&Workspace, &mut String) -> bool) {
    let mut text = std::mem::take(&mut ws.written);
    text.clear();
    if write(ws, &mut text) {
        ws.push_text(&text);
    }
    ws.written = text;
}

/// Pushes the set of values that a function has gathered for token `t` of the sentence.
fn push_gathered(number: usize, t: usize, ws: &mut Workspace) {
    let first = ws.values.len();
    for i in ws.document.gathered(number, ws.tokens, t) {
        let cell = ws.document.gathered[i] as usize;
        for j in ws.cell_value_range(cell) {
            push_distinct(*ws.value(j), first, ws);
        }
    }
}

/// Pushes the set of what is known about the runs of other occurrences of token `t` of the
/// sentence, or of the tokens at an offset from them.
fn push_other_runs(
    (kind, column, offset): (RunKind, usize, i32),
    document: &Document<'_>,
    group: usize,
    t: usize,
    ws: &mut Workspace,
) {
    let first = ws.values.len();
    for i in ws.document.others(group, ws.tokens, t) {
        let other = ws.document.occurrence(i);
        let Some(sentence) = document.sentence(other.sentence as usize) else {
            continue; // there is one
        };
        let position = i64::from(other.t) + i64::from(offset);
        let next = ws.values.len();
        push_run(kind, sentence, column, position, ws);
        if ws.values.len() > next {
            let pushed = *ws.value(next as u32);
            let same = |value: &FunctionValue| is_same(*value, pushed, ws);
            if ws.values[first..next].iter().any(same) {
                ws.values.pop();
            }
        }
    }
}

/// Pushes what is known about a token in a run of capitalized cells of a column.
fn push_run(kind: RunKind, sentence: &Sentence, column: usize, position: i64, ws: &mut Workspace) {
    let length = sentence.len();
    let Some(t) = usize::try_from(position).ok().filter(|&t| t < length) else {
        return;
    };
    push_written(ws, |_, text| write_run(kind, length, |u| sentence.cell(u, column), t, text));
}

/// Pushes a copy of a value, unless it is among those from `first` on.
fn push_distinct(value: FunctionValue, first: usize, ws: &mut Workspace) {
    let same = |other: &FunctionValue| is_same(*other, value, ws);
    if !ws.values[first..].iter().any(same) {
        ws.push_copy(value);
    }
}

fn is_same(one: FunctionValue, other: FunctionValue, ws: &Workspace) -> bool {
    one.fragment == other.fragment && ws.text(one) == ws.text(other)
}

fn push_flag(set: bool, ws: &mut Workspace) {
    if set {
        ws.push_range(0..0);
    }
}

/// Pushes a number, unless it is zero, which would contribute nothing to any score.
fn push_number(number: f64, ws: &mut Workspace) {
    if number != 0.0 {
        ws.push_weighted(0..0, number);
    }
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
    ws: &mut Workspace,
) {
    match kind {
        SubstringKind::Prefix => push_prefixes(lengths, word, ws),
        SubstringKind::Suffix => push_suffixes(lengths, word, ws.values.len(), ws),
        SubstringKind::Affixes => {
            let bracketed = push_bracketed(word, ws);
            let first = ws.values.len();
            push_prefixes(lengths, bracketed.clone(), ws);
            push_suffixes(lengths, bracketed, first, ws);
        }
        SubstringKind::Ngrams => {
            let bracketed = push_bracketed(word, ws);
            push_ngrams(lengths, bracketed, ws);
        }
    }
}

/// Returns the length of the longest prefix or suffix in bytes, which open ranges limit.
fn longest_affix(lengths: &RangeInclusive<usize>) -> usize {
    if *lengths.end() == OPEN_LENGTH { OPEN_BYTES } else { usize::MAX }
}

/// Writes `<text>` to the arena.
fn push_bracketed(word: Range<usize>, ws: &mut Workspace) -> Range<usize> {
    let start = ws.arena.len();
    ws.arena.push('<');
    ws.arena.extend_from_within(word);
    ws.arena.push('>');
    start..ws.arena.len()
}

fn push_prefixes(lengths: &RangeInclusive<usize>, word: Range<usize>, ws: &mut Workspace) {
    ws.boundaries.clear();
    let (mut end, longest) = (word.start, longest_affix(lengths));
    for grapheme in graphemes(&ws.arena[word.clone()]).take(*lengths.end()) {
        end += grapheme.len();
        if end - word.start > longest {
            break;
        }
        ws.boundaries.push(end);
    }
    for i in lengths.start() - 1..ws.boundaries.len() {
        ws.push_range(word.start..ws.boundaries[i]);
    }
}

/// Pushes the suffixes that are not among the values from `first` on. A suffix may be a prefix as
/// well: the whole text is, and so is `<>` in `<>a<>`.
fn push_suffixes(
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    first: usize,
    ws: &mut Workspace,
) {
    ws.boundaries.clear();
    let (mut start, longest) = (word.end, longest_affix(lengths));
    for grapheme in graphemes(&ws.arena[word.clone()]).rev().take(*lengths.end()) {
        start -= grapheme.len();
        if word.end - start > longest {
            break;
        }
        ws.boundaries.push(start);
    }
    for i in lengths.start() - 1..ws.boundaries.len() {
        let range = ws.boundaries[i]..word.end;
        let text = &ws.arena[range.clone()];
        let same = |value: &FunctionValue| ws.text(*value) == text;
        if !ws.values[first..].iter().any(same) {
            ws.push_range(range);
        }
    }
}

/// Pushes the distinct n-grams of `lengths` characters within the first [`NGRAM_WINDOW`].
fn push_ngrams(lengths: &RangeInclusive<usize>, word: Range<usize>, ws: &mut Workspace) {
    ws.boundaries.clear();
    ws.boundaries.push(word.start);
    let mut end = word.start;
    for grapheme in graphemes(&ws.arena[word]).take(NGRAM_WINDOW) {
        end += grapheme.len();
        ws.boundaries.push(end);
    }
    ws.seen_ngrams.clear();
    for length in lengths.clone() {
        for i in length..ws.boundaries.len() {
            let range = ws.boundaries[i - length]..ws.boundaries[i];
            let Workspace { arena, seen_ngrams, .. } = ws;
            let text = |&(start, end): &(u32, u32)| &arena.as_bytes()[start as usize..end as usize];
            let key = (range.start as u32, range.end as u32);
            let bytes = &arena.as_bytes()[range.clone()];
            let hash = xxh3_64(bytes);
            if range.end <= u32::MAX as usize
                && seen_ngrams.find(hash, |k| text(k) == bytes).is_none()
            {
                seen_ngrams.insert_unique(hash, key, |k| xxh3_64(text(k)));
                ws.push_range(range);
            }
        }
    }
}

/// Pushes a flag, or the text of the first group, if the expression matches.
fn push_group(regex: &Regex, word: Range<usize>, ws: &mut Workspace) {
    let text = &ws.arena[word.clone()];
    if regex.captures_len() == 1 {
        push_flag(regex.is_match(text), ws);
    } else if let Some(groups) = regex.captures(text) {
        let range = groups.get(1).map_or(0..0, |group| group.range());
        ws.push_range(word.start + range.start..word.start + range.end);
    }
}

/// Pushes the set of texts in the window around position `p`, with the empty text outside the
/// sentence.
fn push_bag(window: &RangeInclusive<i32>, source: usize, p: i64, ws: &mut Workspace) {
    let first = ws.values.len();
    for offset in window.clone().map(i64::from) {
        if let Some(&value) = ws.values_at(source, p + offset).first() {
            push_distinct(value, first, ws);
        }
    }
}

/// Pushes each type of the name that token `t` belongs to, with its position in the name.
fn push_types(names: &MinedNames, t: usize, ws: &mut Workspace) {
    let Some(&(tag, node)) = ws.phrase_tags.get(t).filter(|(tag, _)| *tag != b' ') else {
        return;
    };
    names.for_each_type(node, ws.training_sentence, |kind| {
        let start = ws.arena.len();
        ws.arena.push_str(kind);
        ws.arena.push('-');
        ws.arena.push(char::from(tag));
        ws.push_range(start..ws.arena.len());
    });
}

/// Pushes prefixes of the cluster path. Lengths beyond the path yield the whole path, once.
fn push_paths(clusters: &Clusters, lengths: &[usize], word: Range<usize>, ws: &mut Workspace) {
    let Some(path) = clusters.path(&ws.arena[word]) else {
        return;
    };
    let start = ws.arena.len();
    ws.arena.push_str(path);
    let prefix_end = |length: usize| path.char_indices().nth(length).map(|(i, _)| i);
    let mut whole = lengths.is_empty();
    for &length in lengths {
        match prefix_end(length) {
            Some(end) => ws.push_range(start..start + end),
            None => whole = true,
        }
    }
    if whole {
        ws.push_range(start..start + path.len());
    }
}

/// Pushes the nonzero components of the word's vector, each with its index as text.
fn push_vector(vectors: &Vectors, scale: f64, word: Range<usize>, ws: &mut Workspace) {
    let Some(components) = vectors.get(&ws.arena[word]) else {
        return;
    };
    for (i, &component) in components.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        let start = ws.arena.len();
        let _ = write!(ws.arena, "{i}"); // writing to a String cannot fail
        ws.push_weighted(start..ws.arena.len(), scale * f64::from(component));
    }
}

/// Pushes a flag if the values of a cell pass the test.
fn push_test(test: &ConditionTest, cell: usize, inside: bool, ws: &mut Workspace) {
    let mut texts = ws.cell_values(cell).iter().map(|value| ws.text(*value));
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
    push_flag(holds, ws);
}
