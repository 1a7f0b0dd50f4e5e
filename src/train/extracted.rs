//! The attributes of all corpora of a training run, before collapsing.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::BaseRole;
use super::base_weights::AllBaseWeights;
use super::development::DevelopmentSet;
use super::hold_out::HeldOut;
use super::labels::TrainingLabels;
use super::line_options::line_options_key;
use super::model_match::{ModelMatch, Occurrences};
use super::options::CommonOptions;
use super::origin::column_groups;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets, Dataset, SparseRows, numbered};
use crate::ids::LabelId;
use crate::model::CorpusColumns;
use crate::sentence::Sentence;
use crate::template::Template;

/// Files and columns of the training corpus, for the header of the model.
#[derive(Debug, Default)]
pub(super) struct CorpusInfo {
    pub files: Vec<String>,
    pub columns: CorpusColumns,
}

impl CorpusInfo {
    pub fn new(sentences: &[Sentence]) -> Self {
        let schema = sentences.first().map(Sentence::schema);
        let mut info = Self {
            files: Vec::new(),
            columns: schema.map(|schema| CorpusColumns::of(schema)).unwrap_or_default(),
        };
        for file in sentences.iter().map(Sentence::file) {
            if info.files.last().is_none_or(|last| **last != **file) {
                info.files.push(file.to_string());
            }
        }
        info
    }
}

/// The attributes of all corpora of a training run as sparse matrices, one column per attribute.
///
/// [`into_training_set`](Self::into_training_set) converts all of it to a training set. For
/// cross-validation, extract once and hold out each fold ([`hold_out`](Self::hold_out)).
#[derive(Debug)]
pub struct ExtractedCorpora {
    pub(super) labels: TrainingLabels,
    /// Attribute names; empty if folds were held out, since no model is built from such data.
    pub(super) alphabets: Arc<Alphabets>,
    /// Numbers of node and of edge attributes, the columns of the data.
    pub(super) attributes: [usize; 2],
    /// Labeled sentences, then unlabeled ones.
    pub(super) data: Dataset,
    /// The last labeled sentences are copies of others without case: the numbers of these.
    pub(super) copies: Vec<usize>,
    pub(super) development: Option<DevelopmentSet>,
    /// What the development data are, if they were held out of the training data.
    pub(super) held_out: Option<HeldOut>,
    pub(super) template: Option<Template>,
    pub(super) source: CorpusInfo,
    /// The weights of the models that training continues from.
    pub(super) base: Option<Arc<AllBaseWeights>>,
    /// The groups of template lines of node and edge attributes, as far as they are not 0.
    pub(super) groups: Option<Arc<[Vec<u32>; 2]>>,
    /// Node attributes that have the value 0 at a token with this label, and so may have a weight
    /// for it; ascending.
    pub(super) zeros: Vec<(u32, LabelId)>,
    // [labeled sentences][T], for cross-validation only; empty if some label is partial.
    pub(super) gold: Vec<Vec<String>>,
}

impl ExtractedCorpora {
    /// Collects labeled sentences, then unlabeled ones, over attributes with names.
    pub(super) fn of(labels: TrainingLabels, alphabets: Arc<Alphabets>, data: Dataset) -> Self {
        Self {
            labels,
            attributes: [alphabets.nodes.len(), alphabets.edges.len()],
            alphabets,
            data,
            copies: Vec::new(),
            development: None,
            held_out: None,
            template: None,
            source: CorpusInfo::default(),
            base: None,
            groups: None,
            zeros: Vec::new(),
            gold: Vec::new(),
        }
    }

    /// Returns the group of each node and of each edge attribute, if attributes of the same group
    /// that always occur together are to be one.
    pub(super) fn class_groups(&self, options: &CommonOptions) -> Option<[Vec<u32>; 2]> {
        let groups = |kind: usize, columns| {
            let penalties = self.groups.as_ref().map_or(&[][..], |groups| &groups[kind]);
            column_groups(self.base.as_deref(), penalties, kind, columns)
        };
        options.collapse.then(|| {
            let nodes = zero_groups(groups(0, self.attributes[0]), &self.zeros);
            [nodes, groups(1, self.attributes[1])]
        })
    }

    /// Compares the training data with each model that training continues from.
    pub fn matches(&self) -> Vec<ModelMatch> {
        let Some(base) = &self.base else {
            return Vec::new();
        };
        let occurrences = self.occurrences();
        let labels = self.labels.set.len();
        let compare = |model| ModelMatch::new(model, &self.data, labels, &occurrences);
        base.iter().map(compare).collect()
    }

