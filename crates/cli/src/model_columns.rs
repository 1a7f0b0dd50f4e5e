//! Which files fit the data that a model was trained on, by their first lines.

use dropchain::Place;
use dropchain::corpus::{FileKind, Format, LineReader, ReadOptions};
use dropchain::kernel::corpus::{CONLLU_COLUMNS, DOCUMENT_START, JsonObject, split_cells};
use dropchain::label::Notation;
use dropchain::model::{ColumnFit, Header};
use dropchain::{Error, Result};
use dropchain_formats::{InputFormat, SpanOptions};

/// Maximum number of lines that are looked at.
const MAX_LINES: usize = 20;

/// Maximum number of characters of a line that is looked at.
const LONG_LINE: usize = 1 << 20;

/// Comments that CoNLL-U files begin with.
const CONLLU_COMMENTS: [&str; 5] = ["# newdoc", "# newpar", "# sent_id", "# text", "# global."];

const STANDARD_INPUT: &str = "standard input";

const MAY_BE_COLUMNS: &str = "read as raw text, but each line has as many words as the training \
                              data had columns; --format conll reads columns";

const HARD_BREAKS: &str = "most lines seem to end inside a sentence; --paragraphs reads them up to \
                           a blank line as one text";

/// Returns the name of a file as messages have it.
pub fn file_name(file: &str) -> &str {
    match file {
        "-" => STANDARD_INPUT,
        file => file,
    }
}

/// The columns of the data that a model was trained on, and the first lines of a file.
pub struct ModelColumns<'a> {
    pub header: &'a Header,
    pub lines: &'a mut LineReader,
}

