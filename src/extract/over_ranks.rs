//! Attributes of labeled sentences that are divided among ranks: one alphabet for all, and counts
//! over all.

use std::sync::Arc;

use super::alphabet::{Alphabet, Alphabets};
use super::builder::{AttributeGroups, DatasetBuilder};
use super::dataset::{ColumnCount, Dataset};
use crate::error::Result;
use crate::fingerprint::Fingerprinter;
use crate::ids::AttributeId;
use crate::ranks::{Ranks, take, take_slice};
use crate::template::Attribute;

impl DatasetBuilder {
    /// Replaces the attributes found so far by those of all ranks: in order of first appearance in
    /// the sentences of rank 0, then of rank 1, and so on. The builder must have begun with empty
    /// alphabets.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`](crate::Error::Communication); too many attributes.
    pub fn agree_on_attributes(&mut self, ranks: &Ranks) -> Result<()> {
        let Alphabets { nodes, edges } = &mut self.alphabets;
        let alphabets = [nodes, edges];
        let matrices = [&mut self.data.nodes, &mut self.data.edges];
        for (kind, (alphabet, matrix)) in alphabets.into_iter().zip(matrices).enumerate() {
            let mut groups = self.groups.as_mut().map(|groups| &mut groups[kind]);
            let own = encode(alphabet, groups.as_ref().map_or(&[], |groups| &groups[..]));
            let mut merged = Merged::default();
            let mut numbers = Vec::new();
            ranks.for_each_rank(own, |rank, names| {
                let ids = merged.add(names)?;
                if rank == ranks.rank() {
                    numbers = ids;
                }
                Ok(())
            })?;
            *alphabet = merged.alphabet;
            if let Some(groups) = &mut groups {
                **groups = merged.groups;
            }
            let number = |column: u32| Some(numbers[column as usize]);
            *matrix = Arc::new(matrix.map_columns(number, |_, value| value));
        }
        self.workspace.clear();
        Ok(())
    }

    /// Like [`finish_grouped`](Self::finish_grouped), but labeled tokens of all ranks count.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`](crate::Error::Communication).
    pub fn finish_over(
        self,
        min_count: u32,
        ranks: &Ranks,
    ) -> Result<(Dataset, Alphabets, AttributeGroups)> {
        if min_count <= 1 {
            return Ok(self.finish_with(None));
        }
        let mut frequent = Vec::new();
        for counts in self.column_counts(self.data.labeled()) {
            let mut counts: Vec<f64> = counts.iter().map(|count| count.0).collect();
            ranks.sum(&mut counts)?;
            let counts = counts.into_iter().map(ColumnCount);
            frequent.push(counts.map(|count| count.is_at_least(min_count)).collect());
        }
        Ok(self.finish_with(frequent.try_into().ok()))
    }
}

/// The attributes of some ranks.
#[derive(Default)]
struct Merged {
    alphabet: Alphabet,
    groups: Vec<u32>,
}

impl Merged {
    /// Adds the attributes of another rank; returns their ids.
    fn add(&mut self, mut names: &[u8]) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        while !names.is_empty() {
            let [group, length] = [(); 2].map(|()| take(&mut names).map(u32::from_le_bytes));
            let name = take_slice(&mut names, length? as usize)?;
            let attribute = Attribute::named(name, Fingerprinter::default());
            let id = self.alphabet.intern(&attribute)?;
            if let group @ 1.. = group? {
                let length = self.groups.len().max(id.index() + 1);
                self.groups.resize(length, 0);
                self.groups[id.index()] = group;
            }
            ids.push(id.0);
        }
        Ok(ids)
    }
}

/// Encodes attributes for another rank: of each the group, the length of the name, and the name.
fn encode(alphabet: &Alphabet, groups: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for id in (0..alphabet.len() as u32).map(AttributeId) {
        let name = alphabet.name(id);
        let group = groups.get(id.index()).copied().unwrap_or(0);
        bytes.extend(group.to_le_bytes());
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend_from_slice(name);
    }
    bytes
}
