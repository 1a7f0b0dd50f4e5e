//! `dropchain compare`

use clap::Args;
use dropchain_analysis::{PairedBootstrap, gold_labels};
use dropchain_options::LabelOptions;

use crate::arguments::{FileName, InputArguments, ThreadArguments};
use crate::gold_file::GoldFile;
use crate::outputs::CommandFiles;
use crate::roles::compared;
use crate::{CommandResult, check_stdin_once, print_report};

/// Test whether two taggers differ significantly, by paired bootstrap
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain tag l2.model test.conll > l2.tagged
  dropchain tag dropout.model test.conll > dropout.tagged
  dropchain compare test.conll l2.tagged dropout.tagged
  dropchain compare test.conll l2.tagged dropout.tagged --json | jq .f1.p_value

Each sample draws as many sentences as the corpus has, with replacement, and scores both taggers on
it. The interval is the central 95% of the differences B - A; the p-value is two-sided (halve it for
one-sided). Both generalize to new sentences of the same kind of text, not to other kinds.

--json prints tokens, sentences, samples, seed and, for f1 (if labels encode spans) and accuracy:
a, b, difference, interval and p_value.")]
pub struct CompareCommand {
    /// Gold labels
    gold: FileName,
    /// Predictions of tagger A
    ///
    /// The labels are the last column of CoNLL files (as written by `tag`), the label column of
    /// CoNLL-U files, or the labels of JSON lines.
    #[arg(value_name = "PRED_A")]
    a: FileName,
    /// Predictions of tagger B
    #[arg(value_name = "PRED_B")]
    b: FileName,
    /// Number of bootstrap samples
    #[arg(long, default_value_t = PairedBootstrap::SAMPLES, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    samples: u32,
    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    labels: LabelOptions,
    /// Print no notices
    #[arg(long)]
    quiet: bool,
}

impl CompareCommand {
    pub fn run(&self) -> CommandResult {
        check_stdin_once([&self.gold, &self.a, &self.b])?;
        CommandFiles::default().read([&self.gold, &self.a, &self.b]).check()?;
        self.threads.start_pool()?;
        let [gold, a, b] = compared([&self.gold, &self.a, &self.b], self.quiet)?;
        let gold = GoldFile::read(gold, (&self.input, self.quiet), &self.labels)?;
        let (a, labels_a) = gold.predictions(a, &self.input)?;
        let (b, labels_b) = gold.predictions(b, &self.input)?;
        gold.say_reading();
        let mut bootstrap =
            PairedBootstrap::new().with_labelings(&gold.labeling, [&labels_a, &labels_b]);
        let predicted = a.sentences.iter().zip(&b.sentences);
        for (gold, (in_a, in_b)) in gold.corpus.iter().zip(predicted) {
            if gold.layout.document_start {
                bootstrap.add_document_start();
            } else {
                let predicted = [&*a.columns.labels(in_a)?, &b.columns.labels(in_b)?];
                bootstrap.add(&gold_labels(gold)?, predicted)?;
            }
        }
        let report = bootstrap.run(self.samples, self.seed)?;
        print_report(self.json, &report, || report.to_string())
    }
}
