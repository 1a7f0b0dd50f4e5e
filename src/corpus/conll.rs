//! Parsing CoNLL: one token per line, in columns, and a blank line after each sentence.
//!
//! The first token line of a file determines its layout ([`ColumnLayout`]). If it contains a tab,
//! cells are separated by single tabs, and may contain spaces or be empty; otherwise by runs of
//! blanks. Every other line must have the same number of cells. `-DOCSTART-` lines are document
//! boundaries; their cells are not counted, since many corpora give them fewer. (In a file without
//! a token they are dropped, since its columns are unknown.)

use std::collections::VecDeque;
use std::sync::Arc;

use super::columns::{DOCUMENT_START, OUTSIDE, split_blanks, split_cells};
use super::conllu::{self, MultiwordEnd, is_new_document};
use super::guess::{ColumnLayout, Doubts, FirstLines};
use super::lines::{InputLine, LineReader, is_blank};
use super::parse::{ReadOptions, SentenceParser};
use super::read_report::Repair;
use super::sentence_weight::{PendingWeight, check_comment_inside};
use crate::error::Result;
use crate::sentence::{LineRules, Sentence, Separation};

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
pub(super) struct ConllParser {
    options: ReadOptions,
    is_conllu: bool,
    first: FirstLines,
    layout: Option<(ColumnLayout, Doubts)>,
    current: Option<(Sentence, MultiwordEnd)>,
    early_boundaries: Vec<(u64, String)>, // -DOCSTART- lines before the first token
    before: BeforeSentence,
    blank: bool, // the last line was blank
}

/// What stands before the next sentence.
#[derive(Default)]
struct BeforeSentence {
    comments: Vec<String>,
    weight: PendingWeight,
    separation: Separation,
}

impl ConllParser {
    pub fn new(options: ReadOptions, is_conllu: bool) -> Self {
        Self {
            options: ReadOptions {
                lines: LineRules {
                    comments: options.lines.comments || is_conllu,
                    header: options.lines.header && !is_conllu,
                },
                ..options
            },
            is_conllu,
            first: FirstLines::default(),
            layout: None,
            current: None,
            early_boundaries: Vec::new(),
            before: BeforeSentence::default(),
            blank: false,
        }
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
        let is_first = self.layout.is_none();
        let (layout, doubts) = match &mut self.layout {
            Some(layout) => layout,
            None => {
                let layout = match self.is_conllu {
                    true => ColumnLayout::of_tabs(conllu::schema(line, &self.options)?),
                    false => ColumnLayout::new(line, &self.first, &self.options)?,
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
            conllu::push(current, cells, line, &self.options)?;
        } else {
            let pushed = match layout.tabs {
                true => current.push_input(line.text.split('\t'), line.number),
                false => current.push_input(split_blanks(line.text), line.number),
            };
            pushed.map_err(|error| layout.explain(line, error, &self.options))?;
        }
        if current.label(t).is_some_and(str::is_empty) {
            return Err(line.error("the label is empty; expected a label, such as O"));
        }
        if is_first && !self.is_conllu && !self.options.lines.header {
            doubts.first_token(current, line);
        }
        doubts.token(current, line, &self.options.report);
        self.options.parse_last_label(current, line)?;
        self.options.check_length(current)
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
            self.first = FirstLines::look_at(lines, &self.options)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        let is_blank = is_blank(line.text);
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
        } else if self.options.lines.header && self.first.header.is_none() {
            let names = split_cells(line.text).into_iter().map(str::to_owned);
            self.first.header = Some(names.collect());
            (self.options.report).add_at(&HEADER_ROW, line.file, line.number);
            Ok(())
        } else if !self.is_conllu && split_blanks(line.text).next() == Some(DOCUMENT_START) {
            self.document_start(line, ready)
        } else {
            self.token(line, ready)
        }
    }

    fn end(&mut self, lines: &LineReader, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if let Some((_, doubts)) = &mut self.layout {
            doubts.end(lines.file(), &self.options.report);
        }
        self.end_sentence(lines.number(), ready)
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        self.current = None;
        let separation = self.before.separation;
        self.before = BeforeSentence { separation, ..BeforeSentence::default() };
        self.blank = true;
        lines.skip_sentence()
    }

    fn separator(&self) -> Option<char> {
        let tabs = self.layout.as_ref()?.0.tabs;
        Some(if tabs { '\t' } else { ' ' })
    }
}

/// Keeps a line that is no token, with the position of the next token.
fn keep_extra_line(sentence: &mut Sentence, line: &InputLine) {
    let t = sentence.len();
    sentence.layout.extra_lines.push((t, line.text.to_owned()));
}

/// The sentence for a `-DOCSTART-` line, padded or truncated to the columns of the file. Blanks
/// before the mark are no cells.
fn boundary(text: &str, file: &Arc<str>, number: u64, layout: &ColumnLayout) -> Result<Sentence> {
    let mut cells = layout.cells(text.trim_start_matches([' ', '\t']));
    let width = layout.schema.input_names().len();
    cells.truncate(width);
    for column in cells.len()..width {
        let label = layout.schema.is_label(column);
        cells.push(if label { OUTSIDE } else { FILLER });
    }
    let mut sentence = Sentence::new(layout.schema.clone(), file.clone());
    sentence.push_input(cells, number)?;
    sentence.layout.document_start = true;
    Ok(sentence)
}

#[cfg(test)]
mod tests {
    use crate::corpus::tests::{error, options, sentences};
    use crate::corpus::{DocumentRule, Format, ReadOptions};
    use crate::sentence::{LineRules, Sentence};

