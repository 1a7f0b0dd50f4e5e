//! `dropchain tune`

mod arguments;
mod results;
mod search_reporter;

pub use arguments::{ResumeArguments, StrategyArguments};
pub use results::SearchDescription;
pub use search_reporter::SearchOutput;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use dropchain::template::Template;
use dropchain::train::{BaseModels, TrainOptions, TrainSettings, check_line_options};
use dropchain::{Error, Result};
use dropchain_knowledge::Knowledge;
use dropchain_report::log::Log;
use dropchain_tune::{Configuration, Folds, Schedule, Search, TuneResult, TuningData, Validation};
use serde_json::json;

use crate::arguments::{FileName, InputArguments, OutputArguments, ThreadArguments};
use crate::config::ConfigArguments;
use crate::outputs::{CommandFiles, ModelArgument, ResultFile};
use crate::progress::Progress;
use crate::template_arguments::{
    KnowledgeArguments, TemplateLimits, is_template_text, load_template, template_by_labels,
    template_files, template_for,
};
use crate::training_arguments::{
    InitArguments, TrainingArguments, base_models, format_match, notice_of_template,
};
use crate::tune::arguments::SpaceArguments;
use crate::tune::results::train_options;
use crate::{CommandResult, interrupt};

/// Search for the best training parameters and write the best model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain tune train.conll --dev dev.conll --model ner.model
  dropchain tune train.conll --folds 5 --model ner.model")]
#[command(after_long_help = "\
Examples:
  # A small grid around the defaults, scored on dev.conll
  dropchain tune train.conll --dev dev.conll --model ner.model

  # Your own grid, two templates, and a log of all results
  dropchain tune train.conll --dev dev.conll --template ner --template chunk \\
      --dropout 0,0.3,0.5 --edge-dropout 0.3,0.6 --l2 0.01,0.1,1 \\
      --model ner.model --log tune.jsonl

  # 30 random configurations, L2 from 0.01 to 1, by 5-fold cross-validation
  dropchain tune train.conll --folds 5 --template ner --random 30 \\
      --dropout 0.1:0.6 --l2 0.01:1 --model ner.model

VALUES are numbers (0,0.3,0.5), ranges for --random (0.01:1), or both (0,0.01:1). Ranges of rates
are sampled uniformly, ranges of strengths and weights log-uniformly.

Results do not depend on the number of threads or on --memory. Ctrl-C stops the search and saves the
best model so far (exit code 130). After a crash, the same command with --checkpoint and --resume
continues a search to the results that it would have had. See docs/tuning.md for advice on what to
search.")]
pub struct TuneCommand {
    /// Training files; `-` is standard input, .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// Feature template: a file or a built-in name; repeat to compare several [default: as in
    /// `train`]
    #[arg(long, value_name = "TEMPLATE")]
    template: Vec<FileName>,
    #[command(flatten)]
    template_limits: TemplateLimits,
    #[command(flatten)]
    model: ModelArgument,
    /// Development data to score configurations on: files, or a share such as 10% of the training
    /// data, as in `train`; may be repeated
    #[arg(
        long,
        value_name = "FILE|SHARE",
        required_unless_present = "folds",
        conflicts_with = "folds"
    )]
    dev: Vec<FileName>,
    /// Score configurations by K-fold cross-validation on the training files
    #[arg(long, value_name = "K", value_parser = RangedU64ValueParser::<usize>::new().range(2..))]
    folds: Option<usize>,
    /// Write a log in JSON lines to this file: each result as soon as it is there
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Print JSON instead of a table, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub config: ConfigArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    checkpoint: ResumeArguments,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    init: InitArguments,
    #[command(flatten)]
    space: SpaceArguments,
    #[command(flatten)]
    strategy: StrategyArguments,
    #[command(flatten)]
    training: TrainingArguments,
    #[command(flatten)]
    knowledge: KnowledgeArguments,
}

