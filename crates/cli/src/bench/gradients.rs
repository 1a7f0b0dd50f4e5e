//! `dropchain bench gradients`

use clap::Args;
use dropchain::corpus::Corpus;
use dropchain::kernel::train::TrainingSet;
use dropchain::template::Template;
use dropchain::train::{BaseModels, TrainOptions, TrainSettings};
use dropchain::{Error, Result};
use dropchain_options::ModelOptions;
use serde_json::json;

use super::arguments::{BenchTrainingArguments, MeasurementArguments, ResultArguments};
use super::measurement::measure;
use super::memory;
use super::problem::Problem;
use super::results::{CorpusSummary, Gradients, Sweep};
use super::sweep::sweep;
use super::tables::tables;
use super::variant::Variant;
use crate::arguments::{FileName, InputArguments, ThreadArguments};
use crate::outputs::{CommandFiles, OutputKind, ResultFile};
use crate::progress::Progress;
use crate::template_arguments::{
    TemplateLimits, load_template, template_by_labels, template_files,
};
use crate::{CommandResult, interrupt, print, print_json};

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
pub struct GradientsCommand {
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
    #[command(flatten)]
    results: ResultArguments,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    measurement: MeasurementArguments,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    training: BenchTrainingArguments,
}

/// The validated arguments.
struct BenchmarkSettings {
    /// The likelihood, then the engines.
    variants: Vec<Variant>,
    training: TrainSettings,
    template: Option<Template>,
}

impl GradientsCommand {
    pub fn run(&self) -> CommandResult {
        let mut settings = self.validate()?;
        interrupt::watch();
        let files = self.results.files();
        let [json_file, figure_file] = files.map(|(_, path)| path.map(ResultFile::new).transpose());
        let (json_file, figure_file) = (json_file?, figure_file?);
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet || self.results.peak_of.is_some());
        progress.update(&format!("reading {}", self.files.join(", ")));
        let corpus = self.read()?;
        let detector = settings.training.options().labels.detector();
        let template = settings.template.take();
        let template = template_by_labels(template, &corpus, &detector, &progress)?;
        let set = TrainingSet::new(corpus, template, &settings.training)?;
        let problem = Problem::new(&set, &settings.training);
        if let Some(number) = self.results.peak_of {
            drop(set);
            let variant = settings.variants.get(number);
            let bytes = variant.and_then(|&variant| memory::of_evaluation(&problem, variant));
            return print(&format!("{}\n", json!(bytes)));
        }
        let report = self.measure(&settings, &set, &problem, &progress)?;
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
        } else if self.results.json.is_some() {
            return print_json(&text);
        }
        print(&tables(&report))
    }

    /// Validates the arguments before any corpus is read.
    fn validate(&self) -> Result<BenchmarkSettings> {
        let training = TrainSettings::new(self.options())?;
        if !training.has_noise() {
            return Err(Error::parameter(
                "--dropout 0: there is no noise to measure; expected a rate above 0",
            ));
        }
        let mut variants = vec![Variant::Likelihood];
        variants.extend(&self.measurement.engines);
        for variant in &variants {
            let mut options = self.options();
            variant.apply(&mut options.method.noise);
            TrainSettings::new(options)?;
        }
        let template = load_template(
            self.template.as_ref(),
            self.template_limits,
            &self.files,
            &self.input,
            &BaseModels::default(),
        )?;
        let mut files = CommandFiles::default()
            .read(&self.files)
            .read(template_files(self.template.as_ref(), template.as_ref()));
        let kinds = [OutputKind::Benchmark, OutputKind::Figure];
        for ((flag, path), kind) in self.results.files().into_iter().zip(kinds) {
            files = files.write(flag, kind, path);
        }
        files.check()?;
        Ok(BenchmarkSettings { variants, training, template })
    }

    fn options(&self) -> TrainOptions {
        let mut options = TrainOptions::default();
        options.attributes.collapse = self.training.collapse.is_on();
        options.method.l2 = Some(self.training.l2);
        self.training.noise.apply(&mut options);
        self.model.apply(&mut options);
        options
    }

    fn read(&self) -> Result<Corpus> {
        let labeled = Corpus::read(&self.files, &self.input.read_options())?;
        let limit = self.measurement.limit.map_or(usize::MAX, |limit| limit as usize);
        Ok(labeled.into_iter().take(limit).collect())
    }

    fn measure(
        &self,
        settings: &BenchmarkSettings,
        set: &TrainingSet,
        problem: &Problem,
        progress: &Progress,
    ) -> Result<Gradients> {
        let corpus = self.summary(settings, set);
        progress.println(&format!(
            "{} sentences, {} tokens, {} labels, {} weights",
            corpus.sentences, corpus.tokens, corpus.labels, corpus.parameters
        ));
        let MeasurementArguments { weights, repeat, .. } = self.measurement;
        progress.update(&format!("computing weights: {weights}"));
        let theta = weights.compute(set, &settings.training)?;
        let report_step = |variant, number| {
            progress.update(&match number {
                0 => format!("warming up: {variant}"),
                _ => format!("repeat {number} of {repeat}: {variant}"),
            });
        };
        let variants = &settings.variants;
        let mut engines = measure(problem, &theta, variants, repeat, &report_step)?;
        if self.files.iter().chain(&self.template).any(|file| &**file == "-") {
            progress.println("memory is not measured: standard input cannot be read twice");
        } else {
            for (number, row) in engines.iter_mut().enumerate() {
                progress.update(&format!("measuring memory: {}", row.name()));
                row.peak_bytes = memory::measure(number);
            }
        }
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let sweeps = one_thread.map_err(Error::threads)?.install(|| {
            let axes = self.measurement.sweep.iter().flatten();
            let sweeps = axes.map(|&axis| sweep(axis, problem, variants, repeat, &report_step));
            sweeps.collect::<Result<Vec<Sweep>>>()
        })?;
        let threads = rayon::current_num_threads();
        Ok(Gradients { corpus, weights: weights.to_string(), repeat, threads, engines, sweeps })
    }

    fn summary(&self, settings: &BenchmarkSettings, set: &TrainingSet) -> CorpusSummary {
        CorpusSummary {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: self.files.iter().map(ToString::to_string).collect(),
            template: self.template.as_ref().map(ToString::to_string),
            sentences: set.data().len(),
            tokens: set.data().tokens(),
            labels: set.space().labels(),
            parameters: set.space().dimension(),
            options: json!(settings.training),
        }
    }
}