    /// Returns which attributes occur in the training data.
    pub(super) fn occurrences(&self) -> Occurrences {
        Occurrences::new(&self.data, self.attributes)
    }

    /// Checks that predictions can be scored on each fold: some held-out sentence must have one
    /// label for every token.
    ///
    /// # Errors
    ///
    /// The number of the first fold without such a sentence.
    pub fn check_folds(&self, held_out: &[Vec<usize>]) -> Result<()> {
        let has_gold = |fold: &Vec<usize>| {
            let gold = fold.iter().filter_map(|&i| self.gold.get(i));
            gold.into_iter().any(|gold| !gold.is_empty())
        };
        match held_out.iter().position(|fold| !has_gold(fold)) {
            None => Ok(()),
            Some(fold) => Err(Error::parameter(format!(
                "no sentence of fold {} has one label for every token; expected fewer folds, or \
                 fewer partial labels",
                fold + 1
            ))),
        }
    }

    /// Returns, for each node and each edge attribute, whether it is frequent enough in all
    /// sentences.
    pub(super) fn frequent_attributes(&self, options: &CommonOptions) -> [Vec<bool>; 2] {
        let all: Vec<usize> = (0..self.data.len()).collect();
        self.frequent_columns(&all, options)
    }

    /// Drops the node and the edge attributes that are not kept.
    pub(super) fn retain_attributes(&mut self, kept: &[Vec<bool>; 2]) {
        if kept.iter().flatten().all(|&kept| kept) {
            return;
        }
        let retain = |alphabet: &mut Alphabet, rows: &SparseRows, kept: &[bool]| {
            let numbers = alphabet.retain(|id| kept[id.index()]);
            Arc::new(rows.map_columns(|column| numbers[column as usize], |_, value| value))
        };
        let Alphabets { nodes, edges } = Arc::make_mut(&mut self.alphabets);
        self.data.nodes = retain(nodes, &self.data.nodes, &kept[0]);
        self.data.edges = retain(edges, &self.data.edges, &kept[1]);
        if let Some(groups) = &mut self.groups {
            for (groups, kept) in Arc::make_mut(groups).iter_mut().zip(kept) {
                let mut kept = kept.iter();
                groups.retain(|_| kept.next() == Some(&true));
            }
        }
        self.renumber_zeros(&kept[0]);
        self.count_attributes();
    }

    /// Adjusts the numbers of attributes to those that are kept.
    pub(super) fn renumber_zeros(&mut self, kept: &[bool]) {
        let mut numbers = Vec::with_capacity(kept.len());
        let mut next = 0;
        for &kept in kept {
            numbers.push(kept.then_some(next));
            next += u32::from(kept);
        }
        let number = |(attribute, label)| Some((numbers[attribute as usize]?, label));
        self.zeros = std::mem::take(&mut self.zeros).into_iter().filter_map(number).collect();
    }

    /// Sets the numbers of attributes to those of the alphabets.
    pub(super) fn count_attributes(&mut self) {
        self.attributes = [self.alphabets.nodes.len(), self.alphabets.edges.len()];
    }

    /// Returns the number of labeled sentences.
    pub fn sentences(&self) -> usize {
        self.data.labeled() - self.copies.len()
    }

    /// Says how the training data were read: labels and columns, then warnings.
    pub fn reading(&self) -> Vec<String> {
        let mut reading = self.labels.reading.clone();
        let columns = &self.source.columns;
        let word = columns.names.iter().position(|name| name == "word" || name == "form");
        if let (Some(line), Some(word)) = (reading.first_mut(), word) {
            line.push_str(&format!(", words in column {}", word + 1));
        }
        reading.extend(self.held_out.map(|held_out| held_out.to_string()));
        reading
    }

    /// Returns a fingerprint of all labels and attributes.
    pub fn fingerprint(&self) -> u64 {
        let models = self.base.iter().flat_map(|base| base.iter());
        let models: Vec<(BaseRole, u128)> = models.map(|m| (m.role, m.fingerprint)).collect();
        let lines = line_options_key(self.template.as_ref(), self.groups.as_deref());
        let mut hasher = Xxh3::new();
        (&self.labels, &self.alphabets, &self.data).hash(&mut hasher);
        (&self.development, &self.gold, models, lines).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        self.data.memory()
            + self.alphabets.nodes.memory()
            + self.alphabets.edges.memory()
            + self.development.as_ref().map_or(0, DevelopmentSet::memory)
            + self.base.as_ref().map_or(0, |base| base.memory())
    }