    const COMMENTS: LineRules = LineRules { comments: true, header: false };
    const HEADER: LineRules = LineRules { comments: false, header: true };

    fn conll() -> ReadOptions {
        options(Format::Conll)
    }

    fn columns(names: &str) -> ReadOptions {
        ReadOptions { columns: Some(names.split(',').map(str::to_owned).collect()), ..conll() }
    }

    fn read(text: &str) -> Vec<Sentence> {
        sentences(text, &conll()).unwrap()
    }

    fn rows(sentence: &Sentence) -> Vec<Vec<&str>> {
        (0..sentence.len()).map(|t| sentence.cells(t).collect()).collect()
    }

    #[test]
    fn blank_lines_of_any_kind_and_number_end_a_sentence() {
        let read = read("\n \nA B-X\nb O\n\t\n\n  \nC O");
        assert_eq!(read.len(), 2);
        assert_eq!(rows(&read[0]), [["A", "B-X"], ["b", "O"]]);
        assert_eq!(rows(&read[1]), [["C", "O"]]);
        assert_eq!(read[1].place(0).to_string(), "x:8");
    }

    #[test]
    fn runs_of_blanks_separate_cells_if_the_first_line_has_no_tab() {
        let read = read("a  NN   O \nb\t \u{a0} O\n");
        assert_eq!(rows(&read[0]), [["a", "NN", "O"], ["b", "\u{a0}", "O"]]);
        assert_eq!(read[0].schema().names(), ["word", "1", "label"]);
        assert_eq!(read[0].schema().label(), Some(2));
    }

    #[test]
    fn single_tabs_separate_cells_if_the_first_line_has_one() {
        let read = read("New York\t\tB-LOC\n\tx\tO\n");
        assert_eq!(rows(&read[0]), [["New York", "", "B-LOC"], ["", "x", "O"]]);
    }

    #[test]
    fn a_ragged_row_is_an_error_with_its_line() {
        assert_eq!(error("a\tO\n\nb\n", &conll()), "x:3: expected 2 columns (word label), found 1");
        assert_eq!(
            error("a\tO\t\nb\tO\n", &conll()),
            "x:1: the label is empty; expected a label, such as O"
        );
        assert_eq!(
            error("a O\nNew York O\n", &conll()),
            "x:2: expected 2 columns (word label), found 3"
        );
    }

    #[test]
    fn the_label_column_is_chosen_by_name_or_index() {
        for label in ["ner", "2", "-2"] {
            let options =
                ReadOptions { label: Some(label.to_owned()), ..columns("word,pos,ner,note") };
            let read = sentences("a NN B-X z\n", &options).unwrap();
            assert_eq!(read[0].labels().unwrap(), ["B-X"], "{label}");
        }
        let options = ReadOptions { label: Some("1".to_owned()), ..conll() };
        let read = sentences("a NN B-X\n", &options).unwrap();
        assert_eq!(read[0].schema().names(), ["word", "label", "2"]);
        assert_eq!(read[0].labels().unwrap(), ["NN"]);
    }

    #[test]
    fn an_unknown_label_column_is_an_error_that_lists_the_columns() {
        let options = ReadOptions { label: Some("chunk".to_owned()), ..columns("word,ner") };
        assert_eq!(
            error("a O\n", &options),
            "x:1: no column 'chunk' to take labels from; the columns are word ner"
        );
    }

    #[test]
    fn the_number_of_named_columns_must_match_the_file() {
        assert_eq!(
            error("a O\n", &columns("word,pos,ner")),
            "x:1: expected 3 columns (word pos ner), found 2"
        );
        assert_eq!(error("a O\n", &columns("word,word")), "two columns have the name 'word'");
        let header = ReadOptions { lines: HEADER, ..ReadOptions::default() };
        assert_eq!(
            error("word ner ner\na O O\n", &header),
            "x:2: in the header row: two columns have the name 'ner'"
        );
    }

