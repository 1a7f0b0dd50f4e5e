//! `dropchain tag`

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, OutputFormat, Reader, WriteOptions, Writer};
use dropchain::label::Scheme;
use dropchain::tag::{
    Batch, NamedTagging, TagInput, TagOptions, Tagger, Tagging, Workspace, stream_documents,
};
use dropchain::{Error, Result, Sentence};

use super::CommandResult;
use super::arguments::{LimitArguments, SchemeName, Switch, ThreadArguments};
use super::document_arguments::DocumentArguments;
use super::forced_arguments::ForcedArguments;
use super::outputs::CommandFiles;
use super::tag_input::TagInputArguments;

/// The name of the output in error messages.
const OUTPUT: &str = "standard output";

/// Tag text or pre-tokenized sentences with a model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain tag ner.model test.conll > test.tagged     # appends the labels
  dropchain tag pos.model en-test.conllu --output conllu > tagged.conllu
  dropchain tag ner.model news.txt --output jsonl --marginals --nbest 3 | jq .
  dropchain tag ner.model partly.conll --forced label  # completes labels (_)

Output is in input order and streams: each sentence is written as soon as it is tagged. If the model
looks at documents (template ner-document), a sentence waits until its document ends or
--document-window tokens after it were read; --document sentence answers at once. Labels are in the
scheme of the training corpus.")]
pub struct TagCommand {
    /// Model file
    model: PathBuf,
    #[command(flatten)]
    input: TagInputArguments,
    /// Output format [default: the input format, or conll for raw text]
    #[arg(long, value_enum)]
    output: Option<OutputName>,
    /// Output the probability of each label at each token
    #[arg(long)]
    marginals: bool,
    /// Output the N best label sequences, with scores and probabilities
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nbest: u32,
    /// Predict only label sequences that are valid in the label scheme
    #[arg(long, value_enum, default_value = "on")]
    constrain: Switch,
    #[command(flatten)]
    forced: ForcedArguments,
    /// Output labels in this scheme; `raw` keeps those of the model
    #[arg(long, value_enum)]
    scheme: Option<SchemeName>,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    document: DocumentArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputName {
    /// The input columns, followed by the label
    Conll,
    /// CoNLL-U with the label in its column
    Conllu,
    /// One JSON object per sentence, with spans and offsets
    Jsonl,
    /// Marked-up text: [PER Ada Lovelace] lived in [LOC London].
    Inline,
}

impl TagCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::new(false)
            .read([&self.model])
            .read(self.input.files())
            .check()?;
        self.threads.check_stacks()?;
        let tagger = Tagger::open(&self.model)?.with_memory_limit(self.limits.memory());
        let tagger = self.document.apply_to_tagger(tagger)?;
        self.check_scheme(&tagger)?;
        let header = tagger.model().header();
        let label = header.label_name().unwrap_or("label");
        let (reader, format) = self.input.open(header, &self.forced, &self.limits)?;
        let write_options = WriteOptions {
            spans: header.encodes_spans(),
            label: label.to_owned(),
            ..WriteOptions::new(self.output_format(format))
        };
        let has_probability = self.marginals || self.nbest > 1;
        let pipeline = TaggingPipeline {
            scheme: match self.scheme {
                Some(SchemeName::Raw) => header.scheme,
                Some(scheme) => scheme.into(),
                None => header.corpus_scheme,
            },
            options: TagOptions {
                constrain: self.constrain.is_on(),
                marginals: self.marginals,
                nbest: self.nbest as usize,
                probability: write_options.format == OutputFormat::Jsonl && has_probability,
            },
            forced: self.forced.clone(),
            format,
            tagger,
        };
        pipeline.run(reader, &write_options, self.threads.count())
    }

    fn output_format(&self, input: Format) -> OutputFormat {
        match self.output {
            Some(OutputName::Conll) => OutputFormat::Conll,
            Some(OutputName::Conllu) => OutputFormat::Conllu,
            Some(OutputName::Jsonl) => OutputFormat::Jsonl,
            Some(OutputName::Inline) => OutputFormat::Inline,
            None => match input {
                Format::Text | Format::Conll | Format::Crfsuite => OutputFormat::Conll,
                Format::Conllu => OutputFormat::Conllu,
                Format::Jsonl => OutputFormat::Jsonl,
            },
        }
    }

    /// Rejects a scheme for labels that encode no spans: all of them would become O.
    fn check_scheme(&self, tagger: &Tagger) -> Result<()> {
        match self.scheme {
            None | Some(SchemeName::Raw) => Ok(()),
            Some(_) if tagger.model().header().encodes_spans() => Ok(()),
            Some(scheme) => Err(Error::parameter(format!(
                "--scheme {}: the labels of the model encode no spans (B-X, I-X, …); omit this \
                 option",
                Scheme::from(scheme)
            ))),
        }
    }
}

/// Reads, tags and writes a stream of sentences.
struct TaggingPipeline {
    tagger: Tagger,
    options: TagOptions,
    scheme: Scheme,
    forced: ForcedArguments,
    format: Format,
}

impl TaggingPipeline {
    fn tag(
        &self,
        sentence: &Sentence,
        input: TagInput<'_>,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        match self.forced.condition(sentence, self.format)? {
            None => self.tagger.tag_with(input, self.options, workspace),
            Some(condition) => (self.tagger).tag_given(input, &condition, self.options, workspace),
        }
    }

    fn run(&self, reader: Reader, options: &WriteOptions, threads: usize) -> CommandResult {
        // Report invalid output options before reading anything.
        Writer::new(io::sink(), OUTPUT, options.clone())?;
        let tag = |batch: &Batch, workspace: &mut Workspace, text: &mut Vec<u8>| {
            let options = WriteOptions {
                separator: batch.separator,
                ..options.clone()
            };
            let mut writer = Writer::new(text, OUTPUT, options)?;
            writer.begin_document(batch.new_document);
            let documents = batch.documents();
            for (i, sentence) in batch.sentences.iter().enumerate() {
                let tagging = self.tag(sentence, documents.input(i), workspace)?;
                let tagging = NamedTagging::new(&self.tagger, tagging, self.scheme);
                writer.write(&tagging.tagged(sentence))?;
            }
            Ok(())
        };
        let documents = self.tagger.context();
        stream_documents(reader, documents, threads, io::stdout(), tag, |error| {
            Error::io(OUTPUT, error)
        })?;
        Ok(())
    }
}
