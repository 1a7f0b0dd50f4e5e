//! The input of commands that tag: its format and its columns, by the names of the files and their
//! first lines; and what is known of it.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{Format, LineReader, ReadOptions, Reader, Supervision, TextSplitter};
use dropchain::kernel::corpus::paths_in;
use dropchain::sentence::LineRules;
use dropchain::tag::{Condition, WordFit};
use dropchain::{Error, Place, Result, Sentence, Tagger};
use dropchain_documents::DocumentModel;
use dropchain_formats::{InputFormat, SpanOptions};
use dropchain_layout::counted;
use dropchain_options::LabelOptions;

use crate::arguments::{
    LineArguments, ParagraphArgument, check_names, input_format, is_model, other_files,
};
use crate::model_columns::{ModelColumns, file_name, read_options};
use crate::template_arguments::DocumentArguments;
use crate::{FileName, LimitArguments, TextArguments, ThreadArguments, notice_unless};

/// Number of lines, bytes and words of raw text by which it is compared with the training data.
const SAMPLED_LINES: usize = 100;
const SAMPLED_BYTES: usize = 1 << 16;
const SAMPLED_WORDS: usize = 1000;

/// What to tag, and how to read it.
#[derive(Clone, Debug, Args)]
pub struct TagInputArguments {
    /// Input files, or folders, whose files are read [default: standard input, also `-`]
    #[arg(value_name = "INPUT")]
    input: Vec<FileName>,
    /// Input format [default: by file name (.conllu, .jsonl, .crfsuite, .conll, .bio, .tsv) or by
    /// content, which is columns where the first lines fit those of the training data, else text]
    #[arg(long, value_parser = input_format())]
    format: Option<InputFormat>,
    /// Column names of CoNLL input [default: those of the training corpus]; with --format spans the
    /// key of the text
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Option<Vec<String>>,
    #[command(flatten)]
    lines: LineArguments,
    #[command(flatten)]
    pub text: TextArguments,
    #[command(flatten)]
    paragraphs: ParagraphArgument,
    /// Print no notices of how the input is read
    #[arg(long, help_heading = None::<&str>)]
    pub quiet: bool,
}

impl TagInputArguments {
    /// Returns the names of the files; of a folder those in it, unless it is the input itself.
    ///
    /// # Errors
    ///
    /// A folder cannot be read, has no files, or is one of BRAT's.
    pub fn files(&self) -> Result<Vec<FileName>> {
        if self.input.is_empty() {
            return Ok(vec![OsString::from("-").into()]);
        }
        let is_folder =
            |file: &FileName| Path::new(file).is_dir() && self.format != Some(InputFormat::Brat);
        let mut files = Vec::with_capacity(self.input.len());
        for input in &self.input {
            match is_folder(input) {
                true => files.extend(self.files_in(input)?),
                false => files.push(input.clone()),
            }
        }
        Ok(files)
    }

