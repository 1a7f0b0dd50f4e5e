//! Decisions about files, by their bytes.

use super::*;
use crate::corpus::tests::error;
use crate::corpus::tests::{options, sentences};
use crate::corpus::{Format, ReadOptions};
use crate::sentence::LineRules;
use crate::testing::escaped_rows;

/// What is decided about a file: the names of its columns, or the error; then what is said.
fn decided(text: &str, options: &ReadOptions) -> String {
    let columns = match sentences(text, options) {
        Ok(read) => read[0].schema().list(),
        Err(error) => error.to_string(),
    };
    [vec![columns], options.report.notices()].concat().join("\n")
}

#[track_caller]
fn check(options: &ReadOptions, table: &str) {
    for (text, decision) in escaped_rows(table) {
        let decision = decision.replace("NAMES", NAMES).replace("NUMBERED", NUMBERED);
        let options = ReadOptions { report: Default::default(), ..options.clone() };
        assert_eq!(decided(&text, &options), decision.replace("HINT", HINT), "{text}");
    }
}

fn conll() -> ReadOptions {
    options(Format::Conll)
}

const COMMENTS: LineRules = LineRules { comments: true, header: false };

const NAMES: &str = "1 header row: read as names of columns, not as a token";

const NUMBERED: &str = "column 1 numbers the tokens of each sentence: words are taken from column \
                        2 (`columns` names the columns)";

const HINT: &str = "is it a comment? `comments` skips lines that begin with '#'";

#[test]
fn columns_are_separated_by_tabs_if_the_first_line_has_one_else_by_blanks() {
    check(
        &conll(),
        r#"
        a NN  O\n → word 1 label
        New York\tO\n → word label\nwarning: x:1: 1 word has blanks or control characters inside:
            kept
        a\tO\n\nb   O\n → x:3: expected 2 columns (word label), found 1 (the file's columns are
            separated by tabs, this line has only blanks)
        a O\nNew York\tO\n → x:2: expected 2 columns (word label), found 3 (the file's columns are
            separated by blanks, as its first line has no tab; this line has tabs)
        a\n → x:1: expected at least 2 columns (a word and its label), found 1
        Mira\tNNP O B-PER\nleft\tVBD O O\n → word label\nwarning: x:1: 2 labels have blanks or
            control characters inside: kept (if they are in columns: are these separated by tabs and
            blanks?)
        a\tO\nNew York\tO\nb\u{7}\tO\u{a0}\n → word label\nwarning: x:2: 2 words have blanks or
            control characters inside: kept\nwarning: x:3: 1 label has blanks or control characters
            inside: kept (if they are in columns: are these separated by tabs and blanks?)
        a\tO\r\r\nb\tO\r\r\n → word label\nwarning: x:1: 2 lines end in CR CR LF: read as a line end
        \u{feff}a\tO\n\n\u{feff}b\tO\n → word label\nwarning: x:3: 1 byte order mark inside the
            file: removed from the start of the line (files joined with cat?)
        "#,
    );
}

#[test]
fn a_first_line_of_names_is_a_header_row_unless_another_token_has_its_label() {
    check(
        &conll(),
        r#"
        // All of its cells are names, and none is a label of another row.
        TOKEN\tNE-COARSE-LIT\nMira\tB-PER\n → word NE-COARSE-LIT\nx:1: NAMES
        word tag\nMira B-PER\n → word tag\nx:1: NAMES
        id\tlabel\nMira\tB-PER\n → word label\nx:1: NAMES
        word\tcase\ttag\nMira\tUp\tB-PER\n → word case tag\nx:1: NAMES
        word\tcase\tB-X\nMira\tUp\tB-PER\n → word 1 label
        word\ttag\nMira\ttag\n → word label
        Word\tB-WORK\nran\tO\n → word label
        "#,
    );
    check(
        &ReadOptions { unlabeled: true, ..conll() },
        r"
        word pos\nMira NNP\n → word pos\nx:1: NAMES
        word NN\nis VBZ\n → word 1
        ",
    );
    let lines = LineRules { comments: true, header: true };
    check(
        &ReadOptions { lines, ..conll() },
        r#"
        TOKEN\tPOS\tNE\nMira\tNNP\tB-PER\n → word POS NE\nx:1: NAMES
        \n\tidx\tForm\tner\n7\t1\tMira\tO\n7\t2\tran\tO\n → 0 idx word ner\nx:2: NAMES
        word tag\nMira NNP B-PER\n → x:2: expected 2 columns (word tag), found 3\nx:1: NAMES
        word ner ner\na O O\n → x:2: in the header row: two columns have the name 'ner'\nx:1: NAMES
        "#,
    );
}

