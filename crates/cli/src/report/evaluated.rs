//! Gold labels, and the predictions of one or more systems.

use std::collections::HashMap;
use std::ops::Range;

use dropchain::corpus::{Corpus, ReadOptions};
use dropchain::eval::Calibration;
use dropchain::label::{PlainLabels, Scheme, SchemeDetector};
use dropchain::sentence::Sentence;
use dropchain::tag::TagOptions;
use dropchain::{Error, Place, Result};

use crate::arguments::InputArguments;
use crate::document_arguments::DocumentArguments;
use crate::file_name::FileName;
use crate::gold_tagger::GoldTagger;
use crate::predicted_columns::PredictedColumns;
use crate::predictions::{GoldCorpus, joined, labels};

/// The files to evaluate.
pub struct EvaluatedFiles<'a> {
    pub gold: Option<&'a FileName>,
    pub models: &'a [FileName],
    pub predictions: &'a [FileName],
    pub input: &'a InputArguments,
    pub plain: PlainLabels,
    pub documents: DocumentArguments,
    pub constrain: bool,
}

/// Gold labels, and the predictions of one or more systems for the same sentences.
pub struct Evaluated {
    pub corpus: Corpus,
    pub gold: Labels,
    pub gold_scheme: Scheme,
    pub systems: Vec<System>,
    /// The columns of the training data of the first model, if there is one and it names them.
    pub columns: Option<Vec<String>>,
    /// Whether the labels join columns, so that they encode no spans.
    pub are_joined: bool,
}

/// What a system predicts.
pub struct System {
    /// The name of its file.
    pub name: String,
    pub labels: Labels,
    pub scheme: Scheme,
    pub confidences: Confidences,
}

/// How probable predictions were: of all tokens, and of those in predicted spans.
#[derive(Default)]
pub struct Confidences {
    pub tokens: Calibration,
    pub in_spans: Calibration,
}

/// The labels of all tokens, in their order.
#[derive(Default)]
pub struct Labels {
    names: Vec<String>,
    ids: HashMap<String, u32>,
    tokens: Vec<u32>,
}

impl Labels {
    fn push(&mut self, label: &str) {
        let id = match self.ids.get(label) {
            Some(&id) => id,
            None => {
                let id = self.names.len() as u32;
                self.names.push(label.to_owned());
                self.ids.insert(label.to_owned(), id);
                id
            }
        };
        self.tokens.push(id);
    }

    /// Returns the labels of tokens.
    pub fn get(&self, tokens: Range<usize>) -> Vec<&str> {
        let ids = self.tokens[tokens].iter();
        ids.map(|&id| self.names[id as usize].as_str()).collect()
    }
}

impl System {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            labels: Labels::default(),
            scheme: Scheme::Raw,
            confidences: Confidences::default(),
        }
    }

    fn add(&mut self, gold: &str, predicted: &str, confidence: Option<f64>) {
        self.labels.push(predicted);
        if let Some(confidence) = confidence {
            self.confidences.tokens.add(confidence, gold == predicted);
            if predicted != "O" {
                self.confidences.in_spans.add(confidence, gold == predicted);
            }
        }
    }
}

impl Evaluated {
    /// Reads and tags the files; `None` without any.
    pub fn read(files: &EvaluatedFiles<'_>) -> Result<Option<Self>> {
        let mut evaluated: Option<Self> = None;
        if let Some(gold) = files.gold {
            for model in files.models {
                let tagged = tag(model, gold, files)?;
                evaluated = Some(join(evaluated, tagged)?);
            }
        }
        for predictions in files.predictions {
            let read = match files.gold {
                Some(gold) => read_predictions(predictions, gold, files)?,
                None => read_both(predictions, files)?,
            };
            evaluated = Some(join(evaluated, read)?);
        }
        Ok(evaluated)
    }

    /// Detects the schemes of labels that were read.
    fn with_schemes(corpus: Corpus, gold: Labels, system: System, plain: PlainLabels) -> Self {
        let are_joined = joined(&corpus).is_some();
        let mut evaluated = Self {
            corpus,
            gold,
            gold_scheme: Scheme::Raw,
            systems: vec![system],
            columns: None,
            are_joined,
        };
        if are_joined {
            return evaluated;
        }
        evaluated.gold_scheme = evaluated.detect_scheme(&evaluated.gold, plain);
        let plain = plain.of_predictions(evaluated.gold_scheme);
        let scheme = evaluated.detect_scheme(&evaluated.systems[0].labels, plain);
        evaluated.systems[0].scheme = scheme;
        evaluated
    }

    fn detect_scheme(&self, labels: &Labels, plain: PlainLabels) -> Scheme {
        let mut detector = SchemeDetector::new().with_plain_labels(plain);
        for (_, tokens) in self.sentences().filter(|(_, tokens)| !tokens.is_empty()) {
            detector.observe(&labels.get(tokens));
        }
        detector.prevailing().0
    }

    /// Returns the sentences with the numbers of their tokens; document boundaries have none.
    pub fn sentences(&self) -> impl Iterator<Item = (&Sentence, Range<usize>)> {
        let mut end = 0;
        self.corpus.iter().map(move |sentence| {
            let start = end;
            if !sentence.layout.document_start {
                end += sentence.len();
            }
            (sentence, start..end)
        })
    }
}

