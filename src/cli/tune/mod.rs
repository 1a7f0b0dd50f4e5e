//! `dropchain tune`

mod results;
mod watcher;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use clap::Args;
use dropchain::corpus::read_all;
use dropchain::model::Model;
use dropchain::template::Template;
use dropchain::train::{Corpora, TrainOptions};
use dropchain::tune::{Axis, Configuration, Data, Folds, Found, Judge, Schedule, Search, Space};
use dropchain::{Error, Result, atomic_file};

use super::arguments::{Chain, Course, Input, Switch, Threads};
use super::progress::Progress;
use super::train::choose_template;
use super::training::{Manner, Shared, Storage, Unlabeled, check_log, interrupt_flag};
use super::{Outcome, print};
use results::Results;
use watcher::Watcher;

/// Search for good training parameters, and write the best model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A small grid around the defaults, scored on dev.conll
  dropchain tune train.conll --dev dev.conll --template ner --model ner.model

  # Your own grid, two templates, a log of everything
  dropchain tune train.conll --dev dev.conll --template ner --template ner-finkel \\
      --dropout 0,0.3,0.5 --edge-dropout 0.3,0.6 --l2 0.01,0.1,1 --model ner.model --log tune.jsonl

  # 30 random configurations, L2 anywhere from 0.01 to 1, by 5-fold cross-validation
  dropchain tune train.conll --folds 5 --template ner --random 30 --dropout 0.1:0.6 \\
      --l2 0.01:1 --model ner.model

Values are numbers (0,0.3,0.5), ranges for --random (0.01:1), or both (0,0.01:1). Numbers are drawn
from ranges of rates evenly, from those of strengths and weights by their logarithm.

With --dev the score is that of the best iteration (with noise, of those after the warm-up), and the
model is that of the best row. With --folds it is the mean over the folds at the iteration where the mean is best, ± its standard
error; the best row is then trained on all data, for as many iterations. Sentences of a document
(-DOCSTART-) are kept in one fold, or else blocks of neighboring sentences. Of equal scores the stronger
regularization wins: dropout, then edge dropout, L2, L1, unlabeled weight; then the earlier template.

Halving: all configurations train for --first-rung iterations, the best third goes on (not anew) for
three times as many, and so on; the last, at most three, train until their scores no longer rise.

Results are the same for any number of threads and any --memory. Ctrl-C ends the search and saves the
best model so far. docs/tuning.md has advice on what to search.")]
pub struct Arguments {
    /// Training files; `-` is standard input, .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<String>,
    /// Template: which attributes a token has (a file, or the name of one that comes with dropchain). May
    /// be given more than once: the best is chosen
    #[arg(long, value_name = "TEMPLATE")]
    template: Vec<String>,
    /// Where to write the best model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Development file, on which configurations are scored. May be given more than once
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "folds",
        conflicts_with = "folds"
    )]
    dev: Vec<String>,
    /// Score by K-fold cross-validation on the training files
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    folds: Option<usize>,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    searched: Searched,
    #[command(flatten)]
    searching: Searching,
    #[command(flatten)]
    chain: Chain,
    #[command(flatten)]
    storage: Storage,
    #[command(flatten)]
    manner: Manner,
    #[command(flatten)]
    course: Course,
    #[command(flatten)]
    unlabeled: Unlabeled,
    #[command(flatten)]
    threads: Threads,
    /// Write all results to a file, as JSON lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Print JSON in place of the table: scores as fractions
    #[arg(long)]
    json: bool,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
}

/// What is searched.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "What is searched")]
struct Searched {
    /// How much feature noise is simulated; 0 is none [default: some rates around that of `train`]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    dropout: Option<Axis>,
    /// The same for transitions, boundary weights and edge attributes [default: twice --dropout, at
    /// most 0.9; with Gaussian noise, that of --dropout]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    edge_dropout: Option<Axis>,
    /// Strength of the L2 penalty [default: some strengths around those of `train`]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    l2: Option<Axis>,
    /// Strength of the L1 penalty [default: 0]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    l1: Option<Axis>,
    /// Weight of an unlabeled sentence beside a labeled one [default: that of `train`]
    #[arg(
        long,
        value_name = "VALUES",
        allow_hyphen_values = true,
        requires = "unlabeled"
    )]
    unlabeled_weight: Option<Axis>,
}

