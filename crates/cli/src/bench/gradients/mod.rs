//! `dropchain bench gradients`

mod arguments;
mod memory;

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::Corpus;
use dropchain::kernel::chain::Order;
use dropchain::template::Template;
use dropchain::train::{BaseModels, TrainOptions, TrainSettings, TrainingSet};
use dropchain::{Error, Result};
use dropchain_options::ModelOptions;
use serde_json::json;

use crate::arguments::{FileName, InputArguments, ThreadArguments};
use crate::bench::measurement::{
    self, EvaluationPoint, Problem, Step, SweepAxis, Variant, parse_variants,
};
use crate::bench::results::{CorpusSummary, Gradients, Measurement, Sweep, display_name};
use crate::bench::tables::tables;
use crate::outputs::{CommandFiles, ResultFile};
use crate::progress::Progress;
use crate::template_arguments::{
    TemplateLimits, load_template, template_by_labels, template_files,
};
use crate::{CommandResult, interrupt, print, print_json};
use arguments::{BenchTrainingArguments, MeasurementArguments};

/// Compare speed and accuracy of the gradient engines of the noise term
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All engines on the first 500 sentences, at weights of 30 iterations of training
  dropchain bench gradients train.conll --template ner-finkel --limit 500

  # Error by radius, cost by radius, labels, length and attributes, as a figure
  dropchain bench gradients train.conll --template ner \\
      --sweep window,labels,length,attributes --figure out.svg --json out.json

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
    /// Write the results to this file as JSON; `-` prints them instead of the tables
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write the figure of --sweep to this file as SVG
    #[arg(long, value_name = "OUT")]
    figure: Option<PathBuf>,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
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
    variants: Vec<Variant>,
    point: EvaluationPoint,
    sweeps: Vec<SweepAxis>,
    training: TrainSettings,
    template: Option<Template>,
}

