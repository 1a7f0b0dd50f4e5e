//! What is not said about an input is recognized and said, or an error that says what reads it.

use crate::support::TestDir;

const TRAIN: &str = "train train.conll --template minimal --l2 0.01 --model m --quiet";

/// Two sentences in two columns.
const CORPUS: &str = "\
Mira B-PER
Holm I-PER
ran O
. O

Kai B-PER
sat O
in O
Oslo B-LOC
. O

";

/// What training on a file prints to standard error.
fn said(file: &str, text: &str, options: &str) -> String {
    let dir = TestDir::new(&[(file, text)]);
    let run = dir.run(&format!("train {file} --template minimal --l2 0.01 --model m {options}"));
    let said = run.stderr.clone();
    run.success();
    said
}

/// The error of training on a file.
fn refused(file: &str, text: &str, options: &str) -> String {
    let dir = TestDir::new(&[(file, text)]);
    dir.run(&format!("train {file} --template minimal --l2 0.01 --model m --quiet {options}"))
        .failure()
}

fn f1(dir: &TestDir, line: &str) -> f64 {
    dir.run(line).json()["f1"].as_f64().unwrap()
}

#[test]
fn warnings_are_printed_once_and_not_if_quiet() {
    let text = format!("TOKEN NE\n{CORPUS}");
    let warning = "warning: train.tsv:1: looks like a header row: --header skips it";
    assert_eq!(said("train.tsv", &text, "").matches(warning).count(), 1);
    assert_eq!(said("train.tsv", &text, "--quiet"), "");
    let dir = TestDir::new(&[("train.tsv", &text)]);
    let check = dir.run("check train.tsv").success();
    assert!(check.contains("looks like a header row"), "{check}");
}

#[test]
fn a_header_row_is_skipped_names_columns_and_is_recorded() {
    let text = format!("TOKEN NE-COARSE-LIT\n{CORPUS}");
    let dir = TestDir::new(&[("train.tsv", &text), ("plain.tsv", CORPUS)]);
    let train = "train train.tsv --template minimal --l2 0.01 --model m --header --quiet \
                 --label NE-COARSE-LIT";
    dir.run(train).success();
    let inspected = dir.inspect("");
    assert_eq!(inspected["tokens"], 9);
    assert_eq!(inspected["label_column"], "NE-COARSE-LIT");
    assert_eq!(inspected["header"], true);
    // The model says that its files have one.
    assert_eq!(f1(&dir, "eval m train.tsv --json"), 1.0);
    let tagged = dir.run("tag m train.tsv").success();
    assert_eq!(tagged.lines().count(), CORPUS.lines().count());
    assert!(tagged.starts_with("Mira B-PER B-PER\n"), "{tagged}");
    dir.write("out.conll", tagged);
    let eval = "eval --predictions out.conll train.tsv --header --json";
    assert_eq!(f1(&dir, eval), 1.0);
}

#[test]
fn comments_are_recorded_and_said() {
    let text =
        format!("# id 1\n{}", CORPUS.replace("\n\n", "\n\n# id 2\n").trim_end_matches("# id 2\n"));
    let dir = TestDir::new(&[("train.conll", &text)]);
    let error = dir.run(TRAIN).failure();
    assert!(error.contains("--comments skips lines that begin with '#'"), "{error}");
    let run = dir.run(&TRAIN.replace("--quiet", "--comments"));
    let notice = "train.conll:1: 2 lines begin with '#': read as comments, not tokens";
    assert!(run.stderr.contains(notice), "{}", run.stderr);
    run.success();
    assert_eq!(dir.inspect("")["comments"], true);
    assert_eq!(f1(&dir, "eval m train.conll --json"), 1.0);
    let tagged = dir.run("tag m train.conll").success();
    assert!(tagged.starts_with("# id 1\nMira"), "{tagged}");
    let from_pipe = dir.run_with_stdin("tag m", &text).success();
    assert_eq!(from_pipe, tagged);
    let report = dir.run("report --model m --gold train.conll --train train.conll --output r.html");
    report.success();
}