/// How it is searched.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How it is searched")]
struct Searching {
    /// Draw N configurations at random; without it, every combination of values is tried
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    random: Option<usize>,
    /// Where random draws begin: configurations, folds, Monte-Carlo noise
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Keep one configuration in ETA at each rung (on: 3); off: all train to the end
    #[arg(
        long,
        default_value = "on",
        value_name = "ETA",
        allow_hyphen_values = true
    )]
    halving: Halving,
    /// Iterations of the first rung
    #[arg(long, default_value_t = Schedule::FIRST, value_name = "N")]
    first_rung: usize,
    /// Begin each configuration with the weights of its neighbor with stronger L1 and L2
    #[arg(long, value_enum, default_value = "on")]
    warm_start: Switch,
    /// Memory to use, such as 4G or 500M [default: most of what is free]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Size>,
}

/// The share of configurations that are kept: one in so many, or all.
#[derive(Clone, Copy, Debug)]
struct Halving(Option<usize>);

impl FromStr for Halving {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "on" => Ok(Self(Some(Schedule::ETA))),
            "off" => Ok(Self(None)),
            number => match number.parse() {
                Ok(eta) => Ok(Self(Some(eta))),
                Err(_) => Err("expected on, off, or a whole number from 2".to_owned()),
            },
        }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size(u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let unit = match text.chars().last() {
            Some('k' | 'K') => 1e3,
            Some('m' | 'M') => 1e6,
            Some('g' | 'G') => 1e9,
            Some('t' | 'T') => 1e12,
            _ => 1.0,
        };
        let number = if unit > 1.0 {
            &text[..text.len() - 1]
        } else {
            text
        };
        let size = number.parse().ok().map(|number: f64| number * unit);
        size.filter(|size| size.is_finite() && *size >= 1.0)
            .map(|size| Self(size as u64))
            .ok_or_else(|| "expected a size such as 4G, 500M or 4000000000".to_owned())
    }
}

