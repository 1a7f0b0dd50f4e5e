//! The input of commands that tag: its format and its columns, by the names of the files and their
//! first lines; and what is known of it.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{
    CONLLU_COLUMNS, DOCUMENT_START, Format, LineReader, ReadOptions, Reader, split_cells,
};
use dropchain::tag::{Condition, Header};
use dropchain::{Error, Result, Sentence, Tagger};
use dropchain_documents::ModelKind;
use dropchain_formats::{InputFormat, SpanOptions};

use crate::arguments::{
    FileName, LimitArguments, TextArguments, input_format, named_format, other_files,
};
use crate::progress::notice;

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
    pub text: TextArguments,
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

    /// Opens inputs, and detects their format unless it is given or their names tell it.
    pub fn open(
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
        let model = ModelColumns(header);
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
}

/// What to keep of the input.
#[derive(Clone, Debug, Args)]
pub struct ForcedArguments {
    /// Keep the known labels in this column of the input and complete the others
    ///
    /// `_` is an unknown label, `B-PER|B-ORG` one of two. In JSON lines, COLUMN is a key, or
    /// several separated by commas: of labels (null is unknown), or of spans such as
    /// {"start": 0, "end": 2, "type": "PER"}. Probabilities are those given what is known.
    #[arg(
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    forced: Vec<String>,
}

impl ForcedArguments {
    /// Sets how to read input of this format.
    pub fn apply(&self, options: ReadOptions, format: InputFormat) -> Result<ReadOptions> {
        match (&self.forced[..], format) {
            ([], _) | (_, InputFormat::Core(Format::Jsonl)) => Ok(options),
            (_, InputFormat::Core(Format::Text)) => Err(Error::parameter(
                "--forced: raw text has no labels; expected columns or JSON lines (--format)",
            )),
            (_, InputFormat::Spans | InputFormat::Brat) => Err(Error::parameter(
                "--forced: annotated spans do not say which other tokens are known; expected \
                 columns or JSON lines (--format)",
            )),
            ([column], _) => Ok(ReadOptions {
                label: Some(column.clone()),
                unlabeled: false,
                partial_labels: true,
                ..options
            }),
            _ => Err(Error::parameter(
                "--forced: found several columns; expected one, except in JSON lines",
            )),
        }
    }

    /// Returns what is known about a sentence, if known labels are to be kept.
    pub fn condition(&self, sentence: &Sentence, format: InputFormat) -> Result<Option<Condition>> {
        if self.forced.is_empty() || sentence.layout.document_start {
            return Ok(None);
        }
        Ok(Some(match format {
            InputFormat::Core(Format::Jsonl) => Condition::from_record(sentence, &self.forced)?,
            _ => Condition::from_labels(sentence),
        }))
    }
}

/// Maximum number of lines that are looked at.
const MAX_LINES: usize = 20;

/// Comments that CoNLL-U files begin with.
const CONLLU_COMMENTS: [&str; 5] = ["# newdoc", "# newpar", "# sent_id", "# text", "# global."];

/// Opens the model of a tagger.
///
/// # Errors
///
/// Those of [`dropchain_crfsuite::open`]; the model is a classifier of documents or a regression,
/// whose features no tagger makes.
pub fn open_tagger(path: impl AsRef<Path>) -> Result<Tagger> {
    check_is_tagger(path.as_ref())?;
    Ok(Tagger::new(dropchain_crfsuite::open(path)?))
}

/// Checks that a model file is no classifier of documents and no regression.
///
/// # Errors
///
/// [`Error::Model`] names the command for it.
pub fn check_is_tagger(path: &Path) -> Result<()> {
    let Some(kind) = ModelKind::of(path) else {
        return Ok(());
    };
    let command = match kind {
        ModelKind::Classifier => "classify",
        ModelKind::Regression => "regress",
    };
    let message = format!(
        "the model {}; expected a tagger (`dropchain {command}` has commands for this one)",
        kind.what()
    );
    Err(Error::model(path, message))
}

/// The columns of the data that a model was trained on.
pub struct ModelColumns<'a>(pub &'a Header);

