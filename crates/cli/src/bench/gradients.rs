//! `dropchain bench gradients`

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use dropchain::corpus::Corpus;
use dropchain::template::Template;
use dropchain::train::{
    BaseModels, Defaults, TrainOptions, TrainSettings, TrainingCorpora, TrainingSet,
};
use dropchain::{Error, Result};
use dropchain_options::{LengthOptions, MasksOption, ModelOptions, NoiseLevels};
use dropchain_report::{Gradients, Measurement, TrainingRun, display_name};
use serde_json::json;

use crate::arguments::{FileName, InputArguments, Switch, ThreadArguments};
use crate::bench::measurement::{self, EvaluationPoint, Variant, parse_variants};
use crate::bench::{gradient_table, training_table};
use crate::outputs::{CommandFiles, ResultFile};
use crate::progress::Progress;
use crate::template_arguments::{TemplateLimits, load_template, template_files};
use crate::{CommandResult, interrupt, print, print_json};

/// Compare speed and accuracy of the gradient engines of the noise term
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All engines on the first 500 sentences, at random weights
  dropchain bench gradients train.conll --template ner-finkel --limit 500

  # At partially trained weights, with the results also written as JSON
  dropchain bench gradients train.conll --template ner --weights trained=50 \\
      --json out.json

  # Also train a model with each engine and score it
  dropchain bench gradients train.conll --template ner --train --dev dev.conll \\
      --engines exact,local

Times are the minimum over all repeats; every repeat runs all engines. `x likelihood` is relative to
the likelihood alone in the same run. Error and cosine compare the gradient of the noise term alone
with the exact one (exact); `of all` is the same error relative to the whole gradient, of
likelihood and noise term. `active/token` is q/T of Wang et al. 2013, section 4.1, before or
after collapsing. Memory is the peak of one evaluation in a separate process, excluding the data.")]
pub struct GradientsCommand {
    /// Training files; .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    files: Vec<FileName>,
    /// Feature template: a file or the name of a built-in template
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<FileName>,
    #[command(flatten)]
    template_limits: TemplateLimits,
    /// Development file for --train; may be repeated
    #[arg(long, value_name = "FILE")]
    dev: Vec<FileName>,
    /// Write the results to this file as JSON; `-` prints them instead of the tables
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
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
    #[command(flatten)]
    optimizer: LengthOptions,
}

/// What to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
struct MeasurementArguments {
    /// Engines: exact, reweighted, message, message=collapsed, message=plain, window=R, local
    ///
    /// `message` stands for both message=collapsed and message=plain.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "exact,message,local,window=1,window=2,window=4",
        value_name = "ENGINES"
    )]
    engines: Vec<String>,
    /// Weights to evaluate at: zero, random[=SCALE] (normal), trained[=ITERATIONS]
    #[arg(long, default_value = "random", value_name = "WEIGHTS")]
    weights: String,
    /// Random seed of the weights
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Number of timed repeats, after one untimed
    #[arg(long, default_value_t = 3, value_name = "N")]
    repeat: usize,
    /// Use the first N training sentences only
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Also train with each engine; see --max-iterations and --patience
    #[arg(long)]
    train: bool,
    /// Only print the peak memory of variant number N; the program invokes itself with this option
    #[arg(long, value_name = "N", hide = true)]
    peak_of: Option<usize>,
}

/// The objective to evaluate.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Training")]
struct BenchTrainingArguments {
    #[command(flatten)]
    noise: NoiseLevels,
    #[command(flatten)]
    masks: MasksOption,
    /// Strength c2 of the L2 penalty when training (--train, --weights trained)
    #[arg(
        long,
        default_value_t = Defaults::L2_WITH_NOISE,
        value_name = "C2"
    )]
    l2: f64,
    /// Treat attributes that always occur together as one, like `train`; `off` follows the paper
    #[arg(long, value_enum, default_value = "off")]
    collapse: Switch,
}

/// The validated arguments.
struct BenchmarkSettings {
    variants: Vec<Variant>,
    point: EvaluationPoint,
    training: TrainSettings,
    template: Option<Template>,
}