#[test]
fn lines_that_look_like_comments_are_doubted_or_named_in_the_error() {
    check(
        &conll(),
        r#"
        # id 17 domain=en\nMira _ _ B-PER\n\n# id 18 domain=en\nran _ _ O\n →
            word 1 2 label\nwarning: x:1: 2 lines that begin with '#' are read as tokens: `comments`
            skips them
        # X\na O\n → word label\nwarning: x:1: 1 line that begins with '#' is read as a token:
            `comments` skips it
        // Hashtags, and a number sign as a word.
        # O\n1 O\nhit O\n\n#b B-X\n# O\n → word label
        # id 1\na O\n → x:2: expected 3 columns (word 1 label), found 2 (line 1 begins with '#':
            HINT)
        ###MEDLINE:95\n\nIL-2\tB-DNA\n → x:1: expected at least 2 columns (a word and its label),
            found 1 (HINT)
        a O\n\n# id 7\nb O\n → x:3: expected 2 columns (word label), found 3 (HINT)
        -X- -X- O\n\na N O\n → word 1 label\nwarning: x:1: 1 token is the placeholder -X-: kept as
            words (do these lines separate documents?)
        "#,
    );
    check(
        &ReadOptions { lines: COMMENTS, ..conll() },
        r"
        # id 1\na O\n#b O\n → word label\nx:1: 2 lines begin with '#': read as comments, not tokens
        ",
    );
}

#[test]
fn words_are_not_taken_from_a_column_that_numbers_tokens() {
    check(
        &conll(),
        r#"
        1\tMira\tB-PER\n2\tran\tO\n\n1\tRain\tO\n → id word label\nwarning: x:1: NUMBERED
        // From 0; after a sentence of one token.
        0 a O\n1 b O\n → id word label\nwarning: x:1: NUMBERED
        1 a O\n\n1 b O\n2 c O\n → id word label\nwarning: x:1: NUMBERED
        1 CD O\n2 CD O\nmen NNS O\n → word 1 label
        1 CD O\n\n1 CD O\n → word 1 label
        1 O\n2 O\n → word label
        1 a O\n2 b O\n\n2 c O\n3 d O\n → word 1 label
        "#,
    );
    let comments = decided(
        "# s\n1 a O\n\n# s\n1 b O\n# t\n2 c O\n",
        &ReadOptions { lines: COMMENTS, ..conll() },
    );
    assert!(comments.starts_with("id word label\n"), "{comments}");
    let columns = Some(["word", "x", "ner"].map(str::to_owned).to_vec());
    let named = ReadOptions { columns, ..conll() };
    check(&named, r"1\tMira\tO\n2\tran\tO\n → word x ner");
}

/// The columns and the tokens of each sentence of a table.
fn tokens(text: &str, options: &ReadOptions) -> String {
    let read = match sentences(text, options) {
        Ok(read) => read,
        Err(error) => return error.to_string(),
    };
    let token = |s: &crate::Sentence, t| s.cells(t).collect::<Vec<_>>().join("|");
    let tokens =
        |s: &crate::Sentence| (0..s.len()).map(|t| token(s, t)).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = read.iter().map(tokens).collect();
    format!("{}: {}", read[0].schema().list(), rows.join("; "))
}

