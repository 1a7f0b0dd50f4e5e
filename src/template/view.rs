//! Views: what a function is at every position of a sentence, computed once for each word that it
//! sees or, where it looks around, once per sentence.

use std::fmt::Write;
use std::ops::{Range, RangeInclusive};
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
use super::workspace::{Item, Workspace};
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

/// The cell of the input that a view is computed of.
pub(super) struct Source {
    /// Its text in the arena.
    pub text: Range<usize>,
    /// Where it lies: `Some((before, distance))` outside of the sentence, at a distance from 1.
    pub outside: Option<(bool, usize)>,
    /// The first cell of its entry.
    pub first: usize,
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

    /// Positions on either side of a sentence where it has a value of its own.
    pub(super) fn padding(&self) -> usize {
        match self {
            Self::Pattern(pattern) => pattern.padding(),
            _ => 1,
        }
    }

    /// The view of the same cell that this one is made of, if it depends on nothing else.
    pub(super) fn made_of(&self) -> Option<usize> {
        match self {
            Self::Lower(source)
            | Self::Form(_, source, _)
            | Self::Parts(_, _, source)
            | Self::Regex(_, source)
            | Self::Title(source)
            | Self::Cluster(_, _, source)
            | Self::Vector(_, _, source)
            | Self::LengthValue(source)
            | Self::Test(_, source) => Some(*source),
            _ => None,
        }
    }

    /// Computes a view of one cell; `offset(view)` is where another one stands in the entry.
    pub(super) fn fill_kept(
        &self,
        source: &Source,
        offset: impl Fn(usize) -> usize,
        ws: &mut Workspace,
    ) {
        let inside = source.outside.is_none();
        let cell = self.made_of().map_or(0, |view| source.first + offset(view));
        let made_of = |ws: &Workspace| ws.source_of(cell);
        match self {
            Self::Column(_) => ws.push_range(source.text.clone()),
            Self::Lower(_) => ws.push_made(made_of(ws), |text, _, out| push_lower(text, out)),
            Self::Form(form, _, known) => push_form(*form, made_of(ws), known, ws),
            Self::Test(test, _) => push_test(test, cell, inside, ws),
            Self::Pattern(pattern) => push_pattern(pattern, source, ws),
            _ if !inside => {}
            Self::Parts(part, lengths, _) => push_parts(*part, lengths, made_of(ws), ws),
            Self::Regex(regex, _) => push_group(regex, made_of(ws), ws),
            Self::Title(_) => push_flag(is_title(&ws.arena[made_of(ws)]), ws),
            Self::Cluster(clusters, lengths, _) => push_paths(clusters, lengths, made_of(ws), ws),
            Self::Vector(vectors, scale, _) => push_vector(vectors, *scale, made_of(ws), ws),
            Self::LengthValue(_) => {
                let length = graphemes(&ws.arena[made_of(ws)]).count();
                push_number(length as f64, ws);
            }
            _ => {} // looks around
        }
        ws.end_cell();
    }

    /// Computes a view that looks around at every position of `sentence`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a token whose cell should be a number and is none.
    pub(super) fn fill_around(&self, sentence: &Sentence, ws: &mut Workspace) -> Result<()> {
        if let Self::Lexicon(lexicon, source) = self {
            tag(lexicon, *source, ws);
        }
        let length = ws.tokens as i64;
        for p in -1..=length {
            match self {
                Self::Bias => ws.push_range(0..0),
                Self::Test(test, source) => {
                    let cell = ws.cell_number(*source, p);
                    push_test(test, cell, (0..length).contains(&p), ws);
                }
                _ if !(0..length).contains(&p) => {}
                _ => self.inside(sentence, p as usize, ws)?,
            }
            ws.end_cell();
        }
        Ok(())
    }

