//! What is decided about files, by their bytes.

use super::*;
use crate::corpus::tests::{options, sentences};
use crate::corpus::{Format, ReadOptions};
use crate::sentence::LineRules;

/// What is decided about a file: the names of its columns, or the error; then what is said.
fn decided(text: &str, options: &ReadOptions) -> String {
    let columns = match sentences(text, options) {
        Ok(read) => read[0].schema().list(),
        Err(error) => error.to_string(),
    };
    [vec![columns], options.report.notices()].concat().join("\n")
}

#[track_caller]
fn check(options: &ReadOptions, table: &[(&str, &str)]) {
    for (text, decision) in table {
        let options = ReadOptions { report: Default::default(), ..options.clone() };
        assert_eq!(decided(text, &options), *decision, "{text}");
    }
}

fn conll() -> ReadOptions {
    options(Format::Conll)
}

const COMMENTS: LineRules = LineRules { comments: true, header: false };

const HEADER: &str = "\nwarning: x:1: looks like a header row: `header` skips it";

const NUMBERED: &str = "\nwarning: x:1: column 1 numbers the tokens of each sentence: words are \
                        taken from column 2 (`columns` names the columns)";

#[test]
fn columns_are_separated_by_tabs_if_the_first_line_has_one_else_by_blanks() {
    check(
        &conll(),
        &[
            ("a NN  O\n", "word 1 label"),
            (
                "New York\tO\n",
                "word label\nwarning: x:1: 1 word has blanks or control characters inside: kept",
            ),
            (
                "a\tO\n\nb   O\n",
                "x:3: expected 2 columns (word label), found 1 (the file's columns are separated \
             by tabs, this line has only blanks)",
            ),
            (
                "a O\nNew York\tO\n",
                "x:2: expected 2 columns (word label), found 3 (the file's columns are separated \
             by blanks, as its first line has no tab; this line has tabs)",
            ),
            ("a\n", "x:1: expected at least 2 columns (a word and its label), found 1"),
            (
                "Mira\tNNP O B-PER\nleft\tVBD O O\n",
                "word label\nwarning: x:1: 2 labels have blanks or control characters inside: kept \
             (if they are in columns: are these separated by tabs and blanks?)",
            ),
            (
                "a\tO\nNew York\tO\nb\u{7}\tO\u{a0}\n",
                "word label\nwarning: x:2: 2 words have blanks or control characters inside: kept\n\
             warning: x:3: 1 label has blanks or control characters inside: kept (if they are in \
             columns: are these separated by tabs and blanks?)",
            ),
            (
                "a\tO\r\r\nb\tO\r\r\n",
                "word label\nwarning: x:1: 2 lines end in CR CR LF: read as a line end",
            ),
            (
                "\u{feff}a\tO\n\n\u{feff}b\tO\n",
                "word label\nwarning: x:3: 1 byte order mark inside the file: removed from the \
             start of the line (files joined with cat?)",
            ),
        ],
    );
}

#[test]
fn a_first_line_of_names_is_a_header_row_unless_another_token_has_its_label() {
    check(
        &conll(),
        &[
            ("TOKEN\tNE-COARSE-LIT\nMira\tB-PER\n", &format!("word label{HEADER}")),
            ("word\ttag\nMira\tB-PER\n", &format!("word label{HEADER}")),
            ("id\tlabel\nMira\tB-PER\n", &format!("word label{HEADER}")),
            ("word\ttag\nMira\ttag\n", "word label"),
            ("Word\tB-WORK\nran\tO\n", "word label"),
        ],
    );
    check(
        &ReadOptions { unlabeled: true, ..conll() },
        &[("word pos\nMira NNP\n", &format!("word 1{HEADER}")), ("word NN\nis VBZ\n", "word 1")],
    );
    const NAMES: &str = "1 header row: read as names of columns, not as a token";
    let lines = LineRules { comments: true, header: true };
    check(
        &ReadOptions { lines, ..conll() },
        &[
            ("TOKEN\tPOS\tNE\nMira\tNNP\tB-PER\n", &format!("word POS NE\nx:1: {NAMES}")),
            (
                "\n\tidx\tForm\tner\n7\t1\tMira\tO\n7\t2\tran\tO\n",
                &format!("0 idx word ner\nx:2: {NAMES}"),
            ),
            (
                "word tag\nMira NNP B-PER\n",
                &format!("x:2: expected 2 columns (word tag), found 3\nx:1: {NAMES}"),
            ),
            (
                "word ner ner\na O O\n",
                &format!("x:2: in the header row: two columns have the name 'ner'\nx:1: {NAMES}"),
            ),
        ],
    );
}

