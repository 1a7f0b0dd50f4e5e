//! Where the sentences of a training set are.

use crate::extract::Dataset;
use crate::objective::{PenalizedLikelihood, Penalty, RankPart};
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
        }
    }

    /// Returns the fingerprint of all sentences.
    pub fn fingerprint(&self, data: &Dataset) -> u64 {
        match self {
            Self::Memory => data.fingerprint(0..data.len(), 0),
            Self::Ranks { fingerprint, .. } => *fingerprint,
        }
    }
}
