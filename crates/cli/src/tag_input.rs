//! The input of commands that tag.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use dropchain::Result;
use dropchain::corpus::{Format, ReadOptions, Reader};
use dropchain::tag::Header;
use dropchain_formats::{InputFormat, SpanOptions};

use super::arguments::{LimitArguments, input_format, other_files};
use super::file_name::FileName;
use super::forced_arguments::ForcedArguments;
use super::model_input::{ModelColumns, named_format};
use super::progress::notice;
use super::text_arguments::TextArguments;

/// What to tag, and how to read it.
#[derive(Clone, Debug, Args)]
pub struct TagInputArguments {
    /// Input files [default: standard input, also `-`]
    #[arg(value_name = "INPUT")]
    input: Vec<FileName>,
    /// Input format [default: by file name (.conllu, .jsonl, .crfsuite, .conll, .bio, .tsv) or by
    /// content, which is columns where the first lines fit those of the training data, else text]
    #[arg(long, value_parser = input_format())]
    format: Option<InputFormat>,
    /// Column names of CoNLL input [default: those of the training corpus]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Option<Vec<String>>,
    /// Treat lines of CoNLL input that start with `#` as comments, not tokens
    #[arg(long, hide_short_help = true)]
    comments: bool,
    #[command(flatten)]
    text: TextArguments,
}

impl TagInputArguments {
    /// Returns the names of the files.
    pub fn files(&self) -> Vec<FileName> {
        if self.input.is_empty() {
            vec![FileName::stdin()]
        } else {
            self.input.clone()
        }
    }

    /// Returns the files that are read beside those.
    pub fn other_files(&self) -> Vec<PathBuf> {
        other_files(self.format, &self.input)
    }

    /// Opens the inputs, and detects their format unless it is given or their names tell it.
    pub fn open(
        &self,
        header: &Header,
        forced: &ForcedArguments,
        limits: &LimitArguments,
    ) -> Result<(Reader, InputFormat)> {
        self.open_files(&self.files(), header, forced, limits)
    }

    /// Opens some of the inputs.
    pub fn open_files(
        &self,
        files: &[FileName],
        header: &Header,
        forced: &ForcedArguments,
        limits: &LimitArguments,
    ) -> Result<(Reader, InputFormat)> {
        let named = match self.format {
            Some(format) => Some(format),
            None => named_format(files)?.map(Into::into),
        };
        let model = ModelColumns::new(header);
        if files.iter().any(|file| &**file == "-") && io::stdin().is_terminal() {
            notice("reading from the terminal; Ctrl-D ends the input");
        }
        let read_options = |format, columns: Option<&[String]>| {
            let options = ReadOptions {
                comments: self.comments,
                max_sentence: limits.max_sentence(),
                memory: limits.memory(),
                ..model.read_options(format, SpanOptions::default(), columns)
            };
            forced.apply(self.text.apply(options), format)
        };
        if named == Some(InputFormat::Brat) {
            // A folder has no first lines.
            let reader = Reader::open(files, &read_options(InputFormat::Brat, None)?)?;
            return Ok((reader, InputFormat::Brat));
        }
        let mut format = Format::Text.into();
        let reader = Reader::open_by_content(files, |lines| {
            self.text.apply(ReadOptions::default()).decode(lines);
            format = match named {
                Some(format) => format,
                None => model.detect_format(lines)?.into(),
            };
            let fewer = match (format, &self.columns) {
                (InputFormat::Core(Format::Conll), None) => model.fewer(lines, false)?,
                _ => None,
            };
            let columns = fewer.as_deref().or(self.columns.as_deref());
            read_options(format, columns)
        })?;
        Ok((reader, format))
    }

    /// Returns whether raw text has hard line breaks.
    pub fn has_paragraphs(&self) -> bool {
        self.text.has_paragraphs()
    }

    /// Says what was changed in the input, once it has been read.
    pub fn print_notices(&self) {
        self.text.print_notices();
    }
}