/// The validated arguments.
struct SearchSettings {
    training: TrainSettings,
    configurations: Vec<Configuration>,
    schedule: Schedule,
    templates: Vec<Option<Template>>,
}

impl TuneCommand {
    pub fn run(&self) -> CommandResult {
        self.config.check_stdin(self.training.corpus_files(&self.train, &self.dev))?;
        let open = self.init.open()?;
        let models = base_models(&open);
        let settings = self.validate(&models)?;
        interrupt::watch();
        let model_path = self.model.path(&self.train);
        let model_file = ResultFile::new(&model_path)?;
        let log = self.log.as_deref().map(Log::create).transpose()?;
        let checkpoint = self.checkpoint.open()?;
        self.threads.start_pool()?;
        let started = Instant::now();
        let progress = Progress::new(self.quiet);
        notice_of_template(&models, settings.templates[0].as_ref(), &progress);
        let knowledge = self.knowledge.read(&self.input, &progress)?;
        let data = self.extract(&settings, &models, &knowledge, &progress)?;
        self.print_data(&data, &progress);
        let has_models = !models.is_empty();
        drop(open);
        let search = Search {
            settings: settings.training,
            configurations: settings.configurations,
            schedule: settings.schedule,
            warm_start: self.strategy.warm_start.is_on(),
            threads: self.threads.count(),
            memory: self.input.limits.memory(),
            checkpoint: checkpoint.as_ref(),
            interrupt: Some(interrupt::flag()),
        };
        let names = self.template_names();
        let arguments: Vec<String> = self.template.iter().map(ToString::to_string).collect();
        let description = SearchDescription {
            search: &search,
            templates: &names,
            template_arguments: &arguments,
            has_unlabeled: self.training.has_unlabeled(),
            has_edge_axis: self.space.edge_dropout.is_some(),
            is_of_documents: false,
            files: &self.train,
            init: &self.init,
            dev: &self.dev,
            folds: self.folds,
            seed: self.strategy.seed,
            knowledge: knowledge.parts(),
            config: &self.config.effective,
        };
        let output = SearchOutput {
            progress: &progress,
            resume: &self.checkpoint,
            model: &model_path,
            file: model_file,
            log,
            json: self.json,
            started,
        };
        let (result, printed) =
            output.run(&description, data, |result| self.record(result, has_models))?;
        self.checkpoint.end(&model_path, &result, printed, checkpoint)
    }

    /// Returns the best model with a record of the options of the search, and of those with which
    /// `train` trains the best configuration.
    fn record(&self, result: &TuneResult, has_models: bool) -> Result<Vec<u8>> {
        let config = &self.config.effective;
        let mut json = json!(config);
        json["train"] = train_options(config, result, &self.template, has_models).into();
        let model = result.model()?;
        let recorded = ConfigArguments::record(&model, &json);
        Ok(recorded.as_ref().unwrap_or(&model).as_bytes().to_vec())
    }

    /// Validates the arguments before any corpus is read.
    fn validate(&self, models: &BaseModels<'_>) -> Result<SearchSettings> {
        let mut options =
            TrainOptions { seed: self.strategy.seed, ..self.training.options(models) };
        self.space.apply(&mut options.method)?;
        let schedule = Schedule::new(self.strategy.halving.0, self.strategy.first_rung)?;
        let training = TrainSettings::new(self.training.with_learner(options, false)?)?;
        models.check(&training)?;
        let templates = self.templates(models)?;
        let space = self.space.to_space(templates.len(), &self.training.method());
        let configurations = self.strategy.configurations(&space, &training)?;
        for configuration in &configurations {
            let template = templates[configuration.template].as_ref();
            check_line_options(template, &configuration.settings(&training)?)?;
        }
        let has_noise = configurations.iter().any(Configuration::has_noise);
        let gradient = self.space.gradient.first().map(ToString::to_string);
        (self.training).check(has_noise, gradient.as_deref())?;
        self.training.share_of_dev(&self.dev)?;
        self.check_files(&templates)?;
        Ok(SearchSettings { training, configurations, schedule, templates })
    }

