//! CoNLL-U (<https://universaldependencies.org/format.html>): ten columns separated by tabs.
//!
//! Comments, multiword tokens (`1-2`) and empty nodes (`3.1`) are no tokens to tag; they are kept
//! with their places in the layout, so that a file can be given back to the byte.

use std::sync::Arc;

use super::lines::{Line, Lines};
use super::reader::{Parse, ReadOptions};
use super::{CONLLU_COLUMNS, find_column, is_blank};
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence};

/// Which column holds the labels where nothing else is asked for.
const DEFAULT_LABEL: &str = "upos";

/// The first cell of a line.
#[derive(Debug, PartialEq, Eq)]
enum Id {
    Word(usize),
    Range(usize, usize),
    Empty(usize),
}

/// The farthest word that a multiword token covers, and the line that says so.
#[derive(Clone, Copy, Default)]
struct Reach {
    word: usize,
    line: u64,
}

/// Reads CoNLL-U.
pub(super) struct Conllu {
    schema: Option<Arc<Schema>>, // unknown label column: an error at the first token
    options: ReadOptions,
    comments: Vec<String>,
}

impl Conllu {
    pub fn new(options: ReadOptions) -> Self {
        Self {
            schema: None,
            options,
            comments: Vec::new(),
        }
    }

    fn schema(&mut self, line: &Line) -> Result<Arc<Schema>> {
        if let Some(schema) = &self.schema {
            return Ok(schema.clone());
        }
        let name = self.options.label.as_deref().unwrap_or(DEFAULT_LABEL);
        let label = find_column(&CONLLU_COLUMNS, name);
        // What a file lacks that is to be tagged is the label of the model: no matter.
        if label.is_none() && !self.options.unlabeled {
            return Err(line.fault(format!(
                "no column '{name}' to take labels from; the columns are {}",
                CONLLU_COLUMNS.join(" ")
            )));
        }
        let names = CONLLU_COLUMNS.map(str::to_owned).to_vec();
        let schema = Arc::new(Schema::new(names, label)?);
        self.schema = Some(schema.clone());
        Ok(schema)
    }

    /// Adds a line that is neither blank nor a comment between sentences.
    fn row(&mut self, line: &Line, sentence: &mut Sentence, reach: &mut Reach) -> Result<()> {
        if line.text.starts_with('#') {
            keep(sentence, line);
            return Ok(());
        }
        let cells = cells(line)?;
        let last = sentence.len();
        match id(line, cells[0])? {
            Id::Word(word) if word == last + 1 => sentence.push(cells, line.number)?,
            Id::Word(word) => {
                return Err(line.fault(format!(
                    "expected the word {}, found {word} (is a blank line missing or too many?)",
                    last + 1
                )));
            }
            Id::Range(first, end) if first == last + 1 && end >= first => {
                *reach = Reach {
                    word: end.max(reach.word),
                    line: line.number,
                };
                keep(sentence, line);
            }
            Id::Range(..) => {
                return Err(line.fault(format!(
                    "the multiword token {} must stand before its first word; the next word is {}",
                    cells[0],
                    last + 1
                )));
            }
            Id::Empty(after) if after == last => keep(sentence, line),
            Id::Empty(_) => {
                return Err(line.fault(format!(
                    "the empty node {} must stand after its word; the last word is {last}",
                    cells[0]
                )));
            }
        }
        Ok(())
    }
}

impl Parse for Conllu {
    fn next(&mut self, lines: &mut Lines) -> Result<Option<Sentence>> {
        let mut open: Option<Sentence> = None;
        let mut reach = Reach::default();
        while let Some(line) = lines.next_line()? {
            if is_blank(line.text) {
                if open.is_some() {
                    break;
                }
                continue;
            }
            if line.text.starts_with('#') && open.is_none() {
                self.comments.push(line.text.to_owned());
                continue;
            }
            if open.is_none() {
                let mut sentence = Sentence::new(self.schema(&line)?, line.file.clone());
                sentence.layout.comments = std::mem::take(&mut self.comments);
                open = Some(sentence);
            }
            if let Some(sentence) = &mut open {
                self.row(&line, sentence, &mut reach)?;
            }
        }
        if let Some(sentence) = &open {
            complete(sentence, reach, lines.number())?;
        }
        Ok(open)
    }
}

/// Checks at `line`, the end of a sentence, that it has words, and all that it promised.
fn complete(sentence: &Sentence, reach: Reach, line: u64) -> Result<()> {
    let fault = |line, message| Err(Error::input(Place::line(&**sentence.file(), line), message));
    if sentence.is_empty() {
        return fault(line, "the sentence ends without a word".to_owned());
    }
    if reach.word > sentence.len() {
        return fault(
            reach.line,
            format!(
                "the multiword token goes up to word {}, but the sentence ends at word {}",
                reach.word,
                sentence.len()
            ),
        );
    }
    Ok(())
}

/// Keeps a line that is no word, with the word that it stands before.
fn keep(sentence: &mut Sentence, line: &Line) {
    let t = sentence.len();
    sentence.layout.extra_lines.push((t, line.text.to_owned()));
}

/// The ten cells of a line.
fn cells<'a>(line: &Line<'a>) -> Result<[&'a str; 10]> {
    let mut cells = [""; 10];
    let mut found = 0;
    for cell in line.text.split('\t') {
        if let Some(place) = cells.get_mut(found) {
            *place = cell;
        }
        found += 1;
    }
    if found != cells.len() {
        return Err(line.fault(format!(
            "expected 10 columns separated by tabs, found {found}"
        )));
    }
    if let Some(column) = cells.iter().position(|cell| cell.is_empty()) {
        return Err(line.fault(format!(
            "the column '{}' is empty; expected '_' where there is no value",
            CONLLU_COLUMNS[column]
        )));
    }
    Ok(cells)
}

