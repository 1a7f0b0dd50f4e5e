//! `dropchain bench gradients`

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use dropchain::bench::{self, Measurement, Run, Variant, Weights, memory, parse_variants};
use dropchain::corpus::read_all;
use dropchain::sentence::Sentence;
use dropchain::template::Template;
use dropchain::train::{Defaults, Problem, TrainOptions, Trainer};
use dropchain::{Error, Result, atomic_file};
use serde_json::{Value, json};

use super::tables;
use crate::cli::arguments::{Chain, Course, Input, Switch, Threads};
use crate::cli::progress::Progress;
use crate::cli::train::choose_template;
use crate::cli::{Outcome, print};

/// Compare the ways to the gradient of the noise term: how fast, how exact
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All engines on the first 500 sentences, at random weights
  dropchain bench gradients train.conll --template ner-finkel --limit 500

  # At weights on the way to the minimum, with JSON beside the table
  dropchain bench gradients train.conll --template ner --weights trained=50 --json out.json

  # And how training ends with each of them
  dropchain bench gradients train.conll --template ner --dev dev.conll --train --engines adjoint,local

Seconds are the least of all repeats, and every repeat runs all engines; `x likelihood` is relative to
the likelihood alone, in the same run. Error and cosine compare the gradient of the noise term alone
with the exact one (that of adjoint). `active/token` is q/T of Wang et al. 2013, section 4.1, before
and after collapsing. Memory is what one evaluation takes beside the data, in a process of its own.")]
pub struct Arguments {
    /// Training files; .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    files: Vec<String>,
    /// Template: which attributes a token has (a file, or the name of one that comes with dropchain)
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,
    /// Development file for --train. May be given more than once
    #[arg(long, value_name = "FILE")]
    dev: Vec<String>,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    chain: Chain,
    /// Rate of dropout
    #[arg(
        long,
        default_value_t = Defaults::DROPOUT,
        value_name = "RATE",
        help_heading = "Training"
    )]
    #[arg(allow_negative_numbers = true)]
    dropout: f64,
    /// The same for transitions, boundary weights and edge attributes [default: twice --dropout, at most
    /// 0.9]
    #[arg(long, value_name = "RATE", help_heading = "Training")]
    #[arg(allow_negative_numbers = true)]
    edge_dropout: Option<f64>,
    /// Strength of the L2 penalty in training (--train, --weights trained)
    #[arg(long, default_value_t = Defaults::L2_WITH_NOISE, value_name = "C2", help_heading = "Training")]
    #[arg(allow_negative_numbers = true)]
    l2: f64,
    /// Train attributes that always occur together as one, as `train` does; `off`, attributes are counted
    /// as in the paper
    #[arg(long, value_enum, default_value = "off", help_heading = "Training")]
    collapse: Switch,
    #[command(flatten)]
    course: Course,
    #[command(flatten)]
    measuring: Measuring,
    #[command(flatten)]
    threads: Threads,
    /// Write the results to a file as JSON; `-` is standard output, in place of the tables
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
}

/// What is measured, and how.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measuring")]
struct Measuring {
    /// What is compared: adjoint, message (message=collapsed and message=plain), window=R, local
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "adjoint,message,local,window=1,window=2,window=4",
        value_name = "ENGINES"
    )]
    engines: Vec<String>,
    /// Weights at which it is compared: zero, random[=SCALE] (normal), trained[=ITERATIONS]
    #[arg(long, default_value = "random", value_name = "WEIGHTS")]
    weights: String,
    /// Seed of random weights
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Repeats after the warm-up
    #[arg(long, default_value_t = 3, value_name = "N")]
    repeat: usize,
    /// Only the first N training sentences
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Also train to the end with each engine; --max-iterations and --patience are for this
    #[arg(long = "train")]
    runs: bool,
    /// Only print the memory that engine number N takes: what this program asks itself
    #[arg(long, value_name = "N", hide = true)]
    peak_of: Option<usize>,
}