#[test]
fn tables_of_tokens_are_read_and_the_sentence_is_never_the_word() {
    let table = r#"
        // The sentence by its number, or by a name of each first row.
        sentence,word,upos\n1,Mira,PROPN\n1,ran,VERB\n2,Kai,PROPN\n → sentence word upos:
            1|Mira|PROPN 1|ran|VERB; 2|Kai|PROPN
        \u{feff}Sentence #;Word;Tag\nSentence: 1;Ann;B-PER\n;left;O\nSentence: 2;Rain;O\n → Sentence
            # word Tag: Sentence: 1|Ann|B-PER |left|O; Sentence: 2|Rain|O
        1\tMira\tB-PER\n1\tran\tO\n2\tKai\tB-PER\n → sentence word label: 1|Mira|B-PER 1|ran|O;
            2|Kai|B-PER
        s1 Mira X\ns1 ran O\ns2 Kai X\ns2 sat O\n → sentence word label: s1|Mira|X s1|ran|O;
            s2|Kai|X s2|sat|O
        d a O\nd b O\n\ne c O\ne f O\n → sentence word label: d|a|O d|b|O; e|c|O e|f|O
        // A number that starts again, also below the number of a sentence or a document.
        id,form,upos\n1,Mira,PROPN\n2,ran,VERB\n1,Rain,NOUN\n → id form upos: 1|Mira|PROPN
            2|ran|VERB; 1|Rain|NOUN
        d 0 1 Mira X\nd 0 2 ran O\n\nd 0 1 Kai X\nd 0 2 sat O\n → sentence 1 id word label:
            d|0|1|Mira|X d|0|2|ran|O; d|0|1|Kai|X d|0|2|sat|O
        0\ta\tO\n1\tb\tO\n0\tc\tO\n → id word label: 0|a|O 1|b|O; 0|c|O
        // The label is not a place, either.
        word\ttag\tsent_id\nMira\tX\t1\nran\tO\t1\nKai\tX\t2\n → word tag sent_id: Mira|X|1 ran|O|1;
            Kai|X|2
        // Quotes, separators and blank rows.
        word,tag\n"1,000",CD\n"""",PUNCT\n,\nNew York,NNP\n → word tag: 1,000|CD "|PUNCT; New
            York|NNP
        "Mira";"X"\n"ran";"O"\n\n"Kai";"X"\n → word label: Mira|X ran|O; Kai|X
        word\ttag\n""""\tPUNCT\n"a,b"\tX\n → word tag: "|PUNCT a,b|X
        // Columns as ever.
        "\t''\tO\nMira\tNNP\tX\n → word 1 label: "|''|O Mira|NNP|X
        ha X O\nha X O\nno X O\n\nMira X O\n → word 1 label: ha|X|O ha|X|O no|X|O; Mira|X|O
        ha X O\nha X O\n\nMira X O\n → word 1 label: ha|X|O ha|X|O; Mira|X|O
        1990 CD O\nwas X O\n → word 1 label: 1990|CD|O was|X|O
        // A cell that has no end.
        word,tag\n"a\nb",O\n → x:2: expected 2 columns (word tag), found 1 (does a quoted cell end
            on another line? Cells have no line ends)
    "#;
    for (text, expected) in escaped_rows(table) {
        assert_eq!(tokens(&text, &ReadOptions::default()), expected, "{text}");
    }
    let columns = |names: &str| {
        let columns = Some(names.split(',').map(str::to_owned).collect());
        ReadOptions { columns, ..conll() }
    };
    for (names, text) in [
        ("sentence,word,upos", "7,Mira,PROPN\n7,ran,VERB\n9,Kai,PROPN\n"),
        ("sentence,word,upos", "sentence,word,upos\n7,Mira,PROPN\n7,ran,VERB\n9,Kai,PROPN\n"),
        ("id,word,upos", "1\tMira\tPROPN\n2\tran\tVERB\n1\tKai\tPROPN\n"),
    ] {
        let read = tokens(text, &columns(names));
        assert!(read.starts_with(&format!("{}: ", names.replace(',', " "))), "{read}");
        assert_eq!(read.matches("; ").count(), 1, "{read}");
    }
    const PLACES: &str = "warning: x:1: column 1 is the same in each sentence, column 2 numbers \
                          the tokens of each sentence: words are taken from column 3 (`columns` \
                          names the columns)";
    let said = decided("1 1 a O\n1 2 b O\n2 1 c O\n2 2 d O\n", &conll());
    assert_eq!(said, format!("sentence id word label\n{PLACES}"));
}

