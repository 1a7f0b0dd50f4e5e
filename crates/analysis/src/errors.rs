//! Errors in a sentence: gold spans that are missed, predicted ones that are wrong, and which of
//! these belong together; counts of errors by kind and by the types involved.
//!
//! The kinds are those of C. Manning, *Doing named entity recognition? Don't optimize for F1*
//! (2006): for F1 a span with one token too many is two errors, for a reader it is one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain::label::Span;
use serde::Serialize;

/// What is wrong with a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A gold span without a predicted one on any of its tokens.
    Missed,
    /// A predicted span without a gold one on any of its tokens.
    Spurious,
    /// The right tokens with the wrong type; of labels that encode no spans, the wrong label.
    WrongType,
    /// The right type with other tokens, some of them right.
    WrongBoundary,
    /// Other tokens, some of them right, and the wrong type.
    WrongTypeAndBoundary,
}

dropchain::named!(ErrorKind, "kind of errors":
    Missed = "missed",
    Spurious = "spurious",
    WrongType = "wrong-type",
    WrongBoundary = "wrong-boundary",
    WrongTypeAndBoundary = "wrong-type-and-boundary",
);

impl ErrorKind {
    /// Returns the name in words, such as `wrong type`.
    pub fn words(self) -> String {
        self.name().replace('-', " ")
    }
}

/// An error: a gold span, a predicted span, or one of each that overlap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpanError<'a> {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The gold span; `None` for [`ErrorKind::Spurious`].
    pub gold: Option<Span<'a>>,
    /// The predicted span; `None` for [`ErrorKind::Missed`].
    pub predicted: Option<Span<'a>>,
}

impl<'a> SpanError<'a> {
    /// Classifies two spans that are not the same.
    fn new(gold: Option<&Span<'a>>, predicted: Option<&Span<'a>>) -> Self {
        let kind = match (gold, predicted) {
            (_, None) => ErrorKind::Missed,
            (None, _) => ErrorKind::Spurious,
            (Some(gold), Some(predicted)) if same_tokens(gold, predicted) => ErrorKind::WrongType,
            (Some(gold), Some(predicted)) if gold.kind == predicted.kind => {
                ErrorKind::WrongBoundary
            }
            _ => ErrorKind::WrongTypeAndBoundary,
        };
        Self { kind, gold: gold.cloned(), predicted: predicted.cloned() }
    }

    /// The first token of either span.
    pub fn start(&self) -> usize {
        self.gold.iter().chain(&self.predicted).map(|span| span.start).min().unwrap_or(0)
    }

    /// One past the last token of either span.
    pub fn end(&self) -> usize {
        self.gold.iter().chain(&self.predicted).map(|span| span.end).max().unwrap_or(0)
    }
}

fn same_tokens(a: &Span<'_>, b: &Span<'_>) -> bool {
    (a.start, a.end) == (b.start, b.end)
}

/// Returns the errors among the predicted spans of a sentence, in the order of their first tokens.
/// Both lists must be in order and disjoint.
///
/// A span is in at most one error. Overlapping spans that are not the same are paired, one with
/// one: first those of the same type, among these the ones with the most tokens in common, then
/// the earlier ones. So the gold spans in errors are those that recall misses, the predicted ones
/// those that precision misses.
///
/// # Examples
///
/// ```
/// use dropchain::label::spans;
/// use dropchain_analysis::{ErrorKind, compare_spans};
///
/// let gold = ["B-PER", "I-PER", "O", "B-LOC"];
/// let predicted = ["O", "B-PER", "O", "B-ORG"];
/// let errors = compare_spans(&spans(&gold), &spans(&predicted));
/// let kinds: Vec<_> = errors.iter().map(|error| error.kind).collect();
/// assert_eq!(kinds, [ErrorKind::WrongBoundary, ErrorKind::WrongType]);
/// ```
pub fn compare_spans<'a>(gold: &[Span<'a>], predicted: &[Span<'a>]) -> Vec<SpanError<'a>> {
    let mut pairs = overlaps(gold, predicted);
    pairs.sort_by_key(|&(g, p, common)| {
        let is_same = gold[g] == predicted[p];
        let is_type = gold[g].kind == predicted[p].kind;
        (Reverse((is_same, is_type, common)), g, p)
    });
    let mut used = (vec![false; gold.len()], vec![false; predicted.len()]);
    let mut errors = Vec::new();
    for (g, p, _) in pairs {
        if used.0[g] || used.1[p] {
            continue;
        }
        (used.0[g], used.1[p]) = (true, true);
        if gold[g] != predicted[p] {
            errors.push(SpanError::new(Some(&gold[g]), Some(&predicted[p])));
        }
    }
    let missed = gold.iter().zip(used.0).filter(|(_, used)| !used);
    errors.extend(missed.map(|(gold, _)| SpanError::new(Some(gold), None)));
    let spurious = predicted.iter().zip(used.1).filter(|(_, used)| !used);
    errors.extend(spurious.map(|(predicted, _)| SpanError::new(None, Some(predicted))));
    errors.sort_by_key(|error| (error.start(), error.end(), error.gold.is_none()));
    errors
}

/// Returns the errors in a sentence whose labels encode no spans (parts of speech): one for each
/// token with the wrong label, as spans of one token whose types are the labels.
pub fn label_errors<'a, G: AsRef<str>, P: AsRef<str>>(
    gold: &'a [G],
    predicted: &'a [P],
) -> Vec<SpanError<'a>> {
    let span = |t: usize, kind: &'a str| Span { start: t, end: t + 1, kind };
    let labels = gold.iter().zip(predicted).enumerate();
    labels
        .map(|(t, (gold, predicted))| (span(t, gold.as_ref()), span(t, predicted.as_ref())))
        .filter(|(gold, predicted)| gold != predicted)
        .map(|(gold, predicted)| SpanError::new(Some(&gold), Some(&predicted)))
        .collect()
}

