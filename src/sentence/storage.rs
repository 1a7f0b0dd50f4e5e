//! The storage of a sentence: texts, and the line numbers of tokens.

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

/// The line numbers of tokens, which are consecutive (columns) or all the same (raw text) in most
/// sentences, and then take no memory of their own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::box_collection, reason = "rare, and a sentence should be small")]
pub(super) struct LineNumbers {
    first: u64,
    len: u32,
    step: u32,                        // from each token to the next, unless irregular
    irregular: Option<Box<Vec<u64>>>, // [T]
}

impl LineNumbers {
    /// The same line for all of `len` tokens.
    pub fn one(line: u64, len: usize) -> Self {
        Self { first: line, len: len as u32, ..Self::default() }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn push(&mut self, line: u64) {
        match self.len {
            0 => self.first = line,
            // The second token determines the step.
            1 if line == self.first + 1 => self.step = 1,
            _ => {}
        }
        let is_regular = line == self.first + u64::from(self.len) * u64::from(self.step);
        if let Some(lines) = &mut self.irregular {
            lines.push(line);
        } else if !is_regular {
            let mut lines: Vec<u64> = (0..self.len()).filter_map(|t| self.get(t)).collect();
            lines.push(line);
            self.irregular = Some(Box::new(lines));
        }
        self.len += 1;
    }

    /// The line of token `t`.
    pub fn get(&self, t: usize) -> Option<u64> {
        match &self.irregular {
            Some(lines) => lines.get(t).copied(),
            None => (t < self.len()).then(|| self.first + t as u64 * u64::from(self.step)),
        }
    }

    /// Memory on the heap in bytes.
    pub fn memory(&self) -> usize {
        self.irregular.as_ref().map_or(0, |lines| 24 + 8 * lines.capacity())
    }
}

impl PartialEq for LineNumbers {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && (0..self.len()).all(|t| self.get(t) == other.get(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_lines_are_returned_and_regular_ones_take_no_memory() {
        for (lines, regular) in [
            (vec![], true),
            (vec![7], true),
            (vec![7, 8, 9], true),
            (vec![7, 7, 7], true),
            (vec![7, 8, 8], false),
            (vec![7, 9, 10, 10], false),
            (vec![7, 3], false),
        ] {
            let mut numbers = LineNumbers::default();
            for &line in &lines {
                numbers.push(line);
            }
            let read: Vec<u64> = (0..lines.len()).map(|t| numbers.get(t).unwrap()).collect();
            assert_eq!(read, lines);
            assert_eq!(numbers.get(lines.len()), None);
            assert_eq!(numbers.memory() == 0, regular, "{lines:?}");
        }
    }
}
