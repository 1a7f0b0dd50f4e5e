//! Labels split into chunk tag and type, with conlleval's chunk boundary rules.
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
