//! `dropchain tag`

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use clap::{Args, ValueEnum};
use dropchain::corpus::{
    CONLLU_COLUMNS, Format, Output, Path, ReadOptions, Reader, Tagged, WriteOptions, Writer,
};
use dropchain::ids::LabelId;
use dropchain::label::{Scheme, convert};
use dropchain::sentence::Sentence;
use dropchain::tag::{TagOptions, Tagger, Tagging, Workspace};
use dropchain::{Error, Result};
use ndarray::ArrayView1;
use rayon::prelude::*;

use super::arguments::{FormatName, SchemeName, Switch, Threads};
use super::{Failure, Outcome};

/// Sentences that are tagged together when the input is ahead of us.
const BATCH: usize = 256;

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

    fn output(&self, format: Format) -> Output {
        match self.output {
            Some(OutputName::Conll) => Output::Conll,
            Some(OutputName::Conllu) => Output::Conllu,
            Some(OutputName::Jsonl) => Output::Jsonl,
            Some(OutputName::Inline) => Output::Inline,
            None => match format {
                Format::Text | Format::Conll | Format::Crfsuite => Output::Conll,
                Format::Conllu => Output::Conllu,
                Format::Jsonl => Output::Jsonl,
            },
        }
    }

    /// Labels that write no spans would all become O in another scheme.
    fn check_scheme(&self, tagger: &Tagger) -> Result<()> {
        match self.scheme {
            None | Some(SchemeName::Raw) => Ok(()),
            Some(_) if tagger.model().header().labels.write_spans() => Ok(()),
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
        self.threads.start()?;
        let inputs = self.inputs();
        let format = self.format(&inputs)?;
        let header = tagger.model().header();
        let label = header.label_name().unwrap_or("label");
        let reading = read_options(&tagger, format, self.columns.as_deref(), self.comments);
        let reader = Reader::open(&inputs, &reading)?;
        let options = WriteOptions {
            spans: header.labels.write_spans(),
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
                probability: options.output == Output::Jsonl && (self.marginals || self.nbest > 1),
            },
            workspaces: Workspaces::default(),
            tagger,
        };
        job.stream(reader, options)
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

/// One workspace for each thread.
pub struct Workspaces(Vec<Mutex<Workspace>>);

impl Default for Workspaces {
    fn default() -> Self {
        let threads = rayon::current_num_threads();
        Self((0..threads).map(|_| Mutex::default()).collect())
    }
}

impl Workspaces {
    /// Tags sentences in parallel; results in their order.
    pub fn tag(
        &self,
        tagger: &Tagger,
        sentences: &[Sentence],
        options: TagOptions,
    ) -> Vec<Result<Tagging>> {
        let tag = |sentence: &Sentence| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            // A workspace is scratch space: whatever a panic left in it is overwritten.
            let workspace = self.0[thread % self.0.len()].lock();
            let mut workspace = workspace.unwrap_or_else(PoisonError::into_inner);
            tagger.tag(sentence, options, &mut workspace)
        };
        match sentences {
            [sentence] => vec![tag(sentence)],
            sentences => sentences.par_iter().map(tag).collect(),
        }
    }
}

/// Tagging a stream of sentences.
struct Job {
    tagger: Tagger,
    options: TagOptions,
    scheme: Scheme,
    workspaces: Workspaces,
}

