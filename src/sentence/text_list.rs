//! Texts, concatenated.

use serde::{Deserialize, Serialize};

/// A list of texts in one string, of at most 4 GiB: the cells of a sentence, names of attributes.
#[derive(Clone, Debug, Default, PartialEq, Hash, Serialize, Deserialize)]
pub(super) struct TextList {
    text: String,
    ends: Vec<u32>, // of each text in `text`
}

impl TextList {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Number of bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
    }

    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.text[start..self.ends[i] as usize]
    }

    /// Keeps the first `len` texts, which have so many bytes.
    pub fn truncate(&mut self, len: usize, bytes: usize) {
        self.ends.truncate(len);
        self.text.truncate(bytes);
    }

    /// The sizes of its allocations in bytes.
    pub fn allocations(&self) -> [usize; 2] {
        [self.text.capacity(), 4 * self.ends.capacity()]
    }

    /// Frees excess capacity, which repeated pushes leave.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}
