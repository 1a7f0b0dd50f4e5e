//! The sentence that is being pushed to a corpus of ready-made attributes.

use hashbrown::HashSet;

use super::builder::MAX_VALUE;
use crate::error::{Error, Result};
use crate::ids::LabelId;

/// An attribute that has the value 0 at a token with this label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Zero {
    pub part: i32,
    pub attribute: u32,
    pub label: LabelId,
}

/// The sentence that is being pushed.
#[derive(Clone, Debug, Default)]
pub(super) struct UnfinishedSentence {
    pub entries: [Vec<(u32, f64)>; 2], // nodes, edges
    pub ends: [Vec<usize>; 2],         // [T] end of each token in `entries`
    pub labels: Vec<Vec<LabelId>>,     // [T] labels that each token may have; none for any
    pub weight: Option<f64>,           // 1 if it has none
}

impl UnfinishedSentence {
    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.ends[0].len()
    }

    /// Collects the attributes of tokens with the value 0, with their labels.
    pub fn add_zeros(&self, part: i32, zeros: &mut HashSet<Zero>) {
        let mut start = 0;
        for (&end, labels) in self.ends[0].iter().zip(&self.labels) {
            let entries = self.entries[0][start..end].iter();
            for &(attribute, _) in entries.filter(|&&(_, value)| value == 0.0) {
                zeros.extend(labels.iter().map(|&label| Zero { part, attribute, label }));
            }
            start = end;
        }
    }

    /// Drops what has been pushed.
    pub fn clear(&mut self) {
        self.entries.iter_mut().for_each(Vec::clear);
        self.ends.iter_mut().for_each(Vec::clear);
        self.labels.clear();
        self.weight = None;
    }
}

/// Checks the name and the value of an attribute.
pub(super) fn check(name: &str, value: f64) -> Result<()> {
    if name.is_empty() {
        return Err(Error::parameter("an attribute has no name"));
    }
    if value.is_nan() || value.abs() > MAX_VALUE {
        return Err(Error::parameter(format!(
            "attribute '{name}' has the value {value}; expected a number of at most {MAX_VALUE:e}"
        )));
    }
    Ok(())
}
