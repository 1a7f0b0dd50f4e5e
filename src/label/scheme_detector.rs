//! Detecting the label scheme of a corpus.

use super::chunk_label::ChunkLabel;
use super::plain_labels::{PlainLabelCounts, PlainLabels};
use super::scheme::Scheme;
use super::scheme_constraint::may_follow;

/// [`SchemeDetector::prevailing`] tolerates one illegal sequence in this many.
const ONE_ILLEGAL_IN: u64 = 100;

/// The schemes with prefixes.
const SCHEMES: [Scheme; 4] = [Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes];

/// Detects the scheme of a corpus, one label sequence at a time, in constant space.
///
/// A sequence is legal in a scheme if encoding its spans in that scheme gives the same labels, that
/// is, if every label may follow the one before it
/// ([`SchemeConstraint`](super::SchemeConstraint)). At most one of IO, IOB1, IOB2 and BIOES has all
/// sequences of a corpus legal, except in two cases, which are both reported as IO, the smallest: a
/// corpus without any `B-` is legal in IO and IOB1, and one without spans is legal in all four.
/// Labels without prefixes are of the plain scheme if they look like types of spans
/// ([`PlainLabels::Auto`]).
#[derive(Clone, Debug)]
pub struct SchemeDetector {
    candidates: Vec<(Scheme, u64)>, // with the number of sequences illegal in it
    with_spans: u64,                // sequences
    has_partial: bool,              // labels
    plain: PlainLabelCounts,
    choice: PlainLabels,
}

impl Default for SchemeDetector {
    fn default() -> Self {
        Self::new()
    }
}

impl SchemeDetector {
    /// A detector without observations.
    pub fn new() -> Self {
        Self {
            candidates: SCHEMES.map(|scheme| (scheme, 0)).to_vec(),
            with_spans: 0,
            has_partial: false,
            plain: PlainLabelCounts::default(),
            choice: PlainLabels::Auto,
        }
    }

    /// Sets what labels without a prefix are.
    #[must_use]
    pub fn with_plain_labels(self, choice: PlainLabels) -> Self {
        Self { choice, ..self }
    }

    /// Observes the labels of a sentence.
    pub fn observe<S: AsRef<str>>(&mut self, labels: &[S]) {
        let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
        let padded = [&["O"], &labels[..], &["O"]].concat();
        for (label, previous) in labels.iter().zip(&padded) {
            self.plain.observe(label, Some(previous));
        }
        self.retain_schemes(&labels);
        let has_span = !self.candidates.is_empty() && labels.iter().any(|label| *label != "O");
        self.with_spans += u64::from(has_span);
        for (scheme, illegal) in &mut self.candidates {
            let mut pairs = padded.windows(2);
            *illegal += u64::from(!pairs.all(|pair| may_follow(pair[0], pair[1], *scheme)));
        }
    }

    /// Drops the schemes that do not have all of these labels.
    fn retain_schemes(&mut self, labels: &[&str]) {
        self.candidates
            .retain(|&(scheme, _)| labels.iter().all(|label| is_label(label, scheme)));
    }

    /// Observes the labels that each token of a sentence may have, none for any. The sequence
    /// counts as illegal where no choice of labels makes two adjacent ones legal.
    pub fn observe_partial<S: AsRef<str>>(&mut self, allowed: &[Vec<S>]) {
        self.has_partial = true;
        let mut previous = None;
        for set in allowed {
            // What is not known says only which labels there are.
            let known = (set.len() == 1).then(|| set[0].as_ref());
            for label in set.iter().map(AsRef::as_ref) {
                self.plain
                    .observe(label, previous.filter(|_| known.is_some()));
            }
            previous = known;
        }
        let labels: Vec<&str> = allowed.iter().flatten().map(AsRef::as_ref).collect();
        self.retain_schemes(&labels);
        self.with_spans += u64::from(labels.iter().any(|label| *label != "O"));
        for t in 0..=allowed.len() {
            let before = or_outside(t.checked_sub(1).map(|before| &allowed[before]));
            let next = or_outside(allowed.get(t));
            if before.is_empty() || next.is_empty() {
                continue;
            }
            // A sentence may count more than once: it has more than one error.
            for (scheme, illegal) in &mut self.candidates {
                let mut pairs = before.iter().flat_map(|a| next.iter().map(move |b| (a, b)));
                *illegal += u64::from(!pairs.any(|(a, b)| may_follow(a, b, *scheme)));
            }
        }
    }

