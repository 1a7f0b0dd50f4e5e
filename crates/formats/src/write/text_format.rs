//! Formats of texts with marks.

use crate::offset_unit::OffsetUnit;

/// A format of texts with marks: spans or, if labels encode none, tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// One text per line, with spans as XML elements, as Stanford NER writes them.
    InlineXml,
    /// A page with highlighted spans.
    Html,
    /// JSON lines for spaCy's displaCy: one object per text.
    Displacy,
    /// Spans of characters as JSON lines, as Prodigy has them: one object per text.
    Spans(OffsetUnit),
    /// Spans of characters as JSON lines, as doccano has them: one object per text.
    Doccano(OffsetUnit),
    /// Tasks with predictions for Label Studio: a JSON array with an item per text.
    LabelStudio {
        /// The name of the model.
        model: String,
    },
    /// BRAT's standoff annotations.
    Brat,
}
