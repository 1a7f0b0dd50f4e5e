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
        [vec![self.summary(chosen)], self.warnings()].concat()
    }

    fn summary(&self, chosen: PlainLabels) -> String {
        match self.labeling.scheme == Scheme::Plain && chosen == PlainLabels::Auto {
            true => format!(
                "read as {self}: they have no B- or I-, but look like types, so adjacent tokens \
                 with the same label are one span (`plain_labels` tags if they are tags)"
            ),
            false => format!("read as {self}"),
        }
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
        let misfits = self.strays.iter().take(MAX_WARNINGS).map(|misfit| (misfit, &stray));
        let others = self.prefixed_outside.iter().take(MAX_WARNINGS);
        let misfits = misfits.chain(others.map(|misfit| (misfit, &prefixed)));
        let mut warnings: Vec<String> = misfits
            .map(|(Misfit { label, count, first, .. }, fate)| {
                let label = label.escape_debug();
                warning(first, &format!("the label '{label}'{} {fate}", times(*count)))
            })
            .collect();
        let illegal: u64 = self.illegal.iter().map(|misfit| misfit.count).sum();
        if let Some(first) = self.illegal.first() {
            let label = first.label.escape_debug();
            let fate = match self.labeling.strict {
                true => "",
                false => "; so many that the rules of the scheme are not enforced",
            };
            let title = self.labeling.scheme.title();
            let others = match illegal - first.count {
                0 => String::new(),
                n => format!(", and {n} more invalid labels"),
            };
            let text = format!(
                "'{label}' {} is invalid in {title}{}{others}{fate}",
                first.why,
                times(first.count)
            );
            warnings.push(warning(&first.first, &text));
        }
        if is_read && !self.has_spans && self.labels > 0 {
            warnings.push("warning: no token is in a span".to_owned());
        }
        if self.longest.0 > LONG {
            let text = format!(
                "a sentence of {} tokens; are the blank lines between sentences missing?",
                self.longest.0
            );
            warnings.push(warning(&self.longest.1, &text));
        }
        warnings
    }
}

fn warning(place: &Option<Place>, text: &str) -> String {
    match place {
        Some(place) => format!("warning: {place}: {text}"),
        None => format!("warning: {text}"),
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
