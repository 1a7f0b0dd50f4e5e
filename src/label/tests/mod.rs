//! Properties of all label sequences.

use proptest::prelude::*;

use super::*;

mod decisions;

const SPAN_SCHEMES: [Scheme; 4] = [Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes];

/// Sentences as runs of tokens: outside all spans, or a span of one of three types.
fn sentence() -> impl Strategy<Value = Vec<(usize, Option<&'static str>)>> {
    let kind = prop::sample::select(vec![None, Some("X"), Some("Y-Z"), Some("")]);
    prop::collection::vec((1_usize..4, kind), 0..8)
}

fn spans_of(runs: &[(usize, Option<&'static str>)]) -> (Vec<Span<'static>>, usize) {
    let mut spans = Vec::new();
    let mut end = 0;
    for &(len, kind) in runs {
        let start = end;
        end += len;
        spans.extend(kind.map(|kind| Span { start, end, kind }));
    }
    (spans, end)
}

/// Joins adjacent spans of one type, as IO does.
fn merged<'a>(spans: &[Span<'a>]) -> Vec<Span<'a>> {
    let mut merged: Vec<Span<'a>> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.end == span.start && last.kind == span.kind => last.end = span.end,
            _ => merged.push(span.clone()),
        }
    }
    merged
}

proptest! {
    #[test]
    fn encoded_spans_are_decoded_again(runs in sentence()) {
        let (written, len) = spans_of(&runs);
        for scheme in SPAN_SCHEMES {
            let labels = encode(&written, len, &scheme.into());
            let expected = if scheme == Scheme::Io { merged(&written) } else { written.clone() };
            prop_assert_eq!(spans(&labels), expected, "{}: {:?}", scheme, labels);
        }
    }

    #[test]
    fn conversion_keeps_the_spans(runs in sentence()) {
        let (written, len) = spans_of(&runs);
        for (from, to) in SPAN_SCHEMES.into_iter().flat_map(|a| SPAN_SCHEMES.map(|b| (a, b))) {
            let source = encode(&written, len, &from.into());
            let target = convert(&source, to);
            let expected = if to == Scheme::Io { merged(&spans(&source)) } else { spans(&source) };
            prop_assert_eq!(spans(&target), expected, "{} to {}: {:?}", from, to, target);
        }
    }

    #[test]
    fn the_scheme_of_encoded_labels_is_detected(corpus in prop::collection::vec(sentence(), 0..4)) {
        for scheme in SPAN_SCHEMES {
            let labels: Vec<Vec<String>> = corpus
                .iter()
                .map(|runs| {
                    let (spans, len) = spans_of(runs);
                    encode(&spans, len, &scheme.into())
                })
                .collect();
            let any_span = labels.iter().flatten().any(|l| l != "O");
            let any_begin = labels.iter().flatten().any(|l| l.starts_with('B'));
            let expected = match scheme {
                Scheme::Iob1 if !any_begin => Scheme::Io,
                _ if !any_span => Scheme::Io,
                scheme => scheme,
            };
            let detected = SchemeDetector::new().after(&labels).detected().labeling;
            prop_assert_eq!(detected, expected, "{:?}", labels);
        }
    }

    #[test]
    fn any_labels_decode_to_ordered_spans_within_the_sentence(
        labels in prop::collection::vec("[BIOES.X]?\\]?-?[XY-]?", 0..10)
    ) {
        let mut end = 0;
        for span in spans(&labels) {
            prop_assert!(end <= span.start && span.start < span.end);
            end = span.end;
        }
        prop_assert!(end <= labels.len());
    }
}