#[test]
fn lines_that_look_like_comments_are_doubted_or_named_in_the_error() {
    const HINT: &str = "is it a comment? `comments` skips lines that begin with '#')";
    check(
        &conll(),
        &[
            (
                "# id 17 domain=en\nMira _ _ B-PER\n\n# id 18 domain=en\nran _ _ O\n",
                "word 1 2 label\nwarning: x:1: 2 lines that begin with '#' are read as tokens: \
             `comments` skips them",
            ),
            (
                "# X\na O\n",
                "word label\nwarning: x:1: 1 line that begins with '#' is read as a token: \
             `comments` skips it",
            ),
            // Hashtags, and a number sign as a word.
            ("# O\n1 O\nhit O\n\n#b B-X\n# O\n", "word label"),
            (
                "# id 1\na O\n",
                &format!(
                    "x:2: expected 3 columns (word 1 label), found 2 (line 1 begins with '#': \
                     {HINT}"
                ),
            ),
            (
                "###MEDLINE:95\n\nIL-2\tB-DNA\n",
                &format!(
                    "x:1: expected at least 2 columns (a word and its label), found 1 ({HINT}"
                ),
            ),
            (
                "a O\n\n# id 7\nb O\n",
                &format!("x:3: expected 2 columns (word label), found 3 ({HINT}"),
            ),
            (
                "-X- -X- O\n\na N O\n",
                "word 1 label\nwarning: x:1: 1 token is the placeholder -X-: kept as words (do \
             these lines separate documents?)",
            ),
        ],
    );
    check(
        &ReadOptions { lines: COMMENTS, ..conll() },
        &[(
            "# id 1\na O\n#b O\n",
            "word label\nx:1: 2 lines begin with '#': read as comments, not tokens",
        )],
    );
}

#[test]
fn words_are_not_taken_from_a_column_that_numbers_tokens() {
    let numbered = format!("id word label{NUMBERED}");
    check(
        &conll(),
        &[
            ("1\tMira\tB-PER\n2\tran\tO\n\n1\tRain\tO\n", &numbered),
            // From 0; after a sentence of one token.
            ("0 a O\n1 b O\n", &numbered),
            ("1 a O\n\n1 b O\n2 c O\n", &numbered),
            ("1 CD O\n2 CD O\nmen NNS O\n", "word 1 label"),
            ("1 CD O\n\n1 CD O\n", "word 1 label"),
            ("1 O\n2 O\n", "word label"),
            ("1 a O\n2 b O\n\n2 c O\n3 d O\n", "word 1 label"),
        ],
    );
    let comments = decided(
        "# s\n1 a O\n\n# s\n1 b O\n# t\n2 c O\n",
        &ReadOptions { lines: COMMENTS, ..conll() },
    );
    assert!(comments.starts_with("id word label\n"), "{comments}");
    let conllu = "1\tMira\t_\t_\t_\t_\t_\t_\t_\t_\n2\tran\t_\t_\t_\t_\t_\t_\t_\t_\n";
    assert!(decided(conllu, &conll()).contains("; `format` conllu reads CoNLL-U)"));
    let columns = Some(["word", "x", "ner"].map(str::to_owned).to_vec());
    let named = ReadOptions { columns, ..conll() };
    check(&named, &[("1\tMira\tO\n2\tran\tO\n", "word x ner")]);
}