    /// Checks what is read and written.
    fn check_files(&self, templates: &[Option<Template>]) -> Result<()> {
        let loaded = self.template.iter().zip(templates);
        let template_files =
            loaded.flat_map(|(name, template)| template_files(Some(name), template.as_ref()));
        let files = CommandFiles::default()
            .read(self.training.corpus_files(&self.train, &self.dev))
            .read(self.input.other_files(self.training.corpus_files(&self.train, &self.dev)))
            .read(template_files)
            .read(self.knowledge.files().iter())
            .read(&self.config.config)
            .read_models(self.init.files());
        self.model
            .declare(files, &self.train, self.log.as_deref())
            .write_checkpoint(
                self.checkpoint.checkpoint.as_deref(),
                self.checkpoint.resume || self.output.force,
            )
            .check()
    }

    /// Loads the templates, which must be distinct.
    fn templates(&self, models: &BaseModels<'_>) -> Result<Vec<Option<Template>>> {
        let load = |name: Option<&FileName>| {
            load_template(name, self.template_limits, &self.train, &self.input, models)
        };
        if self.template.is_empty() {
            return Ok(vec![load(None)?]);
        }
        for (i, name) in self.template.iter().enumerate() {
            if self.template[..i].contains(name) {
                return Err(Error::parameter(format!(
                    "--template {name} is given twice; expected different templates"
                )));
            }
        }
        let names = self.template.iter();
        names.map(|name| load(Some(name))).collect()
    }

    /// Returns the names of the templates for the results. The text of a template has a number.
    fn template_names(&self) -> Vec<String> {
        if self.template.is_empty() {
            return vec!["–".to_owned()];
        }
        let name = |(i, name)| match is_template_text(name) {
            true => format!("template {}", i + 1),
            false => name.to_string(),
        };
        self.template.iter().enumerate().map(name).collect()
    }

    /// Reads the corpora and extracts their attributes.
    fn extract(
        &self,
        settings: &SearchSettings,
        models: &BaseModels<'_>,
        knowledge: &Knowledge,
        progress: &Progress,
    ) -> Result<TuningData> {
        let dev = (&self.dev[..], self.strategy.seed);
        let corpora = self.training.read_corpora(&self.train, dev, &self.input, progress)?;
        progress.println_all(corpora.held_out.map(|held_out| held_out.to_string()));
        let validation = match self.folds {
            None => Validation::Dev,
            Some(count) => {
                let folds = Folds::new(corpora.labeled.sentences(), count, self.strategy.seed)?;
                let kind = ["adjacent sentences", "documents"][usize::from(folds.by_document())];
                progress.println(&format!("{count} folds of {kind}"));
                Validation::Folds(folds)
            }
        };
        progress.update("extracting attributes");
        let mut templates = settings.templates.clone();
        if let [template] = &mut templates[..]
            && models.is_empty()
        {
            let detector = settings.training.options().detector();
            *template = template_by_labels(template.take(), &corpora.labeled, &detector, progress)?;
            if let Some(chosen) = template.take() {
                *template = Some(template_for(chosen, &corpora.labeled, progress)?);
            }
        }
        for template in &mut templates {
            *template = self.knowledge.attach(knowledge, template.take())?;
        }
        TuningData::from_models(&corpora, templates, validation, &settings.training, models)
    }

    /// Prints how the training data were read, and what the models that training continues from
    /// have in common with them.
    fn print_data(&self, data: &TuningData, progress: &Progress) {
        progress.println_all(data.reading().iter().cloned());
        for (name, matches) in self.template_names().iter().zip(data.matches()) {
            for found in matches {
                if self.template.len() > 1 {
                    progress.println(&format!("template {name}:"));
                }
                progress.println(&format_match(found));
            }
        }
    }
}
