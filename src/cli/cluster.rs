//! `dropchain cluster`

use std::path::PathBuf;

use clap::Args;
use dropchain::cluster::{Clusters, InternedText};
use dropchain::corpus::{Format, ReadOptions, Reader};
use dropchain::sentence::Sentence;
use dropchain::{Error, Result, atomic_file};

use super::arguments::{FormatName, Threads};
use super::progress::Progress;
use super::training::guess_unlabeled;
use super::{Failure, Outcome};

/// Learn classes of words from text without labels (Brown clusters), for `cluster` in templates
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain cluster tweets.txt train.conll --clusters 500 --output paths.txt
  echo 'cluster(\"paths.txt\", 4, 6, 10)' >> my.tpl
  dropchain train train.conll --template my.tpl --model ner.model

Words that stand in like places come into one class, so a tagger knows something of words that its
training data lacks. Every line of the output has the path of a class, a word and how often it was seen;
a shorter prefix of the path is a coarser class.")]
pub struct Arguments {
    /// Texts, of which only the words are read; `-` is standard input
    #[arg(required = true, value_name = "TEXT")]
    texts: Vec<String>,
    /// How many classes to make
    #[arg(long, default_value_t = 256, value_name = "N",
          value_parser = clap::value_parser!(u16).range(2..=10_000))]
    clusters: u16,
    /// Leave out words that occur fewer than N times
    #[arg(long, default_value_t = 1, value_name = "N",
          value_parser = clap::value_parser!(u64).range(1..))]
    min_count: u64,
    /// The file to write
    #[arg(long, value_name = "PATHS")]
    output: PathBuf,
    /// Format of the files; without it, what their names say (.conllu, .jsonl; .txt and - are raw text; else
    /// conll)
    #[arg(long, value_enum, help_heading = "Input")]
    format: Option<FormatName>,
    /// Names of the columns of CoNLL files, from the first on; words are in `word`, else in the first
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        help_heading = "Input"
    )]
    columns: Option<Vec<String>>,
    /// Lines of CoNLL files that begin with `#` are comments, not tokens
    #[arg(long, help_heading = "Input")]
    comments: bool,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing
    #[arg(long)]
    quiet: bool,
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        if self.texts.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Failure::Usage("standard input can be read only once"));
        }
        atomic_file::check_writable(&self.output)?;
        self.threads.start()?;
        let progress = Progress::new(self.quiet);
        let text = self.read(&progress)?;
        let (tokens, words) = (text.tokens(), text.words(self.min_count));
        progress.say(&format!("{tokens} tokens, {words} words to cluster"));
        let mut told = 0;
        let mut watch = |done: usize, of: usize| {
            let tenths = 10 * done / of.max(1);
            if tenths > told {
                told = tenths;
                progress.step(format!("clustered {done} of {of} words"));
            }
        };
        let classes = usize::from(self.clusters);
        let clusters = Clusters::learn(text, classes, self.min_count, &mut watch)?;
        let mut written = Vec::new();
        clusters
            .write(&mut written)
            .map_err(|e| Error::io(&self.output, e))?;
        atomic_file::write(&self.output, &written)?;
        progress.done();
        if clusters.classes() < classes {
            progress.say(&format!(
                "there are fewer words than {classes}: each has a cluster of its own"
            ));
        }
        progress.say(&format!(
            "wrote {}: {} clusters; neighboring clusters tell {:.4} bits of each other",
            self.output.display(),
            clusters.classes(),
            clusters.information()
        ));
        Ok(())
    }

    /// Reads the words of all files, a sentence at a time.
    fn read(&self, progress: &Progress) -> Result<InternedText> {
        let mut text = InternedText::new();
        for file in &self.texts {
            progress.step(format!("reading {file}"));
            let format = self.format.map(Format::from);
            let options = ReadOptions {
                format: Some(format.unwrap_or_else(|| guess_unlabeled(file))),
                columns: self.columns.clone(),
                unlabeled: true,
                comments: self.comments,
                ..ReadOptions::default()
            };
            for sentence in Reader::open(&[file], &options)? {
                add(&sentence?, &mut text)?;
            }
        }
        Ok(text)
    }
}

fn add(sentence: &Sentence, text: &mut InternedText) -> Result<()> {
    if sentence.layout.document_start {
        return Ok(());
    }
    let column = sentence.schema().position("word").unwrap_or(0);
    if sentence.attributes.is_some() || column >= sentence.schema().width() {
        return Err(Error::input(
            sentence.place(0),
            "found ready-made attributes; expected words (raw text, CoNLL, CoNLL-U or JSON lines)",
        ));
    }
    text.add((0..sentence.len()).map(|t| sentence.cell(t, column)))
}
