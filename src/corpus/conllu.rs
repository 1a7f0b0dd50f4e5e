//! Parsing CoNLL-U (<https://universaldependencies.org/format.html>): ten tab-separated columns.
//!
//! Comments, multiword tokens (`1-2`) and empty nodes (`3.1`) are not tagged. The layout keeps them
//! with their positions, so that the output can reproduce the file byte for byte.

use std::sync::Arc;

use super::columns::{
    CONLLU_COLUMNS, JOINED_PARTIAL, MISC, OUTSIDE, find_labels, labeled_schema, no_label_column,
};
use super::lines::InputLine;
use super::misc;
use super::parse::{LabelsSeen, ReadOptions};
use super::read_report::Repair;
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence};

/// Labels that are most likely values of a key.
const WHOLE_MISC: Repair = Repair {
    one: "label is a whole cell of misc",
    many: "labels are whole cells of misc",
    fate: "kept (`label` KEY takes the values of a key, such as name)",
};

/// Words outside of all spans, which need no key.
const WITHOUT_KEY: Repair = Repair {
    one: "word has no key with the label in misc",
    many: "words have no key with the label in misc",
    fate: "read as outside (O), since others have it",
};

/// The default label column.
const DEFAULT_LABEL: &str = "upos";

/// A token ID: the first cell of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenId {
    Word(usize),
    Range(usize, usize),
    Empty(usize),
}

impl TokenId {
    /// Parses a token ID.
    pub fn parse(cell: &str) -> Option<Self> {
        let is_plain = |digits: &&str| digits.bytes().all(|b| b.is_ascii_digit());
        let number = |digits: &str| Some(digits).filter(is_plain)?.parse().ok();
        if let Some((first, end)) = cell.split_once('-') {
            number(first).zip(number(end)).map(|(first, end)| Self::Range(first, end))
        } else if let Some((after, nth)) = cell.split_once('.') {
            number(after).zip(number(nth)).map(|(after, _)| Self::Empty(after))
        } else {
            number(cell).map(Self::Word)
        }
    }
}

/// The last word that a multiword token covers, and the line of that token.
#[derive(Clone, Copy, Default)]
pub(super) struct MultiwordEnd {
    word: usize,
    line: u64,
}

impl LabelsSeen {
    /// Returns the label of a word, the value of a key in misc.
    fn label(&mut self, key: &str, cell: &str, line: &InputLine) -> Result<Option<String>> {
        let Some(label) = misc::value(cell, key) else {
            self.without.get_or_insert_with(|| {
                line.error(format!(
                    "no column '{key}' to take labels from, and no key '{key}' in misc ('{cell}'); \
                     the columns are {}",
                    CONLLU_COLUMNS.join(" ")
                ))
            });
            return Ok(None);
        };
        self.any = true;
        if label.len() > 1 && (label.starts_with('(') || label.ends_with(')')) {
            return Err(line.error(format!(
                "the value '{label}' of the key '{key}' in misc begins or ends a span with a \
                 bracket, as in CorefUD; expected a label for each word, such as B-PER"
            )));
        }
        Ok(Some(label))
    }
}

/// Returns the schema of a file; errors in the options are located at `line`.
pub(super) fn schema(line: &InputLine, options: &ReadOptions) -> Result<Schema> {
    let name = options.label.as_deref().unwrap_or(DEFAULT_LABEL);
    let names = CONLLU_COLUMNS.map(str::to_owned).to_vec();
    match find_labels(&CONLLU_COLUMNS, name) {
        Ok(Some(label)) if label.len() == 1 => labeled_schema(names, &label),
        // A file to be tagged need not have the label of the model, and none that is joined.
        _ if options.unlabeled => Schema::new(names, None),
        Ok(None) if misc::is_key(name) && name.parse::<i64>().is_err() => {
            Schema::with_label_key(names, name)
        }
        Ok(None) => Err(no_label_column(line, name, &CONLLU_COLUMNS)),
        Err(message) => Err(line.error(message)),
        Ok(Some(_)) if options.supervision.partial_labels => Err(line.error(JOINED_PARTIAL)),
        Ok(Some(label)) => labeled_schema(names, &label),
    }
}

