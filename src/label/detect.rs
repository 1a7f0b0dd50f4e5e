//! Finding the scheme of a corpus.

use super::encode::tag;
use super::{Chunk, Scheme, Span, spans};

/// Finds the scheme of a corpus one sequence at a time, in constant space.
///
/// A sequence is a legal instance of a scheme when writing its spans in that scheme gives the
/// sequence back. [`SchemeDetector::finish`] names the first of IO, IOB1, IOB2 and BIOES of which
/// every sequence was a legal instance, and [`Scheme::Raw`] if there is none: strict, so that one
/// illegal sequence makes a corpus raw.
///
/// At most one scheme fits, save in two cases, which both give IO, the smallest: a corpus
/// without any `B-` is IO and IOB1 alike, and one without spans is everything.
#[derive(Clone, Debug)]
pub struct SchemeDetector {
    candidates: Vec<Scheme>,
}

impl Default for SchemeDetector {
    fn default() -> Self {
        Self::new()
    }
}

impl SchemeDetector {
    /// A detector that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            candidates: vec![Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes],
        }
    }

    /// Takes the labels of a sentence into account.
    pub fn observe<S: AsRef<str>>(&mut self, labels: &[S]) {
        if self.candidates.is_empty() {
            return;
        }
        let spans = spans(labels);
        self.candidates
            .retain(|&scheme| is_legal(labels, &spans, scheme));
    }

    /// The scheme of everything observed.
    #[must_use]
    pub fn finish(&self) -> Scheme {
        self.candidates.first().copied().unwrap_or(Scheme::Raw)
    }
}

/// The scheme of a corpus, given the labels of each sentence; see [`SchemeDetector`].
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

/// Whether `labels` is how `scheme` writes `spans`, which are the spans of `labels`.
fn is_legal<S: AsRef<str>>(labels: &[S], spans: &[Span<'_>], scheme: Scheme) -> bool {
    let outside = |range: &[S]| range.iter().all(|label| label.as_ref() == "O");
    let mut end = 0;
    for (i, span) in spans.iter().enumerate() {
        let inside = (span.start..span.end).all(|t| {
            let written = Chunk {
                tag: tag(scheme, spans, i, t),
                kind: span.kind,
            };
            Chunk::parse(labels[t].as_ref()) == written
        });
        if !inside || !outside(&labels[end..span.start]) {
            return false;
        }
        end = span.end;
    }
    outside(&labels[end..])
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
    fn legal_corpora_are_told_apart() {
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
    fn parts_of_speech_are_raw() {
        assert_eq!(scheme(&["DT NN VBZ ."]), Scheme::Raw);
        assert_eq!(scheme(&["-LRB- NN -RRB-"]), Scheme::Raw);
    }

    #[test]
    fn without_spans_the_smallest_scheme_is_chosen() {
        assert_eq!(scheme(&["O O", ""]), Scheme::Io);
        assert_eq!(scheme(&[]), Scheme::Io);
    }
}
