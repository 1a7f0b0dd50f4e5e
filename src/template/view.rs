//! Views: what a function is at every position of a sentence, computed once per sentence.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use super::lexicon::{Clusters, Lexicon};
use super::name::{is_title, occurrence};
use super::pattern::Pattern;
use super::shape::{Known, capitalization, character_kinds};
use super::syntax::{Form, NGRAM_WINDOW, Part, Test};
use super::text::{graphemes, push_lower};
use super::vectors::Vectors;
use super::workspace::Workspace;
use crate::error::{Error, Result};
use crate::sentence::Sentence;

/// Largest number that a column may hold as a value: products of several stay finite.
const MAX_NUMBER: f64 = 1e15;

/// A function, bound to a column or to an earlier view, whose number is the last field (for
/// [`View::Column`] and [`View::Number`] that of a column).
#[derive(Clone, Debug)]
pub(super) enum View {
    Bias,
    Start,
    End,
    /// The cells of a column; the empty text outside.
    Column(usize),
    Lower(usize),
    Form(Form, usize, Arc<Known>),
    Parts(Part, RangeInclusive<usize>, usize),
    Regex(Regex, usize),
    Bag(RangeInclusive<i32>, usize),
    Title(usize),
    Occurrence(usize),
    Lexicon(Arc<Lexicon>, usize),
    Cluster(Arc<Clusters>, Vec<usize>, usize),
    /// Vectors, and what they are multiplied by.
    Vector(Arc<Vectors>, f64, usize),
    /// The numbers in a column.
    Number(usize),
    /// The length of the text as a number.
    LengthValue(usize),
    Pattern(Pattern),
    /// A flag where a condition holds.
    Test(Test, usize),
}

impl View {
    /// The column that it reads from the sentence, if it does.
    pub(super) fn column(&self) -> Option<usize> {
        match self {
            Self::Column(column) | Self::Number(column) => Some(*column),
            Self::Pattern(pattern) => Some(pattern.column),
            _ => None,
        }
    }

    /// Computes the view at every position of `sentence`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a token whose cell should be a number and is none.
    pub(super) fn fill(&self, sentence: &Sentence, ws: &mut Workspace) -> Result<()> {
        if let Self::Pattern(pattern) = self {
            fill_pattern(pattern, sentence, ws);
            return Ok(());
        }
        ws.begin_view(1);
        if let Self::Regex(regex, source) = self {
            fill_groups(regex, *source, ws);
            return Ok(());
        }
        if let Self::Lexicon(lexicon, source) = self {
            tag(lexicon, *source, ws);
        }
        let length = ws.tokens as i64;
        for p in -1..=length {
            if (0..length).contains(&p) {
                self.inside(sentence, p as usize, ws)?;
            } else {
                self.outside(p, ws);
            }
            ws.end_cell();
        }
        Ok(())
    }

    /// What a view has before and after the sentence, where the text is empty.
    fn outside(&self, p: i64, ws: &mut Workspace) {
        match self {
            Self::Bias => ws.push_range(0..0),
            Self::Column(_) | Self::Lower(_) => ws.push_text(""),
            Self::Form(form, _, known) => push_form(*form, 0..0, known, ws),
            Self::Test(test, source) => push_test(test, *source, p, ws),
            _ => {}
        }
    }

    fn inside(&self, sentence: &Sentence, t: usize, ws: &mut Workspace) -> Result<()> {
        let p = t as i64;
        match self {
            Self::Bias => ws.push_range(0..0),
            Self::Start => push_flag(t == 0, ws),
            Self::End => push_flag(t + 1 == ws.tokens, ws),
            Self::Column(column) => ws.push_text(sentence.cell(t, *column)),
            Self::Lower(source) => {
                ws.push_made(ws.source(*source, p), |text, _, out| push_lower(text, out));
            }
            Self::Form(form, source, known) => push_form(*form, ws.source(*source, p), known, ws),
            Self::Parts(part, lengths, source) => push_parts(*part, lengths, *source, p, ws),
            Self::Bag(window, source) => push_bag(window, *source, p, ws),
            Self::Title(source) => {
                push_flag(is_title(&ws.arena[ws.source(*source, p)]), ws);
            }
            Self::Occurrence(source) => {
                let word = |u: usize| &ws.arena[ws.source(*source, u as i64)];
                if let Some(value) = occurrence(ws.tokens, word, t) {
                    ws.push_text(value);
                }
            }
            Self::Lexicon(..) => match ws.tags.get(t) {
                Some(b' ') | None => {}
                Some(&tag) => ws.push_text(char::from(tag).encode_utf8(&mut [0; 4])),
            },
            Self::Cluster(clusters, lengths, source) => {
                push_paths(clusters, lengths, *source, p, ws);
            }
            Self::Vector(vectors, scale, source) => {
                push_vector(vectors, *scale, ws.source(*source, p), ws);
            }
            Self::Number(column) => {
                let number = parse_number(sentence.cell(t, *column));
                push_number(
                    number.ok_or_else(|| not_a_number(sentence, t, *column))?,
                    ws,
                );
            }
            Self::LengthValue(source) => {
                let length = graphemes(&ws.arena[ws.source(*source, p)]).count();
                push_number(length as f64, ws);
            }
            Self::Pattern(_) | Self::Regex(..) => {} // have a loop of their own
            Self::Test(test, source) => push_test(test, *source, p, ws),
        }
        Ok(())
    }
}

