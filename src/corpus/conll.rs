//! Parsing CoNLL: one token per line, in columns, and a blank line after each sentence.
//!
//! The first token line of a file determines its layout ([`ColumnLayout`]). If it contains a tab,
//! cells are separated by single tabs, and may contain spaces or be empty; otherwise by runs of
//! blanks. Every other line must have the same number of cells. `-DOCSTART-` lines are document
//! boundaries; their cells are not counted, since many corpora give them fewer. (In a file without
//! a token they are dropped, since its columns are unknown.) In a table of tokens ([`Sheet`]),
//! cells may be those of CSV, and columns of places end sentences.

use std::collections::VecDeque;

use super::column_layout::ColumnLayout;
use super::columns::{DOCUMENT_START, OUTSIDE, row_cells, split_blanks};
use super::conllu::{self, MultiwordEnd, is_new_document};
use super::doubts::Doubts;
use super::lines::{InputLine, LineReader, is_blank};
use super::parse::{LabelsSeen, PendingWeight, ReadOptions, SentenceParser, check_comment_inside};
use super::read_report::Repair;
use super::sheet::Sheet;
use crate::error::Result;
use crate::sentence::{Sentence, Separation, SourceFile};

/// Fills the missing cells of a `-DOCSTART-` line, as in the CoNLL-2003 shared task.
const FILLER: &str = "-X-";

const COMMENT: Repair = Repair {
    one: "line begins with '#'",
    many: "lines begin with '#'",
    fate: "read as comments, not tokens",
};

const HEADER_ROW: Repair = Repair {
    one: "header row",
    many: "header rows",
    fate: "read as names of columns, not as a token",
};

/// Parses columns: CoNLL, or CoNLL-U ([`conllu`]).
#[derive(Default)]
pub(super) struct ConllParser {
    options: ReadOptions,
    is_conllu: bool,
    sheet: Sheet,
    places: Vec<String>, // the cells of the last token that tell its sentence
    layout: Option<(ColumnLayout, Doubts)>,
    current: Option<(Sentence, MultiwordEnd)>,
    misc_labels: LabelsSeen,
    early_boundaries: Vec<(u64, String)>, // -DOCSTART- lines before the first token
    before: BeforeSentence,
    blank: bool, // the last line was blank
}

/// Comments, boundaries and blank lines before the next sentence.
#[derive(Default)]
struct BeforeSentence {
    comments: Vec<String>,
    weight: PendingWeight,
    separation: Separation,
}

impl ConllParser {
    pub fn new(mut options: ReadOptions, is_conllu: bool) -> Self {
        options.lines.comments |= is_conllu;
        options.lines.header &= !is_conllu;
        Self { options, is_conllu, ..Self::default() }
    }

    /// Keeps a comment line.
    fn comment(&mut self, line: &InputLine) -> Result<()> {
        if !self.is_conllu {
            (self.options.report).add_at(&COMMENT, line.file, line.number);
        }
        match &mut self.current {
            Some((current, _)) => {
                if self.options.supervision.weights {
                    check_comment_inside(line)?;
                }
                keep_extra_line(current, line);
            }
            None => {
                if self.options.supervision.weights {
                    self.before.weight.read(line)?;
                }
                if is_new_document(line.text) {
                    self.before.separation.add(Separation::MARK);
                }
                self.before.comments.push(line.text.to_owned());
            }
        }
        Ok(())
    }

    /// Parses the token on `line`.
    fn token(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if self.begins_sentence(line) {
            self.end_sentence(line.number, ready)?;
        }
        let (layout, doubts) = match &mut self.layout {
            Some(layout) => layout,
            None => {
                let layout = match self.is_conllu {
                    true => ColumnLayout::of_tabs(conllu::schema(line, &self.options)?),
                    false => ColumnLayout::new(line, &self.sheet, &self.options)?,
                };
                let doubts = Doubts::new(&layout.schema, self.is_conllu);
                self.layout.insert((layout, doubts))
            }
        };
        for (number, text) in self.early_boundaries.drain(..) {
            ready.push_back(boundary(&text, line.file, number, layout)?);
        }
        let (current, multiword_end) = match &mut self.current {
            Some(current) => current,
            None => {
                let mut sentence = Sentence::new(layout.schema.clone(), line.file.clone());
                let mut before = std::mem::take(&mut self.before);
                sentence.layout.comments = before.comments;
                sentence.layout.separation = before.separation;
                before.weight.apply(&mut sentence)?;
                self.current.insert((sentence, MultiwordEnd::default()))
            }
        };
        let t = current.len();
        if self.is_conllu {
            let cells = conllu::cells(line)?;
            if !conllu::is_word(line, cells[0], t, multiword_end)? {
                keep_extra_line(current, line);
                return Ok(());
            }
            conllu::push(current, cells, line, &self.options, &mut self.misc_labels)?;
        } else {
            let pushed = match (layout.csv, layout.tabs) {
                (Some(_), _) => current.push_input(layout.cells(line.text), line.number),
                (None, true) => current.push_input(line.text.split('\t'), line.number),
                (None, false) => current.push_input(split_blanks(line.text), line.number),
            };
            pushed.map_err(|error| layout.explain(line, error, &self.options))?;
        }
        if current.label(t).is_some_and(str::is_empty) {
            return Err(line.error("the label is empty; expected a label, such as O"));
        }
        doubts.token(current, line, &self.options.report);
        self.options.parse_last_label(current, line)?;
        self.options.check_length(current)
    }

