//! The classifier: from documents to classes with probabilities.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::features::FeatureOptions;
use super::record::{ClassifierRecord, Multiclass};
use crate::corpus::{Instance, InstanceContent};
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::math::sigmoid;
use crate::model::{AttributeKind, Model, OutputLayer};
use crate::tag::{TagOptions, Tagger, Workspace};

/// Classifies documents with a model.
///
/// A classifier is `Send` and `Sync`: threads share one by reference.
#[derive(Debug)]
pub struct Classifier {
    tagger: Tagger,
    record: ClassifierRecord,
    hidden: Option<OutputLayer>,
}

/// A hidden unit of a classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HiddenUnit<'a> {
    /// The class whose score it adds to; with two classes, their second one.
    pub class: &'a str,
    /// The weight with which it does.
    pub weight: f64,
    /// Its bias: the score of a document without features.
    pub bias: f64,
}

/// The probabilities of the classes of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    probabilities: Vec<f64>, // [K]
    scores: Vec<f64>,        // [K]
}

impl Prediction {
    /// Returns the probability of each class, in the order of [`Classifier::classes`]; their sum is
    /// 1.
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Returns the score of each class: the sum of its weights.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Returns the number of the best class, the first of several.
    #[must_use]
    pub fn best(&self) -> usize {
        self.ranking().first().copied().unwrap_or(0)
    }

    /// Returns the numbers of the classes, the best first.
    #[must_use]
    pub fn ranking(&self) -> Vec<usize> {
        let mut ranking: Vec<usize> = (0..self.scores.len()).collect();
        ranking.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        ranking
    }
}

impl Classifier {
    /// Creates a classifier for a model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the model is a tagger.
    pub fn new(model: impl Into<Arc<Model>>) -> Result<Self> {
        let model = model.into();
        let record = ClassifierRecord::of(&model)?;
        let hidden = OutputLayer::of(&model)?;
        Ok(Self {
            tagger: Tagger::new(model),
            record,
            hidden,
        })
    }

