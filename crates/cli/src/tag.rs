//! `dropchain tag`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{Format, Reader, WriteOptions};
use dropchain::label::Scheme;
use dropchain::tag::{TagOptions, Tagger};
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;
use dropchain_options::{LabelOptions, named};

use crate::arguments::{FileName, LimitArguments, Switch, ThreadArguments};
use crate::outputs::CommandFiles;
use crate::tag_input::{ForcedArguments, TagInputArguments, open_tagger};
use crate::tag_output::{OutputFiles, OutputName, OutputStreams, TagOutputArguments};
use crate::tagging_pipeline::{TaggingPipeline, UncertainArguments};
use crate::template_arguments::DocumentArguments;
use crate::{CommandResult, interrupt};

/// The name of the output in error messages.
const OUTPUT: &str = "standard output";

/// Tag text or pre-tokenized sentences with a model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain tag ner.model test.conll > test.tagged")]
#[command(after_long_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain tag ner.model test.conll > test.tagged     # appends the labels
  dropchain tag pos.model en-test.conllu --output conllu > tagged.conllu
  dropchain tag ner.model news.txt --output jsonl --marginals --nbest 3 | jq .
  dropchain tag ner.model partly.conll --forced label  # completes labels (_)
  dropchain tag ner.model news.txt --output html --marginals > news.html
  dropchain tag ner.model pool.txt --uncertain 100     # worth labeling next
  dropchain tag ner.model *.txt --output brat --output-dir annotated

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
    threads: ThreadArguments,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    document: DocumentArguments,
    #[command(flatten)]
    labels: LabelOptions,
}

impl TagCommand {
    pub fn run(&self) -> CommandResult {
        self.input.check("tag", &self.model)?;
        let inputs = self.input.files();
        CommandFiles::default()
            .read([&self.model])
            .read(&inputs)
            .read(self.input.other_files())
            .check()?;
        self.output.check(inputs.len())?;
        self.threads.check_stacks()?;
        let tagger = self.labels.apply_to_tagger(open_tagger(&self.model)?)?;
        let tagger = tagger.with_memory_limit(self.limits.memory());
        let tagger = self.document.apply_to_tagger(tagger)?;
        self.check_scheme(&tagger)?;
        match (&self.output.output_dir, self.output.output) {
            (Some(directory), Some(format)) => {
                self.write_files(&tagger, &inputs, directory, format)?;
            }
            _ => {
                let (reader, format) = self.open(&tagger, &inputs)?;
                let streams =
                    OutputStreams { out: io::stdout(), name: OUTPUT.to_owned(), text: None };
                self.write(&tagger, reader, format, streams)?;
            }
        }
        self.input.print_notices();
        Ok(())
    }

    /// Tags each input to its own files in a directory.
    fn write_files(
        &self,
        tagger: &Tagger,
        inputs: &[FileName],
        directory: &Path,
        format: OutputName,
    ) -> Result<()> {
        let force = self.output.force;
        let all = OutputFiles::in_directory(directory, force, inputs, &self.model, format)?;
        let open = |i: usize| self.open(tagger, &inputs[i..=i]);
        for (i, files) in all.iter().enumerate() {
            if files.is_own_text && open(i)?.1 != Format::Text.into() {
                return Err(Error::parameter(format!(
                    "--output-dir: the text of the annotations of {0} would replace {0}; expected \
                     a different directory",
                    inputs[i]
                )));
            }
        }
        interrupt::watch();
        interrupt::set_advice("the files written so far are complete".to_owned());
        for (i, files) in all.iter().enumerate() {
            let (reader, format) = open(i)?;
            files.write(reader, format, |reader, streams| {
                self.write(tagger, reader, format, streams)
            })?;
        }
        Ok(())
    }

    fn open(&self, tagger: &Tagger, inputs: &[FileName]) -> Result<(Reader, InputFormat)> {
        self.input.open(inputs, tagger, &self.forced, &self.limits)
    }

    /// Tags what a reader has of input in this format.
    fn write<W: Write + Send>(
        &self,
        tagger: &Tagger,
        reader: Reader,
        format: InputFormat,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        let header = tagger.model().header();
        let output = self.output.format(format);
        let options = WriteOptions {
            files: self.output.output_dir.is_none() && self.input.files().len() > 1,
            ..self.output.write_options(output, &self.model, header)
        };
        let has_probability = self.output.marginals || self.output.nbest > 1;
        let pipeline = TaggingPipeline {
            tagger,
            options: TagOptions {
                constrain: self.constrain.is_on(),
                marginals: self.output.marginals,
                nbest: self.output.nbest as usize,
                probability: output == OutputName::Jsonl && has_probability,
            },
            labeling: match self.scheme {
                Some(Scheme::Raw) => header.labeling.clone(),
                Some(scheme) => scheme.into(),
                None => header.corpus_labeling.clone(),
            },
            forced: &self.forced,
            format,
            threads: self.threads.count(),
        };
        match self.uncertain.collector(self.limits.memory(), output)? {
            None => pipeline.run(reader, &options, streams),
            Some(uncertain) => uncertain.choose(&pipeline, reader, &options, streams),
        }
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
