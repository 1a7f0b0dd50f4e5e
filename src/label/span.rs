//! Spans, and decoding them from labels that are split into chunk tag and type, by conlleval's
//! chunk boundary rules.
//!
//! A label of most schemes is split at its first hyphen: `B-NP-SBJ` is the tag `B` with the type
//! `NP-SBJ`, and `I` is the tag `I` with the empty type. Whether a span ends or starts between two
//! tokens depends on their two labels alone; a sentence is padded with `O` on both sides.
//!
//! Source: `endOfChunk` and `startOfChunk` of conlleval.pl, version 2004-01-26 (Tjong Kim Sang),
//! which cover IOB1, IOB2, IOE1, IOE2 and brackets (Tjong Kim Sang and Veenstra, EACL 1999) and
//! interpret every malformed sequence. BIOES takes the rules that later ports of the script add: a
//! span always ends after `E` and `S`, and `S`, or `B` after either, always starts one.
//!
//! One difference is deliberate: in Perl the string `0` is false, so the script reads the type `0`
//! as the empty type. Here it is a type like any other.

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

/// A label split into chunk tag and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLabel<'a> {
    /// The part before the first hyphen: `B`, `I`, `O`, or anything else.
    pub tag: &'a str,
    /// The part after it; empty if there is no hyphen.
    pub kind: &'a str,
}

impl<'a> ChunkLabel<'a> {
    /// `O`, the padding before the first token and after the last.
    pub const OUTSIDE: Self = Self { tag: "O", kind: "" };

    /// Splits a label at its first hyphen.
    pub fn parse(label: &'a str) -> Self {
        let (tag, kind) = label.split_once('-').unwrap_or((label, ""));
        Self { tag, kind }
    }

    /// Whether the tag is one that IOB and BIOES schemes use inside spans.
    pub fn is_inside(self) -> bool {
        matches!(self.tag, "B" | "I" | "E" | "S")
    }

    /// Whether a span that contains `self` ends before `next` (`endOfChunk`).
    pub fn ends_before(self, next: ChunkLabel<'_>) -> bool {
        matches!((self.tag, next.tag), ("E" | "S" | "[" | "]", _) | ("B" | "I", "B" | "O" | "S"))
            || (!matches!(self.tag, "O" | ".") && self.kind != next.kind)
    }

    /// Whether a span starts at `self` after `previous` (`startOfChunk`).
    pub fn starts_after(self, previous: ChunkLabel<'_>) -> bool {
        matches!(
            (previous.tag, self.tag),
            (_, "S" | "[" | "]")
                | ("B" | "I" | "O" | "E" | "S", "B")
                | ("O" | "E" | "S", "I" | "E")
        ) || (!matches!(self.tag, "O" | ".") && self.kind != previous.kind)
    }
}

/// Decodes the spans of split labels by conlleval's rules.
pub(super) fn decode<'a>(chunks: impl ExactSizeIterator<Item = ChunkLabel<'a>>) -> Vec<Span<'a>> {
    let len = chunks.len();
    let mut spans = Vec::new();
    let mut open: Option<(usize, &str)> = None; // start and type
    let mut previous = ChunkLabel::OUTSIDE;
    for (t, chunk) in chunks.chain([ChunkLabel::OUTSIDE]).enumerate() {
        let starts = chunk.starts_after(previous);
        if (starts || t == len || previous.ends_before(chunk))
            && let Some((start, kind)) = open.take()
        {
            spans.push(Span { start, end: t, kind });
        }
        if starts {
            open = Some((t, chunk.kind));
        }
        previous = chunk;
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
