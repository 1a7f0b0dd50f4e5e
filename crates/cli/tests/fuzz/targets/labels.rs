//! Label schemes and notations.

use dropchain::kernel::label::{ChunkLabel, SchemeConstraint};
use dropchain::label::{
    LabelSet, Labeling, PlainLabels, Scheme, SchemeDetector, Span, convert, encode, spans,
};

use crate::harness::Target;

const LABELS: &str = "B-X I-X E-X S-X O B-Y I-Y B I B--X I- [-X ]-X .-X O-X NN B-0";

const NOTATIONS: &str = r#"
    B_X I_X X-B X-I X-E b-x i-x o 0 OUT OTHER _ U-X L-X M-X W-X B M E S B/X I/X B.X I|X <other>
    <a> I-<a> B-X-Y B_X_Y X NNP B- -B - "
"#;

/// Schemes that encode all spans; IO merges adjacent ones of one type.
const EXACT: [Scheme; 3] = [Scheme::Iob1, Scheme::Iob2, Scheme::Bioes];

fn lines(input: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(input);
    text.split_whitespace().map(str::to_owned).collect()
}

/// Whether the constraint of a scheme allows a sequence.
fn allows(labels: &[String], scheme: Scheme) -> bool {
    let mut set = LabelSet::new();
    let ids: Vec<_> = labels.iter().map(|label| set.insert(label).unwrap()).collect();
    let constraint = SchemeConstraint::new(&set, &scheme.into());
    let allowed = |a: usize, b: usize| constraint.allowed[a * set.len() + b];
    ids.first().is_none_or(|b| constraint.start[b.index()])
        && ids.last().is_none_or(|a| constraint.end[a.index()])
        && (ids.windows(2)).all(|ab| allowed(ab[0].index(), ab[1].index()))
}

#[test]
fn conversion_preserves_spans_and_yields_legal_labels() {
    Target::new("labels", LABELS).run(|input| {
        let labels = lines(input);
        let found = spans(&labels);
        check_spans(&found, labels.len());
        assert_eq!(convert(&labels, Scheme::Raw), labels);
        for scheme in Scheme::ALL {
            let converted = convert(&labels, scheme);
            assert_eq!(converted.len(), labels.len());
            // Plain labels do not say that they are: the type I looks like a tag.
            let again = match scheme {
                Scheme::Plain => Labeling::from(scheme).convert(&converted, &scheme.into()),
                _ => convert(&converted, scheme),
            };
            assert_eq!(again, converted, "{scheme} is idempotent");
            assert!(allows(&converted, scheme), "{scheme}: {converted:?}");
        }
        // A span with the label outside as its type, such as B-O, is read as outside.
        let are_spans = found.iter().all(|span| span.kind != "O");
        for scheme in EXACT.into_iter().filter(|_| are_spans) {
            let converted = encode(&found, labels.len(), &scheme.into());
            assert_eq!(spans(&converted), found, "{scheme}");
            let detected = SchemeDetector::new().after([&converted]).detected().labeling;
            assert_eq!(
                Labeling::RAW.convert(&converted, &detected),
                converted,
                "{scheme} or {detected}"
            );
            for other in EXACT {
                let direct = convert(&labels, other);
                assert_eq!(convert(&converted, other), direct, "{scheme} to {other}");
            }
        }
    });
}

#[test]
fn any_labels_are_detected_alike_and_written_back_as_they_came() {
    Target::new("notations", NOTATIONS).run(|input| {
        let text = String::from_utf8_lossy(input);
        let sentences = text.lines().map(|line| line.split_whitespace().collect());
        let sentences: Vec<Vec<&str>> = sentences.collect();
        for choice in PlainLabels::ALL {
            let detector = SchemeDetector::new().with_plain_labels(choice);
            let detected = detector.after(&sentences).detected();
            assert_eq!(detector.after(&sentences).detected(), detected);
            let own = &detected.labeling;
            for lines in detected.account(choice) {
                assert!(!lines.contains(char::is_control), "{lines:?}");
            }
            for labels in &sentences {
                let spans = own.spans(labels);
                check_spans(&spans, labels.len());
                for (label, same) in labels.iter().zip(own.convert(labels, own)) {
                    assert!(*label == same || own.chunk(label) == ChunkLabel::OUTSIDE, "{label}");
                }
                if EXACT.contains(&own.scheme) {
                    let encoded = encode(&spans, labels.len(), own);
                    assert_eq!(own.spans(&encoded), spans, "{own}: {encoded:?}");
                }
                // The labels of a model, and back.
                let canonical = Labeling::from(own.scheme);
                let back = canonical.convert(&own.convert(labels, &canonical), own);
                for (label, back) in labels.iter().zip(&back) {
                    // Types without a name have no separator; a label outside is the usual one.
                    let is_bare = label.trim_matches(own.notation.separator) == back;
                    let chunk = own.chunk(label);
                    let is_outside = chunk == ChunkLabel::OUTSIDE || chunk.kind == "O";
                    assert!(label == back || is_bare || is_outside, "{own}: {label} {back}");
                }
            }
        }
    });
}

fn check_spans(spans: &[Span<'_>], len: usize) {
    let mut end = 0;
    for span in spans {
        assert!(span.start >= end && span.end > span.start && span.end <= len, "{span:?}");
        end = span.end;
    }
}
