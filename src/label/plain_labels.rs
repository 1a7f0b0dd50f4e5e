//! Whether labels without a prefix are types of spans, such as `PERSON`, or tags, such as `NOUN`.
//!
//! Both occur, and nothing in a label says which it is; but their distributions differ. Outside
//! means nothing for tags, so they have no `O`, or one that is rare. Where `O` is at least half of
//! the tokens, or a quarter of the tokens in types follows one of the same type (a span of several
//! tokens), labels are types. Decision 66 has the numbers of corpora.

/// What labels without a prefix such as `B-` are.
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