/// Appends the word on `line` with its cells and its label, which is one of them or the value of a
/// key in the last one.
pub(super) fn push(
    sentence: &mut Sentence,
    cells: [&str; 10],
    line: &InputLine,
    options: &ReadOptions,
    labels: &mut LabelsSeen,
) -> Result<()> {
    let schema = Arc::clone(sentence.schema());
    if let Some(key) = schema.label_key() {
        let label = labels.label(key, cells[MISC], line)?;
        if label.is_none() {
            (options.report).add_at(&WITHOUT_KEY, line.file, line.number);
        }
        let label = label.as_deref().unwrap_or(OUTSIDE);
        return sentence.push(cells.into_iter().chain([label]), line.number);
    }
    if schema.label() == Some(MISC) && cells[MISC].contains('=') {
        (options.report).warn_at(&WHOLE_MISC, line.file, line.number);
    }
    sentence.push_input(cells, line.number)
}

/// Returns whether a line after `last` words, with this ID, is a word, not a multiword token or an
/// empty node.
pub(super) fn is_word(
    line: &InputLine,
    id: &str,
    last: usize,
    multiword_end: &mut MultiwordEnd,
) -> Result<bool> {
    let next = last + 1;
    let expected = "expected a number, a range such as 1-2 or an empty node such as 3.1";
    let parsed = TokenId::parse(id).ok_or_else(|| line.error(format!("id '{id}'; {expected}")))?;
    Err(line.error(match parsed {
        TokenId::Word(word) if word == next => return Ok(true),
        TokenId::Word(word) => {
            format!("expected the word {next}, found {word} (is a blank line missing or too many?)")
        }
        TokenId::Range(first, end) if first == next && end >= first => {
            *multiword_end = MultiwordEnd { word: end.max(multiword_end.word), line: line.number };
            return Ok(false);
        }
        TokenId::Range(..) => {
            format!("the multiword token {id} must precede its first word; the next word is {next}")
        }
        TokenId::Empty(after) if after == last => return Ok(false),
        TokenId::Empty(_) => {
            format!("the empty node {id} must follow its word; the last word is {last}")
        }
    }))
}