    /// Returns the data without the held-out sentences, which become its development data.
    ///
    /// # Errors
    ///
    /// Same as [`ExtractedCorpora::hold_out`].
    pub(super) fn without(&self, held_out: &[usize], options: &CommonOptions) -> Result<Self> {
        let [rest, fold] = self.split(held_out)?;
        let kept = self.frequent_columns(&rest, options);
        // Predictions can only be compared with labels that are known.
        let fold: Vec<usize> = fold.into_iter().filter(|&i| !self.gold[i].is_empty()).collect();
        if fold.is_empty() {
            return Err(Error::parameter(
                "no held-out sentence has one label for every token; expected some in each fold",
            ));
        }
        let gold = fold.iter().map(|&i| self.gold[i].clone()).collect();
        let fold = self.data.select(&fold, Some(&kept));
        let data = self.data.select(&rest, Some(&kept));
        let mut development = DevelopmentSet::with_gold(fold, gold, &self.labels);
        // The scores of all folds have the same metric.
        development.always_spans = self.labels.has_spans;
        Ok(Self {
            attributes: self.attributes,
            development: Some(development),
            template: self.template.clone(),
            base: self.base.clone(),
            groups: self.groups.clone(),
            zeros: self.zeros.clone(),
            ..Self::of(self.labels.clone(), Arc::default(), data)
        })
    }

    /// Returns the sentences that are not held out, and those that are, in ascending order.
    fn split(&self, held_out: &[usize]) -> Result<[Vec<usize>; 2]> {
        let labeled = self.sentences();
        let mut is_held_out = vec![false; self.data.len()];
        for &sentence in held_out {
            if sentence >= labeled.min(self.gold.len()) {
                return Err(Error::parameter(format!(
                    "sentence {sentence} held out; expected a number below {}",
                    labeled.min(self.gold.len())
                )));
            }
            is_held_out[sentence] = true;
        }
        if held_out.is_empty() || is_held_out[..labeled].iter().all(|&held_out| held_out) {
            return Err(Error::parameter(format!(
                "{} of {labeled} sentences held out; expected some, and not all",
                held_out.len()
            )));
        }
        // A copy without case is neither trained on nor scored without its sentence.
        for (i, &original) in (labeled..).zip(&self.copies) {
            is_held_out[i] = is_held_out[original];
        }
        let all = 0..self.data.len();
        let rest = all.filter(|&i| !is_held_out[i]).collect();
        let fold = (0..labeled).filter(|&i| is_held_out[i]).collect();
        Ok([rest, fold])
    }

    /// Returns, for each column of nodes and of edges, whether it is frequent enough in these
    /// sentences alone.
    pub(super) fn frequent_columns(
        &self,
        sentences: &[usize],
        options: &CommonOptions,
    ) -> [Vec<bool>; 2] {
        let labeled = self.data.labeled();
        // As in extraction: unlabeled sentences count only if attributes are discovered in them.
        let is_counted = |i| i < labeled || (options.discover && options.min_count == 1);
        let frequent = |matrix: &SparseRows, columns: usize, kind: usize| -> Vec<bool> {
            let counted = sentences.iter().copied().filter(|&i| is_counted(i));
            let counts = self.data.column_counts(matrix, columns, counted);
            // Attributes of models are kept however rare they are.
            let is_known = |id| {
                let rows = self.base.as_ref().map(|base| base.rows(kind, id));
                rows.is_some_and(|rows| rows.iter().any(Option::is_some))
            };
            let is_frequent = counts.iter().map(|n| n.is_at_least(options.min_count));
            let kept = is_frequent.enumerate();
            kept.map(|(id, is_frequent)| is_frequent || is_known(id)).collect()
        };
        [
            frequent(&self.data.nodes, self.attributes[0], 0),
            frequent(&self.data.edges, self.attributes[1], 1),
        ]
    }
}

/// Divides groups of columns further by the labels with which they have the value 0, ascending by
/// column: the weights of a class are those of each member.
fn zero_groups(groups: Vec<u32>, zeros: &[(u32, LabelId)]) -> Vec<u32> {
    if zeros.is_empty() {
        return groups;
    }
    let mut labels: Vec<Vec<LabelId>> = vec![Vec::new(); groups.len()];
    for &(column, label) in zeros {
        labels[column as usize].push(label);
    }
    numbered(groups.into_iter().zip(labels))
}