/// What was asked for, once it is known to make sense.
struct Checked {
    engines: Vec<Variant>,
    weights: Weights,
    options: TrainOptions,
    template: Option<Template>,
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let checked = self.check()?;
        self.threads.start()?;
        let progress = Progress::new(self.quiet || self.measuring.peak_of.is_some());
        progress.step(format!("reading {}", self.files.join(", ")));
        let sentences = self.read()?;
        let dev = match self.measuring.runs {
            true => read_all(&self.dev, &self.input.labeled())?,
            false => Vec::new(),
        };
        let problem = Problem::new(
            sentences.clone(),
            checked.template.clone(),
            &checked.options,
        )?;
        if let Some(engine) = self.measuring.peak_of {
            let engine = checked.engines.get(engine);
            let peak = engine.and_then(|&engine| bench::peak(&problem, engine));
            return print(&format!("{}\n", json!(peak)));
        }
        progress.say(&describe(&problem));
        if !self.dev.is_empty() && !self.measuring.runs {
            progress.say("--dev: not looked at without --train");
        }
        let rows = self.measure(&checked, &problem, &progress)?;
        let mut report = self.report(&checked, &problem, &rows);
        drop(problem);
        let runs = if self.measuring.runs {
            train(&checked, [&sentences, &dev], &progress)?
        } else {
            Vec::new()
        };
        progress.done();
        if self.measuring.runs {
            report["training"] = json!(runs);
        }
        let text = format!("{report:#}\n");
        match &self.json {
            Some(path) if path == Path::new("-") => return print(&text),
            Some(path) => atomic_file::write(path, text.as_bytes())?,
            None => {}
        }
        print(&(tables::gradients(&rows) + &tables::training(&runs)))
    }

    /// Looks at everything that needs no work to look at.
    fn check(&self) -> Result<Checked> {
        let measuring = &self.measuring;
        let engines = parse_variants(&measuring.engines)
            .map_err(|error| Error::parameter(format!("--engines: {error}")))?;
        let weights = (measuring.weights.parse())
            .map_err(|error| Error::parameter(format!("--weights: {error}")))?;
        let options = self.options();
        Trainer::new(options.clone())?;
        if self.dropout == 0.0 && self.edge_dropout.unwrap_or(0.0) == 0.0 {
            return Err(Error::parameter(
                "--dropout 0: there is no noise; expected a rate above 0",
            ));
        }
        for (name, count) in [
            ("--repeat", Some(measuring.repeat)),
            ("--limit", measuring.limit),
        ] {
            if count == Some(0) {
                return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
            }
        }
        if measuring.runs && self.dev.is_empty() {
            return Err(Error::parameter(
                "--train: there is no development file; expected --dev FILE with it",
            ));
        }
        if let Some(path) = self.json.as_ref().filter(|path| *path != Path::new("-")) {
            atomic_file::check_writable(path)?;
        }
        let template = choose_template(self.template.as_deref(), &self.files, &self.input)?;
        Ok(Checked {
            engines,
            weights,
            options,
            template,
        })
    }

    fn options(&self) -> TrainOptions {
        TrainOptions {
            scheme: self.chain.scheme.into(),
            order: self.chain.order(),
            boundary: self.chain.boundary(),
            states: self.chain.states(),
            dropout: self.dropout,
            edge_dropout: self.edge_dropout,
            l2: self.l2,
            collapse: self.collapse == Switch::On,
            min_count: self.course.min_count,
            max_iterations: self.course.max_iterations,
            patience: self.course.patience,
            ..TrainOptions::default()
        }
    }

    fn read(&self) -> Result<Vec<Sentence>> {
        let mut sentences = read_all(&self.files, &self.input.labeled())?;
        sentences.truncate(self.measuring.limit.unwrap_or(usize::MAX));
        Ok(sentences)
    }

    fn measure(
        &self,
        checked: &Checked,
        problem: &Problem,
        progress: &Progress,
    ) -> Result<Vec<Measurement>> {
        progress.step(format!("making weights: {}", checked.weights));
        let theta = checked.weights.of(problem, self.measuring.seed)?;
        let repeat = self.measuring.repeat;
        let mut rows = bench::measure(problem, &theta, &checked.engines, repeat, &mut |step| {
            let name = tables::name(&step.engine.name(), step.engine.is_collapsed());
            progress.step(match step.round {
                0 => format!("warming up: {name}"),
                round => format!("repeat {round} of {repeat}: {name}"),
            });
        })?;
        if rows.iter().all(|row| row.cosine.is_none()) {
            progress.say(
                "the gradient of the noise term vanishes at these weights: nothing to compare",
            );
        }
        if self
            .files
            .iter()
            .chain(&self.template)
            .any(|file| file == "-")
        {
            progress.say("memory is not measured, since standard input cannot be read twice");
            return Ok(rows);
        }
        for (i, row) in rows.iter_mut().enumerate() {
            let name = tables::name(&row.engine, row.collapsed);
            progress.step(format!("measuring memory: {name}"));
            row.peak_bytes = ask_for_peak(i);
        }
        Ok(rows)
    }

    fn report(&self, checked: &Checked, problem: &Problem, rows: &[Measurement]) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "files": self.files,
            "template": self.template,
            "sentences": problem.data().len(),
            "tokens": problem.data().tokens(),
            "labels": problem.space().labels(),
            "parameters": problem.space().dimension(),
            "options": checked.options,
            "weights": checked.weights.to_string(),
            "seed": self.measuring.seed,
            "repeat": self.measuring.repeat,
            "threads": rayon::current_num_threads(),
            "engines": rows,
        })
    }
}

/// Trains with every engine.
fn train(checked: &Checked, corpora: [&[Sentence]; 2], progress: &Progress) -> Result<Vec<Run>> {
    let template = checked.template.as_ref();
    let run = |&engine: &Variant| {
        let name = tables::name(&engine.name(), engine.is_collapsed());
        progress.step(format!("training: {name}"));
        bench::train(engine, &checked.options, corpora, template)
    };
    checked.engines.iter().map(run).collect()
}

fn describe(problem: &Problem) -> String {
    let (data, space) = (problem.data(), problem.space());
    format!(
        "{} sentences, {} tokens, {} labels, {} weights",
        data.len(),
        data.tokens(),
        space.labels(),
        space.dimension()
    )
}

/// Runs this program once more, with the same arguments, to learn what an evaluation takes.
fn ask_for_peak(engine: usize) -> Option<u64> {
    let mut arguments = std::env::args_os().skip(1);
    let output = Command::new(std::env::current_exe().ok()?)
        .args(arguments.by_ref().take(2)) // bench gradients
        .args(["--peak-of", &engine.to_string()])
        .args(arguments)
        .envs(memory::ALLOCATOR)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    serde_json::from_slice(&output.stdout).ok()?
}
