//! `dropchain train`

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::kernel::atomic_file;
use dropchain::template::Template;
use dropchain::train::{BaseModels, Trained, Trainer, TrainingCorpora};
use dropchain::{Model, Result};
use dropchain_options::SearchedOptions;
use dropchain_report::log::{Header, Log, Source};
use serde_json::json;

use crate::arguments::{InputArguments, other_files};
use crate::config::ConfigArguments;
use crate::team::{Inputs, Team};
use crate::template_arguments::{
    DocumentArguments, TemplateLimits, check_attributes, load_template, template_by_labels,
    template_files, template_for,
};
use crate::training_arguments::{
    CheckpointArguments, InitArguments, TrainingArguments, base_models, notice_of_template,
};
use crate::training_reporter::TrainingReporter;
use crate::{
    CommandError, CommandFiles, CommandResult, FileName, ModelArgument, Progress, ResultFile,
    ThreadArguments, interrupt, training_result,
};

/// Train a model on labeled sentences
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  # Columns `word … label`; the model, train.model, is the best on dev.conll
  dropchain train train.conll --dev dev.conll

  # Parts of speech from CoNLL-U
  dropchain train en-train.conllu --label upos --template pos --model pos.model

  # Parts of speech and morphology in one label; `tag` fills both columns
  dropchain train en-train.conllu --label upos+feats --template pos \\
      --states observed --model morph.model

  # Your own template, named columns, sparse weights
  dropchain train train.txt --columns word,pos,chunk --template my.tpl \\
      --l1 0.5 --model m.model

  # Word clusters from your own unlabeled text, and a list of names
  dropchain train train.conll --dev dev.conll --template ner --model ner.model \\
      --clusters texts.txt --gazetteers cities.txt

  # Continue with more data; or adapt a model, tied to the old weights
  dropchain train new.conll --init ner.model --model ner.model
  dropchain train tweets.conll --dev dev.conll --towards ner.model --l2 1 \\
      --model new.model

  # Options from a file; repeat the run of a model
  dropchain train --config ner.options
  dropchain inspect ner.model --config > ner.options

  # Pre-extracted attributes in CRFsuite's format; the same model as CRFsuite
  dropchain train train.crfsuite --states observed --boundary off \\
      --dropout 0 --l2 1 --model m.model

Built-in templates: minimal, chunk, pos, ner, ner-document, ner-two-passes, ner-finkel,
ner-finkel-edges, pos-sancl.

Ctrl-C stops training and saves the best model so far; before the first iteration it leaves an old
model as it is. Of two passes (ner-two-passes) the first alone is saved if the second has none.

Exit codes: 0 done; 1 failed; 2 invalid arguments; 3 written, but training did not converge; 4 the
objective is not finite; 130, 143, 129 ended by SIGINT, SIGTERM, SIGHUP.")]
pub struct TrainCommand {
    /// Training files; `-` is standard input, .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// Feature template: a file, or a built-in name [default: ner, chunk or pos, by the labels]
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<FileName>,
    #[command(flatten)]
    template_limits: TemplateLimits,
    #[command(flatten)]
    model: ModelArgument,
    /// Development data for early stopping and model selection: files, or a share such as 10% of
    /// the training data
    ///
    /// The iteration with the highest mean of five scores, its own and those of the four before
    /// it, is kept; training stops early when the mean no longer improves (--patience). A share is
    /// held out of the training files: whole documents if they mark enough of them, else blocks of
    /// adjacent sentences, chosen by --seed. May be repeated; ./10% is a file of this name.
    #[arg(long, value_name = "FILE|SHARE")]
    dev: Vec<FileName>,
    /// Train on this share of the training data, such as 25%, for a learning curve
    ///
    /// Whole documents if there are at least 100, else blocks of adjacent sentences, chosen by
    /// --seed, so that 10% is part of 25%. Development data that are held out stay the same.
    /// `report` plots the scores of such runs by their number of sentences.
    #[arg(long, value_name = "SHARE", value_parser = fraction, hide_long_help = true)]
    fraction: Option<f64>,
    /// Write a log in JSON lines to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArguments,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    checkpoint: CheckpointArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    document: DocumentArguments,
    #[command(flatten)]
    init: InitArguments,
    #[command(flatten)]
    searched: SearchedOptions,
    #[command(flatten)]
    training: TrainingArguments,
}

/// What to try when there were no development data.
const WITHOUT_DEV: &str = "tip: `--dev 10%` holds out a tenth of the sentences, to stop early and \
                           keep an iteration by its scores on them";

/// The notice that there is a better use of unlabeled text.
const INSTEAD_OF_UNLABELED: &str = "--unlabeled rarely gains: --clusters of the same files \
                                    usually gains more, and trains faster (docs/knowledge.md)";

/// Parses a share of the training data.
fn fraction(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse().ok());
    let percent = percent.filter(|percent: &f64| *percent > 0.0 && *percent <= 100.0);
    let percent = percent.ok_or("expected more than 0% and at most 100%, such as 25%")?;
    Ok(percent / 100.0)
}

