//! `dropchain cluster`

use std::path::PathBuf;

use clap::Args;
use dropchain::Error;
use dropchain::corpus::ReadOptions;
use dropchain_formats::{InputFormat, SpanOptions};
use dropchain_knowledge::cluster::Clusters;
use dropchain_knowledge::{in_tenths, read_cluster_text};

use crate::arguments::{LineArguments, ParagraphArgument, input_format};
use crate::{
    CommandFiles, CommandResult, FileName, LimitArguments, OutputKind, Progress, ResultFile,
    TextArguments, ThreadArguments, check_stdin_once, interrupt,
};

/// Learn Brown clusters from unlabeled text, for `cluster` in templates
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropchain cluster tweets.txt train.conll --clusters 500 --output paths.txt
  echo 'cluster(\"paths.txt\", 4, 6, 10)' >> my.tpl
  dropchain train train.conll --template my.tpl --model ner.model

Words that occur in similar contexts share a cluster, so a tagger can generalize to words that its
training data lacks. Each output line has a bit path, a word and its count, separated by tabs;
shorter prefixes of a path are coarser clusters.")]
pub struct ClusterCommand {
    /// Text files; labels in them are ignored; `-` is standard input
    #[arg(required = true, value_name = "TEXT")]
    texts: Vec<FileName>,
    /// Number of clusters
    #[arg(long, default_value_t = 256, value_name = "N",
          value_parser = clap::value_parser!(u16).range(2..=10_000))]
    clusters: u16,
    /// Ignore words that occur fewer than N times
    #[arg(long, default_value_t = 1, value_name = "N",
          value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true)]
    min_count: u64,
    /// Write the clusters to this file
    #[arg(long, value_name = "PATHS")]
    output: PathBuf,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    /// Input format [default: by file name: .conllu, .jsonl, .txt, otherwise conll; text for -]
    #[arg(long, value_parser = input_format(), hide_short_help = true, help_heading = "Input")]
    format: Option<InputFormat>,
    /// Column names of CoNLL files, left to right; words are in `word`, or else in the first
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "Input")]
    columns: Option<Vec<String>>,
    #[command(flatten)]
    lines: LineArguments,
    #[command(flatten)]
    text: TextArguments,
    #[command(flatten)]
    paragraphs: ParagraphArgument,
    #[command(flatten)]
    limits: LimitArguments,
}

impl ClusterCommand {
    pub fn run(&self) -> CommandResult {
        check_stdin_once(&self.texts)?;
        CommandFiles::default()
            .read(&self.texts)
            .write("--output", OutputKind::Clusters, Some(&self.output))
            .check()?;
        interrupt::watch();
        let file = ResultFile::new(&self.output)?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        let mut report = |what: String| progress.update(&what);
        let (text, _) = read_cluster_text(&self.texts, &self.read_options(), &mut report)?;
        self.text.print_notices_to(&progress);
        let (tokens, words) = (text.tokens(), text.words(self.min_count));
        progress.println(&format!("{tokens} tokens, {words} words to cluster"));
        let count = usize::from(self.clusters);
        let (held, needed) = (text.memory() as u64, text.memory_to_cluster(count) as u64);
        self.limits.memory().check(needed, held).map_err(|over| {
            Error::parameter(format!(
                "clustering: {over}; expected fewer clusters (--clusters), less text or a larger \
                 limit (--memory)"
            ))
        })?;
        let mut observer = in_tenths(|text| progress.update(&text));
        let clusters = Clusters::learn(text, count, self.min_count, &mut observer)?;
        file.save(clusters.text().as_bytes())?;
        progress.clear();
        if clusters.count < count {
            progress.println(&format!(
                "fewer words than {count} clusters: each word is its own cluster"
            ));
        }
        progress.println(&format!(
            "wrote {}: {} clusters; mutual information of adjacent clusters {:.4} bits",
            self.output.display(),
            clusters.count,
            clusters.mutual_information
        ));
        Ok(())
    }

    fn read_options(&self) -> ReadOptions {
        let options = self.text.apply(ReadOptions {
            columns: self.columns.clone(),
            unlabeled: true,
            lines: self.lines.rules(),
            limits: self.limits.read(),
            text: self.paragraphs.options(),
            ..ReadOptions::default()
        });
        match self.format {
            None => options,
            Some(format) => format.apply(SpanOptions::default(), options),
        }
    }
}
