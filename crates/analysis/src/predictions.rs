//! Gold labels, and predictions for them: by a tagger, or in a file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::sync::Arc;

use dropchain::corpus::{Corpus, Format, ReadLimits, ReadOptions, Tagged};
use dropchain::label::{LabelSet, Labeling, SchemeDetector};
use dropchain::sentence::{JoinedColumns, LineRules, Schema, Sentence};
use dropchain::tag::{Condition, TagDocuments, TagOptions, Tagger, Tagging, Threshold};
use dropchain::{Error, Place, Result, kernel::corpus::CONLLU_COLUMNS, model::Header};
use rayon::prelude::*;
use serde_json::{Map, Value};

/// Number of sentences that are tagged before their predictions are handed on: marginals of a
/// whole corpus would not fit in memory.
const BATCH: usize = 10_000;

/// Returns the gold labels of a sentence.
///
/// # Errors
///
/// [`Error::Input`] if there is no label column, or a label is partial.
pub fn gold_labels(sentence: &Sentence) -> Result<Vec<&str>> {
    let message = "found no label column; evaluation needs labels (select the column with `label`)";
    let labels = sentence.labels().ok_or_else(|| Error::input(sentence.place(0), message))?;
    match sentence.first_partial_label() {
        Some(t) => Err(partial_label(sentence, t, labels[t])),
        None => Ok(labels),
    }
}

fn partial_label(sentence: &Sentence, t: usize, label: &str) -> Error {
    let needed = "evaluation needs one gold label for every token";
    Error::input(sentence.place(t), format!("found the partial label '{label}'; {needed}"))
}

