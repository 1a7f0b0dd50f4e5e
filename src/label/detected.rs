//! What was detected about the labels of a corpus, and how it is said.

use std::fmt;

use super::labeling::Labeling;
use super::scheme::{PlainLabels, Scheme};
use crate::error::Place;

/// Number of labels of no scheme that are named.
const MAX_WARNINGS: usize = 3;

/// Number of tokens above which a sentence is suspicious.
const LONG: usize = 1000;

/// Labels that do not fit the labeling of their corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The label.
    pub label: String,
    /// What is wrong: `after 'O'`, `at the beginning of a sentence`, `at the end of a sentence`,
    /// `not of the scheme` or `outside with a prefix`.
    pub why: String,
    /// Its number of such occurrences.
    pub count: u64,
    /// Where it does so first, if that is known.
    pub first: Option<Place>,
}

/// How the labels of a corpus are read, and what does not fit.
///
/// Its [`Display`](std::fmt::Display) form is for people: `IOB2, 9 labels`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The scheme and the notation.
    pub labeling: Labeling,
    /// Whether any label is of a span.
    pub has_spans: bool,
    /// Number of different labels.
    pub labels: usize,
    /// Labels that belong to no scheme, among many others that do; the most frequent first.
    pub strays: Vec<Misfit>,
    /// Labels that may not follow the one before them, in the scheme with the fewest of these; the
    /// most frequent first.
    pub illegal: Vec<Misfit>,
    /// The label outside with a prefix, such as `B-O`, which is read as outside.
    pub prefixed_outside: Vec<Misfit>,
    /// The schemes to which all labels but strays belong, with the number of illegal labels.
    pub fits: Vec<(Scheme, u64)>,
    /// Number of labels of tokens in spans.
    pub in_spans: u64,
    /// Number of tokens of the longest sentence, and where it is, if that is known.
    pub longest: (usize, Option<Place>),
}

impl Detected {
    /// How the labels were read, in words: a summary, then [warnings](Self::warnings). That types
    /// were recognized without prefixes is said, unless they were `chosen` to be types.
    pub fn account(&self, chosen: PlainLabels) -> Vec<String> {
        let summary = match self.labeling.scheme == Scheme::Plain && chosen == PlainLabels::Auto {
            true => format!(
                "read as {self}: they have no B- or I-, but look like types, so adjacent tokens \
                 with the same label are one span (`plain_labels` tags if they are tags)"
            ),
            false => format!("read as {self}"),
        };
        [vec![summary], self.warnings()].concat()
    }

    /// What was decided against evidence, for people: each with the first place, if it is known.
    pub fn warnings(&self) -> Vec<String> {
        let is_read = self.labeling.scheme.has_spans();
        let stray = match is_read {
            true => format!("belongs to no scheme, unlike the others ({})", self.labeling),
            false => "has no tag such as B-, unlike others: no spans are read, and accuracy alone \
                      is scored"
                .to_owned(),
        };
        let outside = self.labeling.outside().escape_debug();
        let prefixed = format!("is outside with a prefix, and read as '{outside}'");
        let mut warnings = Vec::new();
        let mut warn = |place: &Option<Place>, text: String| {
            let place = place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
            warnings.push(format!("warning: {place}{text}"));
        };
        for (misfits, fate) in [(&self.strays, stray), (&self.prefixed_outside, prefixed)] {
            for Misfit { label, count, first, .. } in misfits.iter().take(MAX_WARNINGS) {
                let label = label.escape_debug();
                warn(first, format!("the label '{label}'{} {fate}", times(*count)));
            }
        }
        if let Some((Misfit { label, why, count, first }, others)) = self.illegal.split_first() {
            let label = label.escape_debug();
            let fate = match self.labeling.strict {
                true => "",
                false => "; so many that the rules of the scheme are not enforced",
            };
            let others = match others.iter().map(|misfit| misfit.count).sum() {
                0_u64 => String::new(),
                n => format!(", and {n} more invalid labels"),
            };
            let (title, times) = (self.labeling.scheme.title(), times(*count));
            warn(first, format!("'{label}' {why} is invalid in {title}{times}{others}{fate}"));
        }
        if is_read && !self.has_spans && self.labels > 0 {
            warn(&None, "no token is in a span".to_owned());
        }
        let (tokens, place) = &self.longest;
        if *tokens > LONG {
            let question = "are the blank lines between sentences missing?";
            warn(place, format!("a sentence of {tokens} tokens; {question}"));
        }
        warnings
    }
}

fn times(count: u64) -> String {
    match count {
        1 => String::new(),
        n => format!(" ({n} times)"),
    }
}

impl fmt::Display for Detected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = if self.labels == 1 { "label" } else { "labels" };
        write!(f, "{}, {} {labels}", self.labeling, self.labels)
    }
}
