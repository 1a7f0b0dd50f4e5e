//! `dropchain tag`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use dropchain::corpus::{Format, Reader, WriteOptions};
use dropchain::kernel::corpus::check_regular;
use dropchain::label::Scheme;
use dropchain::tag::{TagOptions, Tagger};
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;
use dropchain_layout::counted;
use dropchain_options::{LabelOptions, named};

use crate::tag_input::{ForcedArguments, TagInputArguments, TaggerArguments};
use crate::tag_output::{OutputFiles, OutputName, OutputStreams, TagOutputArguments};
use crate::tagging_pipeline::{TaggingPipeline, Totals, UncertainArguments};
use crate::{CommandFiles, CommandResult, FileName, Switch, interrupt, notice_unless};

/// The name of the output in error messages.
const OUTPUT: &str = "standard output";

/// Tag text or pre-tokenized sentences with a model
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain tag ner.model test.conll > test.tagged     # appends the labels
  dropchain tag pos.model en-test.conllu --output conllu > tagged.conllu
  dropchain tag ner.model news.txt --output jsonl --marginals --nbest 3 | jq .
  dropchain tag ner.model partly.conll --forced label  # completes labels (_)
  dropchain tag ner.model news.txt --output html --marginals > news.html
  dropchain tag ner.model news.txt --output inline --threshold PER=0.9,LOC=0.6
  dropchain tag ner.model pool.txt --uncertain 100 --diverse     # worth labeling next
  dropchain tag ner.model texts --output-dir tagged --skip-existing --keep-going

Output is in input order and streams: each sentence is written as soon as it is tagged. If the model
looks at documents (template ner-document), a sentence waits until its document ends or
the 1000 tokens after it were read; --document sentence answers at once. Labels are in the
scheme of the training corpus.")]
pub struct TagCommand {
    /// Model file
    model: PathBuf,
    #[command(flatten)]
    input: TagInputArguments,
    /// Predict only label sequences that are valid in the label scheme
    #[arg(long, value_enum, default_value = "on", hide_short_help = true)]
    constrain: Switch,
    #[command(flatten)]
    forced: ForcedArguments,
    #[command(flatten)]
    output: TagOutputArguments,
    #[command(flatten)]
    uncertain: UncertainArguments,
    /// Output labels in this scheme; `raw` keeps those of the model
    #[arg(long, value_parser = named::<Scheme>(), hide_short_help = true)]
    scheme: Option<Scheme>,
    #[command(flatten)]
    tagger: TaggerArguments,
    #[command(flatten)]
    labels: LabelOptions,
}

impl TagCommand {
    pub fn run(&self) -> CommandResult {
        self.input.check("tag", &self.model)?;
        let inputs = self.input.files()?;
        let goes_on = self.output.keep_going; // it names what is missing at the end
        CommandFiles::default()
            .read([&self.model])
            .read(inputs.iter().filter(|file| !goes_on || AsRef::<Path>::as_ref(file).exists()))
            .read(self.input.other_files())
            .check()?;
        self.output.check(inputs.len())?;
        self.tagger.threads.check_stacks()?;
        let tagger = self.tagger.open(&self.model, &self.labels, self.input.quiet)?;
        self.check_scheme(&tagger)?;
        if let Some(threshold) = &self.output.threshold {
            threshold.check(tagger.model().header())?;
        }
        let batch = match &self.output.output_dir {
            Some(directory) => Some(self.write_files(&tagger, &inputs, directory)?),
            None => {
                let input = self.open(&tagger, &inputs)?;
                let name = OUTPUT.to_owned();
                let streams = OutputStreams { out: io::stdout(), name, text: None };
                let totals = self.write(&tagger, input, inputs.len() > 1, streams)?;
                self.warn_of_forced(&totals);
                None
            }
        };
        self.input.text.print_notices(self.input.quiet);
        let Some(batch) = batch else { return Ok(()) };
        self.warn_of_forced(&batch.totals);
        notice_unless(self.input.quiet, &batch.summary());
        batch.end()
    }

    /// Warns if labels were to be kept, but no sentence had known ones.
    fn warn_of_forced(&self, Totals { sentences, conditions, .. }: &Totals) {
        let [sentences, known] = [sentences, conditions].map(|n| n.load(Ordering::Relaxed));
        let names = self.forced.forced.join(",");
        if !names.is_empty() && sentences > 0 && known == 0 {
            let fault = "no sentence of the input has known labels there";
            notice_unless(self.input.quiet, &format!("warning: --forced {names}: {fault}"));
        }
    }

    /// Tags each input to its own files in a directory.
    fn write_files(
        &self,
        tagger: &Tagger,
        inputs: &[FileName],
        directory: &Path,
    ) -> Result<TagBatch> {
        let mut batch = TagBatch::start(self.output.keep_going);
        let mut named = Vec::with_capacity(inputs.len());
        for input in inputs {
            let format = batch.check(input, self.output_format(tagger, input))?;
            named.extend(format.map(|format| (input.clone(), format)));
        }
        let all = OutputFiles::in_directory(directory, &self.output, &self.model, &named)?;
        for ((input, _), files) in named.iter().zip(&all) {
            let is_other = |(_, format)| format != Format::Text.into();
            let input_files = slice::from_ref(input);
            if files.is_own_text && self.open(tagger, input_files).is_ok_and(is_other) {
                return Err(Error::parameter(format!(
                    "--output-dir: the text of the annotations of {input} would replace {input}; \
                     expected a different directory"
                )));
            }
        }
        interrupt::watch();
        interrupt::set_advice(
            "the files written so far are complete; --skip-existing goes on after them".to_owned(),
        );
        for ((input, _), files) in named.iter().zip(&all) {
            if self.output.skip_existing && files.main.exists() {
                batch.skipped += 1;
                continue;
            }
            let totals = self.open(tagger, slice::from_ref(input)).and_then(|(reader, format)| {
                files.write(reader, format, |reader, streams| {
                    self.write(tagger, (reader, format), false, streams)
                })
            });
            if let Some(totals) = batch.check(input, totals)? {
                batch.add(&totals);
            }
        }
        Ok(batch)
    }

