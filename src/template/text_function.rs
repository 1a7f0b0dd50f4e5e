//! Functions of a text alone. Their values are memoized per word.

use std::fmt::{self, Write};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use super::lexicon::Clusters;
use super::shape::{KnownWords, Shape};
use super::text::graphemes;
use super::vectors::Vectors;
use super::workspace::{Scratch, Values};

/// The substrings that [`TextFunction::substrings`] yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubstringKind {
    /// The first characters.
    Prefix,
    /// The last characters.
    Suffix,
    /// The first and the last characters of `<text>`.
    Affixes,
    /// All character n-grams of `<text>`.
    Ngrams,
}

/// Length of the longest prefix or suffix of an open range, such as `affixes(2..)`, in characters.
pub(super) const OPEN_LENGTH: usize = 256;

/// Length of the longest prefix or suffix of an open range, in bytes. A character may have any
/// number of accents. All affixes of a word together have at most 256 KiB.
const OPEN_BYTES: usize = 1024;

/// Maximum number of characters of `<word>` that `ngrams` looks at.
const NGRAM_WINDOW: usize = 100;

/// A text that functions are evaluated on, as a range of the arena, and the cell that takes their
/// values.
pub(super) struct TextInputCell<'a> {
    pub text: Range<usize>,
    pub known_words: &'a KnownWords,
    pub values: &'a mut Values,
    pub scratch: &'a mut Scratch,
}

impl TextInputCell<'_> {
    fn text(&self) -> &str {
        &self.values.arena[self.text.clone()]
    }
}

/// A function of a text alone.
#[derive(Clone)]
pub(super) struct TextFunction {
    /// Maximum number of values.
    pub max_values: usize,
    /// Whether the values have no text.
    pub is_flag: bool,
    /// Whether the values are numbers.
    pub is_number: bool,
    /// Whether it has a value outside the sentence, that of the text there.
    pub is_total: bool,
    /// Whether it depends on the words known from training.
    pub uses_known_words: bool,
    /// The pattern of Wapiti that it applies, if it applies one: what training checks.
    #[cfg_attr(not(feature = "train"), expect(dead_code))]
    pub pattern: Option<Regex>,
    /// Adds the values of a text to the cell.
    pub evaluate: Arc<dyn Fn(&mut TextInputCell<'_>) + Send + Sync>,
}

impl fmt::Debug for TextFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextFunction").finish_non_exhaustive()
    }
}

impl TextFunction {
    /// Creates a function with at most `max_values` texts as values, inside the sentence.
    fn texts(
        max_values: usize,
        evaluate: impl Fn(&mut TextInputCell<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            max_values,
            is_flag: false,
            is_number: false,
            is_total: false,
            uses_known_words: false,
            pattern: None,
            evaluate: Arc::new(evaluate),
        }
    }

    /// Creates a function whose value is the text that `write` appends.
    pub(super) fn derived(write: impl Fn(&str, &mut String) + Send + Sync + 'static) -> Self {
        Self::written(move |text, _, out| write(text, out))
    }

