//! A corpus of ready-made attributes, interned as they come.

use std::sync::Arc;

use hashbrown::HashSet;

use super::Dataset;
use super::alphabet::Alphabets;
use super::builder::{MAX_VALUE, beyond_limit};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::ids::LabelId;
use crate::label::LabelSet;
use crate::sentence::{Sentence, check_weight};
use crate::template::Attribute;

/// A corpus of ready-made attributes in memory: names are interned as they are pushed, so that an
/// attribute of a token takes 4 bytes (12 once any value differs from 1).
///
/// Sentences come one after the other, token by token, from any source. Training borrows the
/// corpus: any number of models can be trained on it without a copy.
///
/// ```
/// use dropchain::train::AttributeCorpus;
/// use dropchain::{Result, Sentence, TrainOptions, Trainer};
///
/// # fn main() -> Result<()> {
/// let mut corpus = AttributeCorpus::new();
/// let sentence = Sentence::from_attributes([[("word=Ada", 1.0)], [("word=left", 1.0)]])?;
/// corpus.push(&sentence.with_labels(["B-PER", "O"])?)?;
/// // Without a sentence, token by token, and with an attribute of the pair of tokens:
/// corpus.attribute("word=Grace", 1.0)?;
/// corpus.end_token(Some("B-PER"))?;
/// corpus.attribute("word=taught", 1.0)?;
/// corpus.attribute("length", 0.6)?;
/// corpus.edge_attribute("both lower", 1.0)?;
/// corpus.end_token(Some("O"))?;
/// corpus.end_sentence()?;
///
/// let trainer = Trainer::new(TrainOptions::default())?;
/// let trained = trainer.train_attributes(&corpus, None, &mut ())?;
/// # assert_eq!(trained.model.header().labels.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct AttributeCorpus {
    alphabets: Arc<Alphabets>,
    labels: LabelSet,
    labeled: Dataset,
    unlabeled: Dataset,
    has_all_labels: bool, // training has all of `labels`, also those without a token
    part: i32,            // of the sentences to come
    parts: Vec<i32>,      // of labeled sentences; those that are missing are in part 0
    zeros: Option<HashSet<Zero>>, // if they count
    sentence: UnfinishedSentence,
}

impl AttributeCorpus {
    /// Creates an empty corpus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute to the current token. The values of attributes with the same name are
    /// summed; a value of 0 is ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the name is empty or the value is beyond ±10³⁰ or not a number. The
    /// corpus then drops the unfinished sentence.
    pub fn attribute(&mut self, name: &str, value: f64) -> Result<()> {
        self.push_attribute(0, name, value)
    }

    /// Adds an attribute to the pair of the previous and the current token, which has a weight for
    /// each pair of labels. It has no effect at the first token of a sentence.
    ///
    /// # Errors
    ///
    /// Same as [`attribute`](Self::attribute).
    pub fn edge_attribute(&mut self, name: &str, value: f64) -> Result<()> {
        if self.sentence.ends[1].is_empty() {
            return check(name, value).inspect_err(|_| self.sentence.clear());
        }
        self.push_attribute(1, name, value)
    }

    /// Ends the current token. `None` is an unknown label: training then sums over all labels. If
    /// no token of a sentence has a label, the sentence is unlabeled text.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the label is empty or there are too many different ones. The corpus
    /// then drops the unfinished sentence.
    pub fn end_token(&mut self, label: Option<&str>) -> Result<()> {
        self.end_token_one_of(label.as_slice())
    }

    /// Ends the current token, which has one of these labels; with none, any.
    ///
    /// # Errors
    ///
    /// Same as [`end_token`](Self::end_token).
    pub fn end_token_one_of(&mut self, labels: &[&str]) -> Result<()> {
        let ids = self.label_ids(labels).inspect_err(|_| self.sentence.clear())?;
        let sentence = &mut self.sentence;
        sentence.labels.push(ids);
        for (ends, entries) in sentence.ends.iter_mut().zip(&sentence.entries) {
            ends.push(entries.len());
        }
        Ok(())
    }

    /// Sets the weight of the current sentence in training, by default 1: a weight of 2 counts like
    /// the sentence and a copy of it.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the weight is negative, not a number, or above 10⁹. The corpus then
    /// drops the unfinished sentence.
    pub fn weight(&mut self, weight: f64) -> Result<()> {
        let checked = check_weight(weight).map_err(Error::parameter);
        self.sentence.weight = Some(checked.inspect_err(|_| self.sentence.clear())?);
        Ok(())
    }

    /// Ends the current sentence. One without tokens is ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if attributes follow the last token. The corpus then drops the
    /// sentence.
    pub fn end_sentence(&mut self) -> Result<()> {
        let mut sentence = std::mem::take(&mut self.sentence);
        let added = self.add(&sentence);
        sentence.clear();
        self.sentence = sentence;
        added
    }

    /// Drops the unfinished sentence.
    pub fn discard_sentence(&mut self) {
        self.sentence.clear();
    }