/// The kind of a file `x` with these lines.
fn kind_of(text: &str) -> FileKind {
    let lines: Vec<String> = text.split_terminator('\n').map(str::to_owned).collect();
    FileKind::of_lines("x", &lines)
}

#[test]
fn kinds_of_text_are_recognized_by_their_first_lines() {
    use FileKind::*;
    let csv = |separator, has_header| Csv { separator, has_header };
    let texts = |kind| match kind {
        Other(what, advice) => JsonTexts(what, advice),
        kind => kind,
    };
    let word = |id: &str| format!("{id}\ta\ta\tX\t_\t_\t0\troot\t_\t_\n");
    for (text, expected) in [
        // CoNLL-U: numbers, ranges and empty nodes; comments anywhere.
        (&*["# text = a\n", &word("1-2"), &word("1"), &word("2")].concat(), Conllu),
        (&*["# sent_id = 1\n", &word("0.1"), &word("1"), "# x\n", &word("1.1")].concat(), Conllu),
        (&word("1").replace("_\n", "ner=B-PER\n"), Conllu),
        (&word("1").replace('\t', "  "), FileKind::CONLLU_BLANKS),
        (&word("1").replace("_\n", "B-PER\n"), Columns),
        (&word("1").replace("\t0\t", "\tB-NP\t"), Columns),
        ("# global.columns = ID FORM NER\n1\tMira\tB-PER\n", FileKind::CONLLU_PLUS),
        ("# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n", Columns),
        // CSV by a header, quotes, or equally many cells.
        ("Sentence #,Word,POS,Tag\nSentence: 1,Thousands,NNS,O", csv(',', true)),
        ("word;tag\nMira;B-PER", csv(';', true)),
        ("\"Mira\",\"B-PER\"\n\"ran\",\"O\"", csv(',', false)),
        ("Mira,B-PER\nHolm,I-PER\nran,O", csv(',', false)),
        ("1,\"1,000\",CD\n1,New York,NNP\n1,won,VBD", csv(',', false)),
        ("text,label\n\"A great, funny film\",pos\n\"It was long and dull, alas\",neg", Documents),
        ("pos\tA great and funny film .\nneg\tDull .\nneg\tIt was long and very dull .", Documents),
        ("id;review;stars\n1;All of it was fine;5\n2;No one liked it at all;1", Documents),
        // A word may be the separator.
        ("Mira|NNP|I-PER left|VBD|O", Tagged('|', 3)),
        (
            "The|DT|O Oxford|NNP|I-ORG ||SYM|O .|.|O a|b|O b|b|O c|c|O d|d|O e|e|O f|f|O",
            Tagged('|', 3),
        ),
        ("The/at Fulton/np said/vbd", Tagged('/', 2)),
        ("Mira_NNP left_VBD\nKai_NNP ran_VBD\nshe_PRP sat_VBD", Tagged('_', 2)),
        // JSON, by its keys.
        ("{\"tokens\": [\"a\"], \"labels\": [\"X\"]}", Jsonl),
        ("{\"id\":1,\"tokens\":[\"a\"],\"ner_tags\":[0]}", Jsonl),
        ("{\"text\": \"a\", \"tokens\": [\"a\"], \"labels\": [\"X\"]}", Jsonl),
        ("{ \"attributes\": [[\"a\"]]}", Jsonl),
        ("{\"sentence\": \"a\"}", Jsonl),
        ("[{\"tokens\": [\"a\"], \"labels\": [\"X\"]},", FileKind::JSON_TOKENS),
        (
            "{\"text\": \"a\", \"spans\": [], \"tokens\": [{\"text\": \"a\"}]}",
            texts(FileKind::JSON_SPANS),
        ),
        ("{\"text\": \"a\", \"label\": [[0, 1, \"X\"]]}", texts(FileKind::JSON_SPANS)),
        ("[\n  {\n    \"text\": \"a\",\n \"entities\": [\n", FileKind::JSON_SPANS),
        ("[{\"data\": {\"text\": \"a\"}, \"annotations\": []}]", FileKind::JSON_SPANS),
        ("{\"text\": \"a\", \"label\": [\"pos\"]}", texts(FileKind::JSON_CLASSES)),
        ("{\"text\": \"a\", \"label\": \"pos\"}\n{\"text\": \"b\"}", texts(FileKind::JSON_CLASSES)),
        ("[{\"text\": \"a\", \"label\": 1}]", FileKind::JSON_CLASSES),
        ("{\n  \"data\": [", FileKind::JSON),
        ("[{\"text\": \"a\"}]", FileKind::JSON),
        ("[[\"Mira left.\", {\"entities\": [[0, 4, \"PER\"]]}]]", FileKind::JSON),
        // Attributes and numbered features.
        ("B-PER\tw=Mira\tpos=NNP\nO\tw=left\tlast\n", Columns),
        ("B-PER\tw=Mira\tpos=NNP\nO\tw=left\tp=x\tq=y\n", Crfsuite),
        ("U-LOC word=U lower=u\n\nO word=in lower=in pos=IN\n", FileKind::CRFSUITE_BLANKS),
        ("Haus\tCase=Nom\nsteht\tMood=Ind\n", Columns),
        ("+1 3:0.5 7:1\n-1 2:1\n", FileKind::SVMLIGHT),
        ("2 qid:1 1:0.5\n1 qid:1 1:0.25\n", FileKind::SVMLIGHT),
        ("10 CD 1:O\n3 CD O\n", Columns),
        (
            "Bill CAPITALIZED noun\nslept non-noun\nhere LOWERCASE STOPWORD non-noun\n",
            FeatureLines(2, 4),
        ),
        ("a O\nb O\nc X O\nd O\n", Columns),
        // Texts with marks.
        ("#FORMAT=WebAnno TSV 3.2\n#T_SP=webanno.custom.Ne|value\n", FileKind::WEBANNO),
        ("<START:person> Mira <END> saw Kai .\n", FileKind::OPENNLP),
        ("We saw <START> Kai <END> .\n", FileKind::OPENNLP),
        ("<START> O\nMira X\n", Columns),
        ("10001|t|Mira disease\n10001|a|We saw it.\n", FileKind::PUBTATOR),
        ("7|a|No title\n", FileKind::PUBTATOR),
        ("T1\tPER 0 3\tAnn\nR1\tLives Arg1:T1 Arg2:T2\n", FileKind::BRAT),
        ("T2\tPER 0 3;8 12\tAnn Lee\n", FileKind::BRAT),
        ("T1\tNN\tO\n", Columns),
        ("[PER Ann Lee] left [LOC Rome].\n", FileKind::INLINE),
        ("[person Ann Lee] left.\n[person Bob] stayed.\n", FileKind::INLINE),
        ("<?xml version=\"1.0\"?>", FileKind::XML),
        ("<html lang=\"en\">", FileKind::XML),
        ("Mira\tB-PER\rHolm\tI-PER\r", FileKind::CARRIAGE_RETURNS),
        // Running text, and words alone.
        ("Ann Lee left Rome.\nBob saw her.\n", Prose),
        ("Ann left Rome.\n", Prose),
        ("床前明月光，疑是地上霜。\n举头望明月。\n", Prose),
        (
            "When Mira came to Oslo the river\nfroze, and all of the people\nwalked over the ice\n",
            Prose,
        ),
        ("Mira\nHolm\nran\n.\n\nKai\nsat\n.\n", Words),
        // Columns with such characters are columns.
        (", , O\n1,5 CD O\n2,5 CD O\n3,5 CD O", Columns),
        ("1,000 CD O\n2,000 CD O\n3,000 CD O", Columns),
        ("[ ( O\n{ ( O", Columns),
        ("{\" '' O", Columns),
        ("\" '' O\nMira NNP B-PER", Columns),
        ("New_York B_LOC\nis O\nnice O", Columns),
        ("Mira B-PER|B-ORG\nran O", Columns),
        ("a,b\tO\nc,d\tO\ne,f\tO", Columns),
        ("<doc> O\nMira B-PER", Columns),
        ("1,5\nMira\nran", Columns),
        ("|\nMira\nran", Columns),
        ("", Columns),
    ] {
        assert_eq!(kind_of(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_text_is_recognized_by_its_first_bytes() {
    use FileKind::*;

    let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "The O\ncat O\n".encode_utf16().flat_map(order).collect()
    };
    for (bytes, expected) in [
        (&b"PAR1\x15\x04\x15\x10"[..], "a Parquet table"),
        (b"ARROW1\0\0", "an Arrow table"),
        (b"PK\x03\x04\x14\0", "a zip archive"),
        (b"\xfd7zXZ\0\0\x04", "compressed by xz"),
        (b"BZh91AY&SY\x01\x02", "compressed by bzip2"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed by zstd"),
        (b"x\x9c\xed\xbd", "DocBin"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"SQLite format 3\0", "SQLite"),
        (b"lCRF\x10\0\0\0FOMC", "a model of CRFsuite"),
        (b"DROPCRF\n\x01\0\0\0", "a model or checkpoint of dropchain"),
        (b"DROPREG\n\x01\0\0\0", "a model or checkpoint of dropchain"),
        (&utf16(u16::to_le_bytes), "`encoding` utf-16le"),
        (&utf16(u16::to_be_bytes), "`encoding` utf-16be"),
    ] {
        let kind = FileKind::of_bytes(bytes).unwrap_or_else(|| panic!("{expected}"));
        assert!(kind.to_string().contains(expected), "{kind}");
        // Whatever the format is said to be.
        let input = Box::new(std::io::Cursor::new(bytes.to_vec()));
        let mut reader = crate::corpus::Reader::from_read(input, "x", &options(Format::Jsonl));
        assert_eq!(reader.next().unwrap().unwrap_err().to_string(), format!("x: {kind}"));
        assert_eq!(kind.is_model(), matches!(kind, Model(_)));
    }
    for text in ["PAR1 NN\nx O\n", "PK\nx\n", "DROPPED\nx", "BZh is\n", "lCRF O\n", "a\0b", ""] {
        assert_eq!(FileKind::of_bytes(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn a_kind_has_a_format_or_a_sentence_at_its_first_line() {
    let any = ReadOptions::default();
    let unlabeled = ReadOptions { unlabeled: true, ..any.clone() };
    for (text, expected) in [
        ("\n[{\"text\": \"a\"}]\n", "x:2: the file looks like JSON; `format` jsonl reads"),
        ("{\"text\": \"a\", \"spans\": []}\n", "spans of characters; `format` spans reads it"),
        ("{\"text\": \"a\", \"label\": \"b\"}\n", "dropchain classify reads it"),
        ("[{\"tokens\": [\"a\"]}]\n", "expected JSON lines (jq -c '.[]' FILE)"),
        ("Mira|NNP|I-PER ran|VBD|O\n\nRain|NN|O fell|VBD|O\n", "looks like tokens word|tag|label,"),
        ("Mira_NNP ran_VBD she_PRP\n", "looks like tokens word_tag,"),
        ("Mira\tO\rran\tO\r", "x:1: the file looks like lines that end in CR alone"),
        ("<?xml version=\"1.0\"?>\n", "looks like XML; expected one token per line"),
        ("#FORMAT=WebAnno TSV 3.3\n\n", "x:1: the file looks like TSV 3 of WebAnno"),
        (
            "On Monday <START:person> Kai <END> left .\n",
            "looks like OpenNLP's text (<START:…> … <END>)",
        ),
        ("1|t|Fever\n", "looks like PubTator"),
        ("T1\tPER 0 3\tAnn\n", "`format` brat reads the text NAME.txt"),
        ("a UP X\nb Y\nc UP LO Y\n", "the lines have from 2 to 4 cells, as of features"),
        ("[PER Ann] left\n", "which `tag` writes for people"),
        ("1 2:1\n0 1:3\n", "dropchain classify reads them (`format` svmlight)"),
        ("O w=a x=b\n", "expected tabs (tr ' ' '\\t') and `format` crfsuite"),
        ("1 a a X _ _ 0 root _ _\n", "looks like CoNLL-U, but separated by blanks"),
        ("# global.columns = ID FORM\n1\ta\n", "looks like CoNLL-U Plus; `format` conll"),
        ("a,b\n\"one two three four\",x\n\"one two three\",x\n", "looks like a table with a text"),
        ("Ann left Rome.\n", "running text; expected tokens with labels"),
    ] {
        let error = error(text, &any);
        assert!(error.starts_with("x:") && error.contains(expected), "{error}");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // The format that is given is read, whatever the file looks like.
        let named = sentences(text, &options(Format::Text)).unwrap();
        assert!(!named.is_empty() && FileKind::of_lines("x.conllu", &lines) == FileKind::Conllu);
    }
    for (text, columns) in [
        ("Ann left Rome.\n", "word"),
        ("{\"text\": \"a b\", \"spans\": []}\n", "word"),
        (
            "0.1\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n",
            "id form lemma upos xpos feats head deprel deps misc",
        ),
    ] {
        assert_eq!(decided(text, &unlabeled), columns, "{text}");
    }
}

#[test]
fn words_have_punctuation_among_them_or_blank_lines_after_sentences_of_several() {
    for (text, expected) in [
        ("Mira\nHolm\nran\n.\n\nKai\nsat\n.\n\n", true),
        ("Mira\nHolm\nran\n\nKai\nsat\nin\nOslo\n\n", true),
        // Lists of words, and scripts without blanks.
        ("Mira\nOslo\nKai\nran\n", false),
        ("Mira\n\nOslo\n\nKai\n\nran\n\n", false),
        ("床前明月光\n疑是地上霜\n\n举头望明月\n低头思故乡\n", false),
        ("Mira ran\n.\nKai\nsat\n", false),
        ("Mira\n.\n", false),
    ] {
        assert_eq!(kind_of(text) == FileKind::Words, expected, "{text}");
    }
}

#[test]
fn hard_line_breaks_are_in_long_lines_that_go_on_in_lower_case_or_had_no_room() {
    let text = "\
When Mira came to Oslo for the first time in the spring of that year the river
was still frozen, and the people who lived along it walked over the ice from one
side to the other, which none of the guests from the south had ever seen before
they came, so that some of them stayed until the ice was gone.

Kai sat.
";
    let are_broken = |text: &str| {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        FileKind::has_hard_breaks(&lines)
    };
    assert!(are_broken(text));
    assert!(!are_broken(&text.replace('\n', ".\n")));
    assert!(are_broken(&text.replace("\nwas", "\nWas").replace("\nside", "\nSide")));
    // Headlines, which have room for more.
    let room = text.replace(" that year the river", "").replace("ever seen before", "seen");
    assert!(!are_broken(&room.replace("\nwas", "\nWas").replace("\nthey", "\nThey")));
}
