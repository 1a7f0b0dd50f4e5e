//! Spans, and decoding them from split labels.

use super::chunk_label::ChunkLabel;
use super::scheme::Scheme;

/// A labeled span: tokens `start..end` of type `kind`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span<'a> {
    /// First token.
    pub start: usize,
    /// One past the last token.
    pub end: usize,
    /// The type, such as `PER`.
    pub kind: &'a str,
}

/// The position of a token in its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanPosition {
    /// It is the first token.
    pub first: bool,
    /// It is the last token.
    pub last: bool,
    /// The span directly follows one of the same type.
    pub follows: bool,
}

impl SpanPosition {
    /// The tag of the token.
    pub fn tag(self, scheme: Scheme) -> &'static str {
        let Self { first, last, follows } = self;
        match scheme {
            Scheme::Raw | Scheme::Io | Scheme::Plain => "I",
            Scheme::Iob1 if first && follows => "B",
            Scheme::Iob1 => "I",
            Scheme::Bioes if first && last => "S",
            Scheme::Bioes if last => "E",
            Scheme::Iob2 | Scheme::Bioes if first => "B",
            Scheme::Iob2 | Scheme::Bioes => "I",
        }
    }
}

/// Decodes the spans of split labels by conlleval's rules.
pub(super) fn decode<'a>(chunks: impl ExactSizeIterator<Item = ChunkLabel<'a>>) -> Vec<Span<'a>> {
    let len = chunks.len();
    let mut spans = Vec::new();
    let mut open: Option<(usize, &str)> = None; // start and type
    let mut previous = ChunkLabel::OUTSIDE;
    for (t, chunk) in chunks.enumerate() {
        let starts = chunk.starts_after(previous);
        if (starts || previous.ends_before(chunk))
            && let Some((start, kind)) = open.take()
        {
            let end = t;
            spans.push(Span { start, end, kind });
        }
        if starts {
            open = Some((t, chunk.kind));
        }
        previous = chunk;
    }
    if let Some((start, kind)) = open {
        let end = len;
        spans.push(Span { start, end, kind });
    }
    spans
}

#[cfg(test)]
mod tests {
    use crate::label::spans;

    fn read(labels: &str) -> Vec<(usize, usize, String)> {
        let labels: Vec<&str> = labels.split_whitespace().collect();
        spans(&labels).into_iter().map(|s| (s.start, s.end, s.kind.to_owned())).collect()
    }

    fn expect(labels: &str, expected: &[(usize, usize, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|&(start, end, kind)| (start, end, kind.to_owned())).collect();
        assert_eq!(read(labels), expected, "{labels}");
    }

    #[test]
    fn every_scheme_decodes_to_the_same_spans() {
        let adjacent = [(0, 2, "X"), (2, 3, "X"), (4, 5, "Y")];
        expect("I-X I-X B-X O I-Y", &adjacent);
        expect("B-X I-X B-X O B-Y", &adjacent);
        expect("B-X E-X S-X O S-Y", &adjacent);
        expect("I-X E-X E-X O E-Y", &adjacent);
        expect("I-X I-X I-X O I-Y", &[(0, 3, "X"), (4, 5, "Y")]);
    }

    #[test]
    fn a_change_of_type_ends_one_span_and_starts_another() {
        expect("B-X I-Y I-X", &[(0, 1, "X"), (1, 2, "Y"), (2, 3, "X")]);
        expect("B-X E-Y", &[(0, 1, "X"), (1, 2, "Y")]);
        expect("I-X I", &[(0, 1, "X"), (1, 2, "")]);
    }

    #[test]
    fn a_span_need_not_start_or_end_as_its_scheme_requires() {
        expect("O I-X I-X O", &[(1, 3, "X")]);
        expect("B-X I-X", &[(0, 2, "X")]);
        expect("E-X I-X B-X", &[(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]);
        expect("S-X I-X", &[(0, 1, "X"), (1, 2, "X")]);
        expect("I-X S-X B-X", &[(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]);
    }

    #[test]
    fn a_label_is_split_at_its_first_hyphen() {
        expect("B-NP-SBJ I-NP-SBJ", &[(0, 2, "NP-SBJ")]);
        expect("B--X I--X", &[(0, 2, "-X")]);
        expect("B I- O B-0", &[(0, 2, ""), (3, 4, "0")]);
    }

    #[test]
    fn brackets_are_spans_of_one_token() {
        expect("[-X ]-X I-X", &[(0, 1, "X"), (1, 2, "X")]);
        expect("B-X [-X O", &[(0, 1, "X"), (1, 2, "X")]);
    }

    #[test]
    fn parts_of_speech_have_no_spans() {
        expect("DT NN VBZ .", &[]);
        expect("", &[]);
    }
}
