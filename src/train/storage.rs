//! Where the sentences of a training set are.

use std::sync::Arc;

use crate::error::Error;
use crate::extract::Dataset;
use crate::objective::{PenalizedLikelihood, Penalty, RankPart, SpilledBlocks};
use crate::score::ParameterSpace;

/// Where the sentences of a training set are.
#[derive(Debug, Default)]
pub(super) enum Storage {
    /// In its [`Dataset`].
    #[default]
    Memory,
    /// The data set has those that a rank evaluates.
    Ranks {
        part: Box<RankPart>,
        /// Of the sentences of all ranks ([`Dataset::fingerprint`]).
        fingerprint: u64,
    },
    /// The data set has them without their attributes, which are in a file.
    File {
        blocks: Arc<SpilledBlocks>,
        /// Of the sentences with their attributes.
        fingerprint: u64,
    },
}

impl Storage {
    /// Creates the objective without noise.
    pub fn likelihood(
        &self,
        data: &Dataset,
        space: &ParameterSpace,
        penalty: Penalty,
    ) -> PenalizedLikelihood {
        match self {
            Self::Memory => PenalizedLikelihood::new(data, space, penalty),
            Self::Ranks { part, .. } => PenalizedLikelihood::of_part(part, space, penalty),
            Self::File { blocks, .. } => {
                PenalizedLikelihood::of_spilled(blocks, data, space, penalty)
            }
        }
    }

    /// Returns the fingerprint of all sentences.
    pub fn fingerprint(&self, data: &Dataset) -> u64 {
        match self {
            Self::Memory => data.fingerprint(0..data.len(), 0),
            Self::Ranks { fingerprint, .. } | Self::File { fingerprint, .. } => *fingerprint,
        }
    }

    /// Returns the memory in bytes of what is loaded from a file in an evaluation.
    pub fn loaded_memory(&self) -> usize {
        match self {
            Self::File { blocks, .. } => blocks.memory(),
            _ => 0,
        }
    }

    /// Returns the error of an evaluation that could not read the file, if there was one.
    pub fn take_failure(&self) -> Option<Error> {
        match self {
            Self::File { blocks, .. } => blocks.take_failure(),
            _ => None,
        }
    }
}
