//! The input of commands that tag: its format and its columns, by the names of the files and their
//! first lines; and what is known of it.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{
    CONLLU_COLUMNS, DOCUMENT_START, Format, LineReader, ReadOptions, Reader, recognize, split_cells,
};
use dropchain::tag::{Condition, Header};
use dropchain::{Error, Result, Sentence, Tagger};
use dropchain_documents::ModelKind;
use dropchain_formats::{InputFormat, SpanOptions};

use crate::arguments::{
    FileName, LimitArguments, LineArguments, TextArguments, input_format, named_format, other_files,
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
    #[command(flatten)]
    lines: LineArguments,
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
        let options = self.text.apply(ReadOptions {
            columns: self.columns.clone(),
            unlabeled: true,
            comments: self.lines.comments || header.lines.comments,
            header: self.lines.header || header.lines.header,
            weights: false,
            max_sentence: limits.max_sentence(),
            memory: limits.memory(),
            ..ReadOptions::default()
        });
        let read_options = |format, options| {
            let options = model.read_options(format, SpanOptions::default(), options);
            forced.apply(options, format)
        };
        if named == Some(InputFormat::Brat) {
            // A folder has no first lines.
            let reader = Reader::open(files, &read_options(InputFormat::Brat, options)?)?;
            return Ok((reader, InputFormat::Brat));
        }
        let mut format = Format::Text.into();
        let reader = Reader::open_by_content(files, |lines| {
            let mut options = options;
            options.decode(lines);
            format = match named {
                Some(format) => format,
                None => model.detect_format(lines, &mut options)?.into(),
            };
            if format == Format::Conll.into() && options.columns.is_none() {
                options.columns = model.fewer(lines, &options, false)?;
            }
            read_options(format, options)
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
    /// Sets the columns if they are not those of the training data.
    pub fn detect_format(
        &self,
        lines: &mut LineReader,
        options: &mut ReadOptions,
    ) -> Result<Format> {
        let available = lines.available()?;
        let Some((number, line)) = first_content(lines, options)? else {
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
        } else if self.are_columns(lines, number, &line, options)? {
            Format::Conll
        } else if self.0.template.is_some() && are_words(&available) {
            options.columns = Some(vec![self.word_column()]);
            notice(&format!(
                "{file}: read as one word per line; --format text reads raw text"
            ));
            return Ok(Format::Conll);
        } else {
            let is_other = line.starts_with(['[', '{', '<']) || line.contains('|');
            if let Some(other) = recognize(&available).filter(|_| is_other) {
                notice(&format!("warning: {file}: read as raw text, but {other}"));
            } else if &**lines.file() != "-" && self.have_width_of_columns(lines, number)? {
                notice(&format!(
                    "{file}: read as raw text, but each line has as many words as the training \
                     data had columns; --format conll reads columns"
                ));
            } else if !options.paragraphs && are_broken(&available) {
                notice(&format!(
                    "{file}: most lines seem to end inside a sentence; --paragraphs reads them up \
                     to a blank line as one text"
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

    /// Returns the name of the column of words.
    fn word_column(&self) -> String {
        let columns = &self.0.columns;
        let named = columns.iter().any(|name| name == "word" || name == "form");
        let first = columns.first().filter(|_| !named);
        first.map_or("word", String::as_str).to_owned()
    }

    /// Returns whether the file has the columns from line `number` on, which is `line`.
    fn are_columns(
        &self,
        lines: &mut LineReader,
        number: usize,
        line: &str,
        options: &ReadOptions,
    ) -> Result<bool> {
        if !self.0.has_own_columns() {
            return Ok(false);
        }
        if cells(line).first() == Some(&DOCUMENT_START) {
            return Ok(true);
        }
        if options.header {
            let width = cells(line).len();
            let without_labels = self.0.columns_before_label().filter(|&width| width > 1);
            return Ok(width == self.0.columns.len() || Some(width) == without_labels);
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
        if !self.0.has_own_columns() {
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

    /// Returns the options for reading input in a format: as far as they leave it open, like the
    /// training data.
    pub fn read_options(
        &self,
        format: InputFormat,
        spans: SpanOptions,
        options: ReadOptions,
    ) -> ReadOptions {
        let options = match format {
            InputFormat::Core(format) => self.0.read_options(format, options),
            _ => options,
        };
        format.apply(spans, options)
    }

    /// Returns the label of the model if it is no column of CoNLL-U, but a key in the first lines
    /// of a file, as in those that `tag` writes.
    pub fn key(&self, lines: &mut LineReader) -> Result<Option<String>> {
        let Some(label) = self.0.label_name().filter(|_| self.0.has_own_columns()) else {
            return Ok(None);
        };
        let has_key = |line: &str| {
            let misc = line.rsplit('\t').next().unwrap_or_default();
            let mut items = misc.split('|').filter_map(|item| item.split_once('='));
            is_conllu(line) && items.any(|(key, _)| key == label)
        };
        for number in 0..MAX_LINES {
            match lines.peek(number)? {
                Some(line) if has_key(&line) => return Ok(Some(label.to_owned())),
                Some(_) => {}
                None => break,
            }
        }
        Ok(None)
    }

    /// Returns the names of the columns of a file that has fewer than the training data: the first
    /// of these, and if they are `labeled` the labels, which must be the last column.
    pub fn fewer(
        &self,
        lines: &mut LineReader,
        options: &ReadOptions,
        labeled: bool,
    ) -> Result<Option<Vec<String>>> {
        let has_comments = self.0.lines.comments || options.comments;
        let Some(label) = self.0.columns_before_label() else {
            return Ok(None);
        };
        let mut number = 0;
        let found = loop {
            match lines.peek(number)? {
                None => return Ok(None),
                Some(line) if has_comments && line.starts_with('#') => number += 1,
                Some(line) => match cells(&line)[..] {
                    [] | [DOCUMENT_START, ..] => number += 1,
                    ref cells => break cells.len(),
                },
            }
        };
        let columns = &self.0.columns;
        let labels = if labeled { columns.len() - label } else { 0 };
        let known = found.saturating_sub(labels);
        if !self.0.has_own_columns() || known == 0 || known >= label {
            return Ok(None);
        }
        let labels = if labeled { &columns[label..] } else { &[] };
        Ok(Some([&columns[..known], labels].concat()))
    }
}

/// Returns the first line that is neither blank nor a comment, and its number.
fn first_content(lines: &mut LineReader, options: &ReadOptions) -> Result<Option<(usize, String)>> {
    for number in 0..MAX_LINES {
        let Some(line) = lines.peek(number)? else {
            break;
        };
        let is_comment = CONLLU_COMMENTS.iter().any(|start| line.starts_with(start))
            || options.comments && line.starts_with('#');
        if !is_comment && !line.trim().is_empty() {
            return Ok(Some((number, line)));
        }
    }
    Ok(None)
}

/// Minimum number of words, one per line, or of lines that are broken.
const MIN_LINES: usize = 4;

/// Maximum number of characters of a line that is a word, on average.
const MEAN_WORD: usize = 12;

/// Returns whether lines are words, one on each, with blank lines between sentences: text has
/// blanks. So that lists of words and the lines of scripts without blanks are text, there must be
/// a sentence of several words that ends, or a word that is only punctuation.
fn are_words(lines: &[String]) -> bool {
    let words: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let content = || words.iter().filter(|word| !word.is_empty());
    let count = content().count();
    let characters: usize = content().map(|word| word.chars().count()).sum();
    let is_punctuation = |word: &str| word.chars().all(|c| !c.is_alphanumeric() && c != '#');
    let has_punctuation = content().any(|word| is_punctuation(word));
    let sentences = words.split(|word| word.is_empty());
    let sentences = sentences.filter(|sentence| !sentence.is_empty()).count();
    let ends = words.len() > count && count >= 2 * sentences;
    let has_spaced_script = content().all(|word| word.chars().all(|c| c < '\u{e00}'));
    count >= MIN_LINES
        && characters <= MEAN_WORD * count
        && content().all(|word| !word.contains(char::is_whitespace))
        && (has_punctuation || ends && has_spaced_script)
}

/// Returns whether most lines of a text end inside a sentence and the next one goes on.
fn are_broken(lines: &[String]) -> bool {
    const LONGEST: usize = 100;
    let ends_inside = |line: &str| line.ends_with(|c: char| c.is_alphanumeric() || c == ',');
    let goes_on = |line: &str| line.starts_with(char::is_lowercase);
    let pairs = lines
        .windows(2)
        .filter(|pair| pair.iter().all(|line| !line.trim().is_empty()));
    let pairs: Vec<bool> = pairs
        .map(|pair| {
            let is_long = pair[0].chars().count() > LONGEST / 2;
            is_long && ends_inside(pair[0].trim_end()) && goes_on(&pair[1])
        })
        .collect();
    let broken = pairs.iter().filter(|&&broken| broken).count();
    broken >= MIN_LINES - 1
        && 2 * broken > pairs.len()
        && lines.iter().all(|line| line.chars().count() <= LONGEST)
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