    /// Returns whether the token on `line` begins a sentence, by the columns of places.
    fn begins_sentence(&mut self, line: &InputLine) -> bool {
        let Sheet { separator, places, number, .. } = &self.sheet;
        if self.sheet.count() == 0 {
            return false;
        }
        let cells = row_cells(line.text, *separator);
        let number = number.and_then(|(column, first)| Some((cells.get(column)?, first)));
        let mut begins = number.is_some_and(|(cell, first)| cell.parse() == Ok(first));
        self.places.resize(places.len(), String::new());
        for (known, column) in self.places.iter_mut().zip(places) {
            let cell = cells.get(*column).filter(|cell| !cell.is_empty() && **cell != *known);
            if let Some(cell) = cell {
                *known = cell.to_string();
                begins = true;
            }
        }
        begins
    }

    /// Ends the current sentence, if there is one, at the line with this number.
    fn end_sentence(&mut self, line: u64, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if let Some((mut sentence, multiword_end)) = self.current.take() {
            if self.is_conllu {
                conllu::check_complete(&sentence, multiword_end, line)?;
            }
            sentence.shrink_to_fit();
            ready.push_back(sentence);
        }
        Ok(())
    }

    /// Ends the current sentence at a `-DOCSTART-` line.
    fn document_start(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        self.end_sentence(line.number, ready)?;
        let message = "the weight is followed by a document boundary; expected a sentence";
        self.before.weight.check_none(line.file, message)?;
        match &self.layout {
            None => self.early_boundaries.push((line.number, line.text.to_owned())),
            Some((layout, _)) => {
                let mut boundary = boundary(line.text, line.file, line.number, layout)?;
                boundary.layout.comments = std::mem::take(&mut self.before.comments);
                ready.push_back(boundary);
            }
        }
        Ok(())
    }
}

impl SentenceParser for ConllParser {
    fn memory_per_byte(&self) -> u64 {
        6
    }

    fn begin(&mut self, lines: &mut LineReader) -> Result<()> {
        if !self.is_conllu {
            self.sheet = Sheet::look_at(lines, &self.options)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        // A row of CSV with only empty cells separates sentences as a blank line does.
        let is_empty = |separator| line.text.chars().all(|c| c == separator || c == ' ');
        let is_blank = is_blank(line.text) || self.sheet.separator.is_some_and(is_empty);
        let was_blank = std::mem::replace(&mut self.blank, is_blank);
        if is_blank {
            let is_extra = match self.is_conllu {
                true => self.current.is_none() && line.number > 1,
                false => was_blank,
            };
            if is_extra {
                self.before.separation.add(Separation::BLANK_LINE);
            }
            self.end_sentence(line.number, ready)
        } else if self.options.lines.comments && line.text.starts_with('#') {
            self.comment(line)
        } else if !self.is_conllu && split_blanks(line.text).next() == Some(DOCUMENT_START) {
            self.document_start(line, ready)
        } else if (self.options.lines.header || self.sheet.has_header)
            && self.sheet.header.is_none()
        {
            let names = row_cells(line.text, self.sheet.separator);
            self.sheet.header = Some(names.into_iter().map(Into::into).collect());
            (self.options.report).add_at(&HEADER_ROW, line.file, line.number);
            Ok(())
        } else {
            self.token(line, ready)
        }
    }

    fn end(&mut self, lines: &LineReader, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if let Some((_, doubts)) = &mut self.layout {
            doubts.end(lines.file(), &self.options.report);
        }
        self.end_sentence(lines.number(), ready)?;
        self.misc_labels.finish()
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        self.current = None;
        let separation = self.before.separation;
        self.before = BeforeSentence { separation, ..BeforeSentence::default() };
        self.blank = true;
        lines.skip_sentence()
    }

    fn separator(&self) -> Option<char> {
        let (ColumnLayout { tabs, csv, .. }, _) = self.layout.as_ref()?;
        Some(if *tabs || csv.is_some() { '\t' } else { ' ' })
    }
}

/// Keeps a line that is no token, with the position of the next token.
fn keep_extra_line(sentence: &mut Sentence, line: &InputLine) {
    let t = sentence.len();
    sentence.layout.extra_lines.push((t, line.text.to_owned()));
}

/// The sentence for a `-DOCSTART-` line, padded or truncated to the columns of the file. Blanks
/// before the mark are no cells.
fn boundary(text: &str, file: &SourceFile, number: u64, layout: &ColumnLayout) -> Result<Sentence> {
    let mut cells: Vec<_> = layout.cells(text.trim_start_matches([' ', '\t']));
    let width = layout.schema.input_names().len();
    cells.truncate(width);
    for column in cells.len()..width {
        let label = layout.schema.is_label(column);
        cells.push(if label { OUTSIDE } else { FILLER }.into());
    }
    let mut sentence = Sentence::new(layout.schema.clone(), file.clone());
    sentence.push_input(cells, number)?;
    sentence.layout.document_start = true;
    Ok(sentence)
}

#[cfg(test)]
mod tests {
    use crate::corpus::tests::{options, sentences};
    use crate::corpus::{Format, ReadOptions};
    use crate::sentence::DocumentRule;
    use crate::sentence::{LineRules, Sentence};
    use crate::testing::escaped_rows;

