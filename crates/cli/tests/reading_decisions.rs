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
    let dir = TestDir::new(&[("train.conll", text)]);
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
fn files_of_other_kinds_are_refused_with_what_reads_them() {
    let dir = TestDir::new(&[("o.conll", "{\"tokens\": [\"a\"], \"labels\": [\"X\"]}\n")]);
    let error = dir.run("train o.conll --template minimal --model m --quiet").failure();
    assert!(error.starts_with("o.conll:1: the file looks like JSON; --format jsonl "), "{error}");
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
