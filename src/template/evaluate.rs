//! Evaluates bound functions: appends their values to the workspace.

use std::fmt::Write;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use super::ast::ConditionTest;
use super::bound_function::BoundFunction;
use super::clusters::Clusters;
use super::lexicon::Lexicon;
use super::mention::{MentionKind, VisibleOccurrences};
use super::mined::MinedNames;
use super::name_context::{is_title, occurrence};
use super::pattern::{OutsidePosition, PatternMacro};
use super::run::{RunKind, write_run};
use super::shape::{KnownWords, capitalization, character_classes};
use super::template_function::{
    NGRAM_WINDOW, OPEN_BYTES, OPEN_LENGTH, SubstringKind, TextFunction,
};
use super::text::{graphemes, push_lower};
use super::vectors::Vectors;
use super::workspace::{FunctionValue, Workspace};
use crate::error::{Error, Result};
use crate::sentence::{Document, Sentence, SentenceRef};

/// Largest magnitude of a number in a column, so that products of several numbers stay finite.
const MAX_NUMBER: f64 = 1e15;

/// The input cell that memoized functions are evaluated on.
pub(super) struct InputCell {
    /// Its text in the arena.
    pub text: Range<usize>,
    /// Its position, if it lies outside the sentence.
    pub outside: Option<OutsidePosition>,
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
        let inside = input.outside.is_none();
        let source_cell = self
            .source()
            .map_or(0, |source| input.first_cell + offset(source));
        let source = |ws: &Workspace| ws.cell_text(source_cell);
        match self {
            Self::Column(_) => ws.push_range(input.text.clone()),
            Self::Lower(_) => ws.push_derived(source(ws), |text, _, out| push_lower(text, out)),
            Self::Text(function, known, _) => push_text_function(*function, source(ws), known, ws),
            Self::Test(test, _) => push_test(test, source_cell, inside, ws),
            Self::Macro(pattern_macro) => push_macro(pattern_macro, input, ws),
            _ if !inside => {}
            Self::Substrings(kind, lengths, _) => push_substrings(*kind, lengths, source(ws), ws),
            Self::Regex(regex, _) => push_group(regex, source(ws), ws),
            Self::Title(_) => push_flag(is_title(&ws.arena[source(ws)]), ws),
            Self::Cluster(clusters, lengths, _) => push_paths(clusters, lengths, source(ws), ws),
            Self::Vector(vectors, scale, _) => push_vector(vectors, *scale, source(ws), ws),
            Self::LengthValue(_) => {
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
        let sentence = context.sentence();
        if let Self::Lexicon(lexicon, source) = self {
            tag_phrases(lexicon, *source, ws);
        }
        if let Self::MinedNames(names, source) = self {
            tag_names(names, *source, ws);
        }
        let length = ws.tokens as i64;
        for p in -1..=length {
            match self {
                Self::Bias => ws.push_range(0..0),
                Self::Test(test, source) => {
                    let cell = ws.cell_index(*source, p);
                    push_test(test, cell, (0..length).contains(&p), ws);
                }
                Self::ShapeWhileReading(..) if !(0..length).contains(&p) => ws.push_text(""),
                _ if !(0..length).contains(&p) => {}
                Self::Mention(kind, index) => push_mention(*kind, *index, p as usize, window, ws),
                Self::Others { number, .. } => push_gathered(*number, p as usize, ws),
                Self::OthersRun {
                    kind,
                    column,
                    offset,
                    group,
                } => {
                    if let Some((document, _)) = context.document() {
                        let run = (*kind, *column, *offset);
                        push_other_runs(run, document, *group, p as usize, ws);
                    }
                }
                Self::Run(kind, column) => {
                    push_run(*kind, sentence, *column, p, ws);
                }
                _ => self.fill_token(sentence, p as usize, ws)?,
            }
            ws.finish_cell();
        }
        Ok(())
    }

    /// Evaluates a function that depends on its context at token `t`.
    fn fill_token(&self, sentence: &Sentence, t: usize, ws: &mut Workspace) -> Result<()> {
        match self {
            Self::Start => push_flag(t == 0, ws),
            Self::ShapeWhileReading(shape, known, first_read, source) => {
                let here = ws.training_sentence().map(|number| (number, t as u32));
                let is_read = |word: &str| {
                    here.is_none_or(|here| first_read.get(word).is_none_or(|first| *first <= here))
                };
                let text = ws.text_at(*source, t as i64);
                ws.push_derived(text, |text, scratch, out| {
                    shape.write_if(text, known, is_read, scratch, out);
                });
            }
            Self::End => push_flag(t + 1 == ws.tokens, ws),
            Self::Bag(window, source) => push_bag(window, *source, t as i64, ws),
            Self::Occurrence(source) => {
                let word = |u: usize| &ws.arena[ws.text_at(*source, u as i64)];
                if let Some(value) = occurrence(ws.tokens, word, t) {
                    ws.push_text(value);
                }
            }
            Self::Lexicon(..) => match ws.lexicon_tags.get(t) {
                Some(b' ') | None => {}
                Some(&tag) => ws.push_text(char::from(tag).encode_utf8(&mut [0; 4])),
            },
            Self::MinedNames(names, _) => push_types(names, t, ws),
            Self::Value(column) => {
                let number = parse_number(sentence.cell(t, *column));
                push_number(
                    number.ok_or_else(|| not_a_number(sentence, t, *column))?,
                    ws,
                );
            }
            _ => {} // memoized per word
        }
        Ok(())
    }
}

/// Pushes what the document says about the word of token `t` of the sentence.
fn push_mention(kind: MentionKind, number: usize, t: usize, window: u32, ws: &mut Workspace) {
    let token = ws.document.start + t;
    let index = Arc::clone(ws.document.index(number));
    let mut text = std::mem::take(&mut ws.boundary_token);
    text.clear();
    let has_value = match kind {
        MentionKind::Forms => {
            ws.document.write_forms(number, t, window, &mut text);
            true
        }
        _ => VisibleOccurrences::new(&index, token, window).write(kind, &mut text),
    };
    if has_value {
        ws.push_text(&text);
    }
    ws.boundary_token = text;
}

/// Pushes the set of values that a function has gathered for token `t` of the sentence.
fn push_gathered(number: usize, t: usize, ws: &mut Workspace) {
    let first = ws.next_value();
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
    let first = ws.next_value();
    for i in ws.document.others(group, ws.tokens, t) {
        let other = ws.document.occurrence(i);
        let Some(sentence) = document.sentence(other.sentence as usize) else {
            continue; // there is one
        };
        let position = i64::from(other.t) + i64::from(offset);
        let next = ws.next_value();
        push_run(kind, sentence, column, position, ws);
        if ws.next_value() > next {
            let pushed = *ws.value(next as u32);
            let same = |value: &FunctionValue| is_same(*value, pushed, ws);
            if ws.values_from(first)[..next - first].iter().any(same) {
                ws.pop_value();
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
    let mut text = std::mem::take(&mut ws.boundary_token);
    text.clear();
    if write_run(kind, length, |u| sentence.cell(u, column), t, &mut text) {
        ws.push_text(&text);
    }
    ws.boundary_token = text;
}

/// Pushes a copy of a value, unless it is among those from `first` on.
fn push_distinct(value: FunctionValue, first: usize, ws: &mut Workspace) {
    let same = |other: &FunctionValue| is_same(*other, value, ws);
    if !ws.values_from(first).iter().any(same) {
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

fn push_text_function(
    function: TextFunction,
    source: Range<usize>,
    known: &KnownWords,
    ws: &mut Workspace,
) {
    match function {
        TextFunction::Identity => ws.push_range(source),
        TextFunction::Shape(shape) | TextFunction::ShapeWhileReading(shape) => {
            ws.push_derived(source, |text, scratch, out| {
                shape.write(text, known, scratch, out);
            });
        }
        TextFunction::Length => ws.push_derived(source, |text, _, out| {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", graphemes(text).count());
        }),
        TextFunction::Capitalization => ws.push_text(capitalization(&ws.arena[source])),
        TextFunction::Class => ws.push_text(character_classes(&ws.arena[source])),
    }
}

fn push_substrings(
    kind: SubstringKind,
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    ws: &mut Workspace,
) {
    match kind {
        SubstringKind::Prefix => push_prefixes(lengths, word, ws),
        SubstringKind::Suffix => push_suffixes(lengths, word, ws.next_value(), ws),
        SubstringKind::Affixes => {
            let bracketed = push_bracketed(word, ws);
            let first = ws.next_value();
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
    if *lengths.end() == OPEN_LENGTH as usize {
        OPEN_BYTES
    } else {
        usize::MAX
    }
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
    for grapheme in graphemes(&ws.arena[word.clone()])
        .rev()
        .take(*lengths.end())
    {
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
        if !ws.values_from(first).iter().any(same) {
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
            let Workspace {
                arena, seen_ngrams, ..
            } = ws;
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
    let first = ws.next_value();
    for offset in window.clone().map(i64::from) {
        if let Some(&value) = ws.values_at(source, p + offset).first() {
            push_distinct(value, first, ws);
        }
    }
}

fn tag_phrases(lexicon: &Lexicon, source: usize, ws: &mut Workspace) {
    let mut tags = std::mem::take(&mut ws.lexicon_tags);
    let word = |t: usize| &ws.arena[ws.text_at(source, t as i64)];
    lexicon.tag(ws.tokens, word, &mut tags);
    ws.lexicon_tags = tags;
}

fn tag_names(names: &MinedNames, source: usize, ws: &mut Workspace) {
    let mut tags = std::mem::take(&mut ws.name_tags);
    let word = |t: usize| &ws.arena[ws.text_at(source, t as i64)];
    names.tag(ws.tokens, word, ws.training_sentence(), &mut tags);
    ws.name_tags = tags;
}

/// Pushes each type of the name that token `t` belongs to, with its position in the name.
fn push_types(names: &MinedNames, t: usize, ws: &mut Workspace) {
    let Some(&(tag, node)) = ws.name_tags.get(t).filter(|(tag, _)| *tag != b' ') else {
        return;
    };
    names.for_each_type(node, ws.training_sentence(), |kind| {
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
        ConditionTest::Length(operator, number) => {
            let length = texts.next().map_or(0, |text| graphemes(text).count());
            operator.holds(length, *number)
        }
        ConditionTest::Equal(expected) => texts.any(|text| text == expected),
        ConditionTest::NotEqual(expected) => !texts.any(|text| text == expected),
        ConditionTest::Matches(expression) => texts.any(|text| expression.regex.is_match(text)),
        ConditionTest::Exists => inside && texts.next().is_some(),
    };
    push_flag(holds, ws);
}

fn push_macro(pattern_macro: &PatternMacro, input: &InputCell, ws: &mut Workspace) {
    let mut boundary = std::mem::take(&mut ws.boundary_token);
    ws.push_derived(input.text.clone(), |text, _, out| match input.outside {
        None => pattern_macro.write(text, out),
        Some(outside) => pattern_macro.write_outside(outside, &mut boundary, out),
    });
    ws.boundary_token = boundary;
}