    /// Creates a function whose value is the text that `write` appends, given the known words.
    fn written(write: impl Fn(&str, &KnownWords, &mut String) + Send + Sync + 'static) -> Self {
        let evaluate = move |cell: &mut TextInputCell<'_>| {
            let TextInputCell { text, known_words, values, scratch } = cell;
            scratch.text.clear();
            write(&values.arena[text.clone()], known_words, &mut scratch.text);
            values.push_text(&scratch.text);
        };
        Self { is_total: true, ..Self::texts(1, evaluate) }
    }

    /// Creates a flag.
    pub(super) fn flag(holds: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let evaluate = move |cell: &mut TextInputCell<'_>| {
            let is_set = holds(cell.text());
            cell.values.push_flag(is_set);
        };
        Self { is_flag: true, ..Self::texts(1, evaluate) }
    }

    pub(super) fn shape(shape: Shape) -> Self {
        let function = Self::written(move |text, known, out| shape.write(text, known, out));
        Self { uses_known_words: shape.uses_known_words(), ..function }
    }

    /// Creates the function whose value is the length of the text as a number.
    pub(super) fn length_value() -> Self {
        let evaluate = |cell: &mut TextInputCell<'_>| {
            let length = graphemes(cell.text()).count();
            cell.values.push_number(length as f64);
        };
        Self { is_flag: true, is_number: true, ..Self::texts(1, evaluate) }
    }

    /// Creates a flag, or a function whose value is the text of the first group, of an expression.
    pub(super) fn regex(regex: Regex) -> Self {
        if regex.captures_len() == 1 {
            return Self::flag(move |text| regex.is_match(text));
        }
        Self::texts(1, move |cell| {
            if let Some(groups) = regex.captures(cell.text()) {
                let group = groups.get(1).map_or(0..0, |group| group.range());
                let start = cell.text.start;
                cell.values.push_range(start + group.start..start + group.end);
            }
        })
    }

    /// Creates the function whose values are prefixes of the cluster path with these lengths, or
    /// without any the whole path. Lengths beyond the path yield the whole path, once.
    pub(super) fn cluster(clusters: Arc<Clusters>, lengths: Vec<usize>) -> Self {
        Self::texts(lengths.len().max(1), move |cell| {
            let Some(path) = clusters.path(cell.text()) else { return };
            let values = &mut *cell.values;
            let start = values.push_arena(path).start;
            let mut whole = lengths.is_empty();
            for &length in &lengths {
                match path.char_indices().nth(length) {
                    Some((end, _)) => values.push_range(start..start + end),
                    None => whole = true,
                }
            }
            if whole {
                values.push_range(start..start + path.len());
            }
        })
    }

    /// Creates the function whose values are the nonzero components of the word's vector, times a
    /// factor, each with its index as text.
    pub(super) fn vector(vectors: Arc<Vectors>, scale: f64) -> Self {
        let dimensions = vectors.dimensions;
        let evaluate = move |cell: &mut TextInputCell<'_>| {
            let components = vectors.get(cell.text()).unwrap_or_default();
            let values = &mut *cell.values;
            for (i, &component) in components.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                let start = values.arena.len();
                let _ = write!(values.arena, "{i}"); // writing to a String cannot fail
                let end = values.arena.len();
                values.push_weighted(start..end, scale * f64::from(component));
            }
        };
        Self { is_number: true, ..Self::texts(dimensions, evaluate) }
    }

    /// Creates the function whose values are substrings of these lengths.
    pub(super) fn substrings(kind: SubstringKind, lengths: RangeInclusive<usize>) -> Self {
        let width = lengths.clone().count();
        let max_values = match kind {
            SubstringKind::Prefix | SubstringKind::Suffix => width,
            SubstringKind::Affixes => 2 * width,
            SubstringKind::Ngrams => NGRAM_WINDOW * width,
        };
        Self::texts(max_values, move |TextInputCell { text, values, scratch, .. }| {
            let text = match kind {
                SubstringKind::Prefix | SubstringKind::Suffix => text.clone(),
                SubstringKind::Affixes | SubstringKind::Ngrams => {
                    let start = values.arena.len();
                    values.arena.push('<');
                    values.arena.extend_from_within(text.clone());
                    values.arena.push('>');
                    start..values.arena.len()
                }
            };
            if matches!(kind, SubstringKind::Prefix | SubstringKind::Affixes) {
                push_affixes(&lengths, &text, false, values, scratch);
            }
            if matches!(kind, SubstringKind::Suffix | SubstringKind::Affixes) {
                push_affixes(&lengths, &text, true, values, scratch);
            }
            if kind == SubstringKind::Ngrams {
                push_ngrams(&lengths, text, values, scratch);
            }
        })
    }
}

/// Returns the lengths in bytes of the affixes of these lengths in characters, given the characters
/// from that end of the word on.
fn affix_lengths<'s>(
    lengths: &RangeInclusive<usize>,
    characters: impl Iterator<Item = &'s str>,
) -> impl Iterator<Item = usize> {
    let longest = if *lengths.end() == OPEN_LENGTH { OPEN_BYTES } else { usize::MAX };
    let ends = characters.scan(0, |end, character| {
        *end += character.len();
        Some(*end)
    });
    ends.take(*lengths.end()).take_while(move |end| *end <= longest).skip(lengths.start() - 1)
}

/// Pushes the prefixes or the suffixes. A suffix may be a prefix as well, and then is among the
/// values already: the whole text is, and so is `<>` in `<>a<>`.
fn push_affixes(
    lengths: &RangeInclusive<usize>,
    word: &Range<usize>,
    are_suffixes: bool,
    values: &mut Values,
    scratch: &mut Scratch,
) {
    scratch.boundaries.clear();
    let characters = graphemes(&values.arena[word.clone()]);
    match are_suffixes {
        false => scratch.boundaries.extend(affix_lengths(lengths, characters)),
        true => scratch.boundaries.extend(affix_lengths(lengths, characters.rev())),
    }
    for length in &scratch.boundaries {
        values.push_range(match are_suffixes {
            false => word.start..word.start + length,
            true => word.end - length..word.end,
        });
        if are_suffixes {
            values.drop_duplicate();
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
            let text = |range: &Range<usize>| &values.arena.as_bytes()[range.clone()];
            let hash = xxh3_64(text(&range));
            if seen_ngrams.find(hash, |other| text(other) == text(&range)).is_none() {
                seen_ngrams.insert_unique(hash, range.clone(), |other| xxh3_64(text(other)));
                values.push_range(range);
            }
        }
    }
}