fn push_flag(up: bool, ws: &mut Workspace) {
    if up {
        ws.push_range(0..0);
    }
}

/// A zero is no attribute: it would add nothing to any score.
fn push_number(number: f64, ws: &mut Workspace) {
    if number != 0.0 {
        ws.push_number(number);
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

fn push_form(form: Form, source: std::ops::Range<usize>, known: &Known, ws: &mut Workspace) {
    match form {
        Form::Same => ws.push_range(source),
        Form::Shape(shape) => {
            ws.push_made(source, |text, scratch, out| {
                shape.write(text, known, scratch, out);
            });
        }
        Form::Length => ws.push_made(source, |text, _, out| {
            use std::fmt::Write;
            // Writing into a String cannot fail.
            let _ = write!(out, "{}", graphemes(text).count());
        }),
        Form::Capitalization => ws.push_text(capitalization(&ws.arena[source])),
        Form::Class => ws.push_text(character_kinds(&ws.arena[source])),
    }
}

fn push_parts(
    part: Part,
    lengths: &RangeInclusive<usize>,
    source: usize,
    p: i64,
    ws: &mut Workspace,
) {
    let word = ws.source(source, p);
    match part {
        Part::Prefix => push_prefixes(lengths, word, ws),
        Part::Suffix => push_suffixes(lengths, word, None, ws),
        Part::Affixes => {
            let bracketed = push_bracketed(word, ws);
            push_prefixes(lengths, bracketed.clone(), ws);
            let whole = graphemes(&ws.arena[bracketed.clone()])
                .take(lengths.end() + 1)
                .count();
            // The suffix that is the whole is the prefix that is the whole.
            push_suffixes(lengths, bracketed, Some(whole), ws);
        }
        Part::Ngrams => {
            let bracketed = push_bracketed(word, ws);
            push_ngrams(lengths, bracketed, ws);
        }
    }
}

/// Writes `<text>` into the arena.
fn push_bracketed(word: std::ops::Range<usize>, ws: &mut Workspace) -> std::ops::Range<usize> {
    let start = ws.arena.len();
    ws.arena.push('<');
    ws.arena.extend_from_within(word);
    ws.arena.push('>');
    start..ws.arena.len()
}

fn push_prefixes(
    lengths: &RangeInclusive<usize>,
    word: std::ops::Range<usize>,
    ws: &mut Workspace,
) {
    ws.cuts.clear();
    let mut end = word.start;
    for grapheme in graphemes(&ws.arena[word.clone()]).take(*lengths.end()) {
        end += grapheme.len();
        ws.cuts.push(end);
    }
    for i in lengths.start() - 1..ws.cuts.len() {
        ws.push_range(word.start..ws.cuts[i]);
    }
}

fn push_suffixes(
    lengths: &RangeInclusive<usize>,
    word: std::ops::Range<usize>,
    but: Option<usize>,
    ws: &mut Workspace,
) {
    ws.cuts.clear();
    let mut start = word.end;
    for grapheme in graphemes(&ws.arena[word.clone()])
        .rev()
        .take(*lengths.end())
    {
        start -= grapheme.len();
        ws.cuts.push(start);
    }
    for i in lengths.start() - 1..ws.cuts.len() {
        if but != Some(i + 1) {
            ws.push_range(ws.cuts[i]..word.end);
        }
    }
}

/// All runs of `lengths` characters, each text once, within the first [`NGRAM_WINDOW`].
fn push_ngrams(lengths: &RangeInclusive<usize>, word: std::ops::Range<usize>, ws: &mut Workspace) {
    ws.cuts.clear();
    ws.cuts.push(word.start);
    let mut end = word.start;
    for grapheme in graphemes(&ws.arena[word]).take(NGRAM_WINDOW) {
        end += grapheme.len();
        ws.cuts.push(end);
    }
    ws.seen.clear();
    for length in lengths.clone() {
        for i in length..ws.cuts.len() {
            let range = ws.cuts[i - length]..ws.cuts[i];
            let Workspace { arena, seen, .. } = ws;
            let text = |&(start, end): &(u32, u32)| &arena.as_bytes()[start as usize..end as usize];
            let key = (range.start as u32, range.end as u32);
            let bytes = &arena.as_bytes()[range.clone()];
            let hash = xxh3_64(bytes);
            if range.end <= u32::MAX as usize && seen.find(hash, |k| text(k) == bytes).is_none() {
                seen.insert_unique(hash, key, |k| xxh3_64(text(k)));
                ws.push_range(range);
            }
        }
    }
}

/// A flag, or the first group's text, where the expression matches.
fn fill_groups(regex: &Regex, source: usize, ws: &mut Workspace) {
    let mut groups = regex.capture_locations();
    ws.end_cell();
    for t in 0..ws.tokens {
        let word = ws.source(source, t as i64);
        let text = &ws.arena[word.clone()];
        if groups.len() == 1 {
            push_flag(regex.is_match(text), ws);
        } else if regex.captures_read(&mut groups, text).is_some() {
            let (start, end) = groups.get(1).unwrap_or((0, 0));
            ws.push_range(word.start + start..word.start + end);
        }
        ws.end_cell();
    }
    ws.end_cell();
}

/// The set of texts in the window; outside the sentence it is the empty text.
fn push_bag(window: &RangeInclusive<i32>, source: usize, p: i64, ws: &mut Workspace) {
    let offsets = || window.clone().map(i64::from);
    for offset in offsets() {
        let range = ws.source(source, p + offset);
        let text = &ws.arena[range.clone()];
        let earlier = offsets().take_while(|&other| other < offset);
        let mut texts = earlier.map(|other| &ws.arena[ws.source(source, p + other)]);
        if !texts.any(|other| other == text) {
            ws.push_range(range);
        }
    }
}

fn tag(lexicon: &Lexicon, source: usize, ws: &mut Workspace) {
    let mut tags = std::mem::take(&mut ws.tags);
    let word = |t: usize| &ws.arena[ws.source(source, t as i64)];
    lexicon.tag(ws.tokens, word, &mut tags);
    ws.tags = tags;
}

/// Prefixes of the cluster's path; of those longer than the path one, the path itself.
fn push_paths(clusters: &Clusters, lengths: &[usize], source: usize, p: i64, ws: &mut Workspace) {
    let Some(path) = clusters.path(&ws.arena[ws.source(source, p)]) else {
        return;
    };
    let start = ws.arena.len();
    ws.arena.push_str(path);
    let cut = |length: usize| path.char_indices().nth(length).map(|(i, _)| i);
    let mut whole = lengths.is_empty();
    for &length in lengths {
        match cut(length) {
            Some(end) => ws.push_range(start..start + end),
            None => whole = true,
        }
    }
    if whole {
        ws.push_range(start..start + path.len());
    }
}

/// The numbers of the word's vector, each with its position as text; zeros are no attributes.
fn push_vector(vectors: &Vectors, scale: f64, word: std::ops::Range<usize>, ws: &mut Workspace) {
    let Some(numbers) = vectors.of(&ws.arena[word]) else {
        return;
    };
    for (i, &number) in numbers.iter().enumerate().filter(|(_, n)| **n != 0.0) {
        let start = ws.arena.len();
        let _ = write!(ws.arena, "{i}"); // a String takes all
        ws.push_weighted(start..ws.arena.len(), scale * f64::from(number));
    }
}

fn push_test(test: &Test, source: usize, p: i64, ws: &mut Workspace) {
    let inside = (0..ws.tokens as i64).contains(&p);
    let mut texts = ws.cell(source, p).iter().map(|item| ws.text(*item));
    let holds = match test {
        Test::Length(comparison, number) => {
            let length = texts.next().map_or(0, |text| graphemes(text).count());
            comparison.holds(length, *number)
        }
        Test::Equal(expected) => texts.any(|text| text == expected),
        Test::Unequal(expected) => !texts.any(|text| text == expected),
        Test::Matches(expression) => texts.any(|text| expression.regex.is_match(text)),
        Test::Exists => inside && texts.next().is_some(),
    };
    push_flag(holds, ws);
}

fn fill_pattern(pattern: &Pattern, sentence: &Sentence, ws: &mut Workspace) {
    let padding = pattern.padding();
    ws.begin_view(padding);
    let mut boundary = std::mem::take(&mut ws.boundary);
    for distance in (1..=padding).rev() {
        ws.push_made(0..0, |_, _, out| {
            pattern.write_outside(true, distance, &mut boundary, out);
        });
        ws.end_cell();
    }
    for t in 0..ws.tokens {
        ws.push_made(0..0, |_, _, out| {
            pattern.write(sentence.cell(t, pattern.column), out);
        });
        ws.end_cell();
    }
    for distance in 1..=padding {
        ws.push_made(0..0, |_, _, out| {
            pattern.write_outside(false, distance, &mut boundary, out);
        });
        ws.end_cell();
    }
    ws.boundary = boundary;
}
