//! `dropchain tune`

mod arguments;
mod reporter;

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use dropchain::corpus::{Corpus, Format, OutputFormat, WriteOptions, Writer};
use dropchain::template::Template;
use dropchain::train::{BaseModels, TrainSettings};
use dropchain::{Error, Result};
use dropchain_knowledge::Knowledge;
use dropchain_report::log::Log;
use dropchain_tune::{Checkpoint, Configuration, Folds, Search, TuneResult, TuningData};
use serde_json::{Map, Value, json};

use crate::arguments::{InputArguments, other_files};
use crate::config::ConfigArguments;
use crate::template_arguments::{
    TemplateLimits, is_template_text, load_template, template_by_labels, template_files,
    template_for,
};
use crate::training_arguments::{
    InitArguments, TrainingArguments, base_models, notice_of_template,
};
use crate::{
    CommandFiles, CommandResult, FileName, ModelArgument, OutputKind, Progress, ResultFile,
    ThreadArguments, interrupt, print_json, print_painted, terminal,
};
use arguments::{ResumeArguments, SearchArguments};
use reporter::{SearchReporter, end_line, print_notices, results_json, table, train_options};

/// Search for the best training parameters and write the best model
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  # A small grid around the defaults, scored on dev.conll
  dropchain tune train.conll --dev dev.conll --model ner.model

  # Your own grid, two templates, and a log of all results
  dropchain tune train.conll --dev dev.conll --template ner --template chunk \\
      --dropout 0,0.3,0.5 --edge-dropout 0.3,0.6 --l2 0.01,0.1,1 \\
      --model ner.model --log tune.jsonl

  # The defaults of `train` by 10-fold cross-validation, and the predictions for all sentences
  dropchain tune train.conll --folds 10 --only-defaults --predictions folds.conll

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
    /// Development data to score configurations on: files, or a share such as 10% of the training
    /// data, as in `train`; may be repeated
    #[arg(long, value_name = "FILE|SHARE")]
    #[arg(required_unless_present = "folds", conflicts_with = "folds")]
    dev: Vec<FileName>,
    /// Score configurations by K-fold cross-validation on the training files
    #[arg(long, value_name = "K", value_parser = RangedU64ValueParser::<usize>::new().range(2..))]
    folds: Option<usize>,
    /// Feature template: a file or a built-in name; repeat to compare several [default: as in
    /// `train`]
    #[arg(long, value_name = "TEMPLATE")]
    template: Vec<FileName>,
    #[command(flatten)]
    template_limits: TemplateLimits,
    #[command(flatten)]
    model: ModelArgument,
    /// Write a log in JSON lines to this file: each result as soon as it is there
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// With --folds: write what a model of the other folds predicts for each training sentence,
    /// with probabilities, as `tag --marginals` does (to .jsonl and .conllu in these formats)
    ///
    /// `eval`, `report` and `check --suspicious` read it, beside the training files.
    #[arg(long, value_name = "FILE", requires = "folds")]
    predictions: Option<PathBuf>,
    /// Print JSON instead of a table, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub config: ConfigArguments,
    #[command(flatten)]
    resume: ResumeArguments,
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
    search: SearchArguments,
    #[command(flatten)]
    training: TrainingArguments,
}

/// The validated arguments.
struct Validated {
    settings: TrainSettings,
    configurations: Vec<Configuration>,
    templates: Vec<Option<Template>>,
}