    /// Returns the format of the output of a file.
    fn output_format(&self, tagger: &Tagger, input: &FileName) -> Result<OutputName> {
        match self.output.output {
            Some(format) => Ok(format),
            None => {
                if &**input != "-" {
                    check_regular(input.as_ref())?; // a pipe cannot be read twice
                }
                let mut quiet = self.input.clone();
                quiet.quiet = true;
                let (input, limits) = (slice::from_ref(input), &self.tagger.limits);
                let (_, format) = quiet.open(input, tagger, &self.forced, limits)?;
                Ok(self.output.format(format))
            }
        }
    }

    fn open(&self, tagger: &Tagger, inputs: &[FileName]) -> Result<(Reader, InputFormat)> {
        self.input.open(inputs, tagger, &self.forced, &self.tagger.limits)
    }

    /// Tags what a reader has of input in a format; `files`: of several files.
    fn write<W: Write + Send>(
        &self,
        tagger: &Tagger,
        (reader, format): (Reader, InputFormat),
        files: bool,
        streams: OutputStreams<W>,
    ) -> Result<Totals> {
        let header = tagger.model().header();
        let output = self.output.format(format);
        let (tag_options, threshold) = self.output.tag_options(output);
        let pipeline = TaggingPipeline {
            tagger,
            options: TagOptions { constrain: self.constrain.is_on(), ..tag_options },
            write: WriteOptions { files, ..self.output.write_options(output, &self.model, header) },
            threshold,
            labeling: match self.scheme {
                Some(Scheme::Raw) => header.labeling.clone(),
                Some(scheme) => scheme.into(),
                None => header.corpus_labeling.clone(),
            },
            forced: &self.forced,
            format,
            threads: self.tagger.threads.count(),
            totals: Totals::default(),
            uncertain: self.uncertain.chosen(self.tagger.limits.memory(), output)?,
        };
        pipeline.run(reader, streams)?;
        Ok(pipeline.totals)
    }

    /// Rejects a scheme for labels that encode no spans: all of them would become O.
    fn check_scheme(&self, tagger: &Tagger) -> Result<()> {
        match self.scheme {
            None | Some(Scheme::Raw) => Ok(()),
            Some(_) if tagger.model().header().encodes_spans() => Ok(()),
            Some(scheme) => Err(Error::parameter(format!(
                "--scheme {scheme}: the labels of the model encode no spans (B-X, I-X, …); omit \
                 this option"
            ))),
        }
    }
}

/// What has become of the input files so far.
struct TagBatch {
    start: Instant,
    keeps_going: bool,
    files: usize,   // that were tagged
    skipped: usize, // whose output exists
    totals: Totals,
    failed: Vec<String>,
}

impl TagBatch {
    /// Starts a batch; `keeps_going`: an input file with an error does not end it.
    fn start(keeps_going: bool) -> Self {
        let (start, failed) = (Instant::now(), Vec::new());
        Self { start, keeps_going, files: 0, skipped: 0, totals: Totals::default(), failed }
    }

    /// Returns the result of a step of the work on an input file, if it went well.
    ///
    /// # Errors
    ///
    /// The error of the step, unless the batch goes on.
    fn check<T>(&mut self, input: &FileName, step: Result<T>) -> Result<Option<T>> {
        match step {
            Ok(result) => Ok(Some(result)),
            Err(error) if self.keeps_going => {
                let message = error.to_string();
                let is_named = message.starts_with(&**input);
                self.failed.push(if is_named { message } else { format!("{input}: {message}") });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Adds an input file that was tagged.
    fn add(&mut self, totals: &Totals) {
        self.files += 1;
        let Totals { sentences, tokens, conditions } = &mut self.totals;
        *sentences.get_mut() += totals.sentences.load(Ordering::Relaxed);
        *tokens.get_mut() += totals.tokens.load(Ordering::Relaxed);
        *conditions.get_mut() += totals.conditions.load(Ordering::Relaxed);
    }

    /// Says how much was tagged.
    fn summary(&self) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let [sentences, tokens] =
            [&self.totals.sentences, &self.totals.tokens].map(|n| n.load(Ordering::Relaxed));
        let rate = tokens as f64 / seconds.max(1e-3);
        let mut text = format!(
            "tagged {}: {sentences} sentences, {tokens} tokens in {seconds:.1} s \
             ({rate:.0} tokens/s)",
            counted(self.files, "file")
        );
        if self.skipped > 0 {
            text += &format!("; {} skipped, whose output exists", self.skipped);
        }
        text
    }

    /// Ends the batch.
    ///
    /// # Errors
    ///
    /// Lists the input files that failed.
    fn end(self) -> CommandResult {
        if self.failed.is_empty() {
            return Ok(());
        }
        let all = self.files + self.skipped + self.failed.len();
        let message = format!("{} of {} failed\n", self.failed.len(), counted(all, "file"));
        Err(Error::parameter(message + &self.failed.join("\n")).into())
    }
}