impl ModelColumns<'_> {
    /// Decides the format of a file to be tagged by its name and its first lines, and gives
    /// notice of what its name does not tell, unless it is raw text. As few lines are read as
    /// possible, for one types them, or a program is waiting. Sets the columns if they are not
    /// those of the training data.
    ///
    /// # Errors
    ///
    /// The name tells columns, and the lines that they are none.
    pub fn detect_format(
        &mut self,
        options: &mut ReadOptions,
        say: &dyn Fn(&str),
    ) -> Result<Format> {
        let mut available = self.lines.available()?;
        let named = Format::of_name(self.lines.file());
        let Some((number, line)) = self.first_content(options)? else {
            return Ok(named.unwrap_or(Format::Text));
        };
        if named.is_none() && self.header.template.is_none() && line.contains('\t') {
            return Ok(Format::Crfsuite);
        }
        if available.is_empty() {
            available.push(line.chars().take(LONG_LINE).collect());
        }
        available.truncate(MAX_LINES);
        let file = file_name(self.lines.file()).to_owned();
        let kind = FileKind::of_lines(self.lines.file(), &available);
        let readable = kind.format(true);
        let is_sure = |&format: &Format| match format {
            Format::Conll => matches!(kind, FileKind::Csv { has_header: true, .. }),
            format => format != Format::Text,
        };
        let format = match (named, readable.filter(is_sure)) {
            (Some(named), Some(found)) if named == found => return Ok(named),
            (_, Some(found)) => found,
            (Some(_), None) if readable.is_none() => {
                let place = Place::line(&**self.lines.file(), number as u64 + 1);
                return Err(Error::input(place, kind.to_string()));
            }
            (Some(named), None) => return Ok(named),
            (None, None) if self.are_columns(number, &line, options)? => Format::Conll,
            (None, None) if kind == FileKind::Words && self.header.template.is_some() => {
                options.columns = Some(vec![self.word_column()]);
                say(&format!("{file}: read as one word per line; --format text reads raw text"));
                return Ok(Format::Conll);
            }
            (None, None) => {
                if kind.has_marks() {
                    say(&format!("warning: {file}: read as raw text, but {kind}"));
                } else if file != STANDARD_INPUT && self.have_width_of_columns(number)? {
                    say(&format!("{file}: {MAY_BE_COLUMNS}"));
                } else if !options.text.paragraphs && FileKind::has_hard_breaks(&available) {
                    say(&format!("{file}: {HARD_BREAKS}"));
                }
                return Ok(Format::Text);
            }
        };
        let what = match format {
            Format::Jsonl => "JSON lines".to_owned(),
            Format::Conllu => "CoNLL-U".to_owned(),
            Format::Crfsuite => "CRFsuite's format".to_owned(),
            _ => format!("columns ({})", self.header.columns.names.join(" ")),
        };
        say(&format!("{file}: read as {what}; --format text reads raw text"));
        Ok(format)
    }

    /// Returns the name of the column of words.
    fn word_column(&self) -> String {
        let columns = &self.header.columns.names;
        let named = columns.iter().any(|name| name == "word" || name == "form");
        columns.first().filter(|_| !named).map_or("word", String::as_str).to_owned()
    }

    /// Returns whether the file has the columns from line `number` on, which is `line`.
    fn are_columns(&mut self, number: usize, line: &str, options: &ReadOptions) -> Result<bool> {
        if !self.header.has_own_columns() {
            return Ok(false);
        }
        if cells(line).first() == Some(&DOCUMENT_START) {
            return Ok(true);
        }
        if options.lines.header {
            return Ok(self.has_columns(&cells(line)));
        }
        if !self.fits(line) {
            return Ok(false);
        }
        Ok(match self.lines.peek(number + 1)? {
            Some(next) => next.trim().is_empty() || self.fits(&next),
            None => true,
        })
    }

    /// Returns whether a line has the columns, the labels included, or without these and with tabs.
    fn fits(&self, line: &str) -> bool {
        let cells = cells(line);
        if cells.len() == self.header.columns.names.len() {
            let label = self.header.columns.label_of(&cells);
            return label.is_some_and(|label| self.is_label(&label));
        }
        line.contains('\t') && self.has_columns(&cells)
    }

    /// Returns whether cells are those of all columns, or of several columns without the labels.
    fn has_columns(&self, cells: &[&str]) -> bool {
        match self.header.columns.fit(None, cells.len(), false) {
            ColumnFit::All => true,
            ColumnFit::Unlabeled => cells.len() > 1,
            _ => false,
        }
    }

    /// Returns whether a cell is a label of the model: written as in the training data, or of a
    /// span of one of its types in another scheme.
    fn is_label(&self, cell: &str) -> bool {
        let Header { labels, labeling, corpus_labeling, columns, .. } = self.header;
        let has_types = columns.joined().is_none() && self.header.encodes_spans();
        if labels.id(cell).is_some() || has_types && cell == corpus_labeling.outside() {
            return true;
        }
        let notations = [&corpus_labeling.notation, &Notation::CANONICAL];
        let mut chunks = notations.into_iter().filter_map(|n| n.read(cell));
        has_types
            && chunks.any(|chunk| {
                let mut own = labels.names().iter().map(|label| labeling.chunk(label));
                own.any(|own| own.tag != "O" && own.kind == chunk.kind)
            })
    }

    /// Returns whether all of the first lines have as many cells as there are columns, the labels
    /// included or not.
    fn have_width_of_columns(&mut self, number: usize) -> Result<bool> {
        if !self.header.has_own_columns() {
            return Ok(false);
        }
        let lines = self.first_lines()?;
        let widths = lines.iter().skip(number).map(|line| cells(line).len());
        let widths: Vec<usize> = widths.filter(|&width| width > 0).collect();
        let fits = |&width: &usize| self.header.columns.fit(None, width, false);
        let first = widths.first().map(fits);
        Ok(widths.len() >= 3
            && matches!(first, Some(ColumnFit::All | ColumnFit::Unlabeled))
            && widths.windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// Returns the name of the column, or of the key, of labels in the first line of a file, if it
    /// has some.
    pub fn label_of_file(
        &mut self,
        format: InputFormat,
        options: &ReadOptions,
    ) -> Result<Option<&str>> {
        if ![Format::Conll, Format::Conllu, Format::Jsonl].map(Into::into).contains(&format) {
            return Ok(None);
        }
        let Some((_, line)) = self.first_content(options)? else { return Ok(None) };
        let has = |label: &&str| match format {
            InputFormat::Core(Format::Conll) => {
                let own =
                    Some(&self.header.columns.names).filter(|_| self.header.has_own_columns());
                let columns = options.columns.as_ref().or(own);
                columns.is_some_and(|columns| {
                    columns.len() == cells(&line).len() && columns.iter().any(|c| c == label)
                })
            }
            InputFormat::Core(Format::Conllu) => {
                let column = CONLLU_COLUMNS.iter().position(|column| column == label);
                let cell = column.and_then(|column| line.split('\t').nth(column));
                cell.is_some_and(|cell| cell != "_")
            }
            InputFormat::Core(Format::Jsonl) => {
                let object: Option<JsonObject<'_>> = serde_json::from_str(&line).ok();
                object.is_some_and(|object| object.get(label).is_some())
            }
            _ => false,
        };
        Ok([self.header.columns.label_name(), Some("labels")].into_iter().flatten().find(has))
    }

    /// Returns the label of the model if it is no column of CoNLL-U, but a key in the first lines
    /// of a file, as in those that `tag` writes.
    pub fn key(&mut self) -> Result<Option<String>> {
        let Some(label) =
            self.header.columns.label_name().filter(|_| self.header.has_own_columns())
        else {
            return Ok(None);
        };
        let has_key = |line: &str| {
            let misc = line.rsplit('\t').next().unwrap_or_default();
            let mut items = misc.split('|').filter_map(|item| item.split_once('='));
            is_conllu(line) && items.any(|(key, _)| key == label)
        };
        Ok(self.first_lines()?.iter().any(|line| has_key(line)).then(|| label.to_owned()))
    }

    /// Returns the names of the columns of a file that has others than the training data: those of
    /// its header row, or fewer.
    pub fn names(&mut self, options: &ReadOptions, labeled: bool) -> Result<Option<Vec<String>>> {
        let columns = &self.header.columns;
        let available = self.lines.available()?;
        if let FileKind::Csv { .. } = FileKind::of_lines(self.lines.file(), &available) {
            return Ok(None);
        }
        let has_comments = columns.lines.comments || options.lines.comments;
        let mut number = 0;
        while let Some(line) = self.lines.peek(number)? {
            number += 1;
            let is_comment = has_comments && line.starts_with('#');
            let cells = if is_comment { Vec::new() } else { cells(&line) };
            if matches!(cells[..], [] | [DOCUMENT_START, ..]) {
                continue;
            }
            let header = Some(&*cells).filter(|_| columns.lines.header || options.lines.header);
            return Ok(match columns.fit(header, cells.len(), labeled) {
                ColumnFit::ByName(names) | ColumnFit::Fewer(names)
                    if self.header.has_own_columns() =>
                {
                    Some(names)
                }
                _ => None,
            });
        }
        Ok(None)
    }

    /// Returns the first lines of a file.
    fn first_lines(&mut self) -> Result<Vec<String>> {
        (0..MAX_LINES).map_while(|number| self.lines.peek(number).transpose()).collect()
    }

    /// Returns the first line that is neither blank nor a comment, and its number.
    fn first_content(&mut self, options: &ReadOptions) -> Result<Option<(usize, String)>> {
        for number in 0..MAX_LINES {
            let Some(line) = self.lines.peek(number)? else { break };
            let is_comment = CONLLU_COMMENTS.iter().any(|start| line.starts_with(start))
                || options.lines.comments && line.starts_with('#');
            if !is_comment && !line.trim().is_empty() {
                return Ok(Some((number, line)));
            }
        }
        Ok(None)
    }
}

/// Returns the options for reading input in a format: as far as they leave it open, like the
/// training data of a model.
pub fn read_options(
    header: &Header,
    format: InputFormat,
    spans: SpanOptions,
    options: ReadOptions,
) -> ReadOptions {
    let options = match format {
        InputFormat::Core(format) => header.read_options(format, options),
        _ => options,
    };
    format.apply(spans, options)
}

/// Returns whether a line is a token of CoNLL-U.
fn is_conllu(line: &str) -> bool {
    let cells: Vec<&str> = line.split('\t').collect();
    let is_id = |id: &str| id.starts_with(|c: char| c.is_ascii_digit());
    cells.len() == CONLLU_COLUMNS.len() && is_id(cells[0])
}

/// Returns the cells of a line of columns; none if it is blank.
fn cells(line: &str) -> Vec<&str> {
    if line.trim().is_empty() { Vec::new() } else { split_cells(line) }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Cursor;

    use dropchain::kernel::model::CorpusColumns;
    use dropchain::label::{LabelSet, Scheme};
    use dropchain::sentence::Schema;

    use super::*;

    /// A model of named entities in three columns.
    fn header() -> Header {
        let labels = ["B-PER", "O", "B-LOC", "I-PER"].map(str::to_owned).to_vec();
        let names = ["word", "pos", "ner"].map(str::to_owned).to_vec();
        Header {
            labeling: Scheme::Iob2.into(),
            corpus_labeling: Scheme::Iob2.into(),
            columns: CorpusColumns::of(&Schema::new(names, Some(2)).unwrap()),
            template: Some("word\n".parse().unwrap()),
            ..Header::new(LabelSet::try_from(labels).unwrap())
        }
    }

    #[test]
    fn the_format_of_input_is_decided_by_its_first_lines_and_said() {
        const BROKEN: &str = "\
When Mira came to Oslo for the first time in the spring of that year the river
was still frozen, and the people who lived along it walked over the ice from one
side to the other, which none of the guests from the south had ever seen before
they came, so that some of them stayed until the ice was gone.
";
        const NAMES: &str = "\
The parliament has elected Mira Holm of the Green Party of Norway, after Kai
Lund of the Labor Party had left it in May, when the whole government of New
York was in the city of Oslo, to its president. She was born in Bergen, near
Stavanger, and has written books about Norway and Sweden, Denmark and Russia
";
        const HEADLINES: &str = "\
The parliament has elected Mira Holm of the Green Party of Norway
Government of New York in the city of Oslo until the end of the whole month of May
Mira Holm has written books about Norway and Sweden
Stavanger and Bergen have their first snow of the winter
Labor Party is left by Kai Lund and by many others
";
        let columns = "read as columns (word pos ner)";
        for (text, format, said) in [
            ("Ann NNP B-PER\nleft VBD O\n", Format::Conll, columns),
            ("-DOCSTART- -X- O\n\nAnn NNP B-PER\n", Format::Conll, columns),
            // Labels of another scheme, or none after tabs.
            ("Ann\tNNP\tS-PER\n", Format::Conll, columns),
            ("Ann\tNNP\nleft\tVBD\n", Format::Conll, columns),
            ("Ann NNP\nleft VBD\nRome NNP\n", Format::Text, "as many words as the training data"),
            ("Mira\nHolm\nran\n.\n\nKai\nsat\n.\n", Format::Conll, "read as one word per line"),
            ("{\"tokens\": [\"Ann\"]}\n", Format::Jsonl, "read as JSON lines"),
            ("# text = Ann\n1\tAnn\t_\tX\t_\t_\t0\t_\t_\t_\n", Format::Conllu, "CoNLL-U"),
            ("[{\"text\": \"Mira\"}]\n", Format::Text, "but the file looks like JSON"),
            ("Mira|NNP|I-PER ran|VBD|O .|.|O\n", Format::Text, "looks like tokens word|tag|label"),
            (BROKEN, Format::Text, "most lines seem to end inside a sentence; --paragraphs"),
            (NAMES, Format::Text, "most lines seem to end inside a sentence; --paragraphs"),
            (HEADLINES, Format::Text, ""),
            // Text.
            ("Ann left Rome.\n", Format::Text, ""),
            ("Ann left Rome\nBob saw Ann\n", Format::Text, ""),
            ("[1] Mira ran | Kai sat.\n", Format::Text, ""),
            ("# Ann\n", Format::Text, ""),
            ("\n", Format::Text, ""),
            ("{Ann}\n", Format::Text, ""),
        ] {
            let mut lines = LineReader::new(Box::new(Cursor::new(text)), "x");
            let notices = RefCell::new(String::new());
            let say = |notice: &str| notices.borrow_mut().push_str(notice);
            let mut options = ReadOptions::default();
            let header = header();
            let found = ModelColumns { header: &header, lines: &mut lines }
                .detect_format(&mut options, &say);
            assert_eq!(found.unwrap(), format, "{text}");
            let notices = notices.into_inner();
            assert!(notices.contains(said) && notices.is_empty() == said.is_empty(), "{notices}");
        }
    }
}