    /// Adds a sentence that comes with attributes, such as one read from a file in CRFsuite's
    /// format, with its labels and its weight.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the place of the token: those of [`attribute`](Self::attribute) and
    /// [`end_token`](Self::end_token), or if the sentence has no attributes.
    pub fn push(&mut self, sentence: &Sentence) -> Result<()> {
        self.sentence.clear();
        let Some(attributes) = &sentence.attributes else {
            let message = "found columns; expected ready-made attributes";
            return Err(Error::input(sentence.place(0), message));
        };
        self.sentence.weight = Some(sentence.weight());
        for t in 0..sentence.len() {
            let pushed = (|| {
                for (name, value) in attributes.token(t) {
                    self.attribute(name, value)?;
                }
                for (name, value) in attributes.edge(t) {
                    self.edge_attribute(name, value)?;
                }
                match sentence.partial_label(t) {
                    None => self.end_token(sentence.label(t)),
                    Some(label) => {
                        let labels: Vec<&str> = label.labels().iter().map(|l| &**l).collect();
                        self.end_token_one_of(&labels)
                    }
                }
            })();
            pushed.map_err(|error| Error::input(sentence.place(t), error.to_string()))?;
        }
        self.end_sentence()
    }

    /// Returns the number of sentences.
    pub fn len(&self) -> usize {
        self.labeled.len() + self.unlabeled.len()
    }

    /// Returns whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets an attribute with the value 0 count as observed with the label of its token, as in
    /// CRFsuite: with [`States::Observed`](crate::train::States::Observed), the two then have a
    /// weight. By default such attributes are ignored. It has effect on sentences to come.
    pub fn observe_zeros(&mut self) {
        self.zeros.get_or_insert_default();
    }

    /// Puts the sentences to come into a part of the corpus, at first 0.
    /// [`split`](Self::split) separates parts.
    pub fn set_part(&mut self, part: i32) {
        self.part = part;
    }

    /// Returns the number of labeled sentences of a part.
    pub fn part_len(&self, part: i32) -> usize {
        let sentences = 0..self.labeled.len();
        sentences.filter(|&i| self.part_of(i) == part).count()
    }

    /// Separates the labeled sentences of the parts that are held out from the others. Unlabeled
    /// sentences stay with the first part.
    ///
    /// Both results share the names of attributes, and models that are trained on either have the
    /// labels of both.
    pub fn split(&self, is_held_out: impl Fn(i32) -> bool) -> [Self; 2] {
        let part = |held_out: bool| {
            let is_in = |part| is_held_out(part) == held_out;
            let sentences = 0..self.labeled.len();
            let sentences: Vec<usize> = sentences.filter(|&i| is_in(self.part_of(i))).collect();
            let zeros = self.zeros.iter().flatten().filter(|zero| is_in(zero.part));
            Self {
                alphabets: Arc::clone(&self.alphabets),
                labels: self.labels.clone(),
                labeled: self.labeled.select(&sentences),
                zeros: self.zeros.as_ref().map(|_| zeros.copied().collect()),
                has_all_labels: true,
                ..Self::default()
            }
        };
        let [mut rest, held_out] = [part(false), part(true)];
        rest.unlabeled = self.unlabeled.clone();
        [rest, held_out]
    }

    fn part_of(&self, sentence: usize) -> i32 {
        self.parts.get(sentence).copied().unwrap_or(0)
    }

