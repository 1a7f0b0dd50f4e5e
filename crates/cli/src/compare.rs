//! `dropchain compare`

use clap::Args;
use dropchain::Result;
use dropchain::tag::TagOptions;
use dropchain_analysis::{Difference, PairedBootstrap};
use dropchain_report::Evaluated;

use crate::arguments::is_model;
use crate::gold_file::{GoldArguments, GoldFile, compared, distinct_names};
use crate::{CommandError, CommandFiles, CommandResult, FileName, check_stdin_once, print_report};

/// Test whether two taggers differ significantly, by paired bootstrap
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain compare test.conll l2.model dropout.model
  dropchain compare test.conll l2.tagged dropout.tagged
  dropchain compare test.conll old.model new.model --fail-if-worse   # exit code 4
  dropchain compare test.conll l2.model dropout.model --json | jq .f1.p_value

Each sample draws as many sentences as the corpus has, with replacement, and scores both taggers on
it. The interval is the central 95% of the differences, second minus first; the p-value is two-sided
(halve it for one-sided). Both generalize to new sentences of the same kind of text, not to other
kinds.

--json prints systems, tokens, sentences, samples, seed and, for f1 (if labels encode spans) and
accuracy: scores, difference, interval and p_value.")]
pub struct CompareCommand {
    /// Gold labels
    gold: FileName,
    /// Model or predictions of the first tagger
    ///
    /// The labels of predictions are the last column of CoNLL files (as written by `tag`), the
    /// label column of CoNLL-U files, or the labels of JSON lines.
    #[arg(value_name = "MODEL|PRED")]
    a: FileName,
    /// Model or predictions of the second tagger
    #[arg(value_name = "MODEL|PRED")]
    b: FileName,
    /// Exit with code 4 if the second is significantly worse in F1, or else accuracy (p <= 0.05)
    #[arg(long)]
    fail_if_worse: bool,
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
    reading: GoldArguments,
    /// Print no notices
    #[arg(long, help_heading = None::<&str>)]
    quiet: bool,
}

impl CompareCommand {
    pub fn run(&self) -> CommandResult {
        let files = [&self.gold, &self.a, &self.b];
        check_stdin_once(files)?;
        CommandFiles::default().read(files).check()?;
        self.reading.threads.start_pool()?;
        let [gold, a, b] = compared(files, self.quiet)?;
        if is_model(a) && is_model(b) {
            check_stdin_once([gold; 2])?;
        }
        let bootstrap = self.evaluated(gold, [a, b])?.bootstrap([0, 1])?;
        let report = bootstrap.run(self.samples, self.seed)?;
        print_report(self.json, &report, || report.to_string())?;
        let (metric, difference) = report.score();
        let Difference { scores: [a, b], p_value, .. } = difference;
        let [first, second] = &report.systems;
        match self.fail_if_worse && difference.is_worse() {
            true => Err(CommandError::Missed(format!(
                "{second} is significantly worse than {first}: {metric} {b:.4}, not {a:.4}, p = \
                 {p_value:.4} (--fail-if-worse)"
            ))),
            false => Ok(()),
        }
    }

    /// Tags the gold file with models, and reads predictions.
    fn evaluated(&self, gold: &FileName, systems: [&FileName; 2]) -> Result<Evaluated> {
        let file = match systems.into_iter().all(is_model) {
            true => None,
            false => Some(self.reading.read(gold, self.quiet)?),
        };
        let mut quiet = self.quiet || file.is_some();
        let names = distinct_names(systems.into_iter());
        let [a, b] = systems;
        let mut system = |system, name| match &file {
            Some(file) if !is_model(system) => {
                let (evaluated, labelings) = file.evaluate(name, system)?;
                Ok(evaluated.with_corpus(file.corpus.clone(), labelings))
            }
            _ => self.tag(system, name, gold, std::mem::replace(&mut quiet, true)),
        };
        let mut all = system(a, &names[0])?;
        all.join(system(b, &names[1])?)?;
        file.iter().for_each(GoldFile::say_reading);
        Ok(all)
    }

    /// Tags the gold file; says how it is read unless `quiet`.
    fn tag(&self, model: &FileName, name: &str, gold: &FileName, quiet: bool) -> Result<Evaluated> {
        let tagger = self.reading.open(model, gold, quiet)?;
        let (evaluated, labelings) = tagger.evaluate(name, TagOptions::default())?;
        if quiet && !self.quiet {
            tagger.warn_of_unknown(&labelings[0]);
        }
        Ok(evaluated.with_corpus(tagger.corpus, labelings))
    }
}