/// A training run that is about to begin, with all that it reads.
struct PreparedRun<'m> {
    trainer: Trainer<'m>,
    corpora: TrainingCorpora,
    template: Option<Template>,
    sources: Vec<Source>,
    // What the first rank writes.
    file: Option<ResultFile>,
    log: Option<Log>,
}

impl TrainCommand {
    pub fn run(&self) -> CommandResult {
        self.run_in(&Team::default())
    }

    /// Reads, decides, trains and writes, with the other ranks of a team, of which the first prints
    /// and writes. Steps that a rank does by itself fail on all ranks if they fail on one.
    pub fn run_in(&self, team: &Team) -> CommandResult {
        let progress = Progress::new(self.quiet || !team.is_first());
        let open = team.agree(self.open(team))?;
        let models = base_models(&open);
        let run = team.agree(self.prepare(models, team, &progress))?;
        team.check_same(|| self.inputs(&models, &run))?;
        self.print_notices(&models, &run, &progress);
        let PreparedRun { trainer, corpora, template, sources, file, log } = run;
        let trainer = team.ranks().cloned().into_iter().fold(trainer, Trainer::ranks);
        let header = Header {
            sources,
            config: Some(json!(self.config.effective)),
            ..Header::new(self.train.iter().map(ToString::to_string).collect())
        };
        let mut reporter = TrainingReporter::new(&progress, log, header);
        let has_exact_gradient = trainer.settings().regularization().noise.has_exact_gradient();
        let trained = team.trained(trainer.train(corpora, template, &mut reporter))?;
        let written = match file {
            Some(file) => self.write(&trained, file, reporter, has_exact_gradient, &progress),
            None => Ok(()), // the first rank writes
        };
        team.follow_first(written)
    }

    /// Writes the model and the end of the log, and says what became of them.
    fn write(
        &self,
        trained: &Trained,
        file: ResultFile,
        reporter: TrainingReporter<'_>,
        has_exact_gradient: bool,
        progress: &Progress,
    ) -> CommandResult {
        let fate = self.save(trained, file, progress)?;
        reporter.log.finish()?;
        let end = (trained.end.reason, trained.end.iterations);
        training_result(end, trained.is_first_pass, has_exact_gradient, &fate)?;
        check_labels(&trained.model, &fate)
    }

    /// Opens the models that training continues from.
    fn open(&self, team: &Team) -> CommandResult<[Option<Model>; 2]> {
        let corpora = self.training.corpus_files(&self.train, &self.dev);
        team.check_no_stdin(corpora.clone())?;
        team.check_no_stdin(self.training.knowledge.files().iter())?;
        self.config.check_stdin(corpora)?;
        Ok(self.init.open()?)
    }

    /// Returns what must be the same on all ranks.
    fn inputs(&self, models: &BaseModels<'_>, run: &PreparedRun<'_>) -> Result<Inputs> {
        let TrainingCorpora { labeled, dev, unlabeled, held_out: _ } = &run.corpora;
        let inputs = Inputs::default()
            .options(&json!(self.config.effective))
            .template(run.template.as_ref())
            .models(models)?
            .corpus(labeled);
        Ok(dev.iter().chain([unlabeled]).fold(inputs, Inputs::corpus))
    }