#[test]
fn files_of_other_kinds_are_refused_with_what_reads_them() {
    for (text, expected) in [
        ("Sentence #,Word,POS,Tag\nSentence: 1,Ann,NNP,O\n", "x:1: the file looks like CSV"),
        ("\n[{\"text\": \"a\"}]\n", "x:2: the file looks like JSON; `format`"),
        ("{\"tokens\": [\"a\"], \"labels\": [\"X\"]}\n", "x:1: the file looks like JSON; `format`"),
        ("Mira|NNP|I-PER ran|VBD|O\n\nRain|NN|O fell|VBD|O\n", "x:1: the file looks like tokens "),
        ("Mira\tO\rran\tO\r", "x:1: the lines seem to end in CR alone"),
    ] {
        let decided = decided(text, &conll());
        assert!(decided.starts_with(expected), "{decided}");
    }
}

#[test]
fn kinds_of_files_are_recognized_by_their_first_lines() {
    use OtherKind::*;

    for (text, expected) in [
        // By a header, quotes, or equally many cells.
        ("Sentence #,Word,POS,Tag\nSentence: 1,Thousands,NNS,O", Some(Csv(','))),
        ("word;tag\nMira;B-PER", Some(Csv(';'))),
        ("\"Mira\",\"B-PER\"\n\"ran\",\"O\"", Some(Csv(','))),
        ("Mira,B-PER\nHolm,I-PER\nran,O", Some(Csv(','))),
        ("1,\"1,000\",CD\n1,New York,NNP\n1,won,VBD", Some(Csv(','))),
        // A word may be the separator.
        ("Mira|NNP|I-PER left|VBD|O", Some(Tagged('|', 3))),
        (
            "The|DT|O Oxford|NNP|I-ORG ||SYM|O .|.|O a|b|O b|b|O c|c|O d|d|O e|e|O f|f|O",
            Some(Tagged('|', 3)),
        ),
        ("The/at Fulton/np said/vbd", Some(Tagged('/', 2))),
        ("Mira_NNP left_VBD\nKai_NNP ran_VBD\nshe_PRP sat_VBD", Some(Tagged('_', 2))),
        ("{\"tokens\": [\"a\"], \"labels\": [\"X\"]}", Some(Json)),
        ("{\n  \"data\": [", Some(Json)),
        ("[\n  {\n    \"text\": \"a\"", Some(Json)),
        ("[{\"text\": \"a\"}]", Some(Json)),
        ("[[\"Mira left.\", {\"entities\": [[0, 4, \"PER\"]]}]]", Some(Json)),
        ("<?xml version=\"1.0\"?>", Some(Xml)),
        ("Mira\tB-PER\rHolm\tI-PER\r", Some(CarriageReturns)),
        // Columns with such characters are columns.
        (", , O\n1,5 CD O\n2,5 CD O\n3,5 CD O", None),
        ("1,000 CD O\n2,000 CD O\n3,000 CD O", None),
        ("[ ( O\n{ ( O", None),
        ("{\" '' O", None),
        ("\" '' O\nMira NNP B-PER", None),
        ("New_York B_LOC\nis O\nnice O", None),
        ("Mira B-PER|B-ORG\nran O", None),
        ("a,b\tO\nc,d\tO\ne,f\tO", None),
        ("<doc> O\nMira B-PER", None),
        ("1,5\nMira\nran", None),
        ("|\nMira\nran", None),
    ] {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let kind = kind::may_be_other(&lines[0]).then(|| recognize(&lines)).flatten();
        assert_eq!(kind, expected, "{text}");
    }
    assert!(Tagged('|', 3).to_string().contains("looks like tokens word|tag|label,"));
    assert!(Tagged('_', 2).to_string().contains("looks like tokens word_tag,"));
}
