//! From sentences to the numbers that training works on.

use crate::chain::LabelWeights;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder, SparseRows};
use crate::ids::LabelId;
use crate::label::{LabelSet, Scheme, SchemeDetector, convert, spans};
use crate::model::MAX_LABELS;
use crate::score::{ParameterSpace, SpaceOptions};
use crate::sentence::Sentence;
use crate::template::Template;

use super::options::TrainOptions;

/// Labels of a corpus and their scheme.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub set: LabelSet,
    /// Scheme of the model's labels.
    pub scheme: Scheme,
    /// Scheme of the corpus.
    pub corpus_scheme: Scheme,
    convert: bool,
    /// Whether the labels of the corpus write any span.
    pub any_span: bool,
}

impl Labels {
    /// The labels of the training sentences, brought to the scheme that the options ask for.
    pub fn of(sentences: &[Sentence], options: &TrainOptions) -> Result<Self> {
        let mut detector = SchemeDetector::new();
        let mut any_span = false;
        for sentence in sentences {
            let labels = gold(sentence)?;
            any_span = any_span || !spans(&labels).is_empty();
            detector.observe(&labels);
        }
        let (corpus_scheme, _) = detector.prevailing();
        let convert = options.scheme != Scheme::Raw && options.scheme != corpus_scheme;
        if convert && !any_span {
            return Err(Error::parameter(format!(
                "--scheme {}: the labels hold no spans (B-X, I-X, …); leave the option out",
                options.scheme
            )));
        }
        let scheme = if convert {
            options.scheme
        } else {
            corpus_scheme
        };
        let mut labels = Self {
            set: LabelSet::new(),
            scheme,
            corpus_scheme,
            convert,
            any_span,
        };
        for sentence in sentences {
            for (t, label) in labels.model_labels(sentence)?.iter().enumerate() {
                labels.set.insert(label)?;
                if labels.set.len() > MAX_LABELS {
                    let message = format!(
                        "'{label}' is one label too many: at most {MAX_LABELS} can be trained \
                         (is this the label column?)"
                    );
                    return Err(Error::input(sentence.place(t), message));
                }
            }
        }
        Ok(labels)
    }

    /// The label outside all spans, where labels write spans.
    pub fn outside(&self) -> Option<LabelId> {
        self.any_span.then(|| self.set.id("O")).flatten()
    }

    /// Lowers the score of the outside label by `bias` at every token: in the weight of the first label
    /// and in all transitions into it.
    pub fn add_recall_bias(&self, bias: f64, weights: &mut LabelWeights) {
        let Some(outside) = self.outside() else {
            return;
        };
        let k = self.set.len();
        weights.start[outside.index()] -= bias;
        for row in weights.transitions.chunks_exact_mut(k) {
            row[outside.index()] -= bias;
        }
    }

    /// The gold labels of a sentence in the model's scheme.
    fn model_labels(&self, sentence: &Sentence) -> Result<Vec<String>> {
        let labels = gold(sentence)?;
        Ok(if self.convert {
            convert(&labels, self.scheme)
        } else {
            labels.into_iter().map(str::to_owned).collect()
        })
    }

    fn ids(&self, sentence: &Sentence) -> Result<Vec<LabelId>> {
        let labels = self.model_labels(sentence)?;
        let id = |(t, label): (usize, &String)| {
            self.set.id(label).ok_or_else(|| {
                Error::input(sentence.place(t), format!("the label '{label}' is unknown"))
            })
        };
        labels.iter().enumerate().map(id).collect()
    }
}

/// Whether a sentence has tokens that are text: the boundaries of documents are none.
pub(crate) fn is_text(sentence: &Sentence) -> bool {
    !sentence.is_empty() && !sentence.layout.document_start
}

fn gold(sentence: &Sentence) -> Result<Vec<&str>> {
    sentence.labels().ok_or_else(|| {
        Error::input(
            sentence.place(0),
            "found no label column; training needs labels (choose the column with --label)",
        )
    })
}

/// Training data as numbers.
pub(super) struct Prepared {
    pub labels: Labels,
    pub alphabets: Alphabets,
    /// Columns of the matrices of nodes and edges before collapsing.
    pub columns: [usize; 2],
    /// The design matrices; one column for each class.
    pub data: Dataset,
    pub node_classes: Classes,
    pub edge_classes: Classes,
    /// Entries of X per token, before and after collapsing.
    pub per_token: [f64; 2],
}

/// Extracts the attributes of the training sentences and of the unlabeled ones, each attribute in a
/// class of its own.
pub(super) fn prepare(
    sentences: Vec<Sentence>,
    unlabeled: &[Sentence],
    template: Option<&Template>,
    options: &TrainOptions,
) -> Result<Prepared> {
    let Some(first) = sentences.first() else {
        return Err(Error::parameter("there are no sentences to train on"));
    };
    let labels = Labels::of(&sentences, options)?;
    let edges = options.order == Order::One;
    let source = AttributeSource::bind(template, first.schema())?;
    let mut builder = DatasetBuilder::new(source, edges);
    // Each is let go when it has been taken in, so that no text is there twice.
    for sentence in sentences {
        builder.add(&sentence, &labels.ids(&sentence)?)?;
    }
    for sentences in unlabeled.chunk_by(|x, y| x.schema() == y.schema()) {
        let schema = sentences[0].schema();
        builder.switch_source(AttributeSource::bind(template, schema)?, options.discover);
        for sentence in sentences.iter().filter(|s| is_text(s)) {
            builder.add(sentence, &[])?;
        }
    }
    let (data, alphabets) = builder.finish(options.min_count);
    let before = entries_per_token(&data);
    Ok(Prepared {
        labels,
        node_classes: Classes::singletons(alphabets.nodes.len()),
        edge_classes: Classes::singletons(alphabets.edges.len()),
        columns: [alphabets.nodes.len(), alphabets.edges.len()],
        alphabets,
        data,
        per_token: [before, before],
    })
}

impl Prepared {
    /// Brings attributes that always occur together into one class.
    pub fn collapse(&mut self) {
        let data = &mut self.data;
        self.node_classes = Classes::equal_columns(&data.nodes, self.columns[0]);
        self.edge_classes = Classes::equal_columns(&data.edges, self.columns[1]);
        data.nodes = self.node_classes.collapsed(&data.nodes);
        data.edges = self.edge_classes.collapsed(&data.edges);
        self.per_token[1] = entries_per_token(data);
    }

    /// The parameters over the data; `transitions`: whether pairs of labels have weights.
    pub fn space(&self, options: &TrainOptions, transitions: bool) -> ParameterSpace {
        ParameterSpace::new(
            self.labels.set.len(),
            &self.data,
            &self.node_classes,
            &self.edge_classes,
            SpaceOptions {
                order: options.order,
                boundary: options.boundary,
                states: options.states,
                transitions,
            },
        )
    }

    /// Lets go of what is needed only to look attributes up.
    pub fn close(&mut self) {
        self.alphabets.nodes.drop_index();
        self.alphabets.edges.drop_index();
    }

    /// Frees the design matrices, once training has ended: a model is about to take their room.
    pub fn drop_matrices(&mut self) {
        self.data.nodes = SparseRows::default();
        self.data.edges = SparseRows::default();
    }

    /// Number of attributes.
    pub fn attributes(&self) -> usize {
        self.columns.iter().sum()
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.data.memory() + self.alphabets.nodes.memory() + self.alphabets.edges.memory()
    }
}

pub(super) fn entries_per_token(data: &Dataset) -> f64 {
    (data.nodes.nonzeros() + data.edges.nonzeros()) as f64 / data.tokens().max(1) as f64
}