    /// The scheme in which every sequence was legal. If there is none, [`Scheme::Plain`] or
    /// [`Scheme::Raw`].
    pub fn finish(&self) -> Scheme {
        self.candidates
            .iter()
            .find(|&&(_, illegal)| illegal == 0)
            .map_or_else(|| self.without_prefixes(), |&(scheme, _)| scheme)
    }

    /// The scheme with the fewest illegal sequences, and their number. That is at most 1 % of the
    /// sequences with spans. If no scheme fits so well or a label belongs to none, it is
    /// [`Scheme::Plain`] or [`Scheme::Raw`].
    ///
    /// Annotated corpora have errors: each file of the Spanish CoNLL-2002 data has one illegal
    /// sequence, but is IOB2.
    pub fn prevailing(&self) -> (Scheme, u64) {
        self.candidates
            .iter()
            .copied()
            .filter(|&(_, illegal)| illegal <= self.with_spans / ONE_ILLEGAL_IN)
            .min_by_key(|&(scheme, illegal)| (illegal, self.rank(scheme))) // ties: the first
            .unwrap_or_else(|| (self.without_prefixes(), 0))
    }
}

impl SchemeDetector {
    /// The scheme of labels that are not all of one with prefixes.
    fn without_prefixes(&self) -> Scheme {
        match self.plain.are_types(self.choice) {
            true => Scheme::Plain,
            false => Scheme::Raw,
        }
    }

    /// The schemes to which all labels belong, with the number of illegal sequences.
    pub fn fits(&self) -> impl Iterator<Item = (Scheme, u64)> {
        self.candidates.iter().copied()
    }

    /// The number of sequences with spans.
    pub fn with_spans(&self) -> u64 {
        self.with_spans
    }

    /// The rank of a scheme among those that fit equally well. Few known labels may fit several
    /// schemes, of which IOB2 is the most common.
    fn rank(&self, scheme: Scheme) -> u8 {
        match scheme {
            _ if !self.has_partial => 0,
            Scheme::Io => 0,
            Scheme::Iob2 => 1,
            Scheme::Iob1 => 2,
            Scheme::Bioes | Scheme::Raw | Scheme::Plain => 3,
        }
    }
}

/// Detects the scheme of a corpus from the labels of each sentence: [`SchemeDetector::finish`].
pub fn detect<L, S>(sentences: impl IntoIterator<Item = L>) -> Scheme
where
    L: AsRef<[S]>,
    S: AsRef<str>,
{
    let mut detector = SchemeDetector::new();
    for labels in sentences {
        detector.observe(labels.as_ref());
    }
    detector.finish()
}

/// The labels of a set; `O` beyond the ends of a sentence.
fn or_outside<S: AsRef<str>>(set: Option<&Vec<S>>) -> Vec<&str> {
    match set {
        None => vec!["O"],
        Some(set) => set.iter().map(AsRef::as_ref).collect(),
    }
}

