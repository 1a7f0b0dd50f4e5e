//! Features, each a weight, and the lists of the features of an attribute or a label.

use dropchain::kernel::ids::LabelId;

use super::numbers::{Stored, array, number};

/// Length of magic, length and number of items of a section.
const SECTION_HEADER: u32 = 12;

/// Length of a feature.
const FEATURE: usize = 20;

/// The kinds of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeatureKind {
    /// The weight of an attribute for a label.
    State = 0,
    /// The weight of a label after another.
    Transition = 1,
}

/// All features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features<'a>(&'a [[u8; FEATURE]]);

impl<'a> Features<'a> {
    /// Finds the features at an offset in a file; the error is a message.
    pub fn read(file: &'a [u8], at: u32) -> Result<Self, String> {
        let outside = || "its features lie outside of the file".to_owned();
        let count = section(file, at, b"FEAT").ok_or_else(outside)?;
        let items = at as usize + SECTION_HEADER as usize;
        array(file, items, count).map(Self).ok_or_else(outside)
    }

    /// Returns the number of features.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Collects the labels and weights of the features in `list`, all of which must be of this kind
    /// and source, in the order of the labels; the error is a message.
    pub fn collect(
        &self,
        list: &[Stored],
        kind: FeatureKind,
        source: usize,
        labels: usize,
        row: &mut Vec<(LabelId, f64)>,
    ) -> Result<(), String> {
        row.clear();
        if list.len() > labels {
            return Err("an attribute or label has more features than there are labels".to_owned());
        }
        for index in list {
            let index = u32::from_le_bytes(*index);
            let feature = self.0.get(index as usize);
            let feature = feature.ok_or_else(|| format!("feature {index} does not exist"))?;
            let field = |at: usize| number(feature, at).unwrap_or(u32::MAX);
            if (field(0), field(4) as usize) != (kind as u32, source) {
                return Err(format!("feature {index} is that of another attribute or label"));
            }
            let label = field(8);
            if label as usize >= labels {
                return Err(format!("feature {index} is for a label that does not exist"));
            }
            let mut weight = [0; 8];
            weight.copy_from_slice(&feature[12..]);
            let weight = f64::from_le_bytes(weight);
            if !weight.is_finite() {
                return Err(format!("feature {index} has the weight {weight}"));
            }
            row.push((LabelId(label as u16), weight));
        }
        row.sort_unstable_by_key(|&(label, _)| label);
        if row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("there are two features for the same label".to_owned());
        }
        Ok(())
    }
}

/// The lists of features of all attributes, or of all labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeatureLists<'a> {
    file: &'a [u8],
    offsets: &'a [Stored],
}

impl<'a> FeatureLists<'a> {
    /// Finds the section of at least `expected` lists at an offset in a file; the error is a
    /// message.
    pub fn read(file: &'a [u8], at: u32, magic: &[u8; 4], expected: usize) -> Result<Self, String> {
        let outside = || "its lists of features lie outside of the file".to_owned();
        let count = section(file, at, magic).ok_or_else(outside)?;
        if (count as usize) < expected {
            return Err(format!("there are {count} lists of features; expected {expected}"));
        }
        let items = at as usize + SECTION_HEADER as usize;
        let offsets = array(file, items, count).ok_or_else(outside)?;
        Ok(Self { file, offsets })
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns list `i`, of indexes of features; `None` if it is damaged.
    pub fn get(&self, i: usize) -> Option<&'a [Stored]> {
        match u32::from_le_bytes(*self.offsets.get(i)?) as usize {
            0 => Some(&[]),
            at => {
                let length = number(self.file, at)?;
                array(self.file, at + 4, length)
            }
        }
    }
}

/// Returns the number of items of the section at an offset; `None` if there is no such section
/// within the file.
fn section(file: &[u8], at: u32, magic: &[u8; 4]) -> Option<u32> {
    let bytes = file.get(at as usize..)?;
    let length = number(bytes, 4)?;
    let fits = length >= SECTION_HEADER && length as usize <= bytes.len();
    (bytes.starts_with(magic) && fits).then(|| number(bytes, 8))?
}
