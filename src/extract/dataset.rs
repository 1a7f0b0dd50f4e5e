//! Sentences as numbers: what training and dev scoring read.

use std::cell::Cell;

use super::alphabet::Alphabet;
use super::matrix::SparseRows;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::ids::{AttributeId, LabelId};
use crate::sentence::{Schema, Sentence};
use crate::template::{Attribute, AttributeSink, Extractor, Template, Workspace};

/// Largest absolute value of an attribute; with larger ones, sums of squares might overflow.
const MAX_VALUE: f64 = 1e30;

/// Where the attributes of a token come from.
#[derive(Debug)]
pub struct AttributeSource(Source);

#[derive(Debug)]
enum Source {
    /// A template, bound to the columns of the input.
    Template(Box<Extractor>),
    /// The input itself ([`Sentence::attributes`]), with fingerprints at a base.
    Given(Fingerprinter),
}

impl AttributeSource {
    /// The source for sentences of `schema`: the template, or the input's own attributes if there
    /// is none.
    ///
    /// # Errors
    ///
    /// A template that reads columns which `schema` does not have.
    pub fn bind(template: Option<&Template>, schema: &Schema) -> Result<Self> {
        Ok(Self(match template {
            Some(template) => Source::Template(Box::new(template.bind(schema)?)),
            None => Source::Given(Fingerprinter::default()),
        }))
    }

    /// The same, with fingerprints at another base.
    #[must_use]
    pub(crate) fn with_fingerprinter(self, base: Fingerprinter) -> Self {
        Self(match self.0 {
            Source::Template(extractor) => {
                Source::Template(Box::new(extractor.with_fingerprinter(base)))
            }
            Source::Given(_) => Source::Given(base),
        })
    }

    /// Gives all attributes of a sentence to `sink`, token by token; `end_token(t)` follows the
    /// attributes of token `t`.
    ///
    /// # Errors
    ///
    /// A cell that should be a number and is not; a sentence without attributes, or with too few
    /// or too many, where the input should bring them.
    pub fn attributes<S: TokenSink>(
        &self,
        sentence: &Sentence,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        match &self.0 {
            Source::Template(extractor) => {
                extractor.prepare(sentence, workspace)?;
                for t in 0..sentence.len() {
                    extractor.extract(sentence, t, workspace, sink);
                    sink.end_token(t)?;
                }
            }
            Source::Given(base) => {
                let Some(attributes) = &sentence.attributes else {
                    return Err(Error::input(
                        sentence.place(0),
                        "found columns; expected ready-made attributes (CRFsuite's format), \
                         because there is no template",
                    ));
                };
                if attributes.is_full() {
                    let message = "the sentence has more than 4 GiB of attributes";
                    return Err(Error::input(sentence.place(0), message));
                }
                if attributes.len() != sentence.len() {
                    return Err(Error::input(
                        sentence.place(0),
                        format!(
                            "found attributes for {} tokens; expected them for all {} of the sentence",
                            attributes.len(),
                            sentence.len()
                        ),
                    ));
                }
                for t in 0..sentence.len() {
                    for (name, value) in attributes.token(t) {
                        sink.node(&Attribute::named(name.as_bytes(), *base), value);
                    }
                    sink.end_token(t)?;
                }
            }
        }
        Ok(())
    }
}

/// A [`AttributeSink`] that is told where a token ends.
pub trait TokenSink: AttributeSink {
    /// All attributes of token `t` have been given.
    ///
    /// # Errors
    ///
    /// Whatever went wrong while they were taken in.
    fn end_token(&mut self, t: usize) -> Result<()>;
}

/// Sentences as numbers. N sentences, M tokens in all.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    pub(super) ends: Vec<u64>, // [N] end of each sentence, in tokens
    /// Node attributes: M rows.
    pub nodes: SparseRows,
    /// Edge attributes: M rows; the row of a token says what holds of the edge into it, so the
    /// first of a sentence is empty.
    pub edges: SparseRows,
    /// Labels of the first sentences, end to end; the sentences behind them are not labeled.
    pub labels: Vec<LabelId>,
}

impl Dataset {
    /// Number of sentences N.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of tokens M.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// The tokens of sentence `i`.
    #[must_use]
    pub fn sentence(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }

    /// Number of sentences with labels: the first ones.
    #[must_use]
    pub fn labeled(&self) -> usize {
        self.ends
            .partition_point(|&end| end <= self.labels.len() as u64)
    }

    /// Number of sentences without labels.
    #[must_use]
    pub fn unlabeled(&self) -> usize {
        self.len() - self.labeled()
    }

    /// Some of the sentences, labeled ones first, in the columns of nodes and of edges that are kept. The
    /// columns keep their numbers.
    pub(crate) fn select(&self, sentences: &[usize], kept: &[Vec<bool>; 2]) -> Self {
        let mut selected = Self::default();
        for &i in sentences {
            let tokens = self.sentence(i);
            let labels = self.labels.get(tokens.clone()).unwrap_or_default();
            selected.labels.extend_from_slice(labels);
            for row in tokens {
                selected.nodes.push_row_of(&self.nodes, row, &kept[0]);
                selected.edges.push_row_of(&self.edges, row, &kept[1]);
            }
            selected.ends.push(selected.nodes.len() as u64);
        }
        selected
    }

    /// Bytes of memory that the data set takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        8 * self.ends.capacity()
            + 2 * self.labels.capacity()
            + self.nodes.memory()
            + self.edges.memory()
    }
}

/// Builds a [`Dataset`] sentence by sentence.
#[derive(Debug)]
pub struct DatasetBuilder {
    source: AttributeSource,
    alphabets: Alphabets,
    grow: bool,
    edges: bool,
    data: Dataset,
    workspace: Workspace,
    entries: [Vec<(u32, f64)>; 2],
}

/// The names of node and edge attributes.
#[derive(Clone, Debug, Default)]
pub struct Alphabets {
    /// Node attributes.
    pub nodes: Alphabet,
    /// Edge attributes.
    pub edges: Alphabet,
}

impl DatasetBuilder {
    /// A data set that makes its alphabets. `edges`: whether edge attributes are wanted (order 1).
    #[must_use]
    pub fn new(source: AttributeSource, edges: bool) -> Self {
        Self::with_state(source, Alphabets::default(), true, edges)
    }

    /// A data set over known alphabets: unknown attributes are left out.
    #[must_use]
    pub fn with_alphabets(source: AttributeSource, alphabets: Alphabets, edges: bool) -> Self {
        Self::with_state(source, alphabets, false, edges)
    }

    fn with_state(source: AttributeSource, alphabets: Alphabets, grow: bool, edges: bool) -> Self {
        Self {
            source,
            alphabets,
            grow,
            edges,
            data: Dataset::default(),
            workspace: Workspace::default(),
            entries: [Vec::new(), Vec::new()],
        }
    }

    /// From here on, sentences come from `source`, and unknown attributes are left out unless
    /// `discover`.
    pub fn switch_source(&mut self, source: AttributeSource, discover: bool) {
        self.source = source;
        self.grow &= discover;
        self.workspace.clear();
    }

    /// Adds a sentence with its labels (`[T]`, or none at all; labeled sentences come first).
    ///
    /// # Errors
    ///
    /// As [`AttributeSource::attributes`]; values that are not finite or beyond 10³⁰; too many
    /// attributes. The builder is of no use afterwards.
    ///
    /// # Panics
    ///
    /// If there are labels for some tokens only.
    pub fn add(&mut self, sentence: &Sentence, labels: &[LabelId]) -> Result<()> {
        let mut rows = Rows {
            alphabets: &mut self.alphabets,
            grow: self.grow,
            edges: self.edges,
            data: &mut self.data,
            entries: &mut self.entries,
            sentence,
            first: true,
            fault: None,
        };
        self.source
            .attributes(sentence, &mut self.workspace, &mut rows)?;
        self.data.labels.extend_from_slice(labels);
        let tokens = self.data.nodes.len();
        let sentence_is_unlabeled = labels.is_empty();
        let labels = self.data.labels.len();
        assert!(
            labels == tokens || sentence_is_unlabeled,
            "{labels} labels for {tokens} tokens"
        );
        self.data.ends.push(tokens as u64);
        Ok(())
    }

