//! CoNLL: a token per line in columns, a blank line after each sentence.
//!
//! The first token line of a file settles its shape: with a tab in it, single tabs separate the
//! cells, which may then hold spaces or nothing; without one, runs of blanks do. Every later line
//! must have the same number of cells. `-DOCSTART-` lines are boundaries of their own; their cells
//! are not counted, since many corpora give them fewer. (Those of a file without a token are dropped:
//! nothing says then what its columns are.)

use std::collections::VecDeque;
use std::sync::Arc;

use super::lines::{Line, Lines};
use super::reader::{Parse, ReadOptions};
use super::{DOCUMENT_START, find_column, is_blank};
use crate::error::Result;
use crate::sentence::{Schema, Sentence};

/// What the cells of a missing column of a `-DOCSTART-` line hold: as in the shared task of 2003.
const FILLER: &str = "-X-";

/// The label of a `-DOCSTART-` line that has none.
const OUTSIDE: &str = "O";

/// What the first token line settles for the rest of the file.
struct Shape {
    schema: Arc<Schema>,
    tabs: bool,
}

/// Reads CoNLL.
pub(super) struct Conll {
    options: ReadOptions,
    shape: Option<Shape>,
    open: Option<Sentence>,
    ready: VecDeque<Sentence>,
    early: Vec<(u64, String)>, // -DOCSTART- lines that come before the shape is settled
    comments: Vec<String>,
}

