//! What a model that training continues from and the training data have in common.

use serde::{Deserialize, Serialize};

use super::base_models::{BaseRole, BaseWeights};
use crate::extract::{Allowed, Dataset, Target};
use crate::ids::LabelId;

/// What a model that training continues from and the training data have in common.
///
/// Serializes to the fields of its line in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMatch {
    /// The use that training makes of the model.
    pub role: BaseRole,
    /// The path that the model was opened from.
    pub model: String,
    /// Labels.
    pub labels: MatchCounts,
    /// Attributes of tokens, by name.
    pub node_attributes: MatchCounts,
    /// Attributes of pairs of adjacent tokens, by name.
    pub edge_attributes: MatchCounts,
    /// Pairs of adjacent labels: those with weights in the model, and those in the data.
    pub transitions: MatchCounts,
}

/// How many of one kind are in the model and in the training data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchCounts {
    /// In both.
    pub matched: usize,
    /// Only in the training data.
    pub new: usize,
    /// Only in the model.
    pub only_in_model: usize,
}

impl MatchCounts {
    /// Counts whether each of several things is in the model, and in the data.
    fn of(things: impl Iterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for (in_model, in_data) in things {
            match (in_model, in_data) {
                (true, true) => counts.matched += 1,
                (false, true) => counts.new += 1,
                (true, false) => counts.only_in_model += 1,
                (false, false) => {}
            }
        }
        counts
    }
}

/// The labels and attributes that occur in training data.
pub(super) struct Occurrences {
    /// Node and edge attributes in sentences that the likelihood learns from.
    pub labeled: [Vec<bool>; 2],
    /// Node and edge attributes in any sentence.
    pub anywhere: [Vec<bool>; 2],
}

impl Occurrences {
    /// Collects the attributes of `data`, given the number of node and of edge attributes.
    pub fn new(data: &Dataset, attributes: [usize; 2]) -> Self {
        let mut labeled = attributes.map(|n| vec![false; n]);
        let mut anywhere = labeled.clone();
        for i in 0..data.len() {
            // The likelihood learns from a sentence that has a weight and some label.
            let is_learned = data.weight(i) > 0.0
                && match data.target(i) {
                    Target::Gold(_) => true,
                    Target::Allowed(allowed) => !allowed.is_any(),
                    Target::Unlabeled => false,
                };
            for row in data.sentence(i) {
                for (kind, matrix) in [&data.nodes, &data.edges].into_iter().enumerate() {
                    for &column in matrix.row(row).0 {
                        anywhere[kind][column as usize] = true;
                        labeled[kind][column as usize] |= is_learned;
                    }
                }
            }
        }
        Self { labeled, anywhere }
    }
}

impl ModelMatch {
    /// Warns if training starts at a model on data that lack most of its attributes, those of its
    /// own training data, and nothing holds their weights: no other model of `all`.
    pub(super) fn warning(all: &[Self]) -> Option<String> {
        let [Self { role: BaseRole::Init, model, node_attributes: found, .. }] = all else {
            return None;
        };
        let missing = 100 * found.only_in_model / (found.matched + found.only_in_model).max(1);
        (missing > 50).then(|| {
            format!(
                "warning: {missing} % of the attributes of {model} are not in these data: with \
                 `init` alone, training forgets what they taught; expected its own training data \
                 beside the new, or the prior `towards` {model}"
            )
        })
    }

    /// Compares a model with training data that have K `labels`.
    pub(super) fn new(
        model: &BaseWeights,
        data: &Dataset,
        labels: usize,
        occurrences: &Occurrences,
    ) -> Self {
        let [node_attributes, edge_attributes] = [0, 1].map(|kind| {
            let occur = occurrences.anywhere[kind].iter().enumerate();
            MatchCounts::of(occur.map(|(id, &occurs)| (model.row(kind, id).is_some(), occurs)))
        });
        let mut seen_labels = vec![false; labels];
        let mut seen_pairs = vec![false; labels * labels];
        for i in 0..data.labeled() {
            let single = |token| match token {
                Allowed::One(label) => Some(label),
                Allowed::Some(_) | Allowed::Any => None,
            };
            let gold: Vec<Option<LabelId>> = data.target(i).tokens().map(single).collect();
            for label in gold.iter().flatten() {
                seen_labels[label.index()] = true;
            }
            for pair in gold.windows(2) {
                if let [Some(a), Some(b)] = pair {
                    seen_pairs[a.index() * labels + b.index()] = true;
                }
            }
        }
        let known_labels = model.known_labels.iter().copied();
        let known_pairs = model.labels.transitions.iter().map(|&weight| weight != 0.0);
        Self {
            role: model.role,
            model: model.path.clone(),
            labels: MatchCounts::of(known_labels.zip(seen_labels)),
            node_attributes,
            edge_attributes,
            transitions: MatchCounts::of(known_pairs.zip(seen_pairs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starting_at_a_model_without_its_training_data_is_a_warning() {
        use BaseRole::{Init, Towards};
        for (roles, [matched, only_in_model], percent) in [
            (&[Init][..], [25, 75], Some("75 %")),
            (&[Init], [49, 51], Some("51 %")),
            (&[Init], [50, 50], None),
            (&[Init], [0, 0], None),
            (&[Towards], [25, 75], None),
            (&[Init, Towards], [25, 75], None),
        ] {
            let of_role = |&role| ModelMatch {
                role,
                model: "old.model".to_owned(),
                labels: MatchCounts::default(),
                node_attributes: MatchCounts { matched, new: 9, only_in_model },
                edge_attributes: MatchCounts::default(),
                transitions: MatchCounts::default(),
            };
            let all: Vec<ModelMatch> = roles.iter().map(of_role).collect();
            let warning = ModelMatch::warning(&all);
            let expected = percent.map(|p| format!("warning: {p} of the attributes of old.model"));
            assert!(warning.is_some() == expected.is_some(), "{roles:?} {matched}");
            assert!(warning.unwrap_or_default().starts_with(&expected.unwrap_or_default()));
        }
    }
}