impl TuneCommand {
    pub fn run(&self) -> CommandResult {
        self.config.check_stdin(self.training.corpus_files(&self.train, &self.dev))?;
        let base = self.init.open()?;
        let models = base_models(&base);
        let Validated { settings, configurations, templates } = self.validate(&models)?;
        interrupt::watch();
        let model = self.model.path(&self.train);
        let file = ResultFile::new(&model)?;
        self.predictions.as_deref().map(ResultFile::new).transpose()?;
        let log = self.log.as_deref().map(Log::create).transpose()?;
        let open = |path| Checkpoint::open(path, self.resume.resume);
        let checkpoint = self.resume.checkpoint.as_ref().map(open).transpose()?;
        self.threads.start_pool()?;
        let (started, progress) = (Instant::now(), Progress::new(self.quiet));
        progress.println_all(notice_of_template(&models, templates[0].as_ref()));
        let knowledge = self.training.knowledge.read(&self.input, &progress)?;
        let data = self.read(&settings, templates, models, &knowledge, &progress)?;
        let search = Search {
            settings,
            configurations,
            threads: self.threads.count(),
            memory: self.input.limits.memory(),
            checkpoint: checkpoint.as_ref(),
            interrupt: Some(interrupt::flag()),
        };
        let mut inputs = Map::new();
        inputs.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        inputs.insert("config".to_owned(), json!(self.config.effective));
        if !knowledge.parts.is_empty() {
            inputs.insert("sources".to_owned(), json!(knowledge.parts));
        }
        let reporter = SearchReporter {
            progress: &progress,
            search: &search,
            inputs,
            log: Mutex::new(log.unwrap_or_default()),
            advice: self.resume.how_to_continue(),
            started: OnceLock::new(),
        };
        let result = search.run(&data, &reporter);
        let has_started = reporter.started.get().is_some();
        let result = result.map_err(|error| self.resume.failed(error, has_started))?;
        let seconds = started.elapsed().as_secs_f64();
        let printed = self.write(&result, seconds, reporter, file, &models).and_then(|printed| {
            self.write_predictions(&result, &data.corpora.labeled, &progress).map(|()| printed)
        });
        let printed = printed.map_err(|error| self.resume.failed(error, true))?;
        self.resume.end(&model, &result, printed, checkpoint)
    }

    /// Writes the best model, with a record of the options of the search and of those with which
    /// `train` trains the best configuration, and the end of the log, and prints the results.
    /// Returns whether they could be printed.
    fn write(
        &self,
        result: &TuneResult,
        seconds: f64,
        reporter: SearchReporter<'_>,
        file: ResultFile,
        models: &BaseModels<'_>,
    ) -> Result<CommandResult> {
        if result.has_learned() {
            let config = &self.config.effective;
            let mut record = json!(config);
            let options = train_options(result, config, &self.template, !models.is_empty());
            record["train"] = options.into();
            ConfigArguments::save(&result.model, &record, file)?;
        }
        reporter.progress.clear();
        print_notices(result, &self.model.path(&self.train), reporter.progress);
        let results = results_json(result, seconds);
        let mut object = reporter.inputs.clone();
        let logged = reporter.finish(end_line(result, results.clone()));
        let printed = match self.json {
            true => {
                object.extend(results);
                print_json(&format!("{:#}\n", Value::Object(object)))
            }
            false => print_painted(&table(result, terminal::of_output())),
        };
        logged.map(|()| printed)
    }

    /// Writes the out-of-fold predictions of a search, if they are to be written.
    fn write_predictions(
        &self,
        result: &TuneResult,
        corpus: &Corpus,
        progress: &Progress,
    ) -> Result<()> {
        let (Some(file), Some(predictions)) = (&self.predictions, &result.out_of_fold) else {
            return Ok(());
        };
        let name = file.display().to_string();
        let columns = &result.model.header().columns;
        let options = WriteOptions {
            spans: predictions.evaluation().has_spans(),
            label: columns.label_name().unwrap_or("label").to_owned(),
            joined: columns.joined_names().to_vec(),
            ..WriteOptions::new(match Format::guess(&name) {
                Format::Jsonl => OutputFormat::Jsonl,
                Format::Conllu => OutputFormat::Conllu,
                _ => OutputFormat::Conll,
            })
        };
        let mut text = Vec::new();
        let mut writer = Writer::new(&mut text, &name, &options)?;
        for tagged in predictions.tagged(corpus)? {
            writer.write(&tagged)?;
        }
        writer.finish()?;
        drop(writer);
        ResultFile::new(file)?.save(&text)?;
        progress.println(&format!("wrote {name}"));
        Ok(())
    }