/// Returns the pairs of spans that have tokens in common: their indices, and how many tokens.
fn overlaps(gold: &[Span<'_>], predicted: &[Span<'_>]) -> Vec<(usize, usize, usize)> {
    let (mut g, mut p) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(a), Some(b)) = (gold.get(g), predicted.get(p)) {
        let (start, end) = (a.start.max(b.start), a.end.min(b.end));
        if start < end {
            pairs.push((g, p, end - start));
        }
        if a.end <= b.end {
            g += 1;
        } else {
            p += 1;
        }
    }
    pairs
}

/// Counts errors by kind, gold type and predicted type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    kinds: [u64; ErrorKind::ALL.len()],
    /// Number of errors by the gold type, `None` where nothing should have been predicted, and the
    /// predicted type, `None` where the gold span was missed. If both are the same, the boundaries
    /// were wrong.
    pub types: BTreeMap<(Option<String>, Option<String>), u64>,
}

impl ErrorCounts {
    /// Counts an error.
    pub fn add(&mut self, error: &SpanError<'_>) {
        self.kinds[error.kind as usize] += 1;
        let name = |span: &Option<Span<'_>>| span.as_ref().map(|span| span.kind.to_owned());
        let types = (name(&error.gold), name(&error.predicted));
        *self.types.entry(types).or_default() += 1;
    }

    /// Number of errors of a kind.
    pub fn count(&self, kind: ErrorKind) -> u64 {
        self.kinds[kind as usize]
    }

    /// Number of errors.
    pub fn total(&self) -> u64 {
        self.kinds.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use dropchain::label::{Labeling, Scheme, spans};

    use super::*;

    fn span_errors<'a>(gold: &'a [&str], predicted: &'a [&str]) -> Vec<SpanError<'a>> {
        compare_spans(&spans(gold), &spans(predicted))
    }

    /// The errors as text: the kind, the gold span and the predicted one.
    fn errors(gold: &str, predicted: &str) -> Vec<String> {
        let [gold, predicted] = [gold, predicted].map(|labels| labels.split(' ').collect());
        let (gold, predicted): (Vec<&str>, Vec<&str>) = (gold, predicted);
        let found = span_errors(&gold, &predicted);
        found.iter().map(describe).collect()
    }

    fn describe(error: &SpanError<'_>) -> String {
        let span = |span: &Option<Span<'_>>| match span {
            Some(span) => format!("{}{}-{}", span.kind, span.start, span.end),
            None => "none".to_owned(),
        };
        let (gold, predicted) = (span(&error.gold), span(&error.predicted));
        format!("{}: {gold}, {predicted}", error.kind.words())
    }

    #[test]
    fn equal_spans_are_no_errors_whatever_their_scheme() {
        assert!(errors("B-X I-X O B-Y", "B-X E-X O S-Y").is_empty());
        assert!(errors("O O", "O O").is_empty());
    }

    #[test]
    fn each_kind_is_recognized() {
        assert_eq!(errors("B-X O", "O O"), ["missed: X0-1, none"]);
        assert_eq!(errors("O O", "O B-X"), ["spurious: none, X1-2"]);
        assert_eq!(errors("B-X I-X", "B-Y I-Y"), ["wrong type: X0-2, Y0-2"]);
        assert_eq!(errors("B-X I-X", "O B-X"), ["wrong boundary: X0-2, X1-2"]);
        assert_eq!(errors("B-X I-X", "O B-Y"), ["wrong type and boundary: X0-2, Y1-2"]);
    }