    const COMMENTS: LineRules = LineRules { comments: true, header: false };

    fn conll() -> ReadOptions {
        options(Format::Conll)
    }

    /// Options that name columns, or any of them, and the label column after a slash.
    fn named(columns: &str) -> ReadOptions {
        let (names, label) = columns.split_once('/').unwrap_or((columns, ""));
        let is_named = !names.is_empty() && names != "any";
        ReadOptions {
            columns: is_named.then(|| names.split(',').map(str::to_owned).collect()),
            label: (!label.is_empty()).then(|| label.to_owned()),
            ..conll()
        }
    }

    /// The names of the columns and the cells of the tokens of each sentence, or the error.
    fn read_as(text: &str, options: &ReadOptions) -> String {
        let read = match sentences(text, options) {
            Ok(read) => read,
            Err(error) => return error.to_string(),
        };
        let token = |s: &Sentence, t| s.cells(t).collect::<Vec<_>>().join("|");
        let tokens = |s: &Sentence| (0..s.len()).map(|t| token(s, t)).collect::<Vec<_>>().join(" ");
        let label = read[0].schema().label().map_or("none", |i| &read[0].schema().names()[i]);
        let read: Vec<String> = read.iter().map(tokens).collect();
        format!("{label}: {}", read.join("; "))
    }

    #[test]
    fn rows_have_cells_and_the_named_label() {
        let table = r"
            // Blank lines of any kind and number end a sentence.
            any: \n \nA B-X\nb O\n\t\n\n  \nC O → label: A|B-X b|O; C|O
            any: a  NN   O \nb\t \u{a0} O\n → label: a|NN|O b|\u{a0}|O
            any: New York\t\tB-LOC\n\tx\tO\n → label: New York||B-LOC |x|O
            any: a\tO\t\nb\tO\n → x:1: the label is empty; expected a label, such as O
            word,pos,ner,note/ner: a NN B-X z\n → ner: a|NN|B-X|z
            word,pos,ner,note/2: a NN B-X z\n → ner: a|NN|B-X|z
            word,pos,ner,note/-2: a NN B-X z\n → ner: a|NN|B-X|z
            /1: a NN B-X\n → label: a|NN|B-X
            word,ner/chunk: a O\n → x:1: no column 'chunk' to take labels from; the columns are word
                ner
            word,pos,ner: a O\n → x:1: expected 3 columns (word pos ner), found 2
            word,word: a O\n → two columns have the name 'word'
            // Boundaries of documents may have any number of cells.
            any: -DOCSTART-\n-DOCSTART- (2) x y\na\tNN\tO\n\n\t\t-DOCSTART-\n → label:
                -DOCSTART-|-X-|O; -DOCSTART- (2) x y|-X-|O; a|NN|O; -DOCSTART-|-X-|O
            any: -DOCSTART- -X- O\n\na NN O\n-DOCSTART- -Y- B\nb NN O\n → label: -DOCSTART-|-X-|O;
                a|NN|O; -DOCSTART-|-Y-|B; b|NN|O
            // Joined columns.
            word,pos,feats,ner/feats+pos: -DOCSTART-\n\na N P=1 O\n → feats+pos:
                -DOCSTART-|O|O|-X-|O+O; a|N|P=1|O|P=1+N
            /1+-1: a N P=1 O\n → 1+3: a|N|P=1|O|N+O
            /1+2: a N P O\nb N P O x\n → x:2: expected 4 columns (word 1 2 3), found 5
            /1+2: a\tN\t\n → x:1: the label is empty in the column '2'; expected a value, such as _
        ";
        for (text, expected) in escaped_rows(table) {
            let (columns, text) = text.split_once(": ").unwrap();
            assert_eq!(read_as(text, &named(columns)), expected, "{text}");
        }
    }

