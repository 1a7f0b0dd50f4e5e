//! The objective on sentences whose matrices are in a file.
//!
//! An evaluation proceeds block by block ([`BlockPartition`]) and needs the rows of one block and
//! the columns of another at a time. They are stored in the form in which they are multiplied, and
//! loaded into the same buffers over and over.

use std::sync::{Arc, Mutex, PoisonError};

use super::PenalizedLikelihood;
use super::part::partition_width;
use super::parts::Parts;
use super::penalty::Penalty;
use super::totals::Totals;
use crate::error::{Error, Result};
use crate::extract::Dataset;
use crate::score::{
    BlockPartition, ForwardProduct, ParameterSpace, SpilledForward, SpilledTranspose,
    TransposeProduct,
};
use crate::spill::SpillFile;

/// The design matrices of all blocks of sentences, in a file.
#[derive(Debug)]
pub struct SpilledBlocks {
    file: SpillFile,
    totals: Totals,
    forward: [SpilledForward; 2],      // nodes, edges
    transposes: [SpilledTranspose; 2], // nodes, edges
    largest: u64,                      // block in bytes
    failure: Mutex<Option<Error>>,
}

impl SpilledBlocks {
    /// Writes the blocks of sentences to a file. `data` are the sentences without their attributes,
    /// which come from `parts`.
    ///
    /// # Errors
    ///
    /// Those of `parts`; [`Error::Io`] if the file cannot be written.
    pub(crate) fn new(
        file: SpillFile,
        data: &Dataset,
        space: &ParameterSpace,
        parts: &dyn Parts,
    ) -> Result<Self> {
        let mut spilled = Self {
            totals: Totals::of_parts(data, space, parts)?,
            forward: space.blocks().map(SpilledForward::new),
            transposes: Default::default(),
            largest: 0,
            failure: Mutex::default(),
            file,
        };
        let partition = BlockPartition::new(data, partition_width(space));
        let mut blocks = partition.blocks.iter().peekable();
        let mut pending = Dataset::default(); // sentences of blocks to come
        parts.for_each(&mut |part| {
            pending.append(part, 0..part.len(), None);
            let mut used = 0;
            while let Some(block) = blocks.peek() {
                let sentences = block
                    .chunks
                    .iter()
                    .map(ExactSizeIterator::len)
                    .sum::<usize>();
                if used + sentences > pending.len() {
                    break;
                }
                let mut rows = Dataset::default();
                rows.append(&pending, used..used + sentences, None);
                spilled.push(&rows, space, block.tokens.start)?;
                used += sentences;
                blocks.next();
            }
            let mut rest = Dataset::default();
            rest.append(&pending, used..pending.len(), None);
            pending = rest;
            Ok(())
        })?;
        Ok(spilled)
    }

    /// Writes a block, given its sentences and its first token.
    fn push(&mut self, rows: &Dataset, space: &ParameterSpace, first: usize) -> Result<()> {
        let before = self.file.length();
        for (kind, matrix) in [&rows.nodes, &rows.edges].into_iter().enumerate() {
            let block = space.blocks()[kind];
            self.forward[kind].push(matrix, block, first, &self.file)?;
            self.transposes[kind].push(matrix, block, 0..rows.tokens(), &self.file)?;
        }
        self.largest = self.largest.max(self.file.length() - before);
        Ok(())
    }

    /// Returns the memory of a block in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.largest as usize
    }

    /// Returns the error of an evaluation, if there was one: evaluations themselves have none.
    #[must_use]
    pub fn take_failure(&self) -> Option<Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    /// Keeps the first error of an evaluation.
    pub(super) fn fail(&self, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
    }

    /// Loads the rows of block `index`, if there is such a block.
    pub(super) fn load_rows(&self, index: usize, products: &mut [ForwardProduct; 2]) -> Result<()> {
        for (product, spilled) in products.iter_mut().zip(&self.forward) {
            product.load(spilled, index, &self.file)?;
        }
        Ok(())
    }

    /// Loads the columns of block `index`.
    pub(super) fn load_columns(
        &self,
        index: usize,
        transposes: &mut [TransposeProduct; 2],
    ) -> Result<()> {
        for (transpose, spilled) in transposes.iter_mut().zip(&self.transposes) {
            transpose.load(spilled, index, &self.file)?;
        }
        Ok(())
    }
}

impl PenalizedLikelihood {
    /// Creates the objective without noise on sentences whose attributes are in a file; `data` are
    /// the sentences without them. Value and gradient have the same bits as those of
    /// [`new`](Self::new).
    ///
    /// If the file cannot be read by an evaluation, value and gradient are NaN, and the error is
    /// that of [`SpilledBlocks::take_failure`].
    #[must_use]
    pub fn of_spilled(
        spilled: &Arc<SpilledBlocks>,
        data: &Dataset,
        space: &ParameterSpace,
        penalty: impl Into<Penalty>,
    ) -> Self {
        let blocks = [&space.nodes, &space.edges];
        Self {
            products: blocks.map(ForwardProduct::of_spilled),
            transposes: blocks.map(TransposeProduct::of_spilled),
            spilled: Some(Arc::clone(spilled)),
            ..Self::with_totals(data, spilled.totals.clone(), space, penalty.into())
        }
    }
}