    /// Validates the arguments before any corpus is read.
    fn validate(&self, models: &BaseModels<'_>) -> Result<Validated> {
        let settings_of = |searched: &[(String, String)]| {
            let searched = dropchain_options::parse(searched)?.searched;
            let mut options = self.training.options(models, searched)?;
            options.seed = self.search.seed;
            TrainSettings::new(options)
        };
        let settings = settings_of(&[])?;
        models.check(&settings)?;
        let templates = self.load_templates(models)?;
        let configurations = self.search.configurations(&self.template_names(), &settings_of)?;
        let has_noise = configurations.iter().any(Configuration::has_noise);
        self.training.check(has_noise, self.search.gradient.as_deref())?;
        self.training.share_of_dev(&self.dev)?;
        self.check_files(&templates)?;
        Ok(Validated { settings, configurations, templates })
    }

    /// Checks what is read and written.
    fn check_files(&self, templates: &[Option<Template>]) -> Result<()> {
        let loaded = self.template.iter().zip(templates);
        let template_files =
            loaded.flat_map(|(name, template)| template_files(Some(name), template.as_ref()));
        let files = self.training.corpus_files(&self.train, &self.dev);
        let files = CommandFiles::default()
            .read(files.clone())
            .read(other_files(self.input.format, files))
            .read(template_files)
            .read(self.training.knowledge.files().iter())
            .read(&self.config.config)
            .read_models(self.init.files());
        let predictions = self.predictions.as_deref();
        let exists = "this file exists; remove it, or choose a new name";
        self.model
            .declare(files, &self.train, self.log.as_deref())
            .write_new("--predictions", OutputKind::Tagged, predictions, Some(exists))
            .write_checkpoint(self.resume.checkpoint.as_deref(), self.resume.resume)
            .check()
    }

    /// Loads the templates, which must be distinct.
    fn load_templates(&self, models: &BaseModels<'_>) -> Result<Vec<Option<Template>>> {
        let names = &self.template;
        let load =
            |name| load_template(name, self.template_limits, &self.train, &self.input, models);
        if names.is_empty() {
            return Ok(vec![load(None)?]);
        }
        let mut numbered = names.iter().enumerate();
        if let Some((_, name)) = numbered.find(|(i, name)| names[..*i].contains(name)) {
            return Err(Error::parameter(format!(
                "--template {name} is given twice; expected different templates"
            )));
        }
        names.iter().map(|name| load(Some(name))).collect()
    }

    /// Returns the names of the templates for the results, if there are several to compare. The
    /// text of a template has a number.
    fn template_names(&self) -> Vec<String> {
        let name = |(i, name)| {
            if is_template_text(name) { format!("template {}", i + 1) } else { name.to_string() }
        };
        let names = self.template.iter().enumerate();
        names.filter(|_| self.template.len() > 1).map(name).collect()
    }

    /// Reads the corpora, and decides what the labels and the knowledge decide of the templates.
    fn read<'m>(
        &self,
        settings: &TrainSettings,
        mut templates: Vec<Option<Template>>,
        models: BaseModels<'m>,
        knowledge: &Knowledge,
        progress: &Progress,
    ) -> Result<TuningData<'m>> {
        let seed = self.search.seed;
        let dev = (&self.dev[..], seed);
        let corpora = self.training.read_corpora(&self.train, dev, &self.input, progress)?;
        let folds = self.folds.map(|count| {
            let folds = Folds::new(corpora.labeled.sentences(), count, seed)?;
            let kind = ["adjacent sentences", "documents"][usize::from(folds.by_document)];
            progress.println(&format!("{count} folds of {kind}"));
            Ok::<_, Error>(folds)
        });
        progress.update("extracting attributes");
        if let [template] = &mut templates[..]
            && models.is_empty()
        {
            let detector = settings.options().labels.detector();
            let found = template_by_labels(template.take(), &corpora.labeled, &detector, progress)?;
            *template = template_for(found, &corpora.labeled, progress)?;
        }
        for template in &mut templates {
            *template = self.training.knowledge.attach(knowledge, template.take())?;
            progress.println_all(self.config.changed(&corpora.files(template.as_ref())));
        }
        Ok(TuningData { folds: folds.transpose()?, corpora, templates, models })
    }
}
