//! A training set of which each rank keeps a part, and what it knows of the whole.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

use super::agreement::check_same;
use super::extracted::{ExtractedCorpora, base_fingerprints};
use super::line_options::line_options_key;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::extract::Dataset;
use crate::objective::RankPart;
use crate::ranks::{Ranks, take};
use crate::score::{ExtraWeights, ParameterSpace};

/// The part of a rank, and the fingerprint of the whole.
#[derive(Debug)]
pub(super) struct Division {
    pub part: RankPart,
    pub fingerprint: u64,
}

/// Counts of training data, of all ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataCounts {
    pub labeled: SentenceCounts,
    pub unlabeled: SentenceCounts,
    /// Tokens of labeled sentences without a single label.
    pub partial_tokens: u64,
    /// Of labeled sentences, if some sentence has a weight other than 1.
    pub total_weight: Option<f64>,
}

/// Counts of labeled or of unlabeled sentences.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentenceCounts {
    pub sentences: u64,
    pub tokens: u64,
    attributes: u64, // of all tokens, nodes and edges
    collapsed: u64,  // classes of attributes
}

impl DataCounts {
    /// Counts sentences, given the attributes of labeled and of unlabeled ones before and after
    /// collapsing.
    pub fn new(data: &Dataset, attributes: [u64; 2], collapsed: [u64; 2]) -> Self {
        let [labeled, unlabeled] = attributes;
        Self {
            labeled: SentenceCounts {
                sentences: data.labeled() as u64,
                tokens: data.labeled_tokens() as u64,
                attributes: labeled,
                collapsed: collapsed[0],
            },
            unlabeled: SentenceCounts {
                sentences: data.unlabeled() as u64,
                tokens: (data.tokens() - data.labeled_tokens()) as u64,
                attributes: unlabeled,
                collapsed: collapsed[1],
            },
            partial_tokens: data.partial_tokens() as u64,
            total_weight: data.is_weighted().then(|| data.total_weights()[0]),
        }
    }

    /// Returns the attributes per token, of nodes and of edges, before and after collapsing.
    pub fn active_per_token(&self) -> [f64; 2] {
        let Self {
            labeled, unlabeled, ..
        } = self;
        let tokens = (labeled.tokens + unlabeled.tokens).max(1);
        let attributes = labeled.attributes + unlabeled.attributes;
        let collapsed = labeled.collapsed + unlabeled.collapsed;
        [attributes, collapsed].map(|count| count as f64 / tokens as f64)
    }

    /// Returns the counts of all ranks; `labeled_weight` is the weight of their labeled sentences.
    fn over(mut self, ranks: &Ranks, labeled_weight: f64) -> Result<Self> {
        if ranks.has_own_unlabeled() {
            self.unlabeled = self.unlabeled.over(ranks)?;
            let is_weighted = u64::from(self.total_weight.is_some());
            let is_weighted = ranks.sum_counts([is_weighted])? != [0];
            self.total_weight = is_weighted.then_some(labeled_weight);
        }
        if ranks.has_own_labeled() {
            self.labeled = self.labeled.over(ranks)?;
            [self.partial_tokens] = ranks.sum_counts([self.partial_tokens])?;
        }
        Ok(self)
    }
}

impl SentenceCounts {
    fn over(self, ranks: &Ranks) -> Result<Self> {
        let counts = [self.sentences, self.tokens, self.attributes, self.collapsed];
        let [sentences, tokens, attributes, collapsed] = ranks.sum_counts(counts)?;
        Ok(Self {
            sentences,
            tokens,
            attributes,
            collapsed,
        })
    }
}

/// Counts the attributes of labeled and of unlabeled sentences, of nodes and of edges.
pub(super) fn entries(data: &Dataset) -> [u64; 2] {
    let labeled = data.labeled_tokens();
    [0..labeled, labeled..data.tokens()].map(|rows| {
        let matrices = [&data.nodes, &data.edges].into_iter();
        let entries = matrices.map(|matrix| matrix.row_entries(rows.clone()) as u64);
        entries.sum()
    })
}

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
        set.divide(Division { part, fingerprint });
        Ok(set)
    }

    /// Returns a fingerprint of all labels and attributes, of all ranks.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        match (&self.division, &self.spilled) {
            (Some(division), _) => division.fingerprint,
            (_, Some(spilled)) => self.fingerprint_with(spilled.fingerprint),
            (None, None) => self.fingerprint_with(self.data().fingerprint(0..self.data().len(), 0)),
        }
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

    /// Returns the fingerprint of the data of all ranks, before they are divided.
    fn fingerprint_over(&self, ranks: &Ranks) -> Result<u64> {
        if !ranks.has_own_unlabeled() {
            return Ok(self.fingerprint());
        }
        let data = self.data();
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
        Ok(self.fingerprint_with(parts.fold(0, u64::wrapping_add)))
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
        for bytes in ranks.gather(&bytes.collect::<Vec<u8>>())? {
            let mut bytes = &bytes[..];
            while !bytes.is_empty() {
                numbers.push(u64::from_le_bytes(take(&mut bytes)?));
            }
            numbers.sort_unstable();
            numbers.dedup();
        }
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