/// Adds a system to others on the same gold labels.
fn join(all: Option<Evaluated>, mut one: Evaluated) -> Result<Evaluated> {
    let Some(mut all) = all else {
        return Ok(one);
    };
    let name = &one.systems[0].name;
    if all.gold.tokens.len() != one.gold.tokens.len() {
        return Err(Error::parameter(format!(
            "{name} has labels for {} tokens, {} for {}; expected systems for the same text",
            one.gold.tokens.len(),
            all.systems[0].name,
            all.gold.tokens.len()
        )));
    }
    let mut tokens = all.sentences().flat_map(|(sentence, tokens)| {
        let tokens = tokens.enumerate();
        tokens.map(move |(t, token)| (sentence, t, token))
    });
    let different = tokens.find(|&(_, _, token)| {
        let [a, b] = [&all.gold, &one.gold].map(|gold| &gold.names[gold.tokens[token] as usize]);
        a != b
    });
    if let Some((sentence, t, token)) = different {
        let found = one.gold.get(token..token + 1)[0];
        let expected = all.gold.get(token..token + 1)[0];
        return Err(Error::input(
            sentence.place(t),
            format!(
                "the gold label is '{expected}' for {}, but '{found}' for {name}; expected systems \
                 for the same labels",
                all.systems[0].name
            ),
        ));
    }
    drop(tokens);
    all.systems.append(&mut one.systems);
    Ok(all)
}

/// Tags a gold file with a model.
fn tag(model: &FileName, file: &FileName, files: &EvaluatedFiles<'_>) -> Result<Evaluated> {
    let tagger = GoldTagger::open(model, file, files.input, files.documents)?;
    let options = TagOptions {
        constrain: files.constrain,
        marginals: true,
        ..TagOptions::default()
    };
    let mut gold = Labels::default();
    let mut system = System::new(model);
    tagger.tag(options, &mut |labels, tagged| {
        for (t, (label, predicted)) in labels.iter().zip(&tagged.labels).enumerate() {
            gold.push(label);
            system.add(label, predicted, tagged.marginal(t, predicted));
        }
        Ok(())
    })?;
    let columns = tagger.columns().map(<[String]>::to_vec);
    let are_joined = tagger.joined().is_some();
    let gold_scheme;
    [gold_scheme, system.scheme] = tagger.schemes(files.plain);
    Ok(Evaluated {
        corpus: tagger.into_corpus(),
        gold,
        gold_scheme,
        systems: vec![system],
        columns,
        are_joined,
    })
}

/// Reads predictions and gold labels from two files.
fn read_predictions(
    predictions: &FileName,
    file: &FileName,
    files: &EvaluatedFiles<'_>,
) -> Result<Evaluated> {
    let input = files.input;
    let corpus = GoldCorpus::read(input, file)?;
    let predicted = corpus.read_predictions(input, predictions)?;
    let mut gold = Labels::default();
    let mut system = System::new(predictions);
    for (sentence, predicted_sentence) in corpus.sentences.iter().zip(&predicted.sentences) {
        if sentence.layout.document_start {
            continue;
        }
        let probabilities = predicted.columns.probabilities(predicted_sentence);
        let labels = labels(sentence)?;
        let predicted = predicted.labels(predicted_sentence)?;
        for (t, (label, predicted)) in labels.into_iter().zip(predicted).enumerate() {
            gold.push(label);
            system.add(label, predicted, probabilities(t, predicted));
        }
    }
    Ok(Evaluated::with_schemes(
        corpus.sentences,
        gold,
        system,
        files.plain,
    ))
}

/// Reads predictions and gold labels from the last columns of one file, as conlleval does.
fn read_both(file: &FileName, files: &EvaluatedFiles<'_>) -> Result<Evaluated> {
    if let Some(label) = files.input.label.as_deref().filter(|l| l.contains('+')) {
        return Err(Error::parameter(format!(
            "--label {label}: labels that join columns are in several columns of {file}; expected \
             a file with gold labels (--gold)"
        )));
    }
    let options = ReadOptions {
        label: None,
        columns: None,
        ..files.input.read_options()
    };
    let corpus = Corpus::read([file], &options)?;
    let columns = PredictedColumns::of(&corpus, true);
    let mut gold = Labels::default();
    let mut system = System::new(file);
    for sentence in corpus.iter().filter(|s| !s.layout.document_start) {
        let column = columns.gold(sentence).ok_or_else(|| {
            Error::input(
                sentence.place(0),
                "found no column for gold labels; expected columns of which the last two are the \
                 gold and the predicted label, or a file with gold labels (--gold)",
            )
        })?;
        let probabilities = columns.probabilities(sentence);
        for (t, predicted) in columns.labels(sentence)?.into_iter().enumerate() {
            let label = sentence.cell(t, column);
            gold.push(label);
            system.add(label, predicted, probabilities(t, predicted));
        }
    }
    if gold.tokens.is_empty() {
        return Err(Error::input(Place::file(&**file), "found no sentences"));
    }
    Ok(Evaluated::with_schemes(corpus, gold, system, files.plain))
}
