//! A corpus of ready-made attributes, interned as they come.

use std::sync::Arc;

use hashbrown::HashSet;

use super::alphabet::{Alphabet, Alphabets};
use super::builder::MAX_VALUE;
use super::dataset::Dataset;
use super::matrix::SparseRows;
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
/// use dropchain::{Result, TrainOptions, Trainer};
///
/// # fn main() -> Result<()> {
/// let mut corpus = AttributeCorpus::new();
/// corpus.push_sentence([["word=Ada", "capital"], ["word=left", "lower"]], ["B-PER", "O"])?;
/// // The same, token by token, with values, and with an attribute of the pair of tokens:
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

/// An attribute as [`AttributeCorpus::push_sentence`] takes it: a name, whose value is 1, or a name
/// with a value.
pub trait IntoAttribute {
    /// Returns the name and the value.
    fn attribute(&self) -> (&str, f64);
}

impl<T: IntoAttribute + ?Sized> IntoAttribute for &T {
    fn attribute(&self) -> (&str, f64) {
        (**self).attribute()
    }
}

impl IntoAttribute for str {
    fn attribute(&self) -> (&str, f64) {
        (self, 1.0)
    }
}

impl IntoAttribute for String {
    fn attribute(&self) -> (&str, f64) {
        (self, 1.0)
    }
}

