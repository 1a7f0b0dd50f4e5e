//! The types of labels: what is left without the position in a span.

use crate::ids::LabelId;
use crate::label::{ChunkLabel, LabelSet, Scheme};

/// The types of the labels of a model, such as `PER` for `B-PER` and `I-PER`. Labels that encode no
/// spans are their own types.
#[derive(Clone, Debug)]
pub(crate) struct LabelTypes {
    names: Vec<String>,
    of_label: Vec<u16>, // [K]
    labels: Vec<String>,
    has_spans: bool,
}

impl LabelTypes {
    pub fn new(labels: &LabelSet, scheme: Scheme) -> Self {
        let has_spans = scheme != Scheme::Raw;
        let mut names: Vec<String> = Vec::new();
        let of_label = labels.names().iter().map(|label| {
            let name = match ChunkLabel::parse(label) {
                chunk if has_spans && chunk.is_inside() => chunk.kind,
                _ => label,
            };
            let known = names.iter().position(|known| known == name);
            let index = known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            index as u16
        });
        Self {
            of_label: of_label.collect(),
            names,
            labels: labels.names().to_vec(),
            has_spans,
        }
    }

    /// Returns the number of types.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn name(&self, kind: usize) -> &str {
        &self.names[kind]
    }

    /// Returns the type with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns the type of a label.
    pub fn of(&self, label: LabelId) -> usize {
        usize::from(self.of_label[label.index()])
    }

    /// Returns the number of labels K.
    pub fn labels(&self) -> usize {
        self.labels.len()
    }

    /// Returns the label with this name.
    pub fn label_id(&self, name: &str) -> Option<LabelId> {
        let index = self.labels.iter().position(|known| known == name)?;
        Some(LabelId(index as u16))
    }

    pub fn label(&self, label: LabelId) -> &str {
        &self.labels[label.index()]
    }

    /// Returns whether the labels encode spans.
    pub fn has_spans(&self) -> bool {
        self.has_spans
    }
}
