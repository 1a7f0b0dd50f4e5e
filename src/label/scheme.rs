//! Label schemes, and what labels without a prefix are.

/// How labels encode spans.
///
/// With two adjacent spans of type X, of two tokens and of one, and a token outside:
///
/// | scheme | labels |
/// |---|---|
/// | IO | `I-X I-X I-X O` (the spans merge) |
/// | IOB1 | `I-X I-X B-X O` |
/// | IOB2, also called BIO | `B-X I-X B-X O` |
/// | BIOES, also called IOBES, BILOU, BMES or BMEWO | `B-X E-X S-X O` |
/// | plain | `X X X O` (the spans merge) |
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Labels without structure, such as parts of speech: no spans.
    #[default]
    Raw,
    /// `I-X` inside a span of type X, `O` outside. Adjacent spans of the same type merge.
    Io,
    /// Like IO, with `B-X` at the start of a span that directly follows a span of the same type.
    Iob1,
    /// `B-X` at the start of every span, `I-X` on its other tokens.
    Iob2,
    /// Like IOB2, with `E-X` on the last token of a span and `S-X` for a single-token span.
    Bioes,
    /// Like IO without prefixes: `X` inside a span of type X, as in the files of Stanford NER.
    Plain,
}

crate::named!(Scheme, "label scheme":
    Raw = "raw",
    Io = "io",
    Iob1 = "iob1",
    Iob2 = "iob2",
    Bioes = "bioes",
    Plain = "plain",
);

impl Scheme {
    /// Whether labels encode spans.
    pub const fn has_spans(self) -> bool {
        !matches!(self, Self::Raw)
    }

    /// The name as people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Raw => "tags",
            Self::Io => "IO",
            Self::Iob1 => "IOB1",
            Self::Iob2 => "IOB2",
            Self::Bioes => "BIOES",
            Self::Plain => "types without prefixes",
        }
    }

    /// Whether adjacent spans of the same type merge.
    #[cfg(feature = "train")]
    pub(super) const fn merges(self) -> bool {
        matches!(self, Self::Io | Self::Plain)
    }
}

/// What labels without a prefix such as `B-` are: types of spans, such as `PERSON`, or tags, such
/// as `NOUN`.
///
/// Types and tags both occur, and nothing in a label says which it is; but their distributions
/// differ. Outside means nothing for tags, so they have no `O`, or one that is rare. Where `O` is
/// at least half of the tokens, or a quarter of the tokens in types follows one of the same type (a
/// span of several tokens), labels are types. Decision 66 has the numbers of corpora.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum PlainLabels {
    /// Types of spans if they look like it: there is a label `O`, which is at least half of the
    /// tokens, or at least a quarter of the others follows one with the same label.
    #[default]
    Auto,
    /// Types of spans: adjacent tokens with the same label are one, except with the label `O`.
    Spans,
    /// Tags, such as parts of speech.
    Tags,
}

crate::named!(PlainLabels, "kind of plain labels": Auto = "auto", Spans = "spans", Tags = "tags");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_serialized_names_round_trip() {
        for scheme in Scheme::ALL {
            assert_eq!(scheme.to_string().parse::<Scheme>().unwrap(), scheme);
            assert_eq!(serde_json::to_string(&scheme).unwrap(), format!("\"{scheme}\""));
        }
    }

    #[test]
    fn an_unknown_scheme_is_an_error_that_lists_the_known_ones() {
        assert_eq!(
            "iobes".parse::<Scheme>().unwrap_err().to_string(),
            "unknown label scheme 'iobes': expected raw, io, iob1, iob2, bioes or plain"
        );
    }
}