    /// The data set and its alphabets, without the attributes that occur at fewer than
    /// `min_count` tokens (labeled ones, if there are any).
    #[must_use]
    pub fn finish(mut self, min_count: u32) -> (Dataset, Alphabets) {
        if min_count > 1 {
            let Alphabets { nodes, edges } = self.alphabets;
            let counted = match self.data.labels.len() {
                0 => self.data.tokens(),
                labeled => labeled,
            };
            let (nodes, node_rows) = frequent(nodes, &self.data.nodes, counted, min_count);
            let (edges, edge_rows) = frequent(edges, &self.data.edges, counted, min_count);
            self.alphabets = Alphabets { nodes, edges };
            self.data.nodes = node_rows;
            self.data.edges = edge_rows;
        }
        self.data.nodes.shrink();
        self.data.edges.shrink();
        self.data.ends.shrink_to_fit();
        self.data.labels.shrink_to_fit();
        (self.data, self.alphabets)
    }
}

/// Keeps the attributes that occur in `min_count` of the first `counted` rows.
fn frequent(
    alphabet: Alphabet,
    rows: &SparseRows,
    counted: usize,
    min_count: u32,
) -> (Alphabet, SparseRows) {
    let mut counts = vec![0u32; alphabet.len()];
    for row in 0..counted {
        for &column in rows.row(row).0 {
            counts[column as usize] += 1;
        }
    }
    let (kept, number) = alphabet.retain(|id| counts[id.index()] >= min_count);
    let rows = rows.map_columns(|column| number[column as usize], |_, value| value);
    (kept, rows)
}

/// Takes the attributes of one sentence into the data set.
struct Rows<'a> {
    alphabets: &'a mut Alphabets,
    grow: bool,
    edges: bool,
    data: &'a mut Dataset,
    entries: &'a mut [Vec<(u32, f64)>; 2], // node and edge entries of the token
    sentence: &'a Sentence,
    first: bool, // the first token has no edge into it
    fault: Option<Error>,
}

impl Rows<'_> {
    fn take(&mut self, edge: bool, attribute: &Attribute<'_>, value: f64) {
        if value == 0.0 || self.fault.is_some() {
            return;
        }
        let found = if value.abs() <= MAX_VALUE {
            self.number(edge, attribute)
        } else {
            let mut name = Vec::new();
            attribute.write(&mut name);
            Err(Error::parameter(format!(
                "attribute '{}' has the value {value}; expected a number of at most {MAX_VALUE:e}",
                String::from_utf8_lossy(&name)
            )))
        };
        match found {
            Ok(Some(id)) => self.entries[usize::from(edge)].push((id.0, value)),
            Ok(None) => {}
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// The number of an attribute, which its memo holds plus [`KNOWN`] once it has been looked up.
    fn number(&mut self, edge: bool, attribute: &Attribute<'_>) -> Result<Option<AttributeId>> {
        let memo = attribute.memo();
        match memo.map_or(0, Cell::get) {
            0 => {}
            UNKNOWN => return Ok(None),
            number => return Ok(Some(AttributeId((number - KNOWN) as u32))),
        }
        let alphabet = if edge {
            &mut self.alphabets.edges
        } else {
            &mut self.alphabets.nodes
        };
        let found = if self.grow {
            Some(alphabet.intern(attribute)?)
        } else {
            alphabet.find(attribute)
        };
        if let Some(memo) = memo {
            memo.set(found.map_or(UNKNOWN, |id| u64::from(id.0) + KNOWN));
        }
        Ok(found)
    }
}

/// The memo of an attribute that the alphabet does not have.
const UNKNOWN: u64 = 1;

/// What the memo of a known attribute is higher than its number.
const KNOWN: u64 = 2;

impl AttributeSink for Rows<'_> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.take(false, attribute, value);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        if self.edges && !self.first {
            self.take(true, attribute, value);
        }
    }
}

impl TokenSink for Rows<'_> {
    fn end_token(&mut self, t: usize) -> Result<()> {
        if let Some(fault) = self.fault.take() {
            return Err(Error::input(self.sentence.place(t), fault.to_string()));
        }
        let [nodes, edges] = &mut *self.entries;
        self.data.nodes.push_row(nodes);
        self.data.edges.push_row(edges);
        nodes.clear();
        edges.clear();
        self.first = false;
        Ok(())
    }
}