#[test]
fn a_column_that_numbers_tokens_is_no_column_of_words() {
    let text = "1\tMira\tB-PER\n2\tHolm\tI-PER\n3\tran\tO\n\n1\tRain\tO\n2\tfell\tO\n";
    let warning = "column 1 numbers the tokens of each sentence: words are taken from column 2";
    assert!(said("train.iob2", text, "").contains(&format!("train.iob2:1: {warning}")));
    assert!(!said("train.iob2", text, "--columns word,x,ner").contains(warning));
    let dir = TestDir::new(&[("train.conll", text)]);
    assert!(dir.run("check train.conll").success().contains(warning));
    dir.run(TRAIN).success();
    let data = dir.run("inspect m").success();
    assert!(data.contains("id word label"), "{data}");
    assert_eq!(f1(&dir, "eval m train.conll --json"), 1.0);
    let tagged = dir.run("tag m train.conll").success();
    assert!(tagged.starts_with("1\tMira\tB-PER\tB-PER\n"), "{tagged}");
    dir.write("text.txt", "Mira Holm ran\n");
    let tagged = dir.run("tag m text.txt --output conll").success();
    assert!(tagged.starts_with("Mira\tB-PER\nHolm\tI-PER\n"), "{tagged}");
}

#[test]
fn files_that_were_joined_have_no_marks_inside() {
    let joined = format!("\u{feff}{CORPUS}\u{feff}{CORPUS}");
    let notice = "train.conll:12: 1 byte order mark inside the file: removed from the start of the \
                  line (files joined with cat?)";
    assert!(said("train.conll", &joined, "").contains(notice));
    let conllu = "\u{feff}# sent_id = 1\n1\tMira\t_\tPROPN\t_\t_\t0\troot\t_\t_\n\n";
    let two = conllu.to_owned() + &conllu.replace("PROPN", "VERB");
    for text in [two.clone(), two.replace("# sent_id = 1\n", "")] {
        assert!(said("a.conllu", &text, "").contains("1 byte order mark inside the file"));
    }
    let jsonl = "{\"tokens\":[\"a\"],\"labels\":[\"X\"]}\n\
                 \u{feff}{\"tokens\":[\"b\"],\"labels\":[\"Y\"]}\n";
    assert!(said("a.jsonl", jsonl, "").contains("a.jsonl:2: 1 byte order mark"));
    let crfsuite = "B\tw=a\n\n\u{feff}O\tw=b\n";
    let dir = TestDir::new(&[("a.crfsuite", crfsuite)]);
    dir.run("train a.crfsuite --model m --quiet").success();
    assert_eq!(dir.inspect("")["labels"].as_object().unwrap().len(), 2);
}

#[test]
fn labels_with_blanks_are_doubted_and_line_ends_recognized() {
    let mixed = "Mira\tNNP O B-PER\nleft\tVBD O O\n";
    assert!(said("train.tsv", mixed, "").contains(
        "warning: train.tsv:1: 2 labels have blanks or control characters inside: kept (if they \
         are in columns: are these separated by tabs and blanks?)"
    ));
    let dir = TestDir::new(&[("train.tsv", mixed), ("dos.tsv", "Mira\tB-PER\r\r\nleft\tO\r\r\n")]);
    let check = dir.run("check train.tsv").success();
    let check = check.split_whitespace().collect::<Vec<_>>().join(" ");
    let finding = "labels with a blank inside (columns separated by tabs and blanks?): 2";
    assert!(check.contains(finding), "{check}");
    let run = dir.run("train dos.tsv --template minimal --l2 0.01 --model m");
    assert!(run.stderr.contains("dos.tsv:1: 2 lines end in CR CR LF: read as a line end"));
    run.success();
    let labels = dir.inspect("")["labels"].clone();
    let labels: Vec<&String> = labels.as_object().unwrap().keys().collect();
    assert_eq!(labels, ["B-PER", "O"]);
    let error = refused("mixsep.tsv", "I\t0\n\nMira    PER\n", "");
    assert!(
        error.contains(
            "mixsep.tsv:3: expected 2 columns (word label), found 1 (the file's columns \
                            are separated by tabs, this line has only blanks)"
        ),
        "{error}"
    );
}

