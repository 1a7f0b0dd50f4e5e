//! A training set of which each rank keeps a part, and what it knows of the whole.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

use super::agreement::check_same;
use super::extracted::{ExtractedCorpora, base_fingerprints};
use super::line_options::line_options_key;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::objective::RankPart;
use crate::ranks::{Ranks, take};
use crate::score::{ExtraWeights, ParameterSpace};

impl TrainingSet {
    /// Converts the sentences of all ranks; each keeps those that it will evaluate.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`], also if ranks should have the same data and do not.
    pub(super) fn of_rank(
        mut extracted: ExtractedCorpora,
        settings: &TrainSettings,
        ranks: &Ranks,
    ) -> Result<Self> {
        if ranks.has_own_unlabeled() && settings.options().collapse {
            extracted.agree_on_classes(ranks)?;
        }
        let mut set =
            Self::from_extracted(extracted, settings, |space| match ranks.has_own_labeled() {
                false => Ok(None),
                true => observed_by_ranks(ranks, space).map(Some),
            })?;
        check_same(ranks, set.shared_fingerprint(ranks), || {
            "other training or development data than rank 0; expected the same on all machines"
                .to_owned()
        })?;
        let fingerprint = set.fingerprint_over(ranks)?;
        let part = RankPart::new(set.data(), set.space(), ranks.clone())?;
        set.counts = set.counts.over(ranks, part.labeled_weight())?;
        set.divide(part, fingerprint);
        Ok(set)
    }

    /// Returns a fingerprint of all labels and attributes, of all ranks.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint_with(self.storage.fingerprint(self.data()))
    }

    /// Returns a fingerprint of what all ranks have: everything but their own sentences.
    fn shared_fingerprint(&self, ranks: &Ranks) -> u64 {
        let data = self.data();
        let shared = match (ranks.has_own_unlabeled(), ranks.has_own_labeled()) {
            (false, _) => 0..data.len(),
            (true, false) => 0..data.labeled(),
            (true, true) => 0..0,
        };
        self.fingerprint_with(data.fingerprint(shared, 0))
    }

    /// Returns the fingerprint of the sentences of all ranks, before they are divided.
    fn fingerprint_over(&self, ranks: &Ranks) -> Result<u64> {
        let data = self.data();
        if !ranks.has_own_unlabeled() {
            return Ok(data.fingerprint(0..data.len(), 0));
        }
        let before = |count: usize| -> Result<[u64; 2]> {
            let counts = ranks.gather_numbers(count as u64)?;
            let before = counts[..ranks.rank()].iter().sum();
            Ok([before, counts.iter().sum()])
        };
        let labeled = 0..data.labeled();
        let (first_labeled, all_labeled, is_own) = match ranks.has_own_labeled() {
            false => (0, labeled.len() as u64, ranks.rank() == 0),
            true => {
                let [before, all] = before(labeled.len())?;
                (before, all, true)
            }
        };
        let [unlabeled_before, _] = before(data.unlabeled())?;
        let first_unlabeled = all_labeled + unlabeled_before;
        let mut own = data.fingerprint(labeled.end..data.len(), first_unlabeled);
        if is_own {
            own = own.wrapping_add(data.fingerprint(labeled, first_labeled));
        }
        let parts = ranks.gather_numbers(own)?.into_iter();
        Ok(parts.fold(0, u64::wrapping_add))
    }

    fn fingerprint_with(&self, sentences: u64) -> u64 {
        let mut hasher = Xxh3::new();
        (&self.labels, &self.alphabets, sentences).hash(&mut hasher);
        let origin = (
            base_fingerprints(&self.base),
            line_options_key(self.template.as_ref(), self.groups.as_deref()),
        );
        (&self.development, origin).hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns the weights that exist because some rank observed them.
fn observed_by_ranks(ranks: &Ranks, space: &ParameterSpace) -> Result<ExtraWeights> {
    let own = space.observed();
    let pairs = |own: &[(u32, u32)]| -> Result<Vec<(u32, u32)>> {
        let bytes = own.iter().flat_map(|&(column, position)| {
            let number = u64::from(column) << 32 | u64::from(position);
            number.to_le_bytes()
        });
        let mut numbers = Vec::new();
        ranks.for_each_rank(bytes.collect(), |_, mut bytes| {
            while !bytes.is_empty() {
                numbers.push(u64::from_le_bytes(take(&mut bytes)?));
            }
            numbers.sort_unstable();
            numbers.dedup();
            Ok(())
        })?;
        let pairs = numbers
            .iter()
            .map(|&number| ((number >> 32) as u32, number as u32));
        Ok(pairs.collect())
    };
    let positions = |own: &[u32]| -> Result<Vec<u32>> {
        let own: Vec<(u32, u32)> = own.iter().map(|&position| (0, position)).collect();
        Ok(pairs(&own)?
            .into_iter()
            .map(|(_, position)| position)
            .collect())
    };
    let [transitions, start, end] = &own.labels;
    Ok(ExtraWeights {
        nodes: pairs(&own.nodes)?,
        edges: pairs(&own.edges)?,
        occurring: Vec::new(),
        labels: [positions(transitions)?, positions(start)?, positions(end)?],
    })
}
