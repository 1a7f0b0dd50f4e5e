//! The line numbers of tokens.

use serde::{Deserialize, Serialize};

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
        let regular = match self.len {
            0 => {
                self.first = line;
                true
            }
            // The second token determines the step.
            1 if line == self.first || line == self.first + 1 => {
                self.step = (line - self.first) as u32;
                true
            }
            len => line == self.first + u64::from(len) * u64::from(self.step) && len > 1,
        };
        if let Some(lines) = &mut self.irregular {
            lines.push(line);
        } else if !regular {
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
            None if t < self.len() => Some(self.first + t as u64 * u64::from(self.step)),
            None => None,
        }
    }

    /// Memory on the heap in bytes.
    pub fn memory(&self) -> usize {
        let lines = self.irregular.as_ref();
        lines.map_or(0, |lines| 24 + 8 * lines.capacity())
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