/// What was asked for, once it is known to make sense.
struct Checked {
    options: TrainOptions,
    configurations: Vec<Configuration>,
    schedule: Schedule,
    templates: Vec<Option<Template>>,
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let checked = self.check()?;
        self.threads.start()?;
        let started = Instant::now();
        let progress = Progress::new(self.quiet);
        let data = self.extract(&checked, &progress)?;
        let search = Search {
            options: checked.options,
            configurations: checked.configurations,
            schedule: checked.schedule,
            warm_start: self.searching.warm_start == Switch::On,
            threads: self.threads.number(),
            memory: self.searching.memory.map(|size| size.0),
            interrupt: Some(interrupt_flag()),
        };
        let names = self.template_names();
        let watcher = Watcher::new(&progress, &names);
        let found = search.run(data, &watcher)?;
        found.model.save(&self.model)?;
        progress.done();
        self.tell(&found, &progress);
        let results = Results {
            found: &found,
            search: &search,
            templates: &names,
            given: &self.template,
            has_unlabeled: !self.unlabeled.unlabeled.is_empty(),
            files: &self.train,
            dev: &self.dev,
            folds: self.folds,
            seed: self.searching.seed,
            seconds: started.elapsed().as_secs_f64(),
        };
        if let Some(log) = &self.log {
            atomic_file::write(log, results.log(watcher.plan()).as_bytes())?;
        }
        let text = if self.json {
            format!("{:#}\n", results.json())
        } else {
            results.table()
        };
        print(&text)
    }

    /// Looks at everything that needs no work to look at.
    fn check(&self) -> Result<Checked> {
        self.manner.check_samples(None)?;
        let options = TrainOptions {
            seed: self.searching.seed,
            ..self.shared().options()?
        };
        let schedule = Schedule::new(self.searching.halving.0, self.searching.first_rung)?;
        let templates = self.templates()?;
        let space = self.space(templates.len());
        let configurations = match self.searching.random {
            None => space.grid(&options)?,
            Some(count) => space.random(count, self.searching.seed, &options)?,
        };
        let has_noise = configurations.iter().any(Configuration::has_noise);
        self.shared().check_noise(has_noise)?;
        if self.folds.is_some_and(|folds| folds < 2) {
            return Err(Error::parameter(format!(
                "--folds {}; expected 2 or more",
                self.folds.unwrap_or(0)
            )));
        }
        Model::check_target(&self.model)?;
        if let Some(log) = &self.log {
            check_log(log, &self.model)?;
            atomic_file::check_writable(log)?;
        }
        Ok(Checked {
            options,
            configurations,
            schedule,
            templates,
        })
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            chain: &self.chain,
            storage: &self.storage,
            manner: &self.manner,
            course: &self.course,
            unlabeled: &self.unlabeled,
        }
    }

    fn space(&self, templates: usize) -> Space {
        let searched = self.searched.clone();
        let default = Space::default();
        Space {
            templates,
            dropout: searched.dropout.unwrap_or(default.dropout),
            edge_dropout: searched.edge_dropout.or(default.edge_dropout),
            l2: searched.l2.unwrap_or(default.l2),
            l1: searched.l1.unwrap_or(default.l1),
            unlabeled_weight: searched
                .unlabeled_weight
                .unwrap_or(default.unlabeled_weight),
        }
    }

    /// The templates, each once.
    fn templates(&self) -> Result<Vec<Option<Template>>> {
        let choose = |name: Option<&str>| choose_template(name, &self.train, &self.input);
        if self.template.is_empty() {
            return Ok(vec![choose(None)?]);
        }
        let twice = (1..self.template.len())
            .find(|&i| self.template[..i].contains(&self.template[i]))
            .map(|i| &self.template[i]);
        if let Some(name) = twice {
            return Err(Error::parameter(format!(
                "--template {name} is given twice; expected different templates"
            )));
        }
        self.template
            .iter()
            .map(|name| choose(Some(name)))
            .collect()
    }

    /// Names of the templates, for results.
    fn template_names(&self) -> Vec<String> {
        if self.template.is_empty() {
            return vec!["–".to_owned()];
        }
        let name = |name: &String| {
            let stem = Path::new(name).file_stem();
            stem.map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned())
        };
        let short: Vec<String> = self.template.iter().map(name).collect();
        let is_unique = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
        if short.iter().all(is_unique) {
            short
        } else {
            self.template.clone()
        }
    }

    /// Reads the corpora and extracts their attributes.
    fn extract(&self, checked: &Checked, progress: &Progress) -> Result<Data> {
        progress.step(format!("reading {}", self.train.join(", ")));
        let options = self.input.labeled();
        let sentences = read_all(&self.train, &options)?;
        let judge = match self.folds {
            None => Judge::Dev,
            Some(count) => {
                let folds = Folds::new(&sentences, count, self.searching.seed)?;
                progress.say(&format!(
                    "{count} folds of {}",
                    if folds.of_documents() {
                        "documents"
                    } else {
                        "neighboring sentences"
                    }
                ));
                Judge::Folds(folds)
            }
        };
        let dev = match self.dev.as_slice() {
            [] => None,
            files => Some(read_all(files, &options)?),
        };
        let unlabeled = self.unlabeled.read(&self.input)?;
        progress.step("extracting attributes".to_owned());
        let corpora = Corpora {
            sentences,
            unlabeled: &unlabeled,
            dev,
        };
        Data::extract(
            &corpora,
            checked.templates.clone(),
            &judge,
            &checked.options,
        )
    }

    /// What is worth a line of its own.
    fn tell(&self, found: &Found, progress: &Progress) {
        if let Some(pruned) = &found.pruned {
            progress.say(&super::watcher::describe_pruned(pruned));
        }
        for advice in results::advice(&found.standings, self.searched.edge_dropout.is_some()) {
            progress.say(&advice);
        }
        if found.interrupted {
            progress.say("interrupted: not all configurations went as far as they should have");
        }
        if let Some(iterations) = found.refitted {
            progress.say(&format!("trained on all data for {iterations} iterations"));
        }
        progress.say(&format!("wrote {}", self.model.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_thousands() {
        assert_eq!("1.5G".parse(), Ok(Size(1_500_000_000)));
        assert_eq!("300k".parse(), Ok(Size(300_000)));
        assert_eq!("12".parse(), Ok(Size(12)));
        for text in ["", "G", "-1G", "0", "infG", "4GB", "4é"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