    /// Returns the files in a folder by name, without hidden ones and those of folders in it, and
    /// says how many.
    fn files_in(&self, folder: &FileName) -> Result<Vec<FileName>> {
        let is_shown = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            path.is_file() && !name.as_encoded_bytes().starts_with(b".")
        };
        let paths = paths_in(folder.as_ref())?.into_iter();
        let (files, others): (Vec<_>, Vec<_>) = paths.partition(is_shown);
        let has_annotations = |file: &PathBuf| file.extension() == Some("ann".as_ref());
        let fault = match self.format {
            _ if files.is_empty() => "has no files, apart from hidden ones and folders in it",
            None if files.iter().any(has_annotations) => {
                "has annotations of BRAT; expected `format` brat, or files such as those of *.txt"
            }
            _ => "",
        };
        if !fault.is_empty() {
            return Err(Error::input(Place::file(&**folder), format!("this folder {fault}")));
        }
        let left_out = match others.len() {
            0 => String::new(),
            n => format!(" ({n} left out: hidden, or folders)"),
        };
        let found = counted(files.len(), "file");
        notice_unless(self.quiet, &format!("{folder}: {found}{left_out}"));
        Ok(files.into_iter().map(|file| file.into_os_string().into()).collect())
    }

    /// Rejects text in place of the name of a file, and a model in place of input.
    pub fn check(&self, command: &str, model: &Path) -> Result<()> {
        let show = model.display();
        for file in &self.input {
            let path: &Path = file.as_ref();
            if file.contains(char::is_whitespace) && !path.exists() {
                let text = file.replace('\'', r"'\''");
                return Err(Error::parameter(format!(
                    "{file}: no such file; to {command} this text: echo '{text}' | dropchain \
                     {command} {show}"
                )));
            }
            if is_model(path) && !is_model(model) {
                return Err(Error::parameter(format!(
                    "{file} is a model, {show} is not; expected the model first: dropchain \
                     {command} {file} {show}"
                )));
            }
        }
        Ok(())
    }

    /// Returns the files that are read beside those.
    pub fn other_files(&self) -> Vec<PathBuf> {
        other_files(self.format, &self.input)
    }

    /// Opens inputs, and detects their format unless it is given or their names tell it.
    pub fn open(
        &self,
        files: &[FileName],
        tagger: &Tagger,
        forced: &ForcedArguments,
        limits: &LimitArguments,
    ) -> Result<(Reader, InputFormat)> {
        let header = tagger.model().header();
        check_names(self.format, files)?;
        let say = |text: &str| notice_unless(self.quiet, text);
        if files.iter().any(|file| &**file == "-") && io::stdin().is_terminal() {
            say("reading from the terminal; Ctrl-D ends the input");
        }
        let options = self.text.apply(ReadOptions {
            columns: self.columns.clone(),
            unlabeled: true,
            lines: LineRules {
                comments: self.lines.comments || header.columns.lines.comments,
                header: self.lines.header || header.columns.lines.header,
            },
            supervision: Supervision { weights: false, ..Supervision::default() },
            limits: limits.read(),
            text: self.paragraphs.options(),
            ..ReadOptions::default()
        });
        let read_options = |format, options| {
            let options = read_options(header, format, SpanOptions::default(), options);
            forced.apply(options, format)
        };
        if self.format == Some(InputFormat::Brat) {
            // A folder has no first lines.
            let reader = Reader::open(files, &read_options(InputFormat::Brat, options)?)?;
            return Ok((reader, InputFormat::Brat));
        }
        let mut format = Format::Text.into();
        let reader = Reader::open_by_content(files, |lines| {
            let mut options = options;
            options.decode(lines);
            let named = match self.format {
                None => InputFormat::of_first_line(lines)?,
                given => given,
            };
            let file = file_name(lines.file()).to_owned();
            let mut model = ModelColumns { header, lines };
            format = match named {
                Some(format) => format,
                None => model.detect_format(&mut options, &say)?.into(),
            };
            if format == Format::Conll.into() && options.columns.is_none() {
                options.columns = model.names(&options, false)?;
            }
            if format == Format::Text.into() {
                unknown_words(tagger, model.lines)?.iter().for_each(|warning| say(warning));
            }
            let label = model.label_of_file(format, &options)?;
            if let Some(label) = label.filter(|_| forced.forced.is_empty()) {
                say(&format!(
                    "{file}: its labels ({label}) are ignored; --forced {label} keeps them"
                ));
            }
            read_options(format, options)
        })?;
        Ok((reader, format))
    }
}

/// Warns of raw text whose first words the model hardly knows.
fn unknown_words(tagger: &Tagger, lines: &mut LineReader) -> Result<Option<String>> {
    let mut rest = SAMPLED_BYTES;
    let mut fits = |line: &String| {
        let fits = line.len() <= rest;
        rest = rest.saturating_sub(line.len());
        fits
    };
    let first: Vec<String> = if Path::new(&**lines.file()).is_file() {
        let first = (0..SAMPLED_LINES).map_while(|i| lines.peek(i).transpose());
        first.take_while(|line| line.as_ref().is_ok_and(&mut fits)).collect::<Result<_>>()?
    } else {
        lines.available()?.into_iter().take_while(fits).collect() // a pipe may wait for an answer
    };
    let sentences = TextSplitter::default().sentences(&first.join("\n"))?;
    let words = sentences.iter().filter_map(Sentence::words).flatten();
    let warning = tagger.word_fit(words.take(SAMPLED_WORDS)).and_then(WordFit::warning);
    Ok(warning.map(|warning| format!("warning: {}: {warning}", file_name(lines.file()))))
}

