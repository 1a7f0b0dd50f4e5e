//! `report`: training, scores and errors in one page.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dropchain::label::SchemeDetector;
use dropchain::tag::TagOptions;
use dropchain::{Corpus, Result, Tagger};
use dropchain_analysis::{gold_labels, tag_gold};
use dropchain_report::{Evaluated, Report, count_words, training_sample};
use pyo3::prelude::*;

use crate::corpus::PyCorpus;
use crate::evaluation::{Labels, detector, labels_of_corpus, predicted_labels};
use crate::inputs;
use crate::items::Items;
use crate::job;
use crate::tagger::PyTagger;

/// Contents of the report.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Arguments<'py> {
    files: Items<PathBuf>,
    logs: Vec<(String, String)>, // names and texts
    gold: Option<Bound<'py, PyCorpus>>,
    systems: Vec<(String, Bound<'py, PyAny>)>,
    train: Option<Bound<'py, PyCorpus>>,
    title: Option<String>,
    max_errors: i64,
    plain_labels: String,
    outside: Option<String>,
    threads: Option<i64>,
}

/// A system: a tagger, or its predictions for each sentence, `None` at document boundaries.
enum System {
    Tagger(Arc<Tagger>),
    Labels(Vec<Labels>),
}

impl System {
    /// Reads a system and its name.
    fn read(
        (name, value): (String, Bound<'_, PyAny>),
        gold: Option<&Bound<'_, PyCorpus>>,
    ) -> PyResult<(String, Self)> {
        if let Ok(tagger) = value.cast::<PyTagger>() {
            return Ok((name, Self::Tagger(Arc::clone(&tagger.get().inner))));
        }
        let gold = gold.map(|gold| labels_of_corpus(gold.get())).transpose()?.unwrap_or_default();
        let labels = predicted_labels(&value, &gold, &name)?;
        Ok((name, Self::Labels(labels)))
    }
}

/// Returns the page.
#[pyfunction]
pub fn report(py: Python<'_>, arguments: &Bound<'_, PyAny>) -> PyResult<String> {
    let arguments: Arguments<'_> = arguments.extract()?;
    let max_errors = inputs::at_least("max_errors", arguments.max_errors, 0)?;
    let threads = inputs::count("threads", arguments.threads, 1)?;
    let detector = detector(&arguments.plain_labels, arguments.outside)?;
    let gold = arguments.gold.as_ref().map(|corpus| corpus.get().to_corpus("gold"));
    let gold = gold.unwrap_or_default();
    let train = arguments.train.as_ref().map(|corpus| corpus.get().to_corpus("train"));
    let systems = arguments.systems.into_iter();
    let systems = systems.map(|system| System::read(system, arguments.gold.as_ref()));
    let systems = systems.collect::<PyResult<Vec<_>>>()?;
    let work = |_: &AtomicBool| {
        let mut report = Report::default();
        for file in &arguments.files.0 {
            report.add_file(file)?;
        }
        for (name, text) in &arguments.logs {
            report.add_log(text, name)?;
        }
        let sentences = |corpus: &Corpus| corpus.clone().into_sentences().into_iter().map(Ok);
        let sample = train.as_ref().map(|train| training_sample(sentences(train)));
        let sample = sample.transpose()?.flatten();
        let all = systems.iter().map(|(name, source)| {
            let one = evaluated(name, source, &gold, &detector)?;
            match (&sample, source) {
                (Some((sample, is_more)), System::Tagger(_)) => {
                    let training = evaluated(name, source, sample, &detector)?;
                    one.with_training(&training, *is_more)
                }
                _ => Ok(one),
            }
        });
        if let Some(all) = Evaluated::joined(all)? {
            let words = train.as_ref().map(|train| count_words(sentences(train)));
            report.evaluate(&all, words.transpose()?.as_ref(), max_errors)?;
        }
        report.html(arguments.title.as_deref())
    };
    job::wait(py, threads, work)
}

/// Evaluates a system on labeled sentences.
fn evaluated(
    name: &str,
    source: &System,
    gold: &Corpus,
    detector: &SchemeDetector,
) -> Result<Evaluated> {
    let mut evaluated = Evaluated::new(name);
    match source {
        System::Labels(labels) => {
            for (sentence, predicted) in gold.iter().zip(labels) {
                if let Some(predicted) = predicted {
                    evaluated.add(&gold_labels(sentence)?, predicted, |_, _| None);
                }
            }
        }
        System::Tagger(tagger) => {
            let header = tagger.model().header();
            let record = header.provenance.training();
            let warning = record.and_then(|record| record.warning_of_noise());
            evaluated = evaluated.with_warning_of_noise(warning);
            let options = TagOptions { marginals: true, ..TagOptions::default() };
            tag_gold(tagger, gold, options, None, &mut |labels, tagged| {
                evaluated.add(labels, &tagged.labels, |t, label| tagged.marginal(t, label));
                Ok(())
            })?;
        }
    }
    let labelings = evaluated.detect(gold, detector);
    Ok(evaluated.with_corpus(gold.clone(), labelings))
}
