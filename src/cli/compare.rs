//! `dropchain compare`

use clap::Args;
use dropchain::Error;
use dropchain::eval::PairedBootstrap;

use super::arguments::{Input, Threads};
use super::predictions::{Gold, labels};
use super::{Failure, Outcome, print};

/// Tell whether tagger B is better than tagger A, or lucky: paired bootstrap
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain tag l2.model test.conll > l2.tagged
  dropchain tag dropout.model test.conll > dropout.tagged
  dropchain compare test.conll l2.tagged dropout.tagged
  dropchain compare test.conll l2.tagged dropout.tagged --json | jq .f1.p_value

Sentences are drawn with replacement, as many as there are, and both taggers are scored on each
draw. The interval holds the middle 95% of the differences B - A; p is two-sided (half of it is
one-sided). Both speak of other sentences of the same kind, not of other kinds of text.

--json writes tokens, sentences, samples and seed, and of f1 (where labels write spans) and accuracy
a, b, difference, interval and p_value.")]
pub struct Arguments {
    /// The file with the right labels
    gold: String,
    /// Labels by tagger A: the last column of CoNLL (as `tag` writes it), the label column of
    /// CoNLL-U, the labels of JSON lines
    #[arg(value_name = "PRED_A")]
    a: String,
    /// Labels by tagger B
    #[arg(value_name = "PRED_B")]
    b: String,
    #[command(flatten)]
    input: Input,
    /// How often to draw
    #[arg(long, default_value_t = 2000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    samples: u32,
    /// Where the random draws begin; the same seed draws the same
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON: scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: Threads,
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let files = [&self.gold, &self.a, &self.b];
        if files.iter().filter(|file| **file == "-").count() > 1 {
            return Err(Failure::Usage("standard input can be read only once"));
        }
        self.threads.start()?;
        let gold = Gold::read(&self.input, &self.gold)?;
        let a = gold.predictions(&self.input, &self.a)?;
        let b = gold.predictions(&self.input, &self.b)?;
        let mut bootstrap = PairedBootstrap::new();
        for (gold, (a, b)) in gold.sentences.iter().zip(a.iter().zip(&b)) {
            if gold.layout.document_start {
                bootstrap.add_document_start();
            } else {
                bootstrap.add(&labels(gold)?, [&labels(a)?, &labels(b)?])?;
            }
        }
        let report = bootstrap.run(self.samples, self.seed)?;
        let text = if self.json {
            serde_json::to_string(&report)
                .map(|json| json + "\n")
                .map_err(|e| Error::parameter(format!("cannot write the report as JSON: {e}")))?
        } else {
            report.to_string()
        };
        print(&text)
    }
}
