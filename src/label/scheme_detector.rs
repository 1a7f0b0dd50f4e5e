//! Detecting how the labels of a corpus encode spans, and how they are written.

use std::borrow::Cow;
use std::fmt;

use super::label_counts::{END, LabelCounts, Misfit, ONE_IN};
use super::labeling::Labeling;
use super::notation::{Letters, Notation, TagPlace};
use super::scheme::{PlainLabels, Scheme};
use super::span::ChunkLabel;
use crate::error::Place;

/// One label in this many with a tag makes the others suspicious.
const SUSPICIOUS: u64 = 5;

/// Number of labels of no scheme that are named.
const MAX_WARNINGS: usize = 3;

/// Number of tokens above which a sentence is suspicious.
const LONG: usize = 1000;

/// Detects the labeling of a corpus, one label sequence at a time, in space that depends on the
/// pairs of adjacent labels.
///
/// Labels have prefixes if all but 1 % of those in spans can be read in one [notation](Notation).
/// Then the scheme is the one of IO, IOB1, IOB2 and BIOES in which the fewest labels are illegal:
/// may not follow the one before them ([`SchemeConstraint`](super::SchemeConstraint)). If more than
/// 1 % of the labels are, the labeling is not strict. A corpus without any `B-` is legal in IO
/// and IOB1, and one without spans in all: both are IO, the smallest. Labels without prefixes are
/// of the plain scheme if they look like types of spans ([`PlainLabels::Auto`]), and else raw.
/// Labels [of a column of tags](Self::of_tags) are raw, too.
///
/// Annotated corpora have errors: each file of the Spanish CoNLL-2002 data has an illegal label,
/// but is IOB2.
#[derive(Clone, Debug, Default)]
pub struct SchemeDetector {
    counts: LabelCounts,
    has_partial: bool,
    choice: PlainLabels,
    outside: Option<String>,
    are_tags: bool,
}

impl SchemeDetector {
    /// A detector without observations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what labels without a prefix are.
    #[must_use]
    pub fn with_plain_labels(self, choice: PlainLabels) -> Self {
        Self { choice, ..self }
    }

    /// Sets the label outside of all spans. By default it is `O`, or else one of `o`, `0`, `OUT`,
    /// `OTHER`, `_` and `<other>`, or else the label without a prefix of most tokens, if the others
    /// have prefixes.
    #[must_use]
    pub fn with_outside(self, outside: Option<String>) -> Self {
        Self { outside, ..self }
    }

    /// What labels without a prefix are.
    pub fn plain_labels(&self) -> PlainLabels {
        self.choice
    }

    /// Notes that the column of the labels has tags, which encode no spans whatever they look like,
    /// unless plain labels are chosen to be spans.
    pub fn of_tags(&mut self) {
        self.are_tags = true;
    }