    fn inside(&self, sentence: &Sentence, t: usize, ws: &mut Workspace) -> Result<()> {
        match self {
            Self::Start => push_flag(t == 0, ws),
            Self::End => push_flag(t + 1 == ws.tokens, ws),
            Self::Bag(window, source) => push_bag(window, *source, t as i64, ws),
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
            Self::Number(column) => {
                let number = parse_number(sentence.cell(t, *column));
                push_number(
                    number.ok_or_else(|| not_a_number(sentence, t, *column))?,
                    ws,
                );
            }
            _ => {} // has an entry for each text
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

fn push_form(form: Form, source: Range<usize>, known: &Known, ws: &mut Workspace) {
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

fn push_parts(part: Part, lengths: &RangeInclusive<usize>, word: Range<usize>, ws: &mut Workspace) {
    match part {
        Part::Prefix => push_prefixes(lengths, word, ws),
        Part::Suffix => push_suffixes(lengths, word, ws.next_item(), ws),
        Part::Affixes => {
            let bracketed = push_bracketed(word, ws);
            let first = ws.next_item();
            push_prefixes(lengths, bracketed.clone(), ws);
            push_suffixes(lengths, bracketed, first, ws);
        }
        Part::Ngrams => {
            let bracketed = push_bracketed(word, ws);
            push_ngrams(lengths, bracketed, ws);
        }
    }
}

/// Writes `<text>` into the arena.
fn push_bracketed(word: Range<usize>, ws: &mut Workspace) -> Range<usize> {
    let start = ws.arena.len();
    ws.arena.push('<');
    ws.arena.extend_from_within(word);
    ws.arena.push('>');
    start..ws.arena.len()
}

fn push_prefixes(lengths: &RangeInclusive<usize>, word: Range<usize>, ws: &mut Workspace) {
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

/// The suffixes that are not among the values since `first`: a suffix may be a prefix too, as the whole
/// is, and `<>` of `<>a<>`.
fn push_suffixes(
    lengths: &RangeInclusive<usize>,
    word: Range<usize>,
    first: usize,
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
        let range = ws.cuts[i]..word.end;
        let text = &ws.arena[range.clone()];
        let same = |item: &Item| ws.text(*item) == text;
        if !ws.items_from(first).iter().any(same) {
            ws.push_range(range);
        }
    }
}

/// All runs of `lengths` characters, each text once, within the first [`NGRAM_WINDOW`].
fn push_ngrams(lengths: &RangeInclusive<usize>, word: Range<usize>, ws: &mut Workspace) {
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
fn push_group(regex: &Regex, word: Range<usize>, ws: &mut Workspace) {
    let text = &ws.arena[word.clone()];
    if regex.captures_len() == 1 {
        push_flag(regex.is_match(text), ws);
    } else if let Some(groups) = regex.captures(text) {
        let range = groups.get(1).map_or(0..0, |group| group.range());
        ws.push_range(word.start + range.start..word.start + range.end);
    }
}

/// The set of texts in the window; outside the sentence it is the empty text.
fn push_bag(window: &RangeInclusive<i32>, source: usize, p: i64, ws: &mut Workspace) {
    let first = ws.next_item();
    for offset in window.clone().map(i64::from) {
        let Some(&item) = ws.cell(source, p + offset).first() else {
            continue;
        };
        let same = |other: &Item| other.piece == item.piece && ws.text(*other) == ws.text(item);
        if !ws.items_from(first).iter().any(same) {
            ws.push_copy(item);
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
fn push_paths(clusters: &Clusters, lengths: &[usize], word: Range<usize>, ws: &mut Workspace) {
    let Some(path) = clusters.path(&ws.arena[word]) else {
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
fn push_vector(vectors: &Vectors, scale: f64, word: Range<usize>, ws: &mut Workspace) {
    let Some(numbers) = vectors.of(&ws.arena[word]) else {
        return;
    };
    for (i, &number) in numbers.iter().enumerate().filter(|(_, n)| **n != 0.0) {
        let start = ws.arena.len();
        let _ = write!(ws.arena, "{i}"); // a String takes all
        ws.push_weighted(start..ws.arena.len(), scale * f64::from(number));
    }
}

fn push_test(test: &Test, source: usize, inside: bool, ws: &mut Workspace) {
    let mut texts = ws.items_of(source).iter().map(|item| ws.text(*item));
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

fn push_pattern(pattern: &Pattern, source: &Source, ws: &mut Workspace) {
    let mut boundary = std::mem::take(&mut ws.boundary);
    ws.push_made(source.text.clone(), |text, _, out| match source.outside {
        None => pattern.write(text, out),
        Some((before, distance)) => pattern.write_outside(before, distance, &mut boundary, out),
    });
    ws.boundary = boundary;
}