/// Tags sentences and calls `visit` with the gold labels of each and its predictions, in the
/// labeling of the training corpus; in their order, document boundaries without labels. With a
/// threshold, spans have probabilities, and those below it are left out.
///
/// # Errors
///
/// The errors of tagging, of [`gold_labels`] and of `visit`; a gold label that the model does not
/// have and that looks partial: `_`, or a set of labels that it has.
pub fn tag_gold(
    tagger: &Tagger,
    corpus: &Corpus,
    options: TagOptions,
    threshold: Option<&Threshold>,
    visit: &mut dyn FnMut(&[&str], &Tagged<'_>) -> Result<()>,
) -> Result<()> {
    let header = tagger.model().header();
    let sentences = corpus.sentences();
    let documents = TagDocuments::new(tagger, sentences);
    for start in (0..sentences.len()).step_by(BATCH) {
        let batch = start..sentences.len().min(start + BATCH);
        let tag = |i: usize| {
            let input = documents.input(i);
            let tag = |workspace: &mut _| tagger.tag_with(input, options, workspace);
            let mut tagging = tagger.with_workspace(tag)?;
            if let Some(threshold) = threshold {
                tagger.mark(input, &Condition::new(), threshold, &mut tagging)?;
            }
            Ok(tagging)
        };
        let taggings: Vec<Result<Tagging>> = batch.into_par_iter().map(tag).collect();
        for (sentence, tagging) in sentences[start..].iter().zip(taggings) {
            if sentence.layout.document_start {
                visit(&[], &Tagged::new(sentence, Vec::new()))?;
                continue;
            }
            let tagging = tagging?;
            let gold = gold_labels(sentence)?;
            check_complete(sentence, &gold, &header.labels)?;
            visit(&gold, &tagger.tagged(sentence, &tagging, &header.corpus_labeling))?;
        }
    }
    Ok(())
}

/// Returns whether a model knows none of the gold labels that are not outside, of which there are
/// some: of spans the types, however labels are written.
pub fn knows_none(header: &Header, corpus: &Corpus, gold: &Labeling) -> bool {
    let are_spans = gold.scheme.has_spans() && header.encodes_spans();
    let name = |labeling: &Labeling, label| match are_spans {
        true => labeling.chunk(label).kind,
        false => label,
    };
    let own = header.labels.names().iter();
    let own: HashSet<&str> = own.map(|label| name(&header.labeling, label)).collect();
    let content = corpus.iter().filter(|sentence| !sentence.layout.document_start);
    let labels = content.filter_map(Sentence::labels).flatten();
    let mut inside = labels.filter(|label| *label != gold.outside()).peekable();
    let is_known = |label| own.contains(name(gold, label));
    // A set of labels is an error of its own.
    inside.peek().is_some() && !inside.any(|l| is_known(l) || l.split('|').any(is_known))
}

fn check_complete(sentence: &Sentence, gold: &[&str], known: &LabelSet) -> Result<()> {
    let is_partial = |label: &&str| {
        let is_set = || label.contains('|') && label.split('|').all(|l| known.id(l).is_some());
        known.id(label).is_none() && (*label == "_" || is_set())
    };
    match gold.iter().position(is_partial) {
        None => Ok(()),
        Some(t) => Err(partial_label(sentence, t, gold[t])),
    }
}

/// Predictions for the sentences of a corpus with gold labels.
#[derive(Debug)]
pub struct Predictions {
    /// The sentences, as many as the corpus has and as long.
    pub sentences: Corpus,
    /// Where they have the predicted labels.
    pub columns: PredictedColumns,
}

impl Predictions {
    /// Reads a file of predictions. The predicted labels are the last column of CoNLL files (as
    /// written by `tag`), but for that of probabilities, or the last columns if the gold labels
    /// join several; in other formats, the same columns as the gold labels.
    ///
    /// # Errors
    ///
    /// The errors of reading; sentences that are not those of the corpus.
    pub fn read(file: &OsStr, gold: &Corpus, options: ReadOptions) -> Result<Self> {
        let name = file.to_string_lossy();
        let format = options.format.unwrap_or_else(|| Format::guess(&name));
        let has_reader = options.reader.as_ref().is_some_and(|reader| !reader.looks_at_files());
        let is_conll = !has_reader && format == Format::Conll;
        let memory = options.limits.memory.beyond(gold.memory());
        let options = ReadOptions {
            // That of CoNLL is the last column.
            label: options.label.filter(|_| !is_conll),
            columns: None,
            lines: LineRules { header: false, ..options.lines }, // `tag` writes none
            limits: ReadLimits { memory, ..options.limits },
            ..options
        };
        let mut sentences = Corpus::read([file], &options)?;
        let columns = PredictedColumns::of(&sentences, false);
        if let Some(joined) = joined_columns(gold).filter(|_| is_conll) {
            sentences = columns.join(&sentences, joined)?;
        }
        let words = word_column(gold, &sentences, &columns);
        for (gold, predicted) in gold.iter().zip(&sentences) {
            check_sentence(gold, predicted, words)?;
        }
        let [expected, found] = [gold.len(), sentences.len()];
        if expected != found {
            let file = gold.iter().next().map_or("the gold labels", |first| first.file());
            let message = format!("found {found} sentences; expected {expected}, as in {file}");
            return Err(Error::input(Place::file(name), message));
        }
        Ok(Self { sentences, columns })
    }

    /// Calls `visit` with each sentence and its gold labels, the predicted one and its labels;
    /// document boundaries have none.
    ///
    /// # Errors
    ///
    /// Sentences without labels, and the errors of `visit`.
    pub fn visit(
        &self,
        gold: &Corpus,
        mut visit: impl FnMut(&Sentence, &[&str], &Sentence, &[&str]) -> Result<()>,
    ) -> Result<()> {
        let mut pairs = gold.iter().zip(&self.sentences);
        pairs.try_for_each(|(gold, own)| match gold.layout.document_start {
            true => visit(gold, &[], own, &[]),
            false => visit(gold, &gold_labels(gold)?, own, &self.columns.labels(own)?),
        })
    }

    /// Returns how the predicted labels are read beside gold labels that are read so.
    pub fn labeling(&self, gold: &Labeling, detector: &SchemeDetector) -> Labeling {
        let mut detector = detector.clone();
        for sentence in self.sentences.iter().filter(|s| !s.layout.document_start) {
            let labels = self.columns.labels(sentence).unwrap_or_default();
            detector.observe_at(&labels, |t| Some(sentence.place(t)));
        }
        detector.detected_for(gold).labeling
    }
}

/// Returns the columns that the labels of a corpus join, if they join several.
pub fn joined_columns(corpus: &Corpus) -> Option<&JoinedColumns> {
    corpus.iter().next()?.schema().joined()
}

/// Checks that a sentence of predictions has the tokens of the gold sentence: the words in
/// `column`, if that is known, else as many.
fn check_sentence(gold: &Sentence, predicted: &Sentence, column: Option<usize>) -> Result<()> {
    let is_boundary = gold.layout.document_start;
    let [expected, found] = [gold.len(), predicted.len()];
    if expected != found || is_boundary != predicted.layout.document_start {
        let expected = format!("expected {expected} tokens, as at {}", gold.place(0));
        let message = format!("found a sentence of {found} tokens; {expected}");
        return Err(Error::input(predicted.place(0), message));
    }
    let Some(column) = column.filter(|_| !is_boundary) else { return Ok(()) };
    for t in 0..gold.len() {
        let [word, found] = [gold, predicted].map(|sentence| sentence.cell(t, column));
        if word != found {
            let place = gold.place(t);
            let message = format!("found the token '{found}'; expected '{word}', as at {place}");
            return Err(Error::input(predicted.place(t), message));
        }
    }
    Ok(())
}

/// Returns the column that has the words in both gold file and predictions: those of `tag` have the
/// columns of the gold file and one more, those of annotators as many, with mostly the same words.
/// Files written by other programs may have any columns.
fn word_column(gold: &Corpus, predicted: &Corpus, columns: &PredictedColumns) -> Option<usize> {
    let pairs = || gold.iter().zip(predicted).filter(|(gold, _)| !gold.layout.document_start);
    let (first, other) = pairs().next()?;
    let schema = first.schema();
    let column = schema.position("word").filter(|&column| !schema.is_label(column))?;
    let labels = schema.joined().map_or(1, |joined| joined.names().len());
    let (names, width) = (schema.input_names(), columns.width(other));
    let are_same = || {
        let words = pairs().flat_map(|(gold, own)| {
            let tokens = 0..gold.len().min(own.len());
            tokens.map(|t| gold.cell(t, column) == own.cell(t, column))
        });
        let (same, all) = words.fold((0, 0), |(same, all), is| (same + usize::from(is), all + 1));
        2 * same >= all
    };
    let both_conllu = names == CONLLU_COLUMNS && names == other.schema().input_names();
    let is_known = both_conllu
        || width == names.len() + labels
        || width == names.len() && width > column && are_same();
    is_known.then_some(column)
}

/// Length of a probability as `tag --marginals` writes it: 0.123456.
const PROBABILITY: usize = 8;

/// Where a file of predictions has them.
#[derive(Debug)]
pub struct PredictedColumns {
    /// Whether the last column has probabilities, as `tag --marginals` writes them.
    has_probabilities: bool,
}

impl PredictedColumns {
    /// Looks whether all cells of the last column are probabilities, beside other columns for the
    /// labels.
    pub fn of(corpus: &Corpus, has_gold: bool) -> Self {
        let least = 1 + usize::from(has_gold); // columns before the last one
        let is_probable = |sentence: &Sentence| {
            let schema = sentence.schema();
            let Some(last) = schema.label().filter(|&last| last + 1 == schema.width()) else {
                return false;
            };
            last >= least && (0..sentence.len()).all(|t| is_probability(sentence.cell(t, last)))
        };
        let mut sentences = corpus.iter().filter(|s| !s.layout.document_start).peekable();
        Self { has_probabilities: sentences.peek().is_some() && sentences.all(is_probable) }
    }

    /// The number of columns, without that of probabilities.
    fn width(&self, sentence: &Sentence) -> usize {
        sentence.schema().input_names().len() - usize::from(self.has_probabilities)
    }

    /// Returns the sentences with labels that join the last columns before that of probabilities,
    /// as many as the gold labels `joined` join.
    fn join(&self, corpus: &Corpus, joined: &JoinedColumns) -> Result<Corpus> {
        let Some(first) = corpus.iter().next() else { return Ok(Corpus::new()) };
        let (width, parts) = (self.width(first), joined.names().len());
        let Some(start) = width.checked_sub(parts).filter(|&start| start > 0) else {
            let message = format!(
                "found {width} columns; expected one for each of the predicted labels ({}), after \
                 the words",
                joined.name()
            );
            return Err(Error::input(first.place(0), message));
        };
        let names = first.schema().input_names().to_vec();
        let schema = Schema::new(names, None)?;
        let schema = Arc::new(schema.with_joined_label((start..width).collect())?);
        corpus.iter().map(|sentence| sentence.with_joined_label(&schema)).collect()
    }

    /// Returns the column of the predicted labels.
    fn column(&self, sentence: &Sentence) -> Option<usize> {
        let is_before = self.has_probabilities && sentence.schema().joined().is_none();
        sentence.schema().label()?.checked_sub(usize::from(is_before))
    }

    /// Returns the predicted labels of a sentence.
    ///
    /// # Errors
    ///
    /// There is no label column.
    pub fn labels<'a>(&self, sentence: &'a Sentence) -> Result<Vec<&'a str>> {
        let message = "found no label column; expected predicted labels";
        let column =
            self.column(sentence).ok_or_else(|| Error::input(sentence.place(0), message))?;
        Ok((0..sentence.len()).map(|t| sentence.cell(t, column)).collect())
    }

    /// Returns the column before the predicted labels, unless it is that of the words.
    pub fn gold(&self, sentence: &Sentence) -> Option<usize> {
        let schema = sentence.schema();
        let is_last = schema.label() == schema.width().checked_sub(1);
        self.column(sentence).filter(|_| is_last)?.checked_sub(1).filter(|&gold| gold > 0)
    }

    /// Returns the probabilities of labels at each token, where the file has them: in columns that
    /// of the predicted label alone.
    pub fn probabilities<'a>(
        &self,
        sentence: &'a Sentence,
    ) -> impl Fn(usize, &str) -> Option<f64> + use<'a> {
        let (schema, column) = (sentence.schema(), self.column(sentence));
        let last = self.has_probabilities.then(|| schema.input_names().len() - 1);
        let misc = schema.position("misc").filter(|_| schema.input_names() == CONLLU_COLUMNS);
        let record = sentence.layout.record.as_deref();
        let record: Option<Map<String, Value>> = record.and_then(|r| serde_json::from_str(r).ok());
        let marginals = record.and_then(|mut record| record.remove("marginals"));
        move |t, label| {
            let is_predicted = || column.is_some_and(|column| sentence.cell(t, column) == label);
            if let Some(last) = last {
                return sentence.cell(t, last).parse().ok().filter(|_| is_predicted());
            }
            if let Some(misc) = misc {
                let mut entries = sentence.cell(t, misc).split('|');
                let probability = entries.find_map(|entry| entry.strip_prefix("Prob="));
                return probability?.parse().ok().filter(|_| is_predicted());
            }
            marginals.as_ref()?.get(t)?.get(label)?.as_f64()
        }
    }
}

/// Returns whether a cell is a probability as `tag --marginals` writes it.
fn is_probability(cell: &str) -> bool {
    let is_number = cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: Option<f64> = cell.parse().ok().filter(|_| is_number);
    cell.len() == PROBABILITY && value.is_some_and(|value| (0.0..=1.0).contains(&value))
}