/// What to keep of the input.
#[derive(Clone, Debug, Args)]
pub struct ForcedArguments {
    /// Keep the known labels in this column of the input and complete the others
    ///
    /// `_` is an unknown label, `B-PER|B-ORG` one of two. In JSON lines, COLUMN is a key, or
    /// several separated by commas: of labels (null is unknown), or of spans such as
    /// {"token_start": 0, "token_end": 2, "type": "PER"}. Probabilities are those given what is
    /// known.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    #[arg(allow_hyphen_values = true, hide_short_help = true)]
    pub forced: Vec<String>,
}

impl ForcedArguments {
    /// Sets how to read input of this format.
    pub fn apply(&self, options: ReadOptions, format: InputFormat) -> Result<ReadOptions> {
        match (&self.forced[..], format) {
            ([], _) | (_, InputFormat::Core(Format::Jsonl)) => Ok(options),
            (_, InputFormat::Core(Format::Text)) => Err(Error::parameter(
                "--forced: raw text has no labels; expected columns or JSON lines (--format)",
            )),
            (_, InputFormat::Spans | InputFormat::Brat | InputFormat::WebAnno) => {
                Err(Error::parameter(
                    "--forced: annotated spans do not say which other tokens are known; expected \
                 columns or JSON lines (--format)",
                ))
            }
            ([column], _) => Ok(ReadOptions {
                label: Some(column.clone()),
                unlabeled: false,
                supervision: Supervision { partial_labels: true, ..options.supervision },
                ..options
            }),
            _ => Err(Error::parameter(
                "--forced: found several columns; expected one, except in JSON lines",
            )),
        }
    }

    /// Returns what is known about a sentence, if known labels are to be kept.
    pub fn condition(&self, sentence: &Sentence, format: InputFormat) -> Result<Condition> {
        match format {
            _ if self.forced.is_empty() || sentence.layout.document_start => Ok(Condition::new()),
            InputFormat::Core(Format::Jsonl) => Condition::from_record(sentence, &self.forced),
            _ => Ok(Condition::from_labels(sentence)),
        }
    }
}

/// How a model tags: on how many threads, within which limits, and what a document is.
#[derive(Clone, Debug, Args)]
pub struct TaggerArguments {
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    document: DocumentArguments,
}

impl TaggerArguments {
    /// Opens the model of a tagger, whose labels are read so.
    pub fn open(&self, model: &Path, labels: &LabelOptions, quiet: bool) -> Result<Tagger> {
        let tagger = labels.apply_to_tagger(open_tagger(model)?)?;
        let tagger = tagger.with_memory_limit(self.limits.memory());
        self.document.apply_to_tagger(tagger, quiet)
    }
}

/// Opens the model of a tagger.
///
/// # Errors
///
/// The errors of [`dropchain_crfsuite::open`]; the model is a classifier of documents, whose
/// features no tagger makes.
pub fn open_tagger(path: impl AsRef<Path>) -> Result<Tagger> {
    check_is_tagger(path.as_ref())?;
    Ok(Tagger::new(dropchain_crfsuite::open(path)?))
}

/// Checks that a model file is no classifier of documents.
///
/// # Errors
///
/// [`Error::Model`] names the command for it.
pub fn check_is_tagger(path: &Path) -> Result<()> {
    match DocumentModel::is_at(path) {
        false => Ok(()),
        true => Err(Error::model(
            path,
            "the model classifies documents; expected a tagger (`dropchain classify` has commands \
             for this one)",
        )),
    }
}
