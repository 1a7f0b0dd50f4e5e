//! Encoding spans as labels, and converting labels.

use super::labeling::Labeling;
use super::scheme::Scheme;
use super::span::{Span, SpanPosition, decode};

/// Encodes the spans of a sequence of `len` tokens as labels; outside elsewhere.
///
/// [`Labeling::spans`] decodes them again, with one exception: IO and the plain scheme merge
/// adjacent spans of the same type. The empty type has no hyphen, as in `B`. [`Scheme::Raw`] cannot
/// encode spans; it is treated like IO.
///
/// The spans should be in order and disjoint. If they overlap, the later one wins; anything at
/// `len` or beyond is ignored.
pub fn encode(spans: &[Span<'_>], len: usize, labeling: &Labeling) -> Vec<String> {
    let mut labels = vec![labeling.outside().to_owned(); len];
    let mut before: Option<&Span<'_>> = None;
    for span in spans {
        let follows = before.is_some_and(|b| b.end == span.start && b.kind == span.kind);
        for (t, label) in labels.iter_mut().enumerate().take(span.end).skip(span.start) {
            let position =
                SpanPosition { first: t == span.start, last: t + 1 == span.end, follows };
            *label = labeling.label(position, span.kind);
        }
        before = Some(span);
    }
    labels
}

impl Labeling {
    /// Converts labels of this labeling; [`Scheme::Raw`] leaves them unchanged.
    ///
    /// Labels outside all spans, also the label outside with a tag, become the label outside. IO
    /// and the plain scheme merge adjacent spans of the same type. Malformed sequences are
    /// interpreted by conlleval's rules; within one scheme, only the notation changes, and labels
    /// that do not belong to it stay as they are.
    pub fn convert<S: AsRef<str>>(&self, labels: &[S], to: &Self) -> Vec<String> {
        let as_they_are = || labels.iter().map(|label| label.as_ref().to_owned()).collect();
        if to.scheme == Scheme::Raw {
            return as_they_are();
        }
        if self.scheme == to.scheme {
            return (labels.iter()).map(|label| self.rename(label.as_ref(), to)).collect();
        }
        let chunks = labels.iter().map(|label| self.chunk(label.as_ref()));
        encode(&decode(chunks), labels.len(), to)
    }

    /// Writes a label in another notation of the same scheme.
    fn rename(&self, label: &str, to: &Self) -> String {
        let chunk = match self.scheme {
            Scheme::Plain => Some(self.chunk(label)),
            _ => self.notation.read(label),
        };
        match chunk {
            Some(chunk) if chunk.tag == "O" => to.outside().to_owned(),
            Some(chunk) if self.scheme != Scheme::Plain && self.notation != to.notation => {
                to.notation.write(chunk.tag, chunk.kind)
            }
            _ => label.to_owned(),
        }
    }
}

/// Converts canonical labels of any scheme but the plain one ([`Labeling::convert`]).
pub fn convert<S: AsRef<str>>(labels: &[S], to: Scheme) -> Vec<String> {
    Labeling::RAW.convert(labels, &to.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPANS: [Span<'static>; 4] =
        [span(0, 1, "X"), span(1, 4, "X"), span(4, 6, "Y"), span(7, 8, "")];

    const fn span(start: usize, end: usize, kind: &str) -> Span<'_> {
        Span { start, end, kind }
    }

    #[test]
    fn every_scheme_writes_its_own_tags() {
        let write = |scheme| encode(&SPANS, 8, &Labeling::from(scheme)).join(" ");
        assert_eq!(write(Scheme::Io), "I-X I-X I-X I-X I-Y I-Y O I");
        assert_eq!(write(Scheme::Iob1), "I-X B-X I-X I-X I-Y I-Y O I");
        assert_eq!(write(Scheme::Iob2), "B-X B-X I-X I-X B-Y I-Y O B");
        assert_eq!(write(Scheme::Bioes), "S-X B-X I-X E-X B-Y E-Y O S");
        assert_eq!(write(Scheme::Raw), write(Scheme::Io));
        assert_eq!(write(Scheme::Plain), "X X X X Y Y O I");
    }

    #[test]
    fn spans_beyond_the_end_are_cut_off() {
        let beyond = [span(1, usize::MAX, "X"), span(7, 9, "Y")];
        assert_eq!(encode(&beyond, 3, &Scheme::Iob2.into()), ["O", "B-X", "I-X"]);
        assert!(encode(&SPANS, 0, &Scheme::Iob2.into()).is_empty());
    }

    #[test]
    fn the_later_of_overlapping_spans_wins() {
        let overlapping = [span(0, 3, "X"), span(1, 2, "Y")];
        assert_eq!(encode(&overlapping, 3, &Scheme::Iob2.into()), ["B-X", "B-Y", "I-X"]);
    }

    #[test]
    fn conversion_decodes_malformed_sequences_like_conlleval() {
        let malformed = ["I-X", "I-Y", "E-Y", "O", "Q", "B-X"];
        assert_eq!(convert(&malformed, Scheme::Iob2), ["B-X", "B-Y", "I-Y", "O", "O", "B-X"]);
    }

    #[test]
    fn plain_labels_are_converted_by_their_types() {
        let plain = ["X", "X", "O", "B-Y", "X"];
        let iob2 = Labeling::from(Scheme::Plain).convert(&plain, &Scheme::Iob2.into());
        assert_eq!(iob2, ["B-X", "I-X", "O", "B-B-Y", "B-X"]);
        assert_eq!(convert(&iob2, Scheme::Plain), plain);
    }

    #[test]
    fn conversion_to_raw_changes_nothing() {
        assert_eq!(convert(&["NN", "I-X"], Scheme::Raw), ["NN", "I-X"]);
    }
}