    /// Checks the options, reserves the outputs if this rank writes them, and reads.
    fn prepare<'m>(
        &self,
        models: BaseModels<'m>,
        team: &Team,
        progress: &Progress,
    ) -> CommandResult<PreparedRun<'m>> {
        let trainer = Trainer::new(self.training.options(&models, self.searched.clone())?)?;
        models.check(trainer.settings())?;
        team.check_learner(trainer.settings().learner())?;
        self.training.share_of_dev(&self.dev)?;
        let has_noise = trainer.settings().has_noise();
        self.training.check(has_noise, self.searched.gradient.as_deref())?;
        let input = match models.first() {
            Some(model) if self.template.is_none() && model.header().template.is_none() => {
                self.input.with_attributes(&self.train, model)
            }
            _ => self.input.clone(),
        };
        let template = load_template(
            self.template.as_ref(),
            self.template_limits,
            &self.train,
            &input,
            &models,
        )?;
        let template = self.document.apply_to_template(template, progress)?;
        if team.is_first() {
            self.check_files(template.as_ref())?;
        }
        interrupt::watch();
        let file = team.is_first().then(|| ResultFile::new(&self.model.path(&self.train)));
        let file = file.transpose()?;
        let log = self.log.as_ref().filter(|_| team.is_first()).map(Log::create).transpose()?;
        self.threads.start_pool()?;
        let mut trainer = trainer.interrupt(interrupt::flag()).memory(self.input.limits.memory());
        trainer = trainer.models(models);
        trainer = self.checkpoint.checkpoints().into_iter().fold(trainer, Trainer::checkpoints);
        let corpora = self.read_corpora(&trainer, &input, progress)?;
        let template = if models.is_empty() {
            let detector = trainer.settings().options().labels.detector();
            let template = template_by_labels(template, &corpora.labeled, &detector, progress)?;
            match self.document.document {
                Some(_) => self.document.apply_to_template(template, progress)?,
                None => template_for(template, &corpora.labeled, progress)?,
            }
        } else {
            template
        };
        check_attributes(template.as_ref(), &corpora.labeled)?;
        let knowledge = self.training.knowledge.read(&input, progress)?;
        let template = self.training.knowledge.attach(&knowledge, template)?;
        progress.println_all(self.config.changed(&corpora.files(template.as_ref())));
        // The parts of knowledge serialize to the fields of sources.
        let sources = knowledge.parts.iter();
        let sources = sources.filter_map(|part| serde_json::from_value(json!(part)).ok());
        Ok(PreparedRun { trainer, corpora, template, sources: sources.collect(), file, log })
    }

    fn read_corpora(
        &self,
        trainer: &Trainer<'_>,
        input: &InputArguments,
        progress: &Progress,
    ) -> Result<TrainingCorpora> {
        let options = trainer.settings().options();
        let dev = (&self.dev[..], options.seed);
        let mut corpora = self.training.read_corpora(&self.train, dev, input, progress)?;
        if let Some(fraction) = self.fraction {
            corpora = corpora.keep(fraction, options.seed)?;
        }
        if corpora.dev.is_none() && options.max_iterations.is_none() {
            progress.println("no development data: trains to convergence");
        }
        Ok(corpora)
    }

    /// Says which options have no effect.
    fn print_notices(&self, models: &BaseModels<'_>, run: &PreparedRun<'_>, progress: &Progress) {
        progress.println_all(notice_of_template(models, run.template.as_ref()));
        if self.training.has_unlabeled() && self.training.knowledge.files().clusters.is_empty() {
            progress.println(INSTEAD_OF_UNLABELED);
        }
        // The seed chooses what is held out, and fractions.
        let is_held_out = matches!(self.training.share_of_dev(&self.dev), Ok(Some(_)));
        let is_used = is_held_out || self.fraction.is_some();
        let seed = self.searched.seed_of_noise().filter(|_| !is_used);
        progress.println_all(self.training.notice_of_seed(seed));
    }

    /// Checks what is read and written.
    fn check_files(&self, template: Option<&Template>) -> Result<()> {
        let files = self.training.corpus_files(&self.train, &self.dev);
        let files = CommandFiles::default()
            .read(files.clone())
            .read(other_files(self.input.format, files))
            .read(template_files(self.template.as_ref(), template))
            .read(self.training.knowledge.files().iter())
            .read(&self.config.config)
            .read_models(self.init.files());
        self.model
            .declare(files, &self.train, self.log.as_deref())
            .write_checkpoint(self.checkpoint.checkpoint.as_deref(), self.checkpoint.resume)
            .check()
    }

    /// Writes the model, if anything was learned, and says what became of it.
    fn save(&self, trained: &Trained, file: ResultFile, progress: &Progress) -> Result<String> {
        progress.clear();
        let path = self.model.path(&self.train);
        let model = path.display();
        let iteration = trained.end.best_iteration;
        let is_base = |base: &Path| same_file::is_same_file(base, &path).unwrap_or(false);
        let fate = if !trained.end.has_result() {
            format!("{model} was not written")
        } else if trained.is_first_pass && self.init.files().any(is_base) {
            format!("{model} was not written, since it has both passes of the model to continue")
        } else {
            ConfigArguments::save(&trained.model, &json!(self.config.effective), file)?;
            progress.println(&format!("wrote {model}"));
            if progress.is_terminal() {
                progress.println(&format!(
                    "next: `dropchain tag {model} FILE` tags text, `dropchain eval {model} FILE` \
                     scores it on test data"
                ));
                progress.println_all(self.dev.is_empty().then(|| WITHOUT_DEV.to_owned()));
            }
            let what = match trained.is_first_pass {
                true => "the first pass alone, with its weights",
                false => "the weights",
            };
            format!("{model} has {what} of iteration {iteration}")
        };
        if interrupt::received().is_none() {
            self.checkpoint.checkpoint.as_ref().map_or(Ok(()), atomic_file::remove)?;
        } else if self.checkpoint.checkpoint.is_some() {
            progress.println("to continue training, repeat the command with --resume");
        }
        Ok(fate)
    }
}

/// Checks that there was something to learn.
fn check_labels(model: &Model, fate: &str) -> CommandResult {
    let [label] = model.header().labels.names() else { return Ok(()) };
    Err(CommandError::NotConverged(format!(
        "nothing could be learned: all tokens have the label '{}' (is this the label column? \
         choose it with --label); {fate}",
        label.escape_debug()
    )))
}