/// Returns whether a comment line marks a new document: `# newdoc` or `# newdoc id = x`.
pub(super) fn is_new_document(line: &str) -> bool {
    let comment = line.trim_start_matches('#').trim_start_matches([' ', '\t']);
    let rest = comment.strip_prefix("newdoc");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Checks that a complete sentence, whose last line is `line`, has at least one word, and all words
/// of its multiword tokens.
pub(super) fn check_complete(
    sentence: &Sentence,
    multiword_end: MultiwordEnd,
    line: u64,
) -> Result<()> {
    let error = |line, message| Err(Error::input(Place::line(&**sentence.file(), line), message));
    match (multiword_end.word, sentence.len()) {
        (_, 0) => error(line, "the sentence ends without a word".to_owned()),
        (word, last) if word > last => error(
            multiword_end.line,
            format!(
                "the multiword token extends to word {word}, but the sentence ends at word {last}"
            ),
        ),
        _ => Ok(()),
    }
}

/// Splits a line into its ten cells.
pub(super) fn cells<'a>(line: &InputLine<'a>) -> Result<[&'a str; 10]> {
    let found = line.text.split('\t').count();
    if found != CONLLU_COLUMNS.len() {
        return Err(line.error(format!("expected 10 columns separated by tabs, found {found}")));
    }
    let mut split = line.text.split('\t');
    let cells = CONLLU_COLUMNS.map(|_| split.next().unwrap_or_default());
    if let Some(column) = cells.iter().position(|cell| cell.is_empty()) {
        return Err(line.error(format!(
            "the column '{}' is empty; expected '_' where there is no value",
            CONLLU_COLUMNS[column]
        )));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use crate::corpus::tests::{error, options, sentences};
    use crate::corpus::{Format, ReadOptions, Supervision};
    use crate::sentence::DocumentRule;
    use crate::testing::rows;

    fn conllu() -> ReadOptions {
        options(Format::Conllu)
    }

    fn label(name: &str) -> ReadOptions {
        ReadOptions { label: Some(name.to_owned()), ..conllu() }
    }

    fn row(id: &str) -> String {
        format!("{id}\tform{id}\t_\tNOUN\tNN\tA=b\t0\troot\t_\t_\n")
    }

    #[test]
    fn words_are_tokens_and_other_lines_keep_their_positions() {
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
        let positions: Vec<usize> = read[0].layout.extra_lines.iter().map(|(t, _)| *t).collect();
        assert_eq!(positions, [0, 0, 1, 2]);
        assert_eq!(read[0].layout.extra_lines[3].1, row("2.1").trim_end());
        assert_eq!(read[0].labels().unwrap(), ["NOUN", "NOUN"]);
        assert_eq!(read[1].place(0).to_string(), "x:11");
        let word = read[0].schema().position("word").unwrap();
        assert_eq!(read[0].cell(1, word), "form2");
    }

    #[test]
    fn any_column_can_hold_the_labels() {
        for (name, expected) in
            [("xpos", "NN"), ("feats", "A=b"), ("4", "NN"), ("-3", "root"), ("misc", "_")]
        {
            let read = sentences(&row("1"), &label(name)).unwrap();
            assert_eq!(read[0].labels().unwrap(), [expected], "{name}");
        }
    }

    #[test]
    fn an_unknown_label_column_is_an_error_unless_the_file_is_to_be_tagged() {
        assert_eq!(
            error(&row("1"), &label("ner")),
            "x:1: no column 'ner' to take labels from, and no key 'ner' in misc ('_'); the columns \
             are id form lemma upos xpos feats head deprel deps misc"
        );
        assert_eq!(
            error(&row("1"), &label("12")),
            "x:1: no column '12' to take labels from; the columns are \
             id form lemma upos xpos feats head deprel deps misc"
        );
        let unlabeled = ReadOptions { unlabeled: true, ..label("ner") };
        assert_eq!(sentences(&row("1"), &unlabeled).unwrap()[0].labels(), None);
    }

    #[test]
    fn labels_can_be_values_of_a_key_in_misc() {
        let text = "1\tMira\t_\tPROPN\t_\t_\t0\troot\t_\tname=B-PER\n\
                    2\tHolm\t_\tPROPN\t_\t_\t1\tflat\t_\tSpaceAfter=No|name=I-PER|x\n\
                    3\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\tname=a\\pb\n";
        let read = sentences(text, &label("name")).unwrap();
        assert_eq!(read[0].labels().unwrap(), ["B-PER", "I-PER", "a|b"]);
        let schema = read[0].schema();
        assert_eq!(schema.input_names().len(), 10);
        assert_eq!(schema.label_key(), Some("name"));
        for (from, expected) in [("name=I-PER|", "B-PER O a|b"), ("name=B-PER", "O I-PER a|b")] {
            let gaps = label("name");
            let read = sentences(&text.replace(from, "_"), &gaps).unwrap();
            assert_eq!(read[0].labels().unwrap().join(" "), expected);
            let notice = "1 word has no key with the label in misc: read as outside (O)";
            assert!(gaps.report.notices()[0].contains(notice));
        }
        for (from, bracket) in [("B-PER", "(PER"), ("I-PER", "PER)"), ("I-PER", "(e1-PER-1-)")] {
            let error = error(&text.replace(from, bracket), &label("name"));
            assert!(error.contains(&format!("the value '{bracket}' of the key 'name'")), "{error}");
        }
        // The tags of brackets are none.
        let tags = text.replace("B-PER", "(").replace("I-PER", ")");
        assert_eq!(sentences(&tags, &label("name")).unwrap()[0].labels().unwrap()[..2], ["(", ")"]);
        let supervision = Supervision { partial_labels: true, ..Supervision::default() };
        let partial = ReadOptions { supervision, ..label("name") };
        let read = sentences(&text.replace("B-PER", "_"), &partial).unwrap();
        assert_eq!(read[0].first_partial_label(), Some(0));
    }

    #[test]
    fn whole_cells_of_misc_as_labels_are_doubted() {
        let options = label("misc");
        let text = row("1") + &row("2").replace("_\n", "name=B-PER\n");
        sentences(&text, &options).unwrap();
        assert_eq!(
            options.report.notices(),
            ["warning: x:2: 1 label is a whole cell of misc: kept (`label` KEY takes the \
                 values of a key, such as name)"]
        );
    }

    #[test]
    fn rows_that_are_none_are_errors_with_their_line() {
        let too_many = row("1").replace('\n', "\t_\n");
        for (text, expected) in [
            ("1\ta\n", "x:1: expected 10 columns separated by tabs, found 2"),
            (&*too_many, "x:1: expected 10 columns separated by tabs, found 11"),
            (
                "1\ta\t_\t_\t_\t\t_\t_\t_\t_\n",
                "x:1: the column 'feats' is empty; expected '_' where there is no value",
            ),
        ] {
            assert_eq!(error(text, &conllu()), expected);
        }
        let table = "
            1 3 → 2: expected the word 2, found 3 (is a blank line missing or too many?)
            1 1 → 2: expected the word 2, found 1 (is a blank line missing or too many?)
            x → 1: id 'x'; expected a number, a range such as 1-2 or an empty node such as 3.1
            1- → 1: id '1-'; expected a number, a range such as 1-2 or an empty node such as 3.1
            +1 → 1: id '+1'; expected a number, a range such as 1-2 or an empty node such as 3.1
            1.x → 1: id '1.x'; expected a number, a range such as 1-2 or an empty node such as 3.1
            99999999999999999999 → 1: id '99999999999999999999'; expected a number, a range such as
                1-2 or an empty node such as 3.1
            1 1-2 2 → 2: the multiword token 1-2 must precede its first word; the next word is 2
            1-3 1 2 → 1: the multiword token extends to word 3, but the sentence ends at word 2
            1 2.1 2 → 2: the empty node 2.1 must follow its word; the last word is 1
            0.1 → 1: the sentence ends without a word
        ";
        for (ids, expected) in rows(table) {
            let text: String = ids.split(' ').map(row).collect();
            assert_eq!(error(&text, &conllu()), format!("x:{expected}"));
        }
    }

    #[test]
    fn comments_mark_documents() {
        let row = row("1");
        let text = format!("# newdoc id = 1\n{row}\n{row}\n# newdoc\n{row}\n# newdocs\n{row}");
        let read = sentences(&text, &conllu()).unwrap();
        assert!(DocumentRule::Auto.documents(&read).into_iter().map(|d| d.len()).eq([2, 2]));
    }

    #[test]
    fn joined_columns_are_a_label_that_is_not_in_the_input() {
        let read = sentences(&row("1"), &label("upos+feats")).unwrap();
        let schema = read[0].schema();
        assert_eq!(read[0].labels().unwrap(), ["NOUN+A=b"]);
        assert_eq!((schema.width(), schema.input_names().len()), (11, 10));
        assert_eq!(schema.joined().unwrap().names(), ["upos", "feats"]);
        assert!(schema.is_label(3) && schema.is_label(5) && !schema.is_label(4));
        assert_eq!(
            error(&row("1").replace("NOUN", "N+V"), &label("upos+feats")),
            "x:1: the value 'N+V' of the column 'upos' contains '+'; in labels of joined columns \
             (upos+feats) only the last column may have such values"
        );
        let unlabeled = ReadOptions { unlabeled: true, ..label("upos+feats") };
        let read = sentences(&row("1").replace("NOUN", "N+V"), &unlabeled).unwrap();
        assert_eq!((read[0].labels(), read[0].schema().width()), (None, 10));
    }
}
