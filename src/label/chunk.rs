//! Reading spans off labels by conlleval's rules.
//!
//! A label is a chunk tag and a type, split at its first hyphen: `B-NP-SBJ` is `B` of `NP-SBJ`,
//! and `I` is `I` of the empty type. Two neighboring labels decide whether a span ends between
//! them and whether one starts there; a sentence stands between two outside labels.
//!
//! Source: `endOfChunk` and `startOfChunk` of conlleval.pl, version 2004-01-26 (Tjong Kim Sang),
//! which cover IOB1, IOB2, IOE1, IOE2 and brackets (Tjong Kim Sang and Veenstra, EACL 1999) and give
//! every illegal sequence a reading. BIOES needs what later ports of the script add: a span always
//! ends after `E` and `S`, and `S`, or `B` after either, always starts one.
//!
//! One reading is deliberately not conlleval's: to Perl the string `0` is false, so the script
//! takes the type `0` for the empty one; here it is a type like any other.

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

/// A label as conlleval takes it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkLabel<'a> {
    /// What stands before the first hyphen: `B`, `I`, `O`, or anything else.
    pub tag: &'a str,
    /// What stands after it; empty where there is no hyphen.
    pub kind: &'a str,
}

impl<'a> ChunkLabel<'a> {
    /// What stands before the first token and after the last.
    pub const OUTSIDE: Self = Self { tag: "O", kind: "" };

    /// Takes a label apart.
    pub fn parse(label: &'a str) -> Self {
        let (tag, kind) = label.split_once('-').unwrap_or((label, ""));
        Self { tag, kind }
    }

    /// Whether the tag is one of the four that schemes write inside spans.
    pub fn is_inside(self) -> bool {
        matches!(self.tag, "B" | "I" | "E" | "S")
    }

    /// Whether a span that `self` belongs to ends before `next`.
    pub fn ends_before(self, next: ChunkLabel<'_>) -> bool {
        matches!(
            (self.tag, next.tag),
            ("E" | "S" | "[" | "]", _) | ("B" | "I", "B" | "O" | "S")
        ) || (!matches!(self.tag, "O" | ".") && self.kind != next.kind)
    }

    /// Whether a span starts with `self`, standing after `previous`.
    pub fn starts_after(self, previous: ChunkLabel<'_>) -> bool {
        matches!(
            (previous.tag, self.tag),
            (_, "S" | "[" | "]")
                | ("B" | "I" | "O" | "E" | "S", "B")
                | ("O" | "E" | "S", "I" | "E")
        ) || (!matches!(self.tag, "O" | ".") && self.kind != previous.kind)
    }
}

/// The spans of a label sequence, exactly as conlleval reads them.
///
/// They come in order, do not overlap and are never empty. There is one for every start that
/// conlleval counts: where a tag of no scheme (such as `[` after `B`) starts a span inside another,
/// the earlier one ends there.
#[must_use]
pub fn spans<S: AsRef<str>>(labels: &[S]) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut previous = ChunkLabel::OUTSIDE;
    for (t, label) in labels.iter().enumerate() {
        let chunk = ChunkLabel::parse(label.as_ref());
        let starts = chunk.starts_after(previous);
        if (starts || previous.ends_before(chunk))
            && let Some((start, kind)) = open.take()
        {
            spans.push(Span {
                start,
                end: t,
                kind,
            });
        }
        if starts {
            open = Some((t, chunk.kind));
        }
        previous = chunk;
    }
    if let Some((start, kind)) = open {
        spans.push(Span {
            start,
            end: labels.len(),
            kind,
        });
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(labels: &str) -> Vec<(usize, usize, String)> {
        let labels: Vec<&str> = labels.split_whitespace().collect();
        spans(&labels)
            .into_iter()
            .map(|s| (s.start, s.end, s.kind.to_owned()))
            .collect()
    }

    fn expect(labels: &str, expected: &[(usize, usize, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|&(start, end, kind)| (start, end, kind.to_owned()))
            .collect();
        assert_eq!(read(labels), expected, "{labels}");
    }

    #[test]
    fn each_scheme_reads_as_the_same_spans() {
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
    fn a_span_need_not_start_or_end_as_its_scheme_says() {
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
