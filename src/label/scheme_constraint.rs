//! The transitions that a scheme allows, for constrained decoding.

use super::label_set::LabelSet;
use super::labeling::Labeling;
use super::scheme::Scheme;
use super::span::ChunkLabel;

/// The labels that may start a sentence, end it, and follow each other.
///
/// A label sequence is allowed if and only if it is legal in the scheme, as
/// [`SchemeDetector`](super::SchemeDetector) defines it:
///
/// | scheme | may not start | must follow `B-X` or `I-X` | next after `B-X`, `I-X` | may not end |
/// |---|---|---|---|---|
/// | raw, IO, plain | | | | |
/// | IOB1 | `B-X` | `B-X` | | |
/// | IOB2 | `I-X` | `I-X` | | |
/// | BIOES | `I-X`, `E-X` | `I-X`, `E-X` | `I-X`, `E-X` | `B-X`, `I-X` |
///
/// A label outside the scheme (`E-X` in IOB2, `NN` in any) may occur anywhere, next to any label.
///
/// There is an allowed sequence of every length T ≥ 1. Proof: by the table, a label that may both
/// start and end a sentence may also follow itself, so T repetitions of it are allowed. A
/// one-token sentence needs such a label. If there is none (as in a set of only `B-X`, `I-X` and
/// `E-X`), the scheme cannot be enforced, and every transition is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeConstraint {
    /// The labels that may start a sentence, `[K]`.
    pub start: Vec<bool>,
    /// The labels that may end a sentence, `[K]`.
    pub end: Vec<bool>,
    /// The transitions, from the row's label to the column's, `[K][K]`.
    pub allowed: Vec<bool>,
}

impl SchemeConstraint {
    /// The constraint of a labeling on its K labels. Takes K² bytes.
    pub fn new(labels: &LabelSet, labeling: &Labeling) -> Self {
        let follows = |a, b| may_precede(a, b, labeling.scheme);
        let chunks: Vec<_> = labels.names().iter().map(|name| chunk(name, labeling)).collect();
        let outside = Some(ChunkLabel::OUTSIDE);
        let start: Vec<bool> = chunks.iter().map(|b| follows(outside, *b)).collect();
        let end: Vec<bool> = chunks.iter().map(|a| follows(*a, outside)).collect();
        if !start.iter().zip(&end).any(|(&start, &end)| start && end) {
            let k = labels.len();
            return Self { start: vec![true; k], end: vec![true; k], allowed: vec![true; k * k] };
        }
        let pairs = chunks.iter().flat_map(|a| chunks.iter().map(|b| (*a, *b)));
        Self { start, end, allowed: pairs.map(|(a, b)| follows(a, b)).collect() }
    }

    /// Whether anything is forbidden.
    pub fn is_binding(&self) -> bool {
        [&self.start, &self.end, &self.allowed].iter().any(|flags| flags.contains(&false))
    }
}

/// Splits a label of a scheme with rules; `None` if it is not of the scheme.
fn chunk<'a>(label: &'a str, labeling: &Labeling) -> Option<ChunkLabel<'a>> {
    labeling.notation.read(label).filter(|_| labeling.has(label))
}

/// Whether one label may follow another; what is not of the scheme may occur anywhere.
fn may_precede(a: Option<ChunkLabel>, b: Option<ChunkLabel>, scheme: Scheme) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return true };
    let is_open = matches!(a.tag, "B" | "I");
    match (scheme, b.tag) {
        (Scheme::Iob1, "B") | (Scheme::Iob2, "I") | (Scheme::Bioes, "I" | "E") => {
            is_open && a.kind == b.kind
        }
        (Scheme::Bioes, _) => !is_open,
        _ => true,
    }
}