    #[test]
    fn the_label_column_is_optional_in_a_file_to_be_tagged() {
        let options = ReadOptions {
            unlabeled: true,
            label: Some("ner".to_owned()),
            ..columns("word,pos,ner")
        };
        let with = sentences("a NN O\n", &options).unwrap();
        assert_eq!(with[0].labels().unwrap(), ["O"]);
        let without = sentences("a NN\n", &options).unwrap();
        assert_eq!(without[0].schema().names(), ["word", "pos"]);
        assert_eq!(without[0].labels(), None);
        assert_eq!(
            error("a\n", &options),
            "x:1: expected 3 columns (word pos ner), or 2 without the label, found 1"
        );
    }

    #[test]
    fn a_file_to_be_tagged_has_no_label_column_unless_one_is_named() {
        let options = ReadOptions { unlabeled: true, ..columns("word,pos") };
        let read = sentences("a NN\n", &options).unwrap();
        assert_eq!(rows(&read[0]), [["a", "NN"]]);
        assert_eq!(read[0].labels(), None);
    }

    #[test]
    fn a_label_column_in_the_middle_is_required() {
        let options = ReadOptions {
            unlabeled: true,
            label: Some("ner".to_owned()),
            ..columns("word,ner,note")
        };
        assert_eq!(error("a z\n", &options), "x:1: expected 3 columns (word ner note), found 2");
    }

    #[test]
    fn a_file_to_be_tagged_may_have_only_words() {
        let options = ReadOptions { unlabeled: true, ..conll() };
        let read = sentences("a\nb\n", &options).unwrap();
        assert_eq!(read[0].schema().names(), ["word"]);
        assert_eq!(read[0].schema().label(), None);
        assert_eq!(read[0].len(), 2);
    }

    #[test]
    fn lines_with_number_signs_are_tokens_unless_comments_are_enabled() {
        let text = "# id 1\na O\n#b O\nc O\n# end\n\n# lost\n";
        assert_eq!(
            error(text, &conll()),
            "x:2: expected 3 columns (word 1 label), found 2 (line 1 begins with '#': is it a \
             comment? `comments` skips lines that begin with '#')"
        );
        let options = ReadOptions { lines: COMMENTS, ..conll() };
        let read = sentences(text, &options).unwrap();
        let notices = ["x:1: 4 lines begin with '#': read as comments, not tokens"];
        assert_eq!(options.report.notices(), notices);
        assert!(read[0].schema().line_rules().comments);
        assert_eq!(read.len(), 1);
        assert_eq!(rows(&read[0]), [["a", "O"], ["c", "O"]]);
        assert_eq!(read[0].layout.comments, ["# id 1"]);
        assert_eq!(read[0].layout.extra_lines, [(1, "#b O".to_owned()), (2, "# end".to_owned())]);
        assert_eq!(sentences("#b O\n", &conll()).unwrap()[0].cell(0, 0), "#b");
    }

    /// The notices of reading `text`, and its sentences.
    fn noted(text: &str, options: &ReadOptions) -> (Vec<String>, Vec<Sentence>) {
        let read = sentences(text, options).unwrap();
        (options.report.notices(), read)
    }

    fn header() -> ReadOptions {
        ReadOptions { lines: HEADER, ..conll() }
    }