    /// A detector that has also seen the labels of these sentences.
    pub fn after<L: AsRef<[S]>, S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = L>,
    ) -> Self {
        let mut detector = self.clone();
        for labels in sentences {
            detector.observe(labels.as_ref());
        }
        detector
    }

    /// Observes the labels of a sentence.
    pub fn observe<S: AsRef<str>>(&mut self, labels: &[S]) {
        self.observe_at(labels, |_| None);
    }

    /// Observes the labels of a sentence; `place` tells where token t is.
    pub fn observe_at<S: AsRef<str>>(
        &mut self,
        labels: &[S],
        place: impl Fn(usize) -> Option<Place>,
    ) {
        self.counts.add(labels.iter().map(std::slice::from_ref), place);
    }

    /// Observes the labels that each token of a sentence may have, none for any.
    pub fn observe_partial<S: AsRef<str>>(
        &mut self,
        allowed: &[Vec<S>],
        place: impl Fn(usize) -> Option<Place>,
    ) {
        self.has_partial = true;
        self.counts.add(allowed.iter().map(Vec::as_slice), place);
    }

    /// How the labels that were observed are read.
    pub fn detected(&self) -> Detected {
        let outside = match &self.outside {
            Some(outside) => Cow::Owned(outside.clone()),
            None => self.counts.known_outside(),
        };
        if self.are_tags && self.choice != PlainLabels::Spans {
            return self.without_tags(outside, None);
        }
        let notation = self.counts.notation(&outside);
        if let Some(notation) = notation.as_ref().filter(|notation| self.fits(notation)) {
            return self.with_tags(notation);
        }
        let is_known = self.outside.is_some() || self.counts.contains("O");
        let majority = self.counts.majority().filter(|_| !is_known);
        let by_majority = majority.and_then(|most| self.counts.notation(&most));
        let is_typed = |notation: &Notation| self.fits(notation) && self.counts.typed(notation) > 0;
        match by_majority.filter(is_typed) {
            Some(notation) => self.with_tags(&notation),
            None => self.without_tags(outside, notation),
        }
    }

    /// How labels are read that are to be compared with those of another labeling: predictions with
    /// gold labels, gold labels with those of a model, development data with training data. They
    /// may be few and malformed, so they are read like the others unless they clearly have another
    /// scheme or notation.
    pub fn detected_for(&self, other: &Labeling) -> Detected {
        let own = self.detected();
        let is_clear = own.has_spans && own.illegal.is_empty() && own.strays.is_empty();
        let is_other = match other.scheme {
            Scheme::Raw => false,
            Scheme::Plain if own.labeling.scheme == Scheme::Plain || !own.has_spans => {
                own.labeling.scheme.has_spans() && own.labeling.outside() != other.outside()
            }
            Scheme::Plain => is_clear,
            scheme => {
                let is_legal = own.labeling.notation == other.notation;
                !(is_legal && own.fits.contains(&(scheme, 0)))
                    && (is_clear || self.counts.count(|label| !other.has(label)) > 0)
            }
        };
        if is_other { own } else { Detected { labeling: other.clone(), ..own } }
    }

    /// Whether all labels but few can be read in a notation.
    fn fits(&self, notation: &Notation) -> bool {
        let total = self.counts.count(|label| label != notation.outside);
        let count = self.counts.count(|label| notation.read(label).is_none());
        let is_one = count == 1 && total >= 3;
        total == 0 || count <= total / ONE_IN || is_one
    }

    fn with_tags(&self, notation: &Notation) -> Detected {
        let counts = &self.counts;
        let is_outside = |label: &str| notation.read(label) == Some(ChunkLabel::OUTSIDE);
        let total = counts.count(|label| !is_outside(label));
        let labeling = |scheme| Labeling { notation: notation.clone(), ..Labeling::from(scheme) };
        let tried = schemes(counts, notation).iter();
        let tried: Vec<(Scheme, Vec<Misfit>)> =
            tried.map(|&scheme| (scheme, counts.illegal(&labeling(scheme)))).collect();
        let sum = |misfits: &[Misfit]| misfits.iter().map(|misfit| misfit.count).sum::<u64>();
        let fits = tried.iter().map(|(scheme, illegal)| (*scheme, sum(illegal))).collect();
        let best = tried.into_iter();
        // Few known labels may fit several schemes, of which IOB2 is the most common.
        let is_rare = |scheme| self.has_partial && !matches!(scheme, Scheme::Io | Scheme::Iob2);
        let best = best.min_by_key(|(scheme, illegal)| (sum(illegal), is_rare(*scheme)));
        let (scheme, illegal) = best.unwrap_or((Scheme::Iob2, Vec::new())); // ties: the first
        let strays = counts.misfits("not of the scheme", |label| notation.read(label).is_none());
        let in_spans = total - sum(&strays);
        Detected {
            labeling: Labeling { strict: sum(&illegal) <= total / ONE_IN, ..labeling(scheme) },
            has_spans: in_spans > 0,
            strays,
            illegal,
            prefixed_outside: counts.misfits("outside with a prefix", |label| {
                labeling(scheme).is_prefixed_outside(label)
            }),
            fits,
            in_spans,
            ..self.counted()
        }
    }

    /// What labels without prefixes are; `with_tags` is how the most of them could be read with
    /// some.
    fn without_tags(&self, outside: Cow<'static, str>, with_tags: Option<Notation>) -> Detected {
        let total = self.counts.count(|label| label != outside);
        let labeling = match self.are_types(&outside, total) {
            true => Labeling {
                notation: Notation { outside, ..Notation::CANONICAL },
                ..Labeling::from(Scheme::Plain)
            },
            false => Labeling::default(),
        };
        let suspicious = with_tags.filter(|notation| {
            let typed = self.counts.typed(notation);
            self.choice == PlainLabels::Auto && typed > 0 && SUSPICIOUS * typed >= total
        });
        let strays = suspicious.map(|notation| {
            self.counts.misfits("not of the scheme", |label| notation.read(label).is_none())
        });
        let has_spans = labeling.scheme.has_spans();
        Detected {
            labeling,
            has_spans,
            strays: strays.unwrap_or_default(),
            in_spans: if has_spans { total } else { 0 },
            ..self.counted()
        }
    }

    fn counted(&self) -> Detected {
        let (labels, longest) = (self.counts.iter().count(), self.counts.longest.clone());
        Detected { labels, longest, ..Detected::default() }
    }

    /// Whether labels without prefixes are types of spans, `total` of them not outside. Sentences
    /// of one token have no spans to tell from classes, and numbers are classes.
    fn are_types(&self, outside: &str, total: u64) -> bool {
        let counts = &self.counts;
        let is_tag = |label: &str| label != outside && Notation::CANONICAL.read(label).is_some();
        if self.are_tags && self.choice != PlainLabels::Spans || counts.count(is_tag) > 0 {
            return false;
        }
        let are_classes =
            || counts.longest.0 <= 1 || counts.count(|label| label.parse::<f64>().is_err()) == 0;
        match self.choice {
            PlainLabels::Spans => total > 0,
            PlainLabels::Tags => false,
            PlainLabels::Auto if total == 0 || are_classes() => false,
            PlainLabels::Auto => {
                let outsides = counts.count(|label| label == outside);
                let is_certain = outside == "O" || self.outside.is_some();
                let is_continued =
                    |&(a, b): &(usize, usize)| a == b && b != END && counts.name(b) != outside;
                let continued = counts.pairs.iter().filter(|(pair, _)| is_continued(pair));
                let continued: u64 = continued.map(|(_, seen)| seen.count).sum();
                outsides > 0 && (outsides >= total || is_certain && 4 * continued >= total)
            }
        }
    }
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
            let title = self.labeling.scheme.title();
            let count = times(*count);
            warn(first, format!("'{label}' {why} is invalid in {title}{count}{others}{fate}"));
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

/// The schemes that have the tags of all labels.
fn schemes(counts: &LabelCounts, notation: &Notation) -> &'static [Scheme] {
    let mut tags = counts.chunks(notation).map(|chunk| chunk.tag);
    let has = |wanted: &[&str]| tags.clone().any(|tag| wanted.contains(&tag));
    match (has(&["E", "S"]), has(&["B"])) {
        _ if notation.place == TagPlace::First => &[Scheme::Iob2],
        (true, _) => &[Scheme::Bioes],
        (false, true) => &[Scheme::Iob1, Scheme::Iob2, Scheme::Bioes],
        (false, false) if notation.letters != Letters::Bioes && tags.next().is_some() => {
            &[Scheme::Bioes]
        }
        (false, false) => &[Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes],
    }
}
