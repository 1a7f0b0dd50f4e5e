//! How spans of characters are read.

use dropchain::corpus::Repair;

/// Spans that [`Misaligned::Expand`] extends.
pub(super) const EXPANDED: Repair =
    Repair { one: "span cuts a token", many: "spans cut tokens", fate: "extended to whole tokens" };

/// Spans that [`Misaligned::Drop`] leaves out.
pub(super) const DROPPED: Repair = Repair { fate: "left out", ..EXPANDED };

/// Spans that [`Overlaps`] leaves out.
pub(super) const OVERLAPPING: Repair =
    Repair { one: "span overlaps another", many: "spans overlap others", fate: "left out" };

/// How spans of characters are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanOptions {
    /// What their offsets count; `None`: characters, or what the texts of the spans show.
    pub offsets: Option<SpanOffsets>,
    /// The treatment of spans that cut tokens.
    pub misaligned: Misaligned,
    /// What becomes of those that overlap.
    pub overlaps: Overlaps,
}

/// What offsets of spans count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpanOffsets {
    /// Unicode scalar values (code points), like string indices of Python.
    Chars,
    /// UTF-16 code units, like string indices of JavaScript, Java and C#.
    Utf16,
    /// Code points, of which the line end CRLF is one.
    Lines,
    /// UTF-16 code units, of which the line end CRLF is one.
    Utf16Lines,
    /// Bytes of UTF-8.
    Bytes,
}

dropchain::named!(SpanOffsets, "unit of offsets":
    Chars = "chars",
    Utf16 = "utf16",
    Lines = "lines",
    Utf16Lines = "utf16-lines",
    Bytes = "bytes",
);

impl SpanOffsets {
    /// What they count, in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Chars => "characters",
            Self::Utf16 => "UTF-16 units",
            Self::Lines => "characters, CRLF as one",
            Self::Utf16Lines => "UTF-16 units, CRLF as one",
            Self::Bytes => "bytes",
        }
    }

    /// Texts whose offsets were found to count this.
    pub(super) fn found(self) -> &'static Repair {
        const fn found(one: &'static str, many: &'static str) -> Repair {
            Repair { one, many, fate: "the texts of its spans are there (`offsets` decides)" }
        }
        static FOUND: [Repair; SpanOffsets::ALL.len()] = [
            found("text has offsets in characters", "texts have offsets in characters"),
            found("text has offsets in UTF-16 units", "texts have offsets in UTF-16 units"),
            found("text has offsets with CRLF as one", "texts have offsets with CRLF as one"),
            found(
                "text has offsets in UTF-16 units, CRLF as one",
                "texts have offsets in UTF-16 units, CRLF as one",
            ),
            found("text has offsets in bytes", "texts have offsets in bytes"),
        ];
        &FOUND[self as usize]
    }
}

/// What to do with annotated spans that begin or end inside a token, or are discontinuous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Misaligned {
    /// They are an error, which lists them.
    #[default]
    Error,
    /// They are extended to whole tokens, and counted.
    Expand,
    /// They are left out, and counted.
    Drop,
}

dropchain::named!(Misaligned, "treatment of misaligned spans":
    Error = "error",
    Expand = "expand",
    Drop = "drop",
);

/// What to do with annotated spans that share tokens. Exact duplicates are one span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overlaps {
    /// They are an error, which lists them.
    #[default]
    Error,
    /// The longest is read, of equally long ones the first; the others are left out, and counted.
    Longest,
    /// The one that is listed first is read; the others are left out, and counted.
    First,
}

dropchain::named!(Overlaps, "treatment of overlapping spans":
    Error = "error",
    Longest = "longest",
    First = "first",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in Misaligned::ALL {
            assert_eq!(choice.to_string().parse::<Misaligned>().unwrap(), choice);
        }
        for choice in Overlaps::ALL {
            assert_eq!(choice.to_string().parse::<Overlaps>().unwrap(), choice);
        }
        for choice in SpanOffsets::ALL {
            assert_eq!(choice.to_string().parse::<SpanOffsets>().unwrap(), choice);
        }
        assert!("snap".parse::<Misaligned>().is_err());
    }
}