/// Whether `next` may follow `label` in a sequence that is legal in a labeling; the label outside
/// stands for the ends of a sentence.
pub fn may_follow(label: &str, next: &str, labeling: &Labeling) -> bool {
    may_precede(chunk(label, labeling), chunk(next, labeling), labeling.scheme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::LabelId;
    use crate::label::convert;

    fn set(names: &[&str]) -> LabelSet {
        LabelSet::try_from(names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn allowed(constraint: &SchemeConstraint, a: LabelId, b: LabelId) -> bool {
        constraint.allowed[a.index() * constraint.start.len() + b.index()]
    }

    fn allows(constraint: &SchemeConstraint, path: &[LabelId]) -> bool {
        path.first().is_none_or(|b| constraint.start[b.index()])
            && path.last().is_none_or(|a| constraint.end[a.index()])
            && path.windows(2).all(|ab| allowed(constraint, ab[0], ab[1]))
    }

    /// All K^T sequences.
    fn paths(k: usize, t: u32) -> impl Iterator<Item = Vec<LabelId>> {
        (0..k.pow(t)).map(move |mut n| {
            (0..t)
                .map(|_| {
                    let id = LabelId((n % k) as u16);
                    n /= k;
                    id
                })
                .collect()
        })
    }

    /// Compares with the definition by re-encoding, over all sequences of up to four tokens.
    fn assert_exact(names: &[&str], schemes: &[Scheme]) {
        let labels = set(names);
        let constraint = SchemeConstraint::new(&labels, &schemes[schemes.len() - 1].into());
        for path in (1..=4).flat_map(|t| paths(labels.len(), t)) {
            let names: Vec<&str> = path.iter().map(|&id| labels.name(id)).collect();
            let legal = schemes.iter().any(|&scheme| convert(&names, scheme) == names);
            assert_eq!(allows(&constraint, &path), legal, "{names:?}");
        }
    }

    #[test]
    fn exactly_the_legal_sequences_are_allowed() {
        let iob = ["O", "B-X", "I-X", "B-Y", "I-Y"];
        assert_exact(&iob, &[Scheme::Io, Scheme::Iob1]); // IO sequences are IOB1 sequences
        assert_exact(&iob, &[Scheme::Iob2]);
        assert_exact(&["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "E-Y", "S"], &[Scheme::Bioes]);
        assert_exact(&["O", "I-X", "I-Y", "I"], &[Scheme::Io]);
    }

    #[test]
    fn raw_labels_are_unconstrained() {
        let labels = set(&["B-X", "I-X", "NN"]);
        assert!(!SchemeConstraint::new(&labels, &Scheme::Raw.into()).is_binding());
        assert!(!SchemeConstraint::new(&labels, &Scheme::Io.into()).is_binding());
        assert!(SchemeConstraint::new(&labels, &Scheme::Iob2.into()).is_binding());
    }

    #[test]
    fn labels_outside_the_scheme_are_allowed_anywhere() {
        let labels = set(&["O", "E-X", "I-X", "O-X"]);
        let constraint = SchemeConstraint::new(&labels, &Scheme::Iob2.into());
        let [outside, foreign, inside, odd] = [0, 1, 2, 3].map(LabelId);
        assert!(constraint.start[foreign.index()] && constraint.end[foreign.index()]);
        let allowed = |a, b| allowed(&constraint, a, b);
        assert!(allowed(foreign, inside) && allowed(inside, foreign));
        assert!(allowed(odd, inside));
        assert!(!allowed(outside, inside));
    }

    #[test]
    fn every_length_has_an_allowed_sequence() {
        let all = ["O", "B-X", "I-X", "E-X", "S-X", "Q"];
        for subset in 1_usize..1 << all.len() {
            let names: Vec<&str> =
                (0..all.len()).filter(|i| subset >> i & 1 == 1).map(|i| all[i]).collect();
            let labels = set(&names);
            for scheme in Scheme::ALL {
                let constraint = SchemeConstraint::new(&labels, &scheme.into());
                for t in 1..=3 {
                    assert!(
                        paths(labels.len(), t).any(|path| allows(&constraint, &path)),
                        "{names:?} {scheme} {t}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_labels_need_no_constraint() {
        assert!(!SchemeConstraint::new(&LabelSet::new(), &Scheme::Bioes.into()).is_binding());
    }
}