    #[test]
    fn a_header_row_names_the_columns() {
        let text = "TOKEN\tPOS\tNE\nMira\tNNP\tB-PER\n\nran\tVBD\tO\n";
        let (notices, read) = noted(text, &header());
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].schema().names(), ["word", "POS", "NE"]);
        assert_eq!(read[0].labels().unwrap(), ["B-PER"]);
        assert!(read[0].schema().line_rules().header);
        let notice = "x:1: 1 header row: read as names of columns, not as a token";
        assert_eq!(notices, [notice]);
        let options = ReadOptions { label: Some("POS".to_owned()), ..header() };
        assert_eq!(sentences(text, &options).unwrap()[0].labels().unwrap(), ["NNP"]);
        let options =
            ReadOptions { columns: Some(["w", "p", "l"].map(str::to_owned).to_vec()), ..header() };
        assert_eq!(sentences(text, &options).unwrap()[0].schema().names(), ["w", "p", "l"]);
        assert_eq!(
            error("word tag\nMira NNP B-PER\n", &header()),
            "x:2: expected 2 columns (word tag), found 3"
        );
    }

    #[test]
    fn a_header_row_may_follow_comments_and_name_an_index_or_nothing() {
        let options = ReadOptions { lines: LineRules { comments: true, header: true }, ..conll() };
        let text = "# a\n\n\tidx\tForm\tner\n7\t1\tMira\tO\n7\t2\tran\tO\n";
        let read = sentences(text, &options).unwrap();
        assert_eq!(read[0].schema().names(), ["0", "idx", "word", "ner"]);
        assert_eq!(read[0].layout.comments, ["# a"]);
    }

    #[test]
    fn marks_of_joined_files_are_no_text() {
        let text = "\u{feff}Mira O\n\u{feff}\nMira O\n\u{feff}-DOCSTART- O\n\n\u{feff}# c\na O\n";
        let options = ReadOptions { lines: COMMENTS, ..conll() };
        let (notices, read) = noted(text, &options);
        let words: Vec<&str> = read.iter().map(|s| s.cell(0, 0)).collect();
        assert_eq!(words, ["Mira", "Mira", "-DOCSTART-", "a"]);
        assert!(read[2].layout.document_start);
        assert_eq!(read[3].layout.comments, ["# c"]);
        assert!(
            notices[0].starts_with("warning: x:2: 3 byte order marks inside files"),
            "{notices:?}"
        );
    }

    #[test]
    fn document_starts_are_boundaries_with_or_without_blank_lines() {
        let read = read("-DOCSTART- -X- O\n\na NN O\n-DOCSTART- -Y- B\nb NN O\n");
        let starts: Vec<bool> = read.iter().map(|s| s.layout.document_start).collect();
        assert_eq!(starts, [true, false, true, false]);
        assert_eq!(rows(&read[0]), [["-DOCSTART-", "-X-", "O"]]);
        assert_eq!(rows(&read[2]), [["-DOCSTART-", "-Y-", "B"]]);
        assert_eq!(read[2].place(0).to_string(), "x:4");
        assert_eq!(rows(&read[3]), [["b", "NN", "O"]]);
    }

    #[test]
    fn boundaries_comments_and_blank_lines_separate_documents() {
        let text = "a O\n\nb O\n\n\nc O\n-DOCSTART- O\n\nd O\n\n# newdoc\ne O\n";
        let options = ReadOptions { lines: COMMENTS, ..conll() };
        let read = sentences(text, &options).unwrap();
        let words = |rule: DocumentRule| -> Vec<String> {
            let documents = rule.documents(&read).into_iter();
            let words = |document: Vec<&Sentence>| document.iter().map(|s| s.cell(0, 0)).collect();
            documents.map(words).collect()
        };
        assert_eq!(words(DocumentRule::Auto), ["abc", "d", "e"]);
        assert_eq!(words(DocumentRule::BlankLine), ["ab", "cde"]);
        assert_eq!(words(DocumentRule::File), ["abcde"]);
    }

    #[test]
    fn a_document_start_may_have_any_number_of_cells() {
        let read = read("-DOCSTART-\n-DOCSTART- (2) x y\na\tNN\tO\n\n\t\t-DOCSTART-\n");
        assert_eq!(read.len(), 4);
        assert_eq!(rows(&read[0]), [["-DOCSTART-", "-X-", "O"]]);
        assert_eq!(rows(&read[1]), [["-DOCSTART- (2) x y", "-X-", "O"]]);
        assert_eq!(rows(&read[2]), [["a", "NN", "O"]]);
        assert_eq!(rows(&read[3]), [["-DOCSTART-", "-X-", "O"]]);
        assert!(read[3].layout.document_start);
    }

    #[test]
    fn joined_columns_are_named_or_counted_and_boundaries_have_them() {
        let joined = |names: Option<&str>, label: &str| ReadOptions {
            label: Some(label.to_owned()),
            ..names.map_or_else(conll, columns)
        };
        let text = "-DOCSTART-\n\na N P=1 O\n";
        let read = sentences(text, &joined(Some("word,pos,feats,ner"), "feats+pos")).unwrap();
        assert_eq!(read[0].labels().unwrap(), ["O+O"]);
        assert_eq!(read[1].labels().unwrap(), ["P=1+N"]);
        let read = sentences(text, &joined(None, "1+-1")).unwrap();
        assert_eq!(read[1].schema().names(), ["word", "1", "2", "3", "1+3"]);
        assert_eq!(read[1].labels().unwrap(), ["N+O"]);
        assert_eq!(
            error("a N P O\nb N P O x\n", &joined(None, "1+2")),
            "x:2: expected 4 columns (word 1 2 3), found 5"
        );
        assert_eq!(
            error("a\tN\t\n", &joined(None, "1+2")),
            "x:1: the label is empty in the column '2'; expected a value, such as _"
        );
    }
}