impl GradientsCommand {
    pub fn run(&self) -> CommandResult {
        let mut settings = self.validate()?;
        interrupt::watch();
        let files = self.outputs().map(|(_, path)| path.map(ResultFile::new).transpose());
        let [json_file, figure_file] = files;
        let (json_file, figure_file) = (json_file?, figure_file?);
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet || self.measurement.peak_of.is_some());
        progress.update(&format!("reading {}", self.files.join(", ")));
        let corpus = self.read()?;
        let detector = settings.training.options().labels.detector();
        let template = settings.template.take();
        settings.template = template_by_labels(template, &corpus, &detector, &progress)?;
        let set = TrainingSet::new(corpus, settings.template.clone(), &settings.training)?;
        let problem = Problem::new(&set, &settings.training);
        if let Some(of) = &self.measurement.peak_of {
            drop(set);
            return print(&format!(
                "{}\n",
                json!(memory::of_engine(of, &settings.variants, problem)?)
            ));
        }
        progress.println(&describe(&set));
        let report = self.measure(&settings, &set, &problem, &progress)?;
        progress.clear();
        if let Some((file, sheet)) = figure_file.zip(report.figure()) {
            let svg = sheet.svg().ok_or_else(|| {
                Error::parameter("--figure: the noise term has no gradient here: nothing to draw")
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

    /// Validates the arguments before any corpus is read.
    fn validate(&self) -> Result<BenchmarkSettings> {
        let measurement = &self.measurement;
        let engines_error = |error| Error::parameter(format!("--engines: {error}"));
        let variants = parse_variants(&measurement.engines).map_err(engines_error)?;
        let point = (measurement.weights.parse())
            .map_err(|error| Error::parameter(format!("--weights: {error}")))?;
        let training = TrainSettings::new(self.options())?;
        if !training.has_noise() {
            return Err(Error::parameter(
                "--dropout 0: there is no noise to measure; expected a rate above 0",
            ));
        }
        for variant in &variants {
            let mut options = self.options();
            variant.apply(&mut options.method.noise);
            TrainSettings::new(options).map_err(engines_error)?;
        }
        let sweeps = SweepAxis::parse_all(measurement.sweep.as_deref().unwrap_or_default())
            .map_err(|error| Error::parameter(format!("--sweep {error}")))?;
        if self.figure.is_some() && sweeps.is_empty() {
            return Err(Error::parameter(
                "--figure: there is nothing to draw without --sweep; expected --sweep",
            ));
        }
        if !sweeps.is_empty() && training.options().structure.order == Order::Zero {
            return Err(Error::parameter(
                "--sweep: at order 0 tokens are independent, and all engines are the same; \
                 expected --order 1",
            ));
        }
        for (name, count) in
            [("--repeat", Some(measurement.repeat)), ("--limit", measurement.limit)]
        {
            if count == Some(0) {
                return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
            }
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
        for (flag, path) in self.outputs() {
            files = files.write(flag, path);
        }
        files.check()?;
        Ok(BenchmarkSettings { variants, point, sweeps, training, template })
    }

    /// Returns the files for the results. The runs that measure memory have none.
    fn outputs(&self) -> [(&'static str, Option<&Path>); 2] {
        let json = self.json.as_deref().filter(|path| *path != Path::new("-"));
        let outputs = [("--json", json), ("--figure", self.figure.as_deref())];
        outputs.map(|(flag, path)| (flag, path.filter(|_| self.measurement.peak_of.is_none())))
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
        Ok(labeled.into_iter().take(self.measurement.limit.unwrap_or(usize::MAX)).collect())
    }

    fn measure(
        &self,
        settings: &BenchmarkSettings,
        set: &TrainingSet,
        problem: &Problem,
        progress: &Progress,
    ) -> Result<Gradients> {
        progress.update(&format!("computing weights: {}", settings.point));
        let theta = settings.point.weights(set, &settings.training, self.measurement.seed)?;
        let repeat = self.measurement.repeat;
        let mut engines =
            measurement::measure(problem, &theta, &settings.variants, repeat, &mut |step| {
                report_step(progress, "", step, repeat);
            })?;
        if engines.iter().all(|row| row.deviation.is_none()) {
            progress.println(
                "the gradient of the noise term is zero at these weights: nothing to compare",
            );
        }
        let mut inputs = self.files.iter().chain(&self.template);
        let is_piped = inputs.any(|file| &**file == "-");
        if is_piped {
            progress.println("memory is not measured: standard input cannot be read twice");
        }
        for (number, row) in engines.iter_mut().enumerate().filter(|_| !is_piped) {
            let name = display_name(&row.engine, row.collapsed);
            progress.update(&format!("measuring memory: {name}"));
            row.peak_bytes = memory::measure(&number.to_string());
        }
        let mut errors = Vec::new();
        if settings.sweeps.contains(&SweepAxis::Window) {
            progress.update("comparing sentences");
            errors = measurement::errors(problem, &theta)?;
        }
        let sweep = |&axis: &SweepAxis| {
            let name = format!("{}: ", axis.name());
            measurement::sweep(
                axis,
                problem,
                repeat,
                &mut |step| report_step(progress, &name, step, repeat),
                &|point, variant| {
                    let of = format!("{}:{point}:{variant}", axis.name());
                    let is_measured = !is_piped && axis != SweepAxis::Window;
                    is_measured.then(|| memory::measure(&of)).flatten()
                },
            )
        };
        let sweeps = settings.sweeps.iter().map(sweep).collect::<Result<Vec<Sweep>>>()?;
        Ok(Gradients { errors, sweeps, ..self.report(settings, set, engines) })
    }

    fn report(
        &self,
        settings: &BenchmarkSettings,
        set: &TrainingSet,
        engines: Vec<Measurement>,
    ) -> Gradients {
        let corpus = CorpusSummary {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: self.files.iter().map(ToString::to_string).collect(),
            template: self.template.as_ref().map(ToString::to_string),
            sentences: set.data().len(),
            tokens: set.data().tokens(),
            labels: set.space().labels(),
            parameters: set.space().dimension(),
            options: json!(settings.training),
        };
        Gradients {
            corpus,
            weights: settings.point.to_string(),
            seed: self.measurement.seed,
            repeat: self.measurement.repeat,
            threads: rayon::current_num_threads(),
            engines,
            errors: Vec::new(),
            sweeps: Vec::new(),
        }
    }
}

fn report_step(progress: &Progress, sweep: &str, step: Step, repeat: usize) {
    let name = display_name(&step.variant.name(), step.variant.is_collapsed());
    progress.update(&match step.round {
        0 => format!("{sweep}warming up: {name}"),
        round => format!("{sweep}repeat {round} of {repeat}: {name}"),
    });
}

fn describe(set: &TrainingSet) -> String {
    let (data, space) = (set.data(), set.space());
    format!(
        "{} sentences, {} tokens, {} labels, {} weights",
        data.len(),
        data.tokens(),
        space.labels(),
        space.dimension()
    )
}