impl<N: AsRef<str>> IntoAttribute for (N, f64) {
    fn attribute(&self) -> (&str, f64) {
        (self.0.as_ref(), self.1)
    }
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
        let ids = self.label_ids(labels);
        let ids = ids.inspect_err(|_| self.sentence.clear())?;
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
        let added = self.add(&mut sentence);
        sentence.clear();
        self.sentence = sentence;
        added
    }

    /// Drops the unfinished sentence.
    pub fn discard_sentence(&mut self) {
        self.sentence.clear();
    }

    /// Adds a labeled sentence: the attributes of each token, and as many labels.
    ///
    /// # Errors
    ///
    /// Those of [`attribute`](Self::attribute) and [`end_token`](Self::end_token);
    /// [`Error::Parameter`] if there are more labels than tokens, or fewer.
    pub fn push_sentence<A, L>(
        &mut self,
        tokens: impl IntoIterator<Item = A>,
        labels: impl IntoIterator<Item = L>,
    ) -> Result<()>
    where
        A: IntoIterator<Item: IntoAttribute>,
        L: AsRef<str>,
    {
        self.sentence.clear();
        let mut labels = labels.into_iter();
        for token in tokens {
            let label = labels.next();
            self.push_token(token, label.as_ref().map(AsRef::as_ref))?;
        }
        let tokens = self.sentence.len();
        let known = self.sentence.labels.iter().filter(|ids| !ids.is_empty());
        let found = known.count() + labels.count();
        if found != tokens {
            self.sentence.clear();
            return Err(Error::parameter(format!(
                "{found} labels for a sentence of {tokens} tokens; expected one per token"
            )));
        }
        self.end_sentence()
    }

    /// Adds a sentence without labels, for the noise term.
    ///
    /// # Errors
    ///
    /// Those of [`attribute`](Self::attribute).
    pub fn push_unlabeled<A>(&mut self, tokens: impl IntoIterator<Item = A>) -> Result<()>
    where
        A: IntoIterator<Item: IntoAttribute>,
    {
        self.sentence.clear();
        for token in tokens {
            self.push_token(token, None)?;
        }
        self.end_sentence()
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
                labeled: self.labeled.select(&sentences, None),
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
        match self.has_all_labels {
            true => self.labels.names(),
            false => &[],
        }
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
        let Alphabets { nodes, edges } = &*self.alphabets;
        let zeros = self.zeros.as_ref().map_or(0, HashSet::allocation_size);
        let parts = 4 * self.parts.capacity();
        let data = self.labeled.memory() + self.unlabeled.memory();
        nodes.memory() + edges.memory() + data + parts + zeros
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
                self.sentence.len() + 1
            )));
        }
        labels.iter().map(|label| self.labels.insert(label)).collect()
    }

    fn push_token<A>(&mut self, token: A, label: Option<&str>) -> Result<()>
    where
        A: IntoIterator<Item: IntoAttribute>,
    {
        for attribute in token {
            let (name, value) = attribute.attribute();
            self.attribute(name, value)?;
        }
        self.end_token(label)
    }

    fn push_attribute(&mut self, kind: usize, name: &str, value: f64) -> Result<()> {
        let id = self.intern(kind, name, value);
        let id = id.inspect_err(|_| self.sentence.clear())?;
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
        let alphabet: &mut Alphabet = match kind {
            0 => &mut alphabets.nodes,
            _ => &mut alphabets.edges,
        };
        let attribute = Attribute::named(name.as_bytes(), Fingerprinter::default());
        Ok(Some(alphabet.intern(&attribute)?.0))
    }

    fn add(&mut self, sentence: &mut UnfinishedSentence) -> Result<()> {
        let tokens = sentence.len();
        let is_labeled = sentence.labels.iter().any(|labels| !labels.is_empty());
        let ends = sentence.ends.iter().map(|ends| ends.last().copied());
        let mut lengths = sentence.entries.iter().map(Vec::len).zip(ends);
        if lengths.any(|(length, end)| length > end.unwrap_or(0)) {
            return Err(Error::parameter(
                "attributes follow the last token of the sentence; expected the end of their token",
            ));
        }
        if tokens == 0 {
            return Ok(());
        }
        let part = match is_labeled {
            true => &mut self.labeled,
            false => &mut self.unlabeled,
        };
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
            let matrix: &mut SparseRows = Arc::make_mut(matrix);
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

impl UnfinishedSentence {
    /// Returns the number of tokens.
    fn len(&self) -> usize {
        self.ends[0].len()
    }

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

    fn clear(&mut self) {
        self.entries.iter_mut().for_each(Vec::clear);
        self.ends.iter_mut().for_each(Vec::clear);
        self.labels.clear();
        self.weight = None;
    }
}

fn check(name: &str, value: f64) -> Result<()> {
    if name.is_empty() {
        return Err(Error::parameter("an attribute has no name"));
    }
    if value.is_nan() || value.abs() > MAX_VALUE {
        return Err(Error::parameter(format!(
            "attribute '{name}' has the value {value}; expected a number of at most {MAX_VALUE:e}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_labeled_or_unlabeled_and_share_their_attributes() {
        let mut corpus = AttributeCorpus::new();
        corpus.push_sentence([["a"], ["b"]], ["X", "Y"]).unwrap();
        corpus.push_unlabeled([[("b", 0.5), ("c", 1.0)]]).unwrap();
        corpus.end_sentence().unwrap(); // empty
        assert_eq!((corpus.len(), corpus.labeled().len()), (2, 1));
        let row: Vec<_> = corpus.unlabeled().nodes.entries(0).collect();
        assert_eq!(row, [(1, 0.5), (2, 1.0)]);
        let names = corpus.labeled().labels.iter();
        let names: Vec<&str> = names.map(|&id| corpus.label_name(id)).collect();
        assert_eq!(names, ["X", "Y"]);
    }

    #[test]
    fn values_of_one_name_are_summed_and_those_of_0_ignored() {
        let mut corpus = AttributeCorpus::new();
        corpus.attribute("zero", 0.0).unwrap();
        corpus.attribute("a", 0.5).unwrap();
        corpus.attribute("a", 2.0).unwrap();
        corpus.end_token(None).unwrap();
        corpus.end_sentence().unwrap();
        let row: Vec<_> = corpus.unlabeled().nodes.entries(0).collect();
        assert_eq!(row, [(0, 2.5)]);
    }

    #[test]
    fn edge_attributes_belong_to_the_edge_into_a_token() {
        let mut corpus = AttributeCorpus::new();
        for _ in 0..2 {
            corpus.edge_attribute("e", 1.0).unwrap();
            corpus.end_token(Some("X")).unwrap();
        }
        corpus.end_sentence().unwrap();
        let edges = &corpus.labeled().edges;
        assert_eq!((edges.row(0).0.len(), edges.row(1).0.len()), (0, 1));
    }

    #[test]
    fn a_split_keeps_the_order_and_the_labels_of_all() {
        let mut corpus = AttributeCorpus::new();
        corpus.observe_zeros();
        for (i, (attribute, label)) in (0..).zip([("a", "X"), ("b", "Y"), ("c", "Z"), ("a", "X")]) {
            corpus.set_part(i % 2);
            let zero = if i == 1 { "d" } else { "a" };
            let attributes = [(attribute, 1.0), (zero, 0.0)];
            corpus.push_sentence([attributes], [label]).unwrap();
        }
        corpus.push_unlabeled([["d"]]).unwrap();
        let [rest, held_out] = corpus.split(|part| part == 1);
        assert_eq!((rest.len(), held_out.len()), (3, 2));
        assert_eq!((rest.unlabeled().len(), held_out.unlabeled().len()), (1, 0));
        let columns = |part: &AttributeCorpus| {
            let nodes = Arc::clone(&part.labeled().nodes);
            (0..nodes.len()).map(|row| nodes.row(row).0[0]).collect::<Vec<_>>()
        };
        let found = (columns(&rest), columns(&held_out));
        assert_eq!(found, (vec![0, 3], vec![1, 0]));
        let zeros = |part: &AttributeCorpus| -> Vec<_> {
            let zeros = part.zeros().into_iter();
            zeros.map(|(attribute, label)| (attribute, label.0)).collect()
        };
        let found = (zeros(&rest), zeros(&held_out));
        assert_eq!(found, (vec![(0, 0), (0, 2)], vec![(0, 0), (2, 1)]));
        assert_eq!(held_out.labeled().labels, [LabelId(1), LabelId(0)]);
        for part in [rest, held_out] {
            assert_eq!(part.given_labels(), ["X", "Y", "Z"]);
        }
        assert_eq!(corpus.given_labels(), [""; 0]);
        assert_eq!((corpus.part_len(0), corpus.part_len(1), corpus.part_len(2)), (2, 2, 0));
    }

    #[test]
    fn labels_may_be_partial_and_sentences_weighted() {
        let mut corpus = AttributeCorpus::new();
        corpus.weight(0.5).unwrap();
        corpus.end_token(None).unwrap();
        corpus.end_token_one_of(&["X", "Y"]).unwrap();
        corpus.end_sentence().unwrap();
        corpus.push_sentence([["a"]], ["X"]).unwrap();
        let labeled = corpus.labeled();
        assert_eq!((labeled.partial_tokens(), labeled.labeled_tokens()), (2, 3));
        assert_eq!((labeled.weight(0), labeled.weight(1)), (0.5, 1.0));
        assert!(corpus.weight(-1.0).is_err());
    }

    #[test]
    fn sentences_without_attributes_are_rejected() {
        let error = AttributeCorpus::new().push(&Sentence::from_words(["a"]));
        let expected = "-:1: found columns; expected ready-made attributes";
        assert_eq!(error.unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_faulty_sentence_is_dropped_and_the_rest_kept() {
        let mut corpus = AttributeCorpus::new();
        corpus.push_sentence([["a"]], ["X"]).unwrap();
        let mut fault = |tokens: &[&[(&str, f64)]], labels: &[&str]| {
            let pushed = corpus.push_sentence(tokens.iter().map(|t| t.iter()), labels);
            pushed.unwrap_err().to_string()
        };
        let one = [("b", 1.0)];
        let expected = "1 labels for a sentence of 2 tokens; expected one per token";
        assert_eq!(fault(&[&one, &one], &["X"]), expected);
        let expected = "2 labels for a sentence of 1 tokens; expected one per token";
        assert_eq!(fault(&[&one], &["X", "Y"]), expected);
        assert_eq!(fault(&[&[("", 1.0)]], &["X"]), "an attribute has no name");
        assert_eq!(
            fault(&[&[("b", f64::NAN)]], &["X"]),
            "attribute 'b' has the value NaN; expected a number of at most 1e30"
        );
        assert_eq!(
            fault(&[&one, &one], &["X", ""]),
            "the label of token 2 is empty; expected a label, such as O"
        );
        corpus.attribute("c", 1.0).unwrap();
        corpus.end_token(Some("X")).unwrap();
        corpus.discard_sentence();
        corpus.end_sentence().unwrap();
        corpus.attribute("c", 1.0).unwrap();
        let error = corpus.end_sentence().unwrap_err().to_string();
        assert!(error.starts_with("attributes follow the last token"));
        corpus.push_sentence([["a"]], ["X"]).unwrap();
        assert_eq!(corpus.labeled().tokens(), 2);
        assert_eq!(corpus.labeled().labels, [LabelId(0); 2]);
        let before = corpus.memory();
        corpus.shrink_to_fit();
        assert!(corpus.memory() < before);
    }
}
