//! `dropchain tag`

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dropchain::corpus::{
    CONLLU_COLUMNS, Format, OutputFormat, ReadOptions, Reader, WriteOptions, Writer,
};
use dropchain::label::Scheme;
use dropchain::tag::{Batch, TagOptions, Tagger, Workspace, stream};
use dropchain::{Error, Result};

use super::Outcome;
use super::arguments::{FormatName, SchemeName, Switch, Threads};
use super::shown::Shown;

/// What errors call the output.
const OUTPUT: &str = "standard output";

/// Tag text or sentences with a model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain tag ner.model test.conll > test.tagged          # columns, and the label as one more
  dropchain tag pos.model en-test.conllu --output conllu > tagged.conllu
  dropchain tag ner.model news.txt --output jsonl --marginals --nbest 3 | jq .

Output comes in the order of the input, a sentence as soon as it is read. Labels are in the
scheme of the training corpus.")]
pub struct Arguments {
    /// The model
    model: PathBuf,
    /// Input files; without any, or `-`, standard input
    #[arg(value_name = "INPUT")]
    input: Vec<String>,
    /// Format of the input; without it, what the file name says (.conllu, .jsonl, .crfsuite, .conll,
    /// .bio, .tsv), else raw text
    #[arg(long, value_enum)]
    format: Option<FormatName>,
    /// Format of the output; without it, that of the input (conll for raw text)
    #[arg(long, value_enum)]
    output: Option<OutputName>,
    /// Names of the columns of CoNLL input, if they are not those of the training corpus
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Option<Vec<String>>,
    /// Lines of CoNLL input that begin with `#` are comments, not tokens
    #[arg(long)]
    comments: bool,
    /// Give the probability of each label of each token
    #[arg(long)]
    marginals: bool,
    /// Give the N best label sequences with scores and probabilities
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nbest: u32,
    /// Predict only label sequences that the scheme allows
    #[arg(long, value_enum, default_value = "on")]
    constrain: Switch,
    /// Give labels in this scheme; raw: the model's own labels
    #[arg(long, value_enum)]
    scheme: Option<SchemeName>,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputName {
    /// The columns of the input, and the label as one more
    Conll,
    /// CoNLL-U with the label in its column
    Conllu,
    /// A JSON object for each sentence, with spans and offsets
    Jsonl,
    /// [PER Ada Lovelace] lived in [LOC London].
    Inline,
}

impl Arguments {
    fn inputs(&self) -> Vec<String> {
        if self.input.is_empty() {
            vec!["-".to_owned()]
        } else {
            self.input.clone()
        }
    }

    /// The format of all inputs.
    fn format(&self, inputs: &[String]) -> Result<Format> {
        if let Some(format) = self.format {
            return Ok(format.into());
        }
        let guess = |file: &String| {
            let name = file.to_ascii_lowercase();
            let name = name.strip_suffix(".gz").unwrap_or(&name);
            let columns = [".conll", ".bio", ".tsv"];
            match Format::guess(file) {
                Format::Conll if !columns.iter().any(|c| name.ends_with(c)) => Format::Text,
                format => format,
            }
        };
        let first = guess(&inputs[0]);
        if let Some(other) = inputs.iter().find(|file| guess(file) != first) {
            return Err(Error::parameter(format!(
                "{} looks like {first}, {other} like {}; say with --format which it is",
                inputs[0],
                guess(other)
            )));
        }
        Ok(first)
    }

    fn output(&self, format: Format) -> OutputFormat {
        match self.output {
            Some(OutputName::Conll) => OutputFormat::Conll,
            Some(OutputName::Conllu) => OutputFormat::Conllu,
            Some(OutputName::Jsonl) => OutputFormat::Jsonl,
            Some(OutputName::Inline) => OutputFormat::Inline,
            None => match format {
                Format::Text | Format::Conll | Format::Crfsuite => OutputFormat::Conll,
                Format::Conllu => OutputFormat::Conllu,
                Format::Jsonl => OutputFormat::Jsonl,
            },
        }
    }