impl Conll {
    pub fn new(options: ReadOptions) -> Self {
        Self {
            options,
            shape: None,
            open: None,
            ready: VecDeque::new(),
            early: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// Keeps a comment line.
    fn comment(&mut self, line: &Line) {
        match &mut self.open {
            Some(open) => open
                .layout
                .extra_lines
                .push((open.len(), line.text.to_owned())),
            None => self.comments.push(line.text.to_owned()),
        }
    }

    /// Adds the token on `line` to the open sentence.
    fn token(&mut self, line: &Line) -> Result<()> {
        let shape = match self.shape.take() {
            Some(shape) => shape,
            None => settle(line, &self.options)?,
        };
        for (number, text) in self.early.drain(..) {
            self.ready
                .push_back(boundary(&text, line.file, number, &shape)?);
        }
        let open = self.open.get_or_insert_with(|| {
            let mut sentence = Sentence::new(shape.schema.clone(), line.file.clone());
            sentence.layout.comments = std::mem::take(&mut self.comments);
            sentence
        });
        let (tabs, t) = (shape.tabs, open.len());
        self.shape = Some(shape);
        if tabs {
            open.push(line.text.split('\t'), line.number)?;
        } else {
            open.push(blanks(line.text), line.number)?;
        }
        if open.label(t).is_some_and(str::is_empty) {
            return Err(line.fault("the label is empty; expected a label, such as O"));
        }
        Ok(())
    }

    /// Ends the open sentence at a `-DOCSTART-` line.
    fn document(&mut self, line: &Line) -> Result<()> {
        self.ready.extend(self.open.take());
        match &self.shape {
            None => self.early.push((line.number, line.text.to_owned())),
            Some(shape) => {
                let mut boundary = boundary(line.text, line.file, line.number, shape)?;
                boundary.layout.comments = std::mem::take(&mut self.comments);
                self.ready.push_back(boundary);
            }
        }
        Ok(())
    }
}

impl Parse for Conll {
    fn next(&mut self, lines: &mut Lines) -> Result<Option<Sentence>> {
        while self.ready.is_empty() {
            let Some(line) = lines.next_line()? else {
                return Ok(self.open.take());
            };
            if is_blank(line.text) {
                self.ready.extend(self.open.take());
            } else if self.options.comments && line.text.starts_with('#') {
                self.comment(&line);
            } else if blanks(line.text).next() == Some(DOCUMENT_START) {
                self.document(&line)?;
            } else {
                self.token(&line)?;
            }
        }
        Ok(self.ready.pop_front())
    }

    fn separator(&self) -> Option<char> {
        let tabs = self.shape.as_ref()?.tabs;
        Some(if tabs { '\t' } else { ' ' })
    }
}

/// The cells of a line separated by runs of blanks. White space beyond ASCII belongs to a cell.
fn blanks(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t']).filter(|cell| !cell.is_empty())
}

/// The sentence that stands for a `-DOCSTART-` line, brought to the columns of the file.
fn boundary(text: &str, file: &Arc<str>, number: u64, shape: &Shape) -> Result<Sentence> {
    let mut found: Vec<&str> = if shape.tabs {
        text.split('\t').collect()
    } else {
        blanks(text).collect()
    };
    found.truncate(shape.schema.width());
    for column in found.len()..shape.schema.width() {
        let label = shape.schema.label() == Some(column);
        found.push(if label { OUTSIDE } else { FILLER });
    }
    let mut sentence = Sentence::new(shape.schema.clone(), file.clone());
    sentence.push(found, number)?;
    sentence.layout.document_start = true;
    Ok(sentence)
}

/// The shape of the file that has `line` as its first token.
fn settle(line: &Line, options: &ReadOptions) -> Result<Shape> {
    let tabs = line.text.contains('\t');
    let found = if tabs {
        line.text.split('\t').count()
    } else {
        blanks(line.text).count()
    };
    let (names, label) = match &options.columns {
        Some(names) => named(line, found, names, options)?,
        None => unnamed(line, found, options)?,
    };
    Ok(Shape {
        schema: Arc::new(Schema::new(names, label)?),
        tabs,
    })
}

/// Columns by the names that were given for them.
fn named(
    line: &Line,
    found: usize,
    names: &[String],
    options: &ReadOptions,
) -> Result<(Vec<String>, Option<usize>)> {
    let label = label_column(line, names, options)?;
    if found == names.len() {
        // Of a file to be tagged the last column is the label only where that was said.
        let told = !options.unlabeled || options.label.is_some();
        return Ok((names.to_vec(), told.then_some(label)));
    }
    let last = label + 1 == names.len();
    if options.unlabeled && last && found == label && found > 0 {
        return Ok((names[..label].to_vec(), None));
    }
    let or_fewer = if options.unlabeled && last && label > 0 {
        format!(", or {label} without the label")
    } else {
        String::new()
    };
    Err(line.fault(format!(
        "expected {} columns ({}){or_fewer}, found {found}",
        names.len(),
        names.join(" "),
    )))
}

/// Columns by default: `word`, the numbers of the middle ones, `label`.
fn unnamed(
    line: &Line,
    found: usize,
    options: &ReadOptions,
) -> Result<(Vec<String>, Option<usize>)> {
    let mut names: Vec<String> = (0..found).map(|column| column.to_string()).collect();
    if let Some(first) = names.first_mut() {
        "word".clone_into(first);
    }
    if options.unlabeled {
        return Ok((names, None));
    }
    if found < 2 {
        return Err(line.fault(format!(
            "expected at least 2 columns (a word and its label), found {found}"
        )));
    }
    let label = match options.label.as_deref() {
        None | Some("label") => found - 1,
        Some(_) => label_column(line, &names, options)?,
    };
    "label".clone_into(&mut names[label]);
    Ok((names, Some(label)))
}

/// The label column among `names`: the one that was asked for, else the last.
fn label_column(line: &Line, names: &[String], options: &ReadOptions) -> Result<usize> {
    let found = match options.label.as_deref() {
        None => names.len().checked_sub(1),
        Some(name) => find_column(names, name),
    };
    found.ok_or_else(|| {
        line.fault(format!(
            "no column '{}' to take labels from; the columns are {}",
            options.label.as_deref().unwrap_or_default(),
            names.join(" ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::corpus::reader::tests::{fault, options, sentences};
    use crate::corpus::{Format, ReadOptions};
    use crate::sentence::Sentence;

    fn conll() -> ReadOptions {
        options(Format::Conll)
    }

    fn columns(names: &str) -> ReadOptions {
        ReadOptions {
            columns: Some(names.split(',').map(str::to_owned).collect()),
            ..conll()
        }
    }

    fn read(text: &str) -> Vec<Sentence> {
        sentences(text, &conll()).unwrap()
    }

    fn rows(sentence: &Sentence) -> Vec<Vec<&str>> {
        (0..sentence.len())
            .map(|t| sentence.cells(t).collect())
            .collect()
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
    fn runs_of_blanks_separate_where_the_first_line_has_no_tab() {
        let read = read("a  NN   O \nb\t \u{a0} O\n");
        assert_eq!(rows(&read[0]), [["a", "NN", "O"], ["b", "\u{a0}", "O"]]);
        assert_eq!(read[0].schema().names(), ["word", "1", "label"]);
        assert_eq!(read[0].schema().label(), Some(2));
    }

    #[test]
    fn single_tabs_separate_where_the_first_line_has_one() {
        let read = read("New York\t\tB-LOC\n\tx\tO\n");
        assert_eq!(rows(&read[0]), [["New York", "", "B-LOC"], ["", "x", "O"]]);
    }

    #[test]
    fn a_ragged_row_is_an_error_with_its_line() {
        assert_eq!(
            fault("a\tO\n\nb\n", &conll()),
            "x:3: expected 2 columns (word label), found 1"
        );
        assert_eq!(
            fault("a\tO\t\nb\tO\n", &conll()),
            "x:1: the label is empty; expected a label, such as O"
        );
        assert_eq!(
            fault("a O\nNew York O\n", &conll()),
            "x:2: expected 2 columns (word label), found 3"
        );
    }

    #[test]
    fn a_training_file_needs_two_columns() {
        assert_eq!(
            fault("a\n", &conll()),
            "x:1: expected at least 2 columns (a word and its label), found 1"
        );
    }

    #[test]
    fn the_label_column_is_chosen_by_name_or_number() {
        for label in ["ner", "2", "-2"] {
            let options = ReadOptions {
                label: Some(label.to_owned()),
                ..columns("word,pos,ner,note")
            };
            let read = sentences("a NN B-X z\n", &options).unwrap();
            assert_eq!(read[0].labels().unwrap(), ["B-X"], "{label}");
        }
        let options = ReadOptions {
            label: Some("1".to_owned()),
            ..conll()
        };
        let read = sentences("a NN B-X\n", &options).unwrap();
        assert_eq!(read[0].schema().names(), ["word", "label", "2"]);
        assert_eq!(read[0].labels().unwrap(), ["NN"]);
    }

    #[test]
    fn an_unknown_label_column_is_an_error_that_lists_the_columns() {
        let options = ReadOptions {
            label: Some("chunk".to_owned()),
            ..columns("word,ner")
        };
        assert_eq!(
            fault("a O\n", &options),
            "x:1: no column 'chunk' to take labels from; the columns are word ner"
        );
    }

    #[test]
    fn named_columns_must_be_as_many_as_the_file_has() {
        assert_eq!(
            fault("a O\n", &columns("word,pos,ner")),
            "x:1: expected 3 columns (word pos ner), found 2"
        );
        assert_eq!(
            fault("a O\n", &columns("word,word")),
            "two columns have the name 'word'"
        );
    }

    #[test]
    fn the_label_column_may_lack_in_a_file_to_be_tagged() {
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
            fault("a\n", &options),
            "x:1: expected 3 columns (word pos ner), or 2 without the label, found 1"
        );
    }

    #[test]
    fn a_file_to_be_tagged_has_no_label_column_unless_one_is_named() {
        let options = ReadOptions {
            unlabeled: true,
            ..columns("word,pos")
        };
        let read = sentences("a NN\n", &options).unwrap();
        assert_eq!(rows(&read[0]), [["a", "NN"]]);
        assert_eq!(read[0].labels(), None);
    }

    #[test]
    fn a_label_column_in_the_middle_may_not_lack() {
        let options = ReadOptions {
            unlabeled: true,
            label: Some("ner".to_owned()),
            ..columns("word,ner,note")
        };
        assert_eq!(
            fault("a z\n", &options),
            "x:1: expected 3 columns (word ner note), found 2"
        );
    }

    #[test]
    fn a_file_to_be_tagged_may_be_words_alone() {
        let options = ReadOptions {
            unlabeled: true,
            ..conll()
        };
        let read = sentences("a\nb\n", &options).unwrap();
        assert_eq!(read[0].schema().names(), ["word"]);
        assert_eq!(read[0].schema().label(), None);
        assert_eq!(read[0].len(), 2);
    }

    #[test]
    fn number_signs_are_tokens_unless_comments_are_asked_for() {
        let text = "# id 1\na O\n#b O\nc O\n# end\n\n# lost\n";
        assert_eq!(
            fault(text, &conll()),
            "x:2: expected 3 columns (word 1 label), found 2"
        );
        let options = ReadOptions {
            comments: true,
            ..conll()
        };
        let read = sentences(text, &options).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(rows(&read[0]), [["a", "O"], ["c", "O"]]);
        assert_eq!(read[0].layout.comments, ["# id 1"]);
        assert_eq!(
            read[0].layout.extra_lines,
            [(1, "#b O".to_owned()), (2, "# end".to_owned())]
        );
        assert_eq!(sentences("#b O\n", &conll()).unwrap()[0].cell(0, 0), "#b");
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
    fn a_document_start_may_have_fewer_or_more_cells() {
        let read = read("-DOCSTART-\n-DOCSTART- (2) x y\na\tNN\tO\n\n-DOCSTART-\n");
        assert_eq!(read.len(), 4);
        assert_eq!(rows(&read[0]), [["-DOCSTART-", "-X-", "O"]]);
        assert_eq!(rows(&read[1]), [["-DOCSTART- (2) x y", "-X-", "O"]]);
        assert_eq!(rows(&read[2]), [["a", "NN", "O"]]);
        assert_eq!(rows(&read[3]), [["-DOCSTART-", "-X-", "O"]]);
        assert!(read[3].layout.document_start);
    }
}
