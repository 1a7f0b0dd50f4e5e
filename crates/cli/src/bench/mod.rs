//! `dropchain bench`

mod measurement;
mod problem;
mod results;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dropchain::corpus::Corpus;
use dropchain::kernel::train::{Defaults, TrainingSet};
use dropchain::train::{BaseModels, TrainOptions, TrainSettings};
use dropchain::{Error, Result};
use dropchain_options::{ModelOptions, NoiseLevels};
use serde_json::json;

use crate::arguments::InputArguments;
use crate::template_arguments::{
    TemplateLimits, load_template, template_by_labels, template_files,
};
use crate::{
    CommandFiles, CommandResult, FileName, OutputKind, Progress, ResultFile, Switch,
    ThreadArguments, interrupt, print, print_json,
};
use measurement::{measure, measure_memory, memory_of_evaluation, sweep};
use problem::{Problem, Variant, Weights};
use results::{Gradients, SweepAxis, tables};

/// Benchmark dropchain itself (for researchers)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain bench gradients train.conll --template ner-finkel --json out.json
  dropchain bench gradients train.conll --template ner --sweep labels --figure out.svg

Run `dropchain bench gradients --help` for what is measured.")]
pub struct BenchCommand {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Gradients(Box<GradientsCommand>),
}

impl BenchCommand {
    pub fn run(&self) -> CommandResult {
        match &self.benchmark {
            Benchmark::Gradients(command) => command.run(),
        }
    }
}

/// Compare speed and accuracy of the gradient engines of the noise term
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All engines on the first 500 sentences, at weights of 30 iterations of training
  dropchain bench gradients train.conll --template ner-finkel --limit 500

  # Error by radius, cost by labels, length and attributes, as a figure
  dropchain bench gradients train.conll --template ner \\
      --sweep labels,length,attributes --figure out.svg --json out.json

`dropchain train --gradient ENGINE --log FILE` trains with an engine, and `dropchain report`
compares the logs.

Times are medians over all repeats; every repeat runs all engines. `x likelihood` is relative to
the likelihood alone in the same run; multiply-adds are counted from the shapes. Error and cosine
compare the gradient of the noise term alone with the exact one (exact); `of all` is the same error
relative to the whole gradient, of likelihood and noise term. `active/token` is q/T of Wang et al.
2013, section 4.1, before or after collapsing. Memory is the peak of one evaluation in a separate
process, excluding the data.")]
struct GradientsCommand {
    /// Training files; .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    files: Vec<FileName>,
    /// Feature template: a file or the name of a built-in template
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<FileName>,
    #[command(flatten)]
    template_limits: TemplateLimits,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    /// Write the results to this file as JSON; `-` prints them instead of the tables
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write the figure to this file as SVG
    #[arg(long, value_name = "OUT")]
    figure: Option<PathBuf>,
    /// Only print the peak memory of engine N; the program invokes itself with this option
    #[arg(long, value_name = "N", hide = true)]
    peak_of: Option<usize>,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    measurement: MeasurementArguments,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    noise: NoiseLevels,
    /// Strength c2 of the L2 penalty when training (--weights trained)
    #[arg(long, value_name = "C2", default_value_t = Defaults::L2_WITH_NOISE,
          help_heading = "Training")]
    l2: f64,
    /// Treat attributes that always occur together as one, like `train`; `off` follows the paper
    #[arg(long, value_enum, default_value = "off", help_heading = "Training")]
    collapse: Switch,
}

/// What to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
struct MeasurementArguments {
    /// Engines: exact, reweighted, message, message=plain, window=R, local
    ///
    /// `message` collapses attributes that fire once, at the same token; message=plain does not.
    #[arg(long, value_delimiter = ',', value_name = "ENGINES")]
    #[arg(default_value = "exact,message,message=plain,local,window=1,window=2,window=4")]
    engines: Vec<Variant>,
    /// Weights to evaluate at: random[=SCALE] (normal), trained[=ITERATIONS]
    ///
    /// Trained weights start from 0, and have the noise of the options with its exact gradient and
    /// the L2 penalty for as many iterations of L-BFGS, 30 by default.
    #[arg(long, default_value = "trained", value_name = "WEIGHTS")]
    weights: Weights,
    /// Number of timed repeats, after one untimed
    #[arg(long, default_value_t = 5, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Use the first N training sentences only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Also measure by what varies: window, labels, length, attributes; all without a value
    ///
    /// Varies the radius of `window=R`, or the number K of labels, T of tokens, or q of distinct
    /// attributes of a sentence. The sentences are the tokens of the corpus, cut into sentences of
    /// 20 tokens unless the length varies and labeled at random, without edge attributes; the
    /// weights are random. On one thread.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT", num_args = 0..=1,
          default_missing_value = "window,labels,length,attributes")]
    sweep: Option<Vec<SweepAxis>>,
}

