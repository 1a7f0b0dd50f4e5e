//! Gold labels, and the predictions of one or more systems.

use std::collections::HashMap;
use std::ops::Range;

use dropchain::corpus::{CONLLU_COLUMNS, Corpus, ReadOptions};
use dropchain::eval::Calibration;
use dropchain::internals::sentence::Sentence;
use dropchain::label::{PlainLabels, Scheme, SchemeDetector};
use dropchain::tag::TagOptions;
use dropchain::{Error, Place, Result};
use serde_json::{Map, Value};

use crate::cli::arguments::InputArguments;
use crate::cli::document_arguments::DocumentArguments;
use crate::cli::file_name::FileName;
use crate::cli::gold_tagger::GoldTagger;
use crate::cli::predictions::{GoldCorpus, labels};

/// Length of a probability as `tag --marginals` writes it: 0.123456.
const PROBABILITY: usize = 8;

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
        let mut evaluated = Self {
            corpus,
            gold,
            gold_scheme: Scheme::Raw,
            systems: vec![system],
            columns: None,
        };
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
    let gold_scheme;
    [gold_scheme, system.scheme] = tagger.schemes(files.plain);
    Ok(Evaluated {
        corpus: tagger.into_corpus(),
        gold,
        gold_scheme,
        systems: vec![system],
        columns,
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
    let columns = PredictedColumns::of(&predicted, false);
    let mut gold = Labels::default();
    let mut system = System::new(predictions);
    for (sentence, predicted) in corpus.sentences.iter().zip(&predicted) {
        if sentence.layout.document_start {
            continue;
        }
        let probabilities = columns.probabilities(predicted);
        for (t, label) in labels(sentence)?.into_iter().enumerate() {
            gold.push(label);
            let label_predicted = columns.label(predicted, t)?;
            system.add(label, label_predicted, probabilities(t, label_predicted));
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
        for t in 0..sentence.len() {
            let (label, predicted) = (sentence.cell(t, column), columns.label(sentence, t)?);
            gold.push(label);
            system.add(label, predicted, probabilities(t, predicted));
        }
    }
    if gold.tokens.is_empty() {
        return Err(Error::input(Place::file(&**file), "found no sentences"));
    }
    Ok(Evaluated::with_schemes(corpus, gold, system, files.plain))
}

/// Where a file of predictions has them.
struct PredictedColumns {
    /// Whether the last column has probabilities, as `tag --marginals` writes them.
    has_probabilities: bool,
}

impl PredictedColumns {
    /// Looks whether all cells of the last column are probabilities, beside other columns for the
    /// labels.
    fn of(corpus: &Corpus, has_gold: bool) -> Self {
        let width = 2 + usize::from(has_gold);
        let is_probable = |sentence: &Sentence| {
            let last = sentence.schema().width() - 1;
            let mut cells = (0..sentence.len()).map(|t| sentence.cell(t, last));
            last >= width - 1
                && sentence.schema().label() == Some(last)
                && cells.all(is_probability)
        };
        let mut sentences = corpus
            .iter()
            .filter(|s| !s.layout.document_start)
            .peekable();
        Self {
            has_probabilities: sentences.peek().is_some() && sentences.all(is_probable),
        }
    }

    fn column(&self, sentence: &Sentence) -> Option<usize> {
        let label = sentence.schema().label()?;
        label.checked_sub(usize::from(self.has_probabilities))
    }

    /// Returns the predicted label of token `t`.
    fn label<'a>(&self, sentence: &'a Sentence, t: usize) -> Result<&'a str> {
        let column = self.column(sentence);
        let column = column.ok_or_else(|| {
            let message = "found no label column; expected predicted labels";
            Error::input(sentence.place(0), message)
        })?;
        Ok(sentence.cell(t, column))
    }

    /// Returns the column before the predicted labels, unless it is that of the words.
    fn gold(&self, sentence: &Sentence) -> Option<usize> {
        let schema = sentence.schema();
        let is_last = schema.label() == schema.width().checked_sub(1);
        let column = self.column(sentence).filter(|_| is_last)?;
        column.checked_sub(1).filter(|&gold| gold > 0)
    }

    /// Returns the probability of the predicted label of each token, where the file has it.
    fn probabilities<'a>(
        &self,
        sentence: &'a Sentence,
    ) -> impl Fn(usize, &str) -> Option<f64> + use<'a> {
        let schema = sentence.schema();
        let last = self.has_probabilities.then(|| schema.width() - 1);
        let misc = schema.position("misc");
        let misc = misc.filter(|_| schema.names() == CONLLU_COLUMNS);
        let record = sentence.layout.record.as_deref();
        let record: Option<Map<String, Value>> = record.and_then(|r| serde_json::from_str(r).ok());
        let marginals = record.and_then(|mut record| record.remove("marginals"));
        move |t, label| {
            if let Some(last) = last {
                return sentence.cell(t, last).parse().ok();
            }
            if let Some(misc) = misc {
                let mut entries = sentence.cell(t, misc).split('|');
                return entries.find_map(|entry| entry.strip_prefix("Prob=")?.parse().ok());
            }
            marginals.as_ref()?.get(t)?.get(label)?.as_f64()
        }
    }
}

/// Returns whether a cell is a probability as `tag --marginals` writes it.
fn is_probability(cell: &str) -> bool {
    let is_number = cell
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: Option<f64> = cell.parse().ok().filter(|_| is_number);
    cell.len() == PROBABILITY && value.is_some_and(|value| (0.0..=1.0).contains(&value))
}