#[test]
fn files_of_other_kinds_are_refused_with_what_reads_them() {
    let tokens = "Mira|NNP|I-PER left|VBD|O Oslo|NNP|I-LOC\n";
    for (file, text, expected) in [
        ("k.csv", "Sentence #,Word,POS,Tag\nSentence: 1,Mira,NNP,O\n,of,IN,O\n", "looks like CSV"),
        ("q.csv", "\"Mira\";\"B-PER\"\n\"left\";\"O\"\n", "looks like CSV"),
        ("wikiner.txt", &format!("{tokens}\n{tokens}"), "looks like tokens word|tag|label"),
        ("equal.txt", &tokens.repeat(5), "looks like tokens word|tag|label"),
        ("brown.txt", "The/at jury/nn said/vbd\n", "looks like tokens word/tag"),
        (
            "s.json",
            "[[\"Mira left.\", {\"entities\": [[0, 4, \"PER\"]]}]]\n",
            "training data of spaCy",
        ),
        ("a.json", "[\n  {\"text\": \"Mira\"}\n]\n", "a JSON array; --format spans"),
        ("o.conll", "{\"tokens\": [\"a\"], \"labels\": [\"X\"]}\n", "JSON; --format jsonl"),
        ("x.txt", "<?xml version=\"1.0\"?>\n<doc/>\n", "looks like XML"),
    ] {
        let error = refused(file, text, "");
        assert!(error.contains(&format!("{file}:1: the file looks like")), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn files_of_other_kinds_that_are_tagged_as_text_are_doubted() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    dir.run(TRAIN).success();
    for (text, kind) in [
        ("[{\"text\": \"Mira ran.\"}]\n", "a JSON array"),
        ("Mira|NNP|I-PER ran|VBD|O .|.|O\n", "tokens word|tag|label"),
    ] {
        dir.write("a.txt", text);
        let run = dir.run("tag m a.txt");
        let warning = format!("warning: a.txt: read as raw text, but the file looks like {kind}");
        assert!(run.stderr.starts_with(&warning), "{}", run.stderr);
        run.success();
        assert_eq!(dir.run("tag m a.txt --format text").stderr, "");
    }
    dir.write("a.txt", "[1] Mira ran | Kai sat.\n");
    assert_eq!(dir.run("tag m a.txt").stderr, "");
}

#[test]
fn labels_in_misc_are_read_as_they_are_written() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    dir.run(&format!("{TRAIN} --columns word,ner")).success();
    let tag = "tag m train.conll --output conllu";
    let tagged = dir.run(tag).success();
    assert!(tagged.contains("\tner=B-PER\n"), "{tagged}");
    dir.write("o.conllu", &tagged);
    assert_eq!(f1(&dir, "eval m o.conllu --json"), 1.0);
    dir.run("train o.conllu --label ner --template minimal --l2 0.01 --model n --quiet").success();
    assert_eq!(f1(&dir, "eval n o.conllu --json"), 1.0);
    // It writes what it has read.
    assert_eq!(dir.run("tag n o.conllu").success(), tagged);
    let error = dir
        .run("train o.conllu --label nre --template minimal --l2 0.01 --model n --quiet")
        .failure();
    assert!(
        error.contains("o.conllu:1: no column 'nre'") && error.contains("no key 'nre'"),
        "{error}"
    );
    let run = dir.run("train o.conllu --label misc --template minimal --l2 0.01 --model n");
    assert!(run.stderr.contains("whole cells of misc: kept (--label KEY"), "{}", run.stderr);
    run.success();
}

#[test]
fn one_word_per_line_is_recognized_and_said() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    dir.run(&format!("{TRAIN} --columns word,ner")).success();
    let words = |text: &str| -> String {
        let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned() + "\n";
        text.lines().map(first).collect()
    };
    let expected = dir.run("tag m train.conll").success();
    let expected = expected.replace(" B-PER B-PER", "\tB-PER").replace(" I-PER I-PER", "\tI-PER");
    let run = dir.run_with_stdin("tag m", words(CORPUS));
    assert_eq!(
        run.stderr.trim_end(),
        "standard input: read as one word per line; --format text reads raw text"
    );
    let tagged = run.success();
    assert!(
        tagged.starts_with("Mira B-PER\nHolm I-PER\nran O\n. O\n\nKai"),
        "{tagged}\n{expected}"
    );
    // Without punctuation, blank lines tell; a list of words is text.
    dir.write("words.txt", words(&CORPUS.replace(". O\n", "")));
    let tagged = dir.run("tag m words.txt").success();
    assert!(tagged.starts_with("Mira B-PER\nHolm I-PER\nran O\n\n"), "{tagged}");
    for text in [
        "Mira\nOslo\nKai\nran\n",
        "Mira\n\nOslo\n\nKai\n\nran\n\n",
        "床前明月光\n疑是地上霜\n\n举头望明月\n低头思故乡\n",
    ] {
        let run = dir.run_with_stdin("tag m", text);
        assert_eq!(run.stderr, "", "{text}");
        run.success();
    }
    let run = dir.run_with_stdin("tag m --format text", words(CORPUS));
    assert_eq!(run.stderr, "");
    run.success();
}