impl GradientsCommand {
    fn run(&self) -> CommandResult {
        let (training, variants) = self.settings()?;
        let template = load_template(
            self.template.as_ref(),
            self.template_limits,
            &self.files,
            &self.input,
            &BaseModels::default(),
        )?;
        let [json, figure] = self.outputs();
        CommandFiles::default()
            .read(&self.files)
            .read(template_files(self.template.as_ref(), template.as_ref()))
            .write("--json", OutputKind::Benchmark, json)
            .write("--figure", OutputKind::Figure, figure)
            .check()?;
        interrupt::watch();
        let json_file = json.map(ResultFile::new).transpose()?;
        let figure_file = figure.map(ResultFile::new).transpose()?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet || self.peak_of.is_some());
        progress.update(&format!("reading {}", self.files.join(", ")));
        let labeled = Corpus::read(&self.files, &self.input.read_options())?;
        let limit = self.measurement.limit.map_or(usize::MAX, |limit| limit as usize);
        let corpus: Corpus = labeled.into_iter().take(limit).collect();
        let detector = training.options().labels.detector();
        let template = template_by_labels(template, &corpus, &detector, &progress)?;
        let set = TrainingSet::new(corpus, template, &training)?;
        let problem = Problem::new(&set, &training);
        if let Some(number) = self.peak_of {
            drop(set);
            let variant = variants.get(number);
            let bytes = variant.and_then(|&variant| memory_of_evaluation(&problem, variant));
            return print(&format!("{}\n", json!(bytes)));
        }
        let report = self.measure(&training, &variants, &set, &problem, &progress)?;
        progress.clear();
        if let Some(file) = figure_file {
            let svg = report.figure().svg().ok_or_else(|| {
                Error::parameter("--figure: nothing to draw; expected --sweep, or engines window=R")
            })?;
            file.save(svg.as_bytes())?;
        }
        let text = format!("{:#}\n", json!(report));
        if let Some(file) = json_file {
            file.save(text.as_bytes())?;
        } else if self.json.is_some() {
            return print_json(&text);
        }
        print(&tables(&report))
    }

    /// Returns the checked settings, and what is measured: the likelihood, then the engines.
    fn settings(&self) -> Result<(TrainSettings, Vec<Variant>)> {
        let mut options = TrainOptions::default();
        options.attributes.collapse = self.collapse.is_on();
        options.method.l2 = Some(self.l2);
        self.noise.apply(&mut options);
        self.model.apply(&mut options);
        let training = TrainSettings::new(options.clone())?;
        if !training.has_noise() {
            return Err(Error::parameter(
                "--dropout 0: there is no noise to measure; expected a rate above 0",
            ));
        }
        let mut variants = vec![Variant::Likelihood];
        variants.extend(&self.measurement.engines);
        for variant in &variants {
            let mut options = options.clone();
            variant.apply(&mut options.method.noise);
            TrainSettings::new(options)?;
        }
        Ok((training, variants))
    }

    /// Returns the files to be written, of JSON and of the figure. The runs that measure memory
    /// have none.
    fn outputs(&self) -> [Option<&Path>; 2] {
        let json = self.json.as_deref().filter(|path| *path != Path::new("-"));
        [json, self.figure.as_deref()].map(|path| path.filter(|_| self.peak_of.is_none()))
    }

    fn measure(
        &self,
        training: &TrainSettings,
        variants: &[Variant],
        set: &TrainingSet,
        problem: &Problem,
        progress: &Progress,
    ) -> Result<Gradients> {
        let MeasurementArguments { weights, repeat, .. } = self.measurement;
        let mut report = Gradients {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: self.files.iter().map(ToString::to_string).collect(),
            template: self.template.as_ref().map(ToString::to_string),
            sentences: set.data().len(),
            tokens: set.data().tokens(),
            labels: set.space().labels(),
            parameters: set.space().dimension(),
            options: json!(training),
            weights: weights.to_string(),
            repeat,
            threads: rayon::current_num_threads(),
            engines: Vec::new(),
            sweeps: Vec::new(),
        };
        progress.println(&format!(
            "{} sentences, {} tokens, {} labels, {} weights",
            report.sentences, report.tokens, report.labels, report.parameters
        ));
        progress.update(&format!("computing weights: {weights}"));
        let theta = weights.compute(set, training)?;
        let report_step = |variant, number| {
            progress.update(&match number {
                0 => format!("warming up: {variant}"),
                _ => format!("repeat {number} of {repeat}: {variant}"),
            });
        };
        report.engines = measure(problem, &theta, variants, repeat, &report_step)?;
        if self.files.iter().chain(&self.template).any(|file| &**file == "-") {
            progress.println("memory is not measured: standard input cannot be read twice");
        } else {
            for (number, row) in report.engines.iter_mut().enumerate() {
                progress.update(&format!("measuring memory: {}", row.name()));
                row.peak_bytes = measure_memory(number);
            }
        }
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        report.sweeps = one_thread.map_err(Error::threads)?.install(|| {
            let axes = self.measurement.sweep.iter().flatten();
            let sweeps = axes.map(|&axis| sweep(axis, problem, variants, repeat, &report_step));
            sweeps.collect::<Result<_>>()
        })?;
        Ok(report)
    }
}