/// Whether `label` belongs to `scheme`.
pub fn is_label(label: &str, scheme: Scheme) -> bool {
    let tags: &[&str] = match scheme {
        Scheme::Raw | Scheme::Plain => return true,
        Scheme::Io => &["I"],
        Scheme::Iob1 | Scheme::Iob2 => &["B", "I"],
        Scheme::Bioes => &["B", "I", "E", "S"],
    };
    label == "O" || tags.contains(&ChunkLabel::parse(label).tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(sentences: &[&str]) -> Scheme {
        detect(
            sentences
                .iter()
                .map(|s| s.split_whitespace().collect::<Vec<_>>()),
        )
    }

    #[test]
    fn the_scheme_of_a_legal_corpus_is_detected() {
        assert_eq!(scheme(&["O I-X I-X I-Y", "I-X"]), Scheme::Io);
        assert_eq!(scheme(&["O I-X I-X I-Y", "I-X B-X"]), Scheme::Iob1);
        assert_eq!(scheme(&["O B-X I-X B-Y", "B-X"]), Scheme::Iob2);
        assert_eq!(scheme(&["B-X"]), Scheme::Iob2);
        assert_eq!(scheme(&["O B-X E-X S-Y"]), Scheme::Bioes);
        assert_eq!(scheme(&["S-X"]), Scheme::Bioes);
        assert_eq!(scheme(&["B I O B"]), Scheme::Iob2);
    }

    #[test]
    fn one_illegal_sequence_makes_a_corpus_raw() {
        assert_eq!(scheme(&["B-X I-X", "O I-X"]), Scheme::Raw);
        assert_eq!(scheme(&["B-X I-Y"]), Scheme::Raw);
        assert_eq!(scheme(&["B-X E-X", "B-X"]), Scheme::Raw);
        assert_eq!(scheme(&["B-X I-X", "X"]), Scheme::Raw);
        assert_eq!(scheme(&["B-X O-X"]), Scheme::Raw);
    }

    #[test]
    fn one_illegal_sequence_in_a_hundred_does_not_hide_the_prevailing_scheme() {
        let mut detector = SchemeDetector::new();
        for _ in 0..99 {
            detector.observe(&["B-X", "I-X"]);
        }
        detector.observe(&["O", "O"]);
        assert_eq!(detector.prevailing(), (Scheme::Iob2, 0));
        detector.observe(&["B-X", "I-Y"]);
        assert_eq!(detector.prevailing(), (Scheme::Iob2, 1));
        detector.observe(&["O", "I-Y"]);
        assert_eq!(detector.prevailing(), (Scheme::Raw, 0));
    }

    #[test]
    fn no_scheme_prevails_if_a_label_belongs_to_none() {
        let mut detector = SchemeDetector::new();
        for _ in 0..1000 {
            detector.observe(&["B-X", "I-X"]);
        }
        detector.observe(&["NN"]);
        assert_eq!(detector.prevailing(), (Scheme::Raw, 0));
    }

    #[test]
    fn partial_labels_reveal_the_scheme_too() {
        let scheme = |sentences: &[&str]| {
            let mut detector = SchemeDetector::new();
            for sentence in sentences {
                let set = |cell: &str| -> Vec<String> {
                    let labels = cell.split('|').filter(|&label| label != "_");
                    labels.map(str::to_owned).collect()
                };
                let sets: Vec<Vec<String>> = sentence.split(' ').map(set).collect();
                detector.observe_partial(&sets);
            }
            detector.prevailing()
        };
        assert_eq!(scheme(&["_ I-X _", "B-X _ _"]), (Scheme::Iob2, 0));
        assert_eq!(scheme(&["O B-X _ O"]), (Scheme::Iob2, 0));
        assert_eq!(scheme(&["O I-X _ B-Y|B-X"]), (Scheme::Iob1, 0));
        assert_eq!(scheme(&["_ E-X _", "B-X _ _"]), (Scheme::Bioes, 0));
        assert_eq!(scheme(&["_ I-X _", "_ O"]), (Scheme::Io, 0));
        assert_eq!(scheme(&["_ NN _", "B-X O"]), (Scheme::Raw, 0));
        assert_eq!(scheme(&["O I-X _", "_ B-X _", "_ E-X"]), (Scheme::Raw, 0));
    }

    #[test]
    fn parts_of_speech_are_raw() {
        assert_eq!(scheme(&["DT NN VBZ ."]), Scheme::Raw);
        assert_eq!(scheme(&["-LRB- NN -RRB-"]), Scheme::Raw);
    }

    #[test]
    fn types_without_prefixes_are_plain() {
        assert_eq!(scheme(&["PERSON PERSON O", "O LOCATION O"]), Scheme::Plain);
        let mut detector = SchemeDetector::new();
        detector.observe_partial(&[vec!["PERSON"], vec![], vec!["PERSON", "O"], vec!["O"]]);
        assert_eq!(detector.prevailing(), (Scheme::Plain, 0));
        let tags = detector.with_plain_labels(PlainLabels::Tags);
        assert_eq!(tags.finish(), Scheme::Raw);
    }

    #[test]
    fn without_spans_the_smallest_scheme_is_chosen() {
        assert_eq!(scheme(&["O O", ""]), Scheme::Io);
        assert_eq!(scheme(&[]), Scheme::Io);
    }
}