impl Job {
    /// Reads, tags and writes. Reading runs ahead in a thread of its own; whatever is there is
    /// tagged together, and output is flushed before waiting for more.
    fn stream(&self, mut reader: Reader, options: WriteOptions) -> Outcome {
        let (send, sentences) = sync_channel(2 * BATCH);
        let reading = std::thread::spawn(move || {
            while let Some(sentence) = reader.next() {
                // Nobody listens any more once writing has failed.
                if send.send((sentence, reader.separator())).is_err() {
                    break;
                }
            }
        });
        // Where this fails, reading may be waiting for input that never comes: it is left behind.
        self.write(&sentences, options)?;
        match reading.join() {
            Ok(()) => Ok(()),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn write(
        &self,
        sentences: &Receiver<(Result<Sentence>, char)>,
        mut options: WriteOptions,
    ) -> Outcome {
        let mut writer = None;
        let mut batch = Vec::with_capacity(BATCH);
        let mut fault = None;
        while fault.is_none() {
            let Ok(first) = sentences.recv() else { break };
            let mut next = Some(first);
            while let Some((sentence, separator)) = next.take() {
                match sentence {
                    Ok(sentence) => batch.push(sentence),
                    Err(error) => fault = Some(error),
                }
                if writer.is_none() {
                    options.separator = separator;
                    let out = BufWriter::with_capacity(1 << 16, io::stdout());
                    writer = Some(Writer::new(out, "standard output", options.clone())?);
                }
                if batch.len() < BATCH && fault.is_none() {
                    next = sentences.try_recv().ok();
                }
            }
            if let Some(writer) = &mut writer {
                self.tag_batch(&batch, writer)?;
            }
            batch.clear();
        }
        fault.map_or(Ok(()), |fault| Err(fault.into()))
    }

    fn tag_batch<W: Write>(
        &self,
        batch: &[Sentence],
        writer: &mut Writer<W>,
    ) -> Result<(), Failure> {
        let taggings = self.workspaces.tag(&self.tagger, batch, self.options);
        for (sentence, tagging) in batch.iter().zip(taggings) {
            let result = tagging.map(|tagging| Shown::new(&self.tagger, tagging, self.scheme));
            match result {
                Ok(shown) => writer.write(&shown.tagged(sentence))?,
                Err(error) => {
                    writer.flush()?;
                    return Err(error.into());
                }
            }
        }
        writer.flush()?;
        Ok(())
    }
}

/// Labels with their probabilities.
type Probabilities<'a> = Vec<(Cow<'a, str>, f64)>;

/// A tagging with names for labels.
struct Shown<'a> {
    labels: Vec<String>,
    marginals: Option<Vec<Probabilities<'a>>>,
    probability: Option<f64>,
    nbest: Vec<(Vec<String>, f64, f64)>,
}

impl<'a> Shown<'a> {
    fn new(tagger: &'a Tagger, tagging: Tagging, scheme: Scheme) -> Self {
        let header = tagger.model().header();
        let own = |labels: &[LabelId]| -> Vec<&'a str> {
            labels.iter().map(|&id| tagger.label(id)).collect()
        };
        let names = |labels: &[LabelId]| -> Vec<String> {
            if scheme == header.scheme {
                own(labels).into_iter().map(str::to_owned).collect()
            } else {
                convert(&own(labels), scheme)
            }
        };
        let marginals = tagging.marginals.map(|marginals| {
            let predicted = own(&tagging.labels);
            let row = |(t, row): (usize, ArrayView1<'_, f64>)| {
                let own = header.labels.names().iter().map(String::as_str);
                let own = own.zip(row.iter().copied());
                let mut row = if scheme == header.scheme {
                    own.map(|(label, p)| (Cow::Borrowed(label), p)).collect()
                } else {
                    converted(own, &predicted, t, scheme)
                };
                row.sort_by(|x, y| y.1.total_cmp(&x.1));
                row
            };
            marginals.rows().into_iter().enumerate().map(row).collect()
        });
        Self {
            labels: names(&tagging.labels),
            marginals,
            probability: tagging.probability,
            nbest: tagging
                .nbest
                .iter()
                .map(|path| (names(&path.labels), path.score, path.probability))
                .collect(),
        }
    }

    fn tagged<'s>(&'s self, sentence: &'s Sentence) -> Tagged<'s> {
        let named = |row: &'s Probabilities<'a>| -> Vec<(&'s str, f64)> {
            row.iter().map(|(label, p)| (&**label, *p)).collect()
        };
        let marginals = self.marginals.as_ref();
        Tagged {
            sentence,
            labels: self.labels.iter().map(String::as_str).collect(),
            marginals: marginals.map(|rows| rows.iter().map(named).collect()),
            probability: self.probability,
            nbest: self
                .nbest
                .iter()
                .map(|(labels, score, probability)| Path {
                    labels: labels.iter().map(String::as_str).collect(),
                    score: *score,
                    probability: *probability,
                })
                .collect(),
        }
    }
}

/// Probabilities of labels at token `t` in another scheme: each of the model's own labels counts
/// for the label that it would become in its place among the predicted ones.
fn converted<'a>(
    own: impl Iterator<Item = (&'a str, f64)>,
    predicted: &[&'a str],
    t: usize,
    scheme: Scheme,
) -> Probabilities<'a> {
    // What a label becomes depends on its neighbors alone.
    let mut around = predicted[t.saturating_sub(1)..predicted.len().min(t + 2)].to_vec();
    let place = t.min(1);
    let mut row: Probabilities<'a> = Vec::new();
    for (label, probability) in own {
        around[place] = label;
        let label = convert(&around, scheme).swap_remove(place);
        match row.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += probability,
            None => row.push((Cow::Owned(label), probability)),
        }
    }
    row
}