impl GradientsCommand {
    pub fn run(&self) -> CommandResult {
        let settings = self.validate()?;
        interrupt::watch();
        let file = self.json_file().map(ResultFile::new).transpose()?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet || self.measurement.peak_of.is_some());
        progress.update(&format!("reading {}", self.files.join(", ")));
        let corpora = self.read()?;
        let set = TrainingSet::new(
            corpora.labeled.clone(),
            settings.template.clone(),
            &settings.training,
        )?;
        if let Some(number) = self.measurement.peak_of {
            let peak = match settings.variants.get(number) {
                Some(&variant) => measurement::peak_memory(&set, &settings.training, variant)?,
                None => None,
            };
            return print(&format!("{}\n", json!(peak)));
        }
        progress.println(&describe(&set));
        if !self.dev.is_empty() && !self.measurement.train {
            progress.println("--dev is ignored without --train");
        }
        let rows = self.measure(&settings, &set, &progress)?;
        let mut report = self.report(&settings, &set, rows);
        drop(set);
        if self.measurement.train {
            report.training = Some(train(&settings, &corpora, &progress)?);
        }
        progress.clear();
        let text = format!("{:#}\n", json!(report));
        if let Some(file) = file {
            file.save(text.as_bytes())?;
        } else if self.json.is_some() {
            return print_json(&text);
        }
        let runs = report.training.unwrap_or_default();
        print(&(gradient_table(&report.engines) + &training_table(&runs)))
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
        for (name, count) in [
            ("--repeat", Some(measurement.repeat)),
            ("--limit", measurement.limit),
        ] {
            if count == Some(0) {
                return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
            }
        }
        if measurement.train && self.dev.is_empty() {
            return Err(Error::parameter(
                "--train: requires development data; expected --dev FILE",
            ));
        }
        let template = load_template(
            self.template.as_ref(),
            self.template_limits,
            &self.files,
            &self.input,
            &BaseModels::default(),
        )?;
        CommandFiles::default()
            .read(&self.files)
            .read(&self.dev)
            .read(template_files(self.template.as_ref(), template.as_ref()))
            .write("--json", self.json_file())
            .check()?;
        Ok(BenchmarkSettings {
            variants,
            point,
            training,
            template,
        })
    }

    /// Returns the file for the results. The runs that measure memory have none.
    fn json_file(&self) -> Option<&Path> {
        let file = self.json.as_deref().filter(|path| *path != Path::new("-"));
        file.filter(|_| self.measurement.peak_of.is_none())
    }

    fn options(&self) -> TrainOptions {
        let mut options = TrainOptions {
            collapse: self.training.collapse.is_on(),
            ..TrainOptions::default()
        };
        options.method.l2 = Some(self.training.l2);
        options.method.noise.masks = self.training.masks.masks();
        self.training.noise.apply(&mut options);
        self.model.apply(&mut options);
        self.optimizer.apply(&mut options);
        options
    }

    fn read(&self) -> Result<TrainingCorpora> {
        let mut options = self.input.read_options();
        let labeled = Corpus::read(&self.files, &options)?;
        let limit = self.measurement.limit.unwrap_or(usize::MAX);
        let labeled: Corpus = labeled.into_iter().take(limit).collect();
        options.memory = options.memory.beyond(labeled.memory());
        Ok(TrainingCorpora {
            labeled,
            dev: match self.measurement.train {
                true => Some(Corpus::read(&self.dev, &options)?),
                false => None,
            },
            ..TrainingCorpora::default()
        })
    }

    fn measure(
        &self,
        settings: &BenchmarkSettings,
        set: &TrainingSet,
        progress: &Progress,
    ) -> Result<Vec<Measurement>> {
        progress.update(&format!("computing weights: {}", settings.point));
        let theta = settings
            .point
            .weights(set, &settings.training, self.measurement.seed)?;
        let repeat = self.measurement.repeat;
        let mut report_step = |step: measurement::Step| {
            let name = display_name(&step.variant.name(), step.variant.is_collapsed());
            progress.update(&match step.round {
                0 => format!("warming up: {name}"),
                round => format!("repeat {round} of {repeat}: {name}"),
            });
        };
        let mut rows = measurement::measure(
            set,
            &settings.training,
            &theta,
            &settings.variants,
            repeat,
            &mut report_step,
        )?;
        if rows.iter().all(|row| row.cosine.is_none()) {
            progress.println(
                "the gradient of the noise term is zero at these weights: nothing to compare",
            );
        }
        let mut inputs = self.files.iter().chain(&self.template);
        if inputs.any(|file| &**file == "-") {
            progress.println("memory is not measured: standard input cannot be read twice");
            return Ok(rows);
        }
        for (number, row) in rows.iter_mut().enumerate() {
            let name = display_name(&row.engine, row.collapsed);
            progress.update(&format!("measuring memory: {name}"));
            row.peak_bytes = measure_peak_memory(number);
        }
        Ok(rows)
    }

    fn report(
        &self,
        settings: &BenchmarkSettings,
        set: &TrainingSet,
        engines: Vec<Measurement>,
    ) -> Gradients {
        Gradients {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: self.files.iter().map(ToString::to_string).collect(),
            template: self.template.as_ref().map(ToString::to_string),
            sentences: set.data().len() as u64,
            tokens: set.data().tokens() as u64,
            labels: set.space().labels(),
            parameters: set.space().dimension(),
            options: json!(settings.training),
            weights: settings.point.to_string(),
            seed: self.measurement.seed,
            repeat: self.measurement.repeat,
            threads: rayon::current_num_threads(),
            engines,
            training: None,
        }
    }
}

/// Trains a model with each variant.
fn train(
    settings: &BenchmarkSettings,
    corpora: &TrainingCorpora,
    progress: &Progress,
) -> Result<Vec<TrainingRun>> {
    let template = settings.template.as_ref();
    let run = |&variant: &Variant| {
        let name = display_name(&variant.name(), variant.is_collapsed());
        progress.update(&format!("training: {name}"));
        measurement::train(variant, &settings.training, corpora, template)
    };
    settings.variants.iter().map(run).collect()
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

/// Runs this program again, with the same arguments, to measure the peak memory of one evaluation.
fn measure_peak_memory(number: usize) -> Option<u64> {
    let mut arguments = std::env::args_os().skip(1);
    let output = Command::new(std::env::current_exe().ok()?)
        .args(arguments.by_ref().take(2)) // bench gradients
        .args(["--peak-of", &number.to_string()])
        .args(arguments)
        .envs(measurement::ALLOCATOR_ENVIRONMENT)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    serde_json::from_slice(&output.stdout).ok()?
}