impl ModelColumns<'_> {
    /// Guesses the format of a file to be tagged from its first lines, and says so unless it is
    /// raw text. As few lines are read as possible, for one types them, or a program is waiting.
    pub fn detect_format(&self, lines: &mut LineReader) -> Result<Format> {
        let Some((number, line)) = first_content(lines)? else {
            return Ok(Format::Text);
        };
        if self.0.template.is_none() && line.contains('\t') {
            return Ok(Format::Crfsuite);
        }
        let file = match &**lines.file() {
            "-" => "standard input".to_owned(),
            file => file.to_owned(),
        };
        let format = if line.starts_with("{\"") && line.trim_end().ends_with('}') {
            Format::Jsonl
        } else if is_conllu(&line) {
            Format::Conllu
        } else if self.are_columns(lines, number, &line)? {
            Format::Conll
        } else {
            if &**lines.file() != "-" && self.have_width_of_columns(lines, number)? {
                notice(&format!(
                    "{file}: read as raw text, but each line has as many words as the training \
                     data had columns; --format conll reads columns"
                ));
            }
            return Ok(Format::Text);
        };
        let what = match format {
            Format::Jsonl => "JSON lines".to_owned(),
            Format::Conllu => "CoNLL-U".to_owned(),
            _ => format!("columns ({})", self.0.columns.join(" ")),
        };
        notice(&format!(
            "{file}: read as {what}; --format text reads raw text"
        ));
        Ok(format)
    }

    /// Returns whether the model was trained on columns with names of their own.
    fn are_named(&self) -> bool {
        let header = self.0;
        header.template.is_some()
            && !header.columns.is_empty()
            && header.columns.iter().map(String::as_str).ne(CONLLU_COLUMNS)
    }

    /// Returns whether the file has the columns from line `number` on, which is `line`.
    fn are_columns(&self, lines: &mut LineReader, number: usize, line: &str) -> Result<bool> {
        if !self.are_named() {
            return Ok(false);
        }
        if cells(line).first() == Some(&DOCUMENT_START) {
            return Ok(true);
        }
        if !self.fits(line) {
            return Ok(false);
        }
        Ok(match lines.peek(number + 1)? {
            Some(next) => next.trim().is_empty() || self.fits(&next),
            None => true,
        })
    }

    /// Returns whether a line has the columns, the labels included, or without these and with tabs.
    fn fits(&self, line: &str) -> bool {
        let cells = cells(line);
        if cells.len() == self.0.columns.len() {
            let label = self.0.label_of(&cells);
            return label.is_some_and(|label| self.is_label(&label));
        }
        let without_labels = self.0.columns_before_label().filter(|&width| width > 1);
        line.contains('\t') && without_labels == Some(cells.len())
    }

    /// Returns whether a cell is a label of the model, in any scheme.
    fn is_label(&self, cell: &str) -> bool {
        if self.0.joined.is_some() {
            return self.0.labels.id(cell).is_some();
        }
        let kind = |label: &str| match label.split_once('-') {
            Some((_, kind)) => kind.to_owned(),
            None => label.to_owned(),
        };
        let labels = self.0.labels.names();
        labels.iter().any(|label| kind(label) == kind(cell))
    }

    /// Returns whether all of the first lines have as many cells as there are columns, the labels
    /// included or not.
    fn have_width_of_columns(&self, lines: &mut LineReader, number: usize) -> Result<bool> {
        if !self.are_named() {
            return Ok(false);
        }
        let (width, without_labels) = (self.0.columns.len(), self.0.columns_before_label());
        let (mut widths, mut count) = ([true; 2], 0);
        for i in number..number + MAX_LINES {
            let Some(line) = lines.peek(i)? else {
                break;
            };
            let found = cells(&line).len();
            if found > 0 {
                count += 1;
                widths[0] &= found == width;
                widths[1] &= Some(found) == without_labels;
            }
        }
        Ok(count >= 3 && widths != [false; 2])
    }

    /// Returns the options for reading input in a format: by default with the columns of the
    /// training data, if they fit the format.
    pub fn read_options(
        &self,
        format: InputFormat,
        spans: SpanOptions,
        columns: Option<&[String]>,
    ) -> ReadOptions {
        let header = self.0;
        let mut options = ReadOptions {
            columns: columns.map(<[String]>::to_vec),
            label: None,
            unlabeled: true,
            weights: false,
            ..ReadOptions::default()
        };
        let label = header.label_name().map(str::to_owned);
        let takes_label = match format {
            InputFormat::Core(Format::Conllu) => !self.are_named() && header.template.is_some(),
            InputFormat::Core(Format::Jsonl) => header.joined.is_some(),
            _ => false,
        };
        if format == Format::Conll.into() && self.are_named() {
            let columns = options
                .columns
                .get_or_insert_with(|| header.columns.clone());
            options.label = label.filter(|label| match &header.joined {
                Some(joined) => joined.names().iter().all(|name| columns.contains(name)),
                None => columns.contains(label),
            });
        } else if takes_label {
            options.label = label;
        }
        format.apply(spans, options)
    }

    /// Returns the names of the columns of a file that has fewer than the training data: the first
    /// of these, and if they are `labeled` the labels, which must be the last column.
    pub fn fewer(&self, lines: &mut LineReader, labeled: bool) -> Result<Option<Vec<String>>> {
        let Some(label) = self.0.columns_before_label() else {
            return Ok(None);
        };
        let mut number = 0;
        let found = loop {
            match lines.peek(number)? {
                None => return Ok(None),
                Some(line) => match cells(&line)[..] {
                    [] | [DOCUMENT_START, ..] => number += 1,
                    ref cells => break cells.len(),
                },
            }
        };
        let columns = &self.0.columns;
        let labels = if labeled { columns.len() - label } else { 0 };
        let known = found.saturating_sub(labels);
        if !self.are_named() || known == 0 || known >= label {
            return Ok(None);
        }
        let labels = if labeled { &columns[label..] } else { &[] };
        Ok(Some([&columns[..known], labels].concat()))
    }
}

/// Returns the first line that is neither blank nor a comment of CoNLL-U, and its number.
fn first_content(lines: &mut LineReader) -> Result<Option<(usize, String)>> {
    for number in 0..MAX_LINES {
        let Some(line) = lines.peek(number)? else {
            break;
        };
        let is_comment = CONLLU_COMMENTS.iter().any(|start| line.starts_with(start));
        if !is_comment && !line.trim().is_empty() {
            return Ok(Some((number, line)));
        }
    }
    Ok(None)
}

/// Returns whether a line is a token of CoNLL-U.
fn is_conllu(line: &str) -> bool {
    let cells: Vec<&str> = line.split('\t').collect();
    let is_id = |id: &str| id.starts_with(|c: char| c.is_ascii_digit());
    cells.len() == CONLLU_COLUMNS.len() && is_id(cells[0])
}

/// Returns the cells of a line of columns; none if it is blank.
fn cells(line: &str) -> Vec<&str> {
    match line.trim().is_empty() {
        true => Vec::new(),
        false => split_cells(line),
    }
}