    #[test]
    fn the_last_column_may_be_missing_in_a_file_to_be_tagged() {
        let table = r"
            word,pos,ner/ner: a NN O\n → ner: a|NN|O
            word,pos,ner/ner: a NN\n → none: a|NN
            word,pos,ner/ner: a\n → x:1: expected 3 columns (word pos ner), or 2 without the label,
                found 1
            word,pos: a NN\n → none: a|NN
            word,ner,note/ner: a z\n → x:1: expected 3 columns (word ner note), found 2
            any: a\nb\n → none: a b
        ";
        for (text, expected) in escaped_rows(table) {
            let (columns, text) = text.split_once(": ").unwrap();
            let options = ReadOptions { unlabeled: true, ..named(columns) };
            assert_eq!(read_as(text, &options), expected, "{text}");
        }
    }

    #[test]
    fn lines_with_number_signs_are_kept_as_comments_if_enabled() {
        let text = "# id 1\na O\n#b O\nc O\n# end\n\n# lost\n";
        let options = ReadOptions { lines: COMMENTS, ..conll() };
        let read = sentences(text, &options).unwrap();
        assert!(read[0].schema().line_rules().comments);
        assert_eq!((read.len(), read[0].len()), (1, 2));
        assert_eq!(read[0].layout.comments, ["# id 1"]);
        assert_eq!(read[0].layout.extra_lines, [(1, "#b O".to_owned()), (2, "# end".to_owned())]);
        assert_eq!(sentences("#b O\n", &conll()).unwrap()[0].cell(0, 0), "#b");
    }

    #[test]
    fn a_header_row_is_no_sentence_and_named_columns_are_stronger() {
        let lines = LineRules { comments: true, header: true };
        let text = "# a\nTOKEN\tPOS\tNE\nMira\tNNP\tB-PER\n\nran\tVBD\tO\n";
        let with = |columns| ReadOptions { lines, ..named(columns) };
        let read = sentences(text, &with("any")).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].schema().names(), ["word", "POS", "NE"]);
        assert!(read[0].schema().line_rules().header);
        assert_eq!(read[0].layout.comments, ["# a"]);
        assert_eq!(read_as(text, &with("/POS")), "POS: Mira|NNP|B-PER; ran|VBD|O");
        assert_eq!(read_as(text, &with("w,p,l")), "l: Mira|NNP|B-PER; ran|VBD|O");
    }

    #[test]
    fn marks_of_joined_files_are_no_text() {
        let text = "\u{feff}Mira O\n\u{feff}\nMira O\n\u{feff}-DOCSTART- O\n\n\u{feff}# c\na O\n";
        let options = ReadOptions { lines: COMMENTS, ..conll() };
        let read = sentences(text, &options).unwrap();
        let words: Vec<&str> = read.iter().map(|s| s.cell(0, 0)).collect();
        assert_eq!(words, ["Mira", "Mira", "-DOCSTART-", "a"]);
        assert!(read[2].layout.document_start);
        assert_eq!(read[3].layout.comments, ["# c"]);
        let notice = &options.report.notices()[0];
        assert!(notice.starts_with("warning: x:2: 3 byte order marks inside files"), "{notice}");
    }

    #[test]
    fn boundaries_comments_and_blank_lines_separate_documents() {
        let text = "a O\n\nb O\n\n\nc O\n-DOCSTART- O\n\nd O\n\n# newdoc\ne O\n";
        let options = ReadOptions { lines: COMMENTS, ..conll() };
        let read = sentences(text, &options).unwrap();
        assert_eq!(read[3].place(0).to_string(), "x:7");
        let words = |rule: DocumentRule| -> Vec<String> {
            let documents = rule.documents(&read).into_iter();
            let words = |document: Vec<&Sentence>| document.iter().map(|s| s.cell(0, 0)).collect();
            documents.map(words).collect()
        };
        assert_eq!(words(DocumentRule::Auto), ["abc", "d", "e"]);
        assert_eq!(words(DocumentRule::BlankLine), ["ab", "cde"]);
        assert_eq!(words(DocumentRule::File), ["abcde"]);
    }
}