    /// Opens a model file.
    ///
    /// # Errors
    ///
    /// Those of [`Model::open`]; [`Error::Model`] if the model is a tagger.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Model::open(path)?)
    }

    /// Returns the model.
    #[must_use]
    pub fn model(&self) -> &Model {
        self.tagger.model()
    }

    /// Returns the names of the classes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        match &self.hidden {
            Some(layer) => &layer.classes,
            None => self.model().header().labels.names(),
        }
    }

    /// Returns the hidden units, in the order of the labels of the model, whose weights are theirs;
    /// none if classes have weights of their own.
    #[must_use]
    pub fn hidden_units(&self) -> Vec<HiddenUnit<'_>> {
        let boundary = &self.model().header().label_weights;
        let biases = boundary.start.iter().zip(&boundary.end);
        let outputs = self.hidden.iter().flat_map(OutputLayer::weights);
        let units = outputs.zip(biases);
        units
            .map(|((class, weight), (start, end))| HiddenUnit {
                class,
                weight,
                bias: start + end,
            })
            .collect()
    }

    /// Returns the biases of the classes, in their order.
    #[must_use]
    pub fn biases(&self) -> Vec<f64> {
        match &self.hidden {
            Some(layer) => layer.biases(),
            None => self.label_biases(),
        }
    }

    fn label_biases(&self) -> Vec<f64> {
        let boundary = &self.model().header().label_weights;
        let biases = boundary.start.iter().zip(&boundary.end);
        biases.map(|(start, end)| start + end).collect()
    }

    /// Returns the features of texts; `None` if documents come with features.
    #[must_use]
    pub fn features(&self) -> Option<&FeatureOptions> {
        self.record.features.as_ref()
    }

    /// Returns how classes are told apart.
    #[must_use]
    pub fn multiclass(&self) -> Multiclass {
        self.record.multiclass
    }

    /// Classifies a document; features that the model does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made features, or the
    /// other way round; [`Error::Model`] if the model file is damaged; scores overflow.
    pub fn classify(&self, document: &Instance) -> Result<Prediction> {
        if let Some(layer) = &self.hidden {
            return self.classify_hidden(document, layer);
        }
        self.tagger
            .with_workspace(|workspace| self.classify_with(document, workspace))
    }

    /// Returns the probabilities of classes, given the inputs of hidden units.
    fn classify_hidden(&self, document: &Instance, layer: &OutputLayer) -> Result<Prediction> {
        let mut inputs = self.label_biases();
        let units = inputs.len();
        for (name, value) in features(document, self.features())?.iter() {
            let (kind, name) = (AttributeKind::Node, name.as_bytes());
            let model = self.model();
            model.add_scores(kind, name, *value, units, &mut inputs)?;
        }
        let scores = layer.scores(&inputs);
        if !scores.iter().all(|score| score.is_finite()) {
            let message = "scores overflow; expected smaller values of features";
            return Err(Error::input(document.place(), message));
        }
        let probabilities = match self.record.multiclass {
            // Of two classes, whose scores are ½f and −½f.
            Multiclass::Softmax => scores.iter().map(|score| sigmoid(2.0 * score)).collect(),
            Multiclass::OneVsRest => normalized(scores.iter().map(|&s| sigmoid(s)).collect()),
        };
        Ok(Prediction {
            probabilities,
            scores,
        })
    }

    fn classify_with(&self, document: &Instance, workspace: &mut Workspace) -> Result<Prediction> {
        let mut sentence = self.tagger.keyed_sentence()?;
        for (name, value) in features(document, self.features())?.iter() {
            sentence.attribute(name, *value).map_err(at(document))?;
        }
        sentence.end_token();
        let classes = self.classes().len();
        let options = TagOptions {
            constrain: false,
            marginals: true,
            nbest: classes.max(2),
            ..TagOptions::default()
        };
        let tagging = self.tagger.tag_with(&sentence, options, workspace)?;
        let mut scores = vec![f64::NEG_INFINITY; classes];
        for path in &tagging.nbest {
            if let [LabelId(class)] = path.labels[..] {
                scores[usize::from(class)] = path.score;
            }
        }
        let probabilities = match (self.record.multiclass, tagging.marginals) {
            (Multiclass::Softmax, Some(marginals)) => marginals.into_iter().collect(),
            _ => normalized(scores.iter().map(|&score| sigmoid(score)).collect()),
        };
        Ok(Prediction {
            probabilities,
            scores,
        })
    }
}

/// Divides numbers by their sum; if that is 0, they become equal.
fn normalized(mut numbers: Vec<f64>) -> Vec<f64> {
    let sum: f64 = numbers.iter().sum();
    let equal = 1.0 / numbers.len() as f64;
    for number in &mut numbers {
        *number = if sum > 0.0 { *number / sum } else { equal };
    }
    numbers
}

/// The names and values of the features of a document.
pub(crate) type Features<'d> = Cow<'d, [(String, f64)]>;

/// Returns the features of a document: those of its text, if there are options, or its own.
///
/// # Errors
///
/// [`Error::Input`] if the document is of the other kind.
pub(crate) fn features<'d>(
    document: &'d Instance,
    options: Option<&FeatureOptions>,
) -> Result<Features<'d>> {
    let (found, expected) = match (&document.content, options) {
        (InstanceContent::Text(text), Some(options)) => return Ok(options.extract(text).into()),
        (InstanceContent::Features(features), None) => return Ok(features.into()),
        (InstanceContent::Text(_), None) => ("a text", "features"),
        (InstanceContent::Features(_), Some(_)) => ("features", "a text"),
    };
    let message = format!("found {found}; expected {expected}, as the model was trained on");
    Err(Error::input(document.place(), message))
}

/// Adds the place of a document to an error.
pub(super) fn at(document: &Instance) -> impl Fn(Error) -> Error {
    |error| Error::input(document.place(), error.to_string())
}