    #[test]
    fn a_span_is_paired_with_one_of_its_type_before_one_with_more_common_tokens() {
        assert_eq!(
            errors("B-X I-X I-X I-X", "B-Y I-Y I-Y B-X"),
            ["spurious: none, Y0-3", "wrong boundary: X0-4, X3-4"]
        );
    }

    #[test]
    fn among_spans_of_one_type_the_one_with_most_common_tokens_is_paired() {
        assert_eq!(
            errors("B-X I-X I-X", "B-X B-X I-X"),
            ["spurious: none, X0-1", "wrong boundary: X0-3, X1-3"]
        );
        assert_eq!(
            errors("B-X I-X", "B-X B-X"),
            ["wrong boundary: X0-2, X0-1", "spurious: none, X1-2"]
        );
    }

    #[test]
    fn a_correct_span_is_in_no_error_and_in_no_pair() {
        assert_eq!(
            errors("B-X I-X B-X", "B-X B-X B-X"),
            ["wrong boundary: X0-2, X0-1", "spurious: none, X1-2"]
        );
    }

    #[test]
    fn errors_are_in_the_order_of_their_first_tokens() {
        assert_eq!(
            errors("O B-X O B-Y", "B-Z O O B-Y"),
            ["spurious: none, Z0-1", "missed: X1-2, none"]
        );
    }

    #[test]
    fn every_gold_span_is_correct_or_in_one_error_and_so_is_every_predicted_one() {
        const LABELS: [&str; 5] = ["O", "B-X", "I-X", "B-Y", "I-Y"];
        let sequence = |number: usize| -> Vec<&str> {
            (0..4).map(|t| LABELS[number / 5_usize.pow(t) % 5]).collect()
        };
        for (g, p) in (0..625).flat_map(|g| (0..625).map(move |p| (g, p))) {
            let (gold, predicted) = (sequence(g), sequence(p));
            let errors = span_errors(&gold, &predicted);
            let all = (spans(&gold), spans(&predicted));
            let correct = all.0.iter().filter(|span| all.1.contains(span)).count();
            let golds = errors.iter().filter_map(|e| e.gold.as_ref()).count();
            let predictions = errors.iter().filter_map(|e| e.predicted.as_ref()).count();
            assert_eq!(golds + correct, all.0.len(), "{gold:?} {predicted:?}");
            assert_eq!(predictions + correct, all.1.len(), "{gold:?} {predicted:?}");
        }
    }

    #[test]
    fn labels_without_prefixes_are_compared_as_spans_of_the_plain_scheme() {
        let [gold, predicted] = [["X", "X", "O"], ["X", "O", "Y"]];
        let plain = Labeling::from(Scheme::Plain);
        let [gold, predicted] = [&gold, &predicted].map(|labels| plain.spans(labels));
        let found = compare_spans(&gold, &predicted);
        let found: Vec<String> = found.iter().map(describe).collect();
        assert_eq!(found, ["wrong boundary: X0-2, X0-1", "spurious: none, Y2-3"]);
    }

    #[test]
    fn labels_without_spans_are_wrong_token_by_token() {
        let found = label_errors(&["DT", "NN", "VB"], &["DT", "JJ", "NN"]);
        let found: Vec<String> = found.iter().map(describe).collect();
        assert_eq!(found, ["wrong type: NN1-2, JJ1-2", "wrong type: VB2-3, NN2-3"]);
    }

    #[test]
    fn the_tokens_of_an_error_are_those_of_both_spans() {
        let errors = span_errors(&["B-X", "I-X", "O"], &["O", "B-X", "I-X"]);
        assert_eq!((errors[0].start(), errors[0].end()), (0, 3));
    }

    #[test]
    fn errors_are_counted_by_kind_and_by_types() {
        let mut counts = ErrorCounts::default();
        for (gold, predicted) in [
            (["B-X", "O", "B-Y"], ["B-Y", "O", "O"]),
            (["B-X", "I-X", "O"], ["O", "B-X", "B-X"]),
            (["B-X", "O", "O"], ["B-Y", "O", "O"]),
        ] {
            let errors = span_errors(&gold, &predicted);
            errors.iter().for_each(|error| counts.add(error));
        }
        let kinds = ErrorKind::ALL.map(|kind| counts.count(kind));
        assert_eq!(kinds, [1, 1, 2, 1, 0]);
        assert_eq!(counts.total(), 5);
        let types: Vec<_> = (counts.types.iter())
            .map(|((gold, predicted), &count)| (gold.as_deref(), predicted.as_deref(), count))
            .collect();
        assert_eq!(
            types,
            [
                (None, Some("X"), 1),
                (Some("X"), Some("X"), 1),
                (Some("X"), Some("Y"), 2),
                (Some("Y"), None, 1),
            ]
        );
    }
}