fn id(line: &Line, cell: &str) -> Result<Id> {
    let number = |digits: &str| {
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse::<usize>().ok()).flatten()
    };
    let id = if let Some((first, end)) = cell.split_once('-') {
        number(first)
            .zip(number(end))
            .map(|(first, end)| Id::Range(first, end))
    } else if let Some((after, nth)) = cell.split_once('.') {
        number(after)
            .zip(number(nth))
            .map(|(after, _)| Id::Empty(after))
    } else {
        number(cell).map(Id::Word)
    };
    id.ok_or_else(|| {
        line.fault(format!(
            "id '{cell}'; expected a number, a range such as 1-2 or an empty node such as 3.1"
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::corpus::reader::tests::{fault, options, sentences};
    use crate::corpus::{Format, ReadOptions};

    fn conllu() -> ReadOptions {
        options(Format::Conllu)
    }

    fn label(name: &str) -> ReadOptions {
        ReadOptions {
            label: Some(name.to_owned()),
            ..conllu()
        }
    }

    fn row(id: &str) -> String {
        format!("{id}\tform{id}\t_\tNOUN\tNN\tA=b\t0\troot\t_\t_\n")
    }

    fn error(ids: &[&str]) -> String {
        let text: String = ids.iter().map(|id| row(id)).collect();
        fault(&text, &conllu())
    }

    #[test]
    fn words_are_tokens_and_everything_else_keeps_its_place() {
        let text = [
            "# sent_id = 1\n# text = x\n",
            &row("0.1"),
            &row("1-2"),
            &row("1"),
            "# inside\n",
            &row("2"),
            &row("2.1"),
            "\n\n",
            &row("1"),
        ]
        .concat();
        let read = sentences(&text, &conllu()).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].len(), 2);
        assert_eq!(read[0].layout.comments, ["# sent_id = 1", "# text = x"]);
        let places: Vec<usize> = read[0].layout.extra_lines.iter().map(|(t, _)| *t).collect();
        assert_eq!(places, [0, 0, 1, 2]);
        assert_eq!(read[0].layout.extra_lines[3].1, row("2.1").trim_end());
        assert_eq!(read[0].labels().unwrap(), ["NOUN", "NOUN"]);
        assert_eq!(read[1].place(0).to_string(), "x:11");
        let word = read[0].schema().position("word").unwrap();
        assert_eq!(read[0].cell(1, word), "form2");
    }

    #[test]
    fn any_column_can_hold_the_labels() {
        for (name, expected) in [
            ("xpos", "NN"),
            ("feats", "A=b"),
            ("4", "NN"),
            ("-3", "root"),
        ] {
            let read = sentences(&row("1"), &label(name)).unwrap();
            assert_eq!(read[0].labels().unwrap(), [expected], "{name}");
        }
    }

    #[test]
    fn an_unknown_label_column_is_an_error_unless_the_file_is_to_be_tagged() {
        assert_eq!(
            fault(&row("1"), &label("ner")),
            "x:1: no column 'ner' to take labels from; the columns are \
             id form lemma upos xpos feats head deprel deps misc"
        );
        let unlabeled = ReadOptions {
            unlabeled: true,
            ..label("ner")
        };
        assert_eq!(sentences(&row("1"), &unlabeled).unwrap()[0].labels(), None);
    }

    #[test]
    fn a_line_has_exactly_ten_cells_none_of_them_empty() {
        assert_eq!(
            fault("1\ta\n", &conllu()),
            "x:1: expected 10 columns separated by tabs, found 2"
        );
        assert_eq!(
            fault(&row("1").replace('\n', "\t_\n"), &conllu()),
            "x:1: expected 10 columns separated by tabs, found 11"
        );
        assert_eq!(
            fault("1\ta\t_\t_\t_\t\t_\t_\t_\t_\n", &conllu()),
            "x:1: the column 'feats' is empty; expected '_' where there is no value"
        );
    }

    #[test]
    fn ids_count_from_one_without_a_gap() {
        assert_eq!(
            error(&["1", "3"]),
            "x:2: expected the word 2, found 3 (is a blank line missing or too many?)"
        );
        assert_eq!(
            error(&["1", "1"]),
            "x:2: expected the word 2, found 1 (is a blank line missing or too many?)"
        );
        for bad in ["x", "1-", "+1", "1.x", "99999999999999999999"] {
            assert_eq!(
                error(&[bad]),
                format!(
                    "x:1: id '{bad}'; expected a number, a range such as 1-2 \
                     or an empty node such as 3.1"
                )
            );
        }
    }

    #[test]
    fn multiword_tokens_stand_before_their_words_and_have_them_all() {
        assert_eq!(
            error(&["1", "1-2", "2"]),
            "x:2: the multiword token 1-2 must stand before its first word; the next word is 2"
        );
        assert_eq!(
            error(&["1-3", "1", "2"]),
            "x:1: the multiword token goes up to word 3, but the sentence ends at word 2"
        );
    }

    #[test]
    fn empty_nodes_stand_after_their_word() {
        assert_eq!(
            error(&["1", "2.1", "2"]),
            "x:2: the empty node 2.1 must stand after its word; the last word is 1"
        );
    }

    #[test]
    fn a_sentence_needs_a_word() {
        assert_eq!(error(&["0.1"]), "x:1: the sentence ends without a word");
    }

    #[test]
    fn an_underscore_is_a_label_like_any_other() {
        let read = sentences(&row("1").replace("NOUN", "_"), &conllu()).unwrap();
        assert_eq!(read[0].labels().unwrap(), ["_"]);
    }
}
