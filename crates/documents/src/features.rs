//! From the text of a document to its features; and documents that lose words at random, to see
//! how a classifier takes it.
//!
//! Source of the latter: Chen, Zhu, Chen and Zhang, "Dropout training for support vector machines",
//! AAAI 2014, section 6.4.

use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args, ValueEnum};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::{Instance, InstanceContent};
use dropchain::kernel::random::{nth, uniform};
use dropchain::{Error, Result, tokenize};

/// The longest n-gram.
const LONGEST: usize = 20;

/// Lengths of n-grams, such as `1..2`, both included, or `3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NgramRange {
    shortest: usize,
    longest: usize,
}

impl NgramRange {
    /// Creates a range of lengths, both included.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is empty, begins with 0, or ends above 20.
    pub fn new(shortest: usize, longest: usize) -> Result<Self> {
        if shortest == 0 || longest < shortest || longest > LONGEST {
            return Err(Error::parameter(format!(
                "n-grams of {shortest}..{longest}; expected lengths from 1 to {LONGEST}, such as \
                 1..2"
            )));
        }
        Ok(Self { shortest, longest })
    }
}

impl FromStr for NgramRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (shortest, longest) = text.split_once("..").unwrap_or((text, text));
        match (shortest.parse(), longest.parse()) {
            (Ok(shortest), Ok(longest)) => Self::new(shortest, longest),
            _ => Err(Error::parameter(format!(
                "'{text}' is no range of lengths; expected one such as 1..2"
            ))),
        }
    }
}

/// The value of a feature that occurs n times in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum TermFrequency {
    /// 1
    #[default]
    Binary,
    /// n
    Count,
    /// 1 + ln n
    Log,
}

/// How a text is split into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Tokens {
    /// Tokens of the tokenizer, as in raw text that is tagged
    #[default]
    Words,
    /// Words between blanks, for text that is tokenized already
    Blanks,
}

/// Lengths of n-grams of words; `None` if there are none.
pub type WordRange = Option<NgramRange>;

/// The features of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Args)]
#[command(next_help_heading = "Features")]
pub struct FeatureOptions {
    /// N-grams of words of these lengths; 0 for none
    ///
    /// Words are joined by blanks: `w=not good`. They cross sentences.
    #[arg(long = "ngrams", value_name = "RANGE", value_parser = word_range,
          default_value = "1..2")]
    pub words: WordRange,
    /// N-grams of characters of these lengths, such as 3..5
    ///
    /// Characters are Unicode scalar values. N-grams cross words, with a run of white space as one
    /// blank: `c=ood`.
    #[arg(long, value_name = "RANGE")]
    pub chars: Option<NgramRange>,
    /// Value of a feature that occurs n times: 1, n, or 1 + ln n
    #[arg(long = "tf", value_enum, value_name = "VALUE", default_value = "binary")]
    pub frequency: TermFrequency,
    /// The words of a text: tokens of the tokenizer, or cells between blanks
    #[arg(long, value_enum, default_value = "words")]
    pub tokens: Tokens,
    /// Turn letters into lower case: on, off
    #[arg(long, action = ArgAction::Set, value_parser = BoolishValueParser::new(),
          default_value = "on", value_name = "SWITCH", hide_possible_values = true)]
    pub lowercase: bool,
}

/// Parses lengths of n-grams of words.
fn word_range(text: &str) -> Result<WordRange> {
    if text == "0" { Ok(None) } else { text.parse().map(Some) }
}

impl Default for FeatureOptions {
    /// Words and pairs of adjacent words, in lower case, each with the value 1.
    fn default() -> Self {
        Self {
            words: Some(NgramRange { shortest: 1, longest: 2 }),
            chars: None,
            frequency: TermFrequency::default(),
            tokens: Tokens::default(),
            lowercase: true,
        }
    }
}

/// How often features occur in a document, each with its number in the order in which they first
/// do.
type Counts = HashMap<String, (usize, f64)>;

impl FeatureOptions {
    /// Returns whether the lengths are such as [`NgramRange::new`] accepts.
    pub(crate) fn fits(&self) -> bool {
        let mut ranges = [self.words, self.chars].into_iter().flatten();
        ranges.all(|range| NgramRange::new(range.shortest, range.longest).is_ok())
    }

    /// Returns the features of a text with their values, each once.
    pub fn extract(&self, text: &str) -> Vec<(String, f64)> {
        let text = match self.lowercase {
            true => Cow::Owned(text.to_lowercase()),
            false => Cow::Borrowed(text),
        };
        let mut counts = Counts::default();
        if let Some(range) = self.words {
            let words = words_of(&text, self.tokens);
            let mut end = 0;
            let spans = words.iter().map(|word| {
                let start = end;
                end += word.len() + 1; // a blank follows
                start..start + word.len()
            });
            let spans: Vec<Range<usize>> = spans.collect();
            add_ngrams(range, "w=", &words.join(" "), &spans, &mut counts);
        }
        if let Some(range) = self.chars {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let spans = text.char_indices().map(|(start, c)| start..start + c.len_utf8());
            let spans: Vec<Range<usize>> = spans.collect();
            add_ngrams(range, "c=", &text, &spans, &mut counts);
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(_, (number, _))| *number);
        let features = counts.into_iter().map(|(name, (_, n))| match self.frequency {
            TermFrequency::Binary => (name, 1.0),
            TermFrequency::Count => (name, n),
            TermFrequency::Log => (name, 1.0 + n.ln()),
        });
        features.collect()
    }
}

/// Counts the n-grams of the words or characters at `spans` of `text`, shorter ones first. Their
/// names are a prefix and their part of the text.
fn add_ngrams(
    range: NgramRange,
    prefix: &str,
    text: &str,
    spans: &[Range<usize>],
    counts: &mut Counts,
) {
    let mut name = String::new();
    for n in range.shortest..=range.longest.min(spans.len()) {
        for spans in spans.windows(n) {
            name.clear();
            name.push_str(prefix);
            name.push_str(&text[spans[0].start..spans[n - 1].end]);
            let number = counts.len();
            counts.entry_ref(&name).or_insert((number, 0.0)).1 += 1.0;
        }
    }
}

/// Returns the words of a text.
pub(crate) fn words_of(text: &str, tokens: Tokens) -> Vec<&str> {
    match tokens {
        Tokens::Words => {
            tokenize::tokens(text).into_iter().map(|offsets| &text[offsets.bytes]).collect()
        }
        Tokens::Blanks => text.split_whitespace().collect(),
    }
}

impl Instance {
    /// Returns the document without some of its words, or of its features: each is left out with
    /// probability `rate`. What is left out depends on `seed` and on the number of the document
    /// alone, and with a higher rate includes what a lower one leaves out.
    #[must_use]
    pub fn damaged(self, rate: f64, tokens: Tokens, seed: u64, number: u64) -> Self {
        let seed = nth(seed, number);
        let mut position = 0;
        let mut is_kept = || {
            position += 1;
            uniform(seed, position) > rate
        };
        let content = match self.content {
            InstanceContent::Text(text) => {
                let words = words_of(&text, tokens);
                let kept: Vec<&str> = words.into_iter().filter(|_| is_kept()).collect();
                InstanceContent::Text(kept.join(" "))
            }
            InstanceContent::Features(mut features) => {
                features.retain(|_| is_kept());
                InstanceContent::Features(features)
            }
        };
        Self { content, ..self }
    }
}