    /// Labels that write no spans would all become O in another scheme.
    fn check_scheme(&self, tagger: &Tagger) -> Result<()> {
        match self.scheme {
            None | Some(SchemeName::Raw) => Ok(()),
            Some(_) if tagger.model().header().labels.encodes_spans() => Ok(()),
            Some(scheme) => Err(Error::parameter(format!(
                "--scheme {}: the labels of the model write no spans (B-X, I-X, …); leave the option \
                 out",
                Scheme::from(scheme)
            ))),
        }
    }

    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let tagger = Tagger::open(&self.model)?;
        self.check_scheme(&tagger)?;
        let inputs = self.inputs();
        let format = self.format(&inputs)?;
        let header = tagger.model().header();
        let label = header.label_name().unwrap_or("label");
        let reading = read_options(&tagger, format, self.columns.as_deref(), self.comments);
        let reader = Reader::open(&inputs, &reading)?;
        let options = WriteOptions {
            spans: header.labels.encodes_spans(),
            label: label.to_owned(),
            ..WriteOptions::new(self.output(format))
        };
        let job = Job {
            scheme: match self.scheme {
                Some(SchemeName::Raw) => header.scheme,
                Some(scheme) => scheme.into(),
                None => header.corpus_scheme,
            },
            options: TagOptions {
                constrain: self.constrain == Switch::On,
                marginals: self.marginals,
                nbest: self.nbest as usize,
                probability: options.format == OutputFormat::Jsonl
                    && (self.marginals || self.nbest > 1),
            },
            tagger,
        };
        job.stream(reader, &options, self.threads.number())
    }
}

/// How input for `tagger` is read: with the columns of its training corpus, where they fit the
/// format.
pub fn read_options(
    tagger: &Tagger,
    format: Format,
    columns: Option<&[String]>,
    comments: bool,
) -> ReadOptions {
    let header = tagger.model().header();
    let trained_on_columns = header.template.is_some()
        && !header.columns.is_empty()
        && header.columns.iter().map(String::as_str).ne(CONLLU_COLUMNS);
    let mut options = ReadOptions {
        format: Some(format),
        columns: columns.map(<[String]>::to_vec),
        label: None,
        unlabeled: true,
        comments,
    };
    let label = header.label_name().map(str::to_owned);
    if format == Format::Conll && trained_on_columns {
        let columns = options
            .columns
            .get_or_insert_with(|| header.columns.clone());
        options.label = label.filter(|label| columns.contains(label));
    } else if format == Format::Conllu && !trained_on_columns && header.template.is_some() {
        options.label = label;
    }
    options
}

/// Tagging a stream of sentences.
struct Job {
    tagger: Tagger,
    options: TagOptions,
    scheme: Scheme,
}

impl Job {
    /// Reads, tags and writes.
    fn stream(&self, reader: Reader, options: &WriteOptions, threads: usize) -> Outcome {
        // Faults of the output are found before anything is read.
        Writer::new(io::sink(), OUTPUT, options.clone())?;
        let tag = |batch: &Batch, workspace: &mut Workspace, text: &mut Vec<u8>| {
            let options = WriteOptions {
                separator: batch.separator,
                ..options.clone()
            };
            let mut writer = Writer::new(text, OUTPUT, options)?;
            writer.begin_document(batch.new_document);
            for sentence in &batch.sentences {
                let tagging = self.tagger.tag_with(sentence, self.options, workspace)?;
                let shown = Shown::new(&self.tagger, tagging, self.scheme);
                writer.write(&shown.tagged(sentence))?;
            }
            Ok(())
        };
        stream(reader, threads, io::stdout(), tag, |error| {
            Error::io(OUTPUT, error)
        })?;
        Ok(())
    }
}
