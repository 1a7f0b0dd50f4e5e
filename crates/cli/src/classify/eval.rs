//! `dropchain classify eval`

use std::path::PathBuf;

use clap::Args;
use dropchain::Result;
use dropchain::eval::{BootstrapReport, PairedBootstrap};
use dropchain_documents::classify::Classifier;
use dropchain_documents::{ClassEvaluation, ClassReport, Instance, Tokens};

use super::eval_report;
use super::input::DocumentInput;
use crate::CommandResult;
use crate::file_name::FileName;
use crate::outputs::CommandFiles;
use crate::rates::Rates;
use crate::{json_line, print};

/// Resamples of the paired bootstrap, as `compare` draws by default.
const SAMPLES: u32 = 2000;

/// Score a classifier on documents with classes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain classify eval reviews.model test.tsv
  dropchain classify eval reviews.model test.tsv --confusion --calibration
  # Is it better than another model? Paired bootstrap over documents
  dropchain classify eval dropout.model test.tsv --against l2.model
  # How much does it suffer when words are missing?
  dropchain classify eval reviews.model test.tsv --delete 0..0.9

Intervals are 95 % percentile intervals of a bootstrap over documents.")]
pub struct EvalCommand {
    /// Model file
    model: PathBuf,
    /// Documents with classes: files, folders, or `-` for standard input
    #[arg(required = true)]
    gold: Vec<FileName>,
    /// Also print what documents of each class were predicted to be
    #[arg(long, conflicts_with = "delete")]
    confusion: bool,
    /// Also print how often predictions of some probability are right
    #[arg(long, conflicts_with = "delete")]
    calibration: bool,
    /// Compare with another model on the same documents
    #[arg(long, value_name = "MODEL", conflicts_with = "delete")]
    against: Option<PathBuf>,
    /// Leave out words at random, at these rates: 0..0.9 in steps of 0.1, or 0,0.25,0.5
    #[arg(long, value_name = "RATES")]
    delete: Option<Rates>,
    /// Random seed of the bootstrap and of what is left out
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: DocumentInput,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::new(false)
            .read([&self.model])
            .read(&self.against)
            .read(&self.gold)
            .check()?;
        let classifier = Classifier::open(&self.model)?;
        if let Some(rates) = &self.delete {
            return self.evaluate_damaged(&classifier, rates.as_slice());
        }
        let other = self.against.as_ref().map(Classifier::open).transpose()?;
        let mut evaluation = ClassEvaluation::new(classifier.classes());
        let mut bootstrap = PairedBootstrap::new().without_spans();
        for document in self.input.labeled(&self.gold)? {
            let document = document?;
            let best = add(&classifier, &document, &mut evaluation)?;
            if let Some(other) = &other {
                let label = document.label.as_deref().unwrap_or_default();
                let against = other.classify(&document)?.best();
                let names = [&classifier.classes()[best], &other.classes()[against]];
                bootstrap.add(&[label], [&[names[0].as_str()], &[names[1].as_str()]])?;
            }
        }
        self.input.print_notices();
        let report = evaluation.report(self.seed);
        let comparison = other
            .map(|_| bootstrap.run(SAMPLES, self.seed))
            .transpose()?;
        let comparison = comparison.as_ref();
        print(&match self.json {
            true => json_line(&eval_report::json(&report, &evaluation, comparison))?,
            false => self.text(&evaluation, &report, comparison),
        })
    }

    fn text(
        &self,
        evaluation: &ClassEvaluation,
        report: &ClassReport,
        comparison: Option<&BootstrapReport>,
    ) -> String {
        let mut text = eval_report::summary(report);
        text += &eval_report::classes(report);
        if self.confusion {
            text += &eval_report::confusions(report);
        }
        if self.calibration {
            text += &eval_report::calibration(evaluation);
        }
        if let Some(comparison) = comparison {
            text += &eval_report::comparison(comparison);
        }
        text
    }

    /// Evaluates with some words left out.
    fn evaluate_damaged(&self, classifier: &Classifier, rates: &[f64]) -> CommandResult {
        let tokens = classifier
            .features()
            .map_or(Tokens::default(), |f| f.tokens);
        let mut evaluations: Vec<ClassEvaluation> = rates
            .iter()
            .map(|_| ClassEvaluation::new(classifier.classes()))
            .collect();
        for (number, document) in (0..).zip(self.input.labeled(&self.gold)?) {
            let document = document?;
            for (rate, evaluation) in rates.iter().zip(&mut evaluations) {
                let damaged = document.clone().damaged(*rate, tokens, self.seed, number);
                add(classifier, &damaged, evaluation)?;
            }
        }
        self.input.print_notices();
        let reports = evaluations.iter().map(|e| e.report(self.seed));
        let reports: Vec<_> = rates.iter().copied().zip(reports).collect();
        print(&match self.json {
            true => json_line(&eval_report::damaged_json(&reports))?,
            false => eval_report::damaged(&reports),
        })
    }
}

/// Classifies a document, adds the result, and returns the predicted class.
fn add(
    classifier: &Classifier,
    document: &Instance,
    evaluation: &mut ClassEvaluation,
) -> Result<usize> {
    let prediction = classifier.classify(document)?;
    let label = document.label.as_deref().unwrap_or_default();
    evaluation.add(label, prediction.best(), prediction.probabilities());
    Ok(prediction.best())
}