    /// Returns the attributes of tokens that have the value 0 with a label, and that label, in
    /// ascending order.
    pub fn zeros(&self) -> Vec<(u32, LabelId)> {
        let zeros = self.zeros.iter().flatten();
        let mut pairs: Vec<_> = zeros.map(|zero| (zero.attribute, zero.label)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Returns the names of labels that a model has whether or not they occur.
    pub fn given_labels(&self) -> &[String] {
        if self.has_all_labels { self.labels.names() } else { &[] }
    }

    /// Frees the memory that is reserved for more sentences. Worth it before training if no more
    /// will come; they still may.
    pub fn shrink_to_fit(&mut self) {
        let alphabets = Arc::make_mut(&mut self.alphabets);
        alphabets.nodes.shrink_to_fit();
        alphabets.edges.shrink_to_fit();
        self.labeled.shrink_to_fit();
        self.unlabeled.shrink_to_fit();
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        let zeros = self.zeros.as_ref().map_or(0, HashSet::allocation_size);
        let parts = 4 * self.parts.capacity();
        let data = self.labeled.memory() + self.unlabeled.memory();
        self.alphabets.memory() + data + parts + zeros
    }

    /// Returns the names of the attributes.
    pub fn alphabets(&self) -> &Arc<Alphabets> {
        &self.alphabets
    }

    /// Returns the labeled sentences; [`label_name`](Self::label_name) resolves their labels.
    pub fn labeled(&self) -> &Dataset {
        &self.labeled
    }

    /// Returns the unlabeled sentences, over the same attributes.
    pub fn unlabeled(&self) -> &Dataset {
        &self.unlabeled
    }

    /// Returns the name of a label of the labeled sentences.
    pub fn label_name(&self, id: LabelId) -> &str {
        self.labels.name(id)
    }

    fn label_ids(&mut self, labels: &[&str]) -> Result<Vec<LabelId>> {
        if labels.contains(&"") {
            return Err(Error::parameter(format!(
                "the label of token {} is empty; expected a label, such as O",
                self.sentence.labels.len() + 1
            )));
        }
        labels.iter().map(|label| self.labels.insert(label)).collect()
    }

    fn push_attribute(&mut self, kind: usize, name: &str, value: f64) -> Result<()> {
        let id = self.intern(kind, name, value).inspect_err(|_| self.sentence.clear())?;
        self.sentence.entries[kind].extend(id.map(|id| (id, value)));
        Ok(())
    }

    /// Returns the id of an attribute, unless its value is 0.
    fn intern(&mut self, kind: usize, name: &str, value: f64) -> Result<Option<u32>> {
        check(name, value)?;
        if value == 0.0 && (kind != 0 || self.zeros.is_none()) {
            return Ok(None);
        }
        // A training run may share the names; then they are copied once.
        let alphabets = Arc::make_mut(&mut self.alphabets);
        let alphabet = if kind == 0 { &mut alphabets.nodes } else { &mut alphabets.edges };
        let attribute = Attribute::named(name.as_bytes(), Fingerprinter::default());
        Ok(Some(alphabet.intern(&attribute)?.0))
    }

    fn add(&mut self, sentence: &UnfinishedSentence) -> Result<()> {
        let is_labeled = sentence.labels.iter().any(|labels| !labels.is_empty());
        let ends = sentence.ends.iter().map(|ends| ends.last().copied());
        let mut lengths = sentence.entries.iter().map(Vec::len).zip(ends);
        if lengths.any(|(length, end)| length > end.unwrap_or(0)) {
            return Err(Error::parameter(
                "attributes follow the last token of the sentence; expected the end of their token",
            ));
        }
        if sentence.labels.is_empty() {
            return Ok(());
        }
        let part = if is_labeled { &mut self.labeled } else { &mut self.unlabeled };
        if is_labeled {
            sentence.labels.iter().for_each(|ids| part.push_labels(ids));
            if self.part != 0 {
                self.parts.resize(part.len(), 0);
                self.parts.push(self.part);
            }
            if let Some(zeros) = &mut self.zeros {
                sentence.add_zeros(self.part, zeros);
            }
        }
        let matrices = [&mut part.nodes, &mut part.edges];
        let mut row = Vec::new();
        for (kind, matrix) in matrices.into_iter().enumerate() {
            let matrix = Arc::make_mut(matrix);
            let mut start = 0;
            for &end in &sentence.ends[kind] {
                row.clear();
                let entries = &sentence.entries[kind][start..end];
                row.extend(entries.iter().filter(|&&(_, value)| value != 0.0));
                matrix.push_row(&mut row);
                start = end;
            }
        }
        part.end_sentence(part.nodes.len(), sentence.weight.unwrap_or(1.0));
        Ok(())
    }
}

/// An attribute that has the value 0 at a token with this label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Zero {
    part: i32,
    attribute: u32,
    label: LabelId,
}

/// The sentence that is being pushed.
#[derive(Clone, Debug, Default)]
struct UnfinishedSentence {
    entries: [Vec<(u32, f64)>; 2], // nodes, edges
    ends: [Vec<usize>; 2],         // [T] end of each token in `entries`
    labels: Vec<Vec<LabelId>>,     // [T] labels that each token may have; none for any
    weight: Option<f64>,           // 1 if it has none
}

impl UnfinishedSentence {
    /// Collects the attributes of tokens with the value 0, with their labels.
    fn add_zeros(&self, part: i32, zeros: &mut HashSet<Zero>) {
        let mut start = 0;
        for (&end, labels) in self.ends[0].iter().zip(&self.labels) {
            let entries = self.entries[0][start..end].iter();
            for &(attribute, _) in entries.filter(|&&(_, value)| value == 0.0) {
                zeros.extend(labels.iter().map(|&label| Zero { part, attribute, label }));
            }
            start = end;
        }
    }

    /// Drops what has been pushed.
    fn clear(&mut self) {
        self.entries.iter_mut().for_each(Vec::clear);
        self.ends.iter_mut().for_each(Vec::clear);
        self.labels.clear();
        self.weight = None;
    }
}

/// Checks the name and the value of an attribute.
fn check(name: &str, value: f64) -> Result<()> {
    if name.is_empty() {
        return Err(Error::parameter("an attribute has no name"));
    }
    if value.is_nan() || value.abs() > MAX_VALUE {
        return Err(beyond_limit(name, value));
    }
    Ok(())
}