#[test]
fn text_with_hard_line_breaks_gets_a_hint() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    dir.run(TRAIN).success();
    let text = "\
When Mira came to Oslo for the first time in the spring of that year the river
was still frozen, and the people who lived along it walked over the ice from one
side to the other, which none of the guests from the south had ever seen before
they came, so that some of them stayed until the ice was gone.

Kai sat.
";
    dir.write("book.txt", text);
    let run = dir.run("tag m book.txt");
    assert!(
        run.stderr.contains("book.txt: most lines seem to end inside a sentence; --paragraphs")
    );
    run.success();
    assert_eq!(dir.run("tag m book.txt --paragraphs").stderr, "");
    dir.write("lines.txt", text.replace('\n', ".\n"));
    assert_eq!(dir.run("tag m lines.txt").stderr, "");
}

#[test]
fn missing_columns_of_a_model_are_named() {
    let text = "Mira NNP B-NP B-PER\nran VBD B-VP O\n\n";
    let dir = TestDir::new(&[("train.conll", text), ("my.tpl", "word\npos\nchunk[-1]\n")]);
    dir.run("train train.conll --columns word,pos,chunk,ner --template my.tpl --model m --quiet")
        .success();
    dir.write("words.conll", "Mira\nran\n");
    let error = dir.run("tag m words.conll").failure();
    assert!(
        error.contains(
            "words.conll:1: this model needs part-of-speech tags in column 2 ('pos') and chunk \
             tags in column 3 ('chunk'); the input has only word (the training data had word \
             pos chunk ner)"
        ),
        "{error}"
    );
    dir.write("text.txt", "Mira ran home.\n");
    let error = dir.run("tag m text.txt").failure();
    assert!(error.contains("text.txt:1: this model needs part-of-speech tags"), "{error}");
}

#[test]
fn labels_of_input_that_tag_ignores_are_named() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    dir.run(TRAIN).success();
    let json = "{\"tokens\":[\"Mira\",\"ran\"],\"label\":[\"B-PER\",\"O\"]}\n";
    dir.write("in.jsonl", json);
    let ignored =
        |file: &str| format!("{file}: its labels (label) are ignored; --forced label keeps them\n");
    for file in ["train.conll", "in.jsonl"] {
        let run = dir.run(&format!("tag m {file}"));
        assert!(run.stderr.ends_with(&ignored(file)), "{}", run.stderr);
        for options in ["--quiet", "--forced label"] {
            let run = dir.run(&format!("tag m {file} {options}"));
            assert!(!run.stderr.contains("ignored"), "{}", run.stderr);
            run.success();
        }
    }
    let run = dir.run("tag m train.conll --quiet");
    assert_eq!(run.stderr, "");
}

#[test]
fn tag_reads_json_whose_text_has_another_key() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    dir.run(TRAIN).success();
    dir.write("in.json", "{\"body\":\"Mira ran .\",\"id\":7}\n");
    dir.write("in.jsonl", "{\"body\":\"Mira ran .\",\"id\":7}\n");
    for options in ["in.json --format spans", "in.jsonl", "in.json"] {
        let line = format!("tag m {options} --text-key body --output conll");
        assert_eq!(dir.run(&line).success(), "Mira\tB-PER\nran\tO\n.\tO\n\n", "{options}");
    }
    let error = dir.run("tag m in.jsonl").failure();
    assert!(error.contains("expected the key \"tokens\" or \"text\", found \"body\""), "{error}");
}

#[test]
fn a_search_says_how_labels_were_read() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    let corpus = format!("{}x \"\n\n", CORPUS.repeat(30));
    dir.write("stray.conll", corpus);
    let options = "--template minimal --folds 2 --l2 1 --dropout 0 --max-iterations 2 --model new";
    let run = dir.run(&format!("tune stray.conll {options}"));
    assert!(run.stderr.contains("\nread as IOB2, "), "{}", run.stderr);
    let warning = "the label '\\\"' belongs to no scheme, unlike the others (IOB2)";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    run.success();
    assert_eq!(dir.run(&format!("tune stray.conll {options} --force --quiet")).stderr, "");
}
