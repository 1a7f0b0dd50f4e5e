//! Labels that join columns: `--label upos+feats`.

use crate::support::TestDir;

/// Sentences of CoNLL-U in which the word tells both columns.
const UD: &str = "\
# sent_id = 1
1-2\tdogsbark\t_\t_\t_\t_\t_\t_\t_\t_
1\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\tA=b
2\tbark\tbark\tVERB\tVB\tMood=Ind|Tense=Pres\t0\troot\t_\t_

1\ta\ta\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_
3\tbarked\tbark\tVERB\tVBD\tMood=Ind|Tense=Past\t0\troot\t_\t_

1\t+\t+\tSYM\tSYM\tForm=+\t0\troot\t_\t_

";

/// The same words in columns, without the lemmas.
const COLUMNS: &str = "\
dogs NNS NOUN Number=Plur
bark VB VERB Mood=Ind|Tense=Pres

a DT DET _
dog NN NOUN Number=Sing
barked VBD VERB Mood=Ind|Tense=Past

";

const JSON: &str = "\
{\"tokens\":[\"dogs\",\"bark\"],\"pos\":[\"NOUN\",\"VERB\"],\"id\":1,\"feats\":[\"Plur\",\"_\"]}
{\"tokens\":[\"dog\"],\"pos\":[\"NOUN\"],\"id\":2,\"feats\":[\"Sing\"]}
";

const TRAIN: &str = "--template words.tpl --model m --quiet --dropout 0 --l2 0.001";

/// A directory with the training data `file`, and a model `m` trained on it.
fn trained(file: &str, text: &str, options: &str) -> TestDir {
    let train = format!("train {file} {TRAIN} {options}");
    TestDir::trained(&[(file, text), ("words.tpl", "word\n")], &train)
}

fn conllu() -> TestDir {
    trained("train.conllu", UD, "--label upos+feats")
}

fn columns() -> TestDir {
    trained("train.conll", COLUMNS, "--columns word,xpos,upos,feats --label upos+feats")
}

/// The error of training on a file.
fn train_error(file: &str, text: &str, options: &str) -> String {
    let dir = TestDir::new(&[(file, text), ("words.tpl", "word\n")]);
    let message = dir.run(&format!("train {file} {TRAIN} {options}")).failure();
    assert!(!dir.path("m").exists());
    message
}

/// Empties the columns UPOS and FEATS.
fn without_labels(text: &str) -> String {
    let row = |line: &str| {
        let mut cells: Vec<&str> = line.split('\t').collect();
        if cells.len() == 10 {
            (cells[3], cells[5]) = ("_", "_");
        }
        cells.join("\t") + "\n"
    };
    text.lines().map(row).collect()
}

#[test]
fn conllu_is_trained_tagged_and_scored_in_both_columns() {
    let dir = conllu();
    dir.write("bare.conllu", without_labels(UD));
    let tagged = dir.run("tag m bare.conllu").success();
    assert_eq!(tagged, UD);
    let report = "accuracy: 100.00%  (6 of 6 tokens)\n    \
                  upos: 100.00%  (6 of 6 tokens)\n   \
                  feats: 100.00%  (6 of 6 tokens)\n";
    assert_eq!(dir.run("eval m train.conllu").success(), report);
    dir.write("tagged.conllu", tagged);
    let eval = "eval --predictions tagged.conllu train.conllu --label upos+feats";
    assert_eq!(dir.run(eval).success(), report);
    let header = dir.inspect("");
    assert_eq!(header["label_column"], "upos+feats");
    assert_eq!(header["joined_columns"], serde_json::json!(["upos", "feats"]));
    assert_eq!(header["scheme"], "raw");
    let summary = dir.run("inspect m").success();
    assert!(summary.contains("; labels join upos and feats\n"), "{summary}");
}

#[test]
fn eval_scores_each_column() {
    let dir = conllu();
    let wrong = UD
        .replace("NOUN\tNNS\tNumber=Plur", "VERB\tNNS\tNumber=Plur")
        .replace("DET\tDT\t_", "DET\tDT\tPronType=Art");
    dir.write("gold.conllu", wrong);
    let report = dir.run("eval m gold.conllu").success();
    let expected = "accuracy:  66.67%  (4 of 6 tokens)\n    \
                    upos:  83.33%  (5 of 6 tokens)\n   \
                    feats:  83.33%  (5 of 6 tokens)\n";
    assert_eq!(report, expected);
    let json = dir.run("eval m gold.conllu --json").json();
    assert_eq!(json["columns"][0]["column"], "upos");
    assert_eq!(json["columns"][1]["accuracy"], 5.0 / 6.0);
    assert_eq!(json["accuracy"], 4.0 / 6.0);
    // Labels of one column have no parts.
    dir.run(&format!("train train.conllu {TRAIN} --label upos")).success();
    assert_eq!(dir.run("eval m train.conllu --json").json().get("columns"), None);
}

#[test]
fn columns_are_appended_in_their_order_and_scored() {
    let dir = columns();
    let tagged = dir.run("tag m train.conll").success();
    assert!(tagged.starts_with("dogs NNS NOUN Number=Plur NOUN Number=Plur\nbark "), "{tagged}");
    let report = dir.run("eval m train.conll").success();
    assert!(report.contains("   feats: 100.00%  (5 of 5 tokens)\n"), "{report}");
    let gold = "train.conll --columns word,xpos,upos,feats --label upos+feats";
    dir.write("tagged", &tagged);
    assert_eq!(dir.run(&format!("eval --predictions tagged {gold}")).success(), report);
    let probable = dir.run("tag m train.conll --marginals").success();
    dir.write("probable", probable);
    let predictions = dir.run(&format!("eval --predictions probable {gold}"));
    assert_eq!(predictions.success(), report);
    let compared = dir.run(
        "compare train.conll tagged probable --json --label upos+feats --columns \
                            word,xpos,upos,feats",
    );
    assert_eq!(compared.json()["accuracy"]["a"], 1.0);
    // The label columns may be missing in a file to be tagged.
    dir.write("bare.tsv", "dogs\tNNS\nbark\tVB\n");
    let tagged = dir.run("tag m bare.tsv").success();
    assert_eq!(tagged, "dogs\tNNS\tNOUN\tNumber=Plur\nbark\tVB\tVERB\tMood=Ind|Tense=Pres\n\n");
}

#[test]
fn json_lines_have_the_joined_labels_and_the_columns() {
    let dir = trained("train.jsonl", JSON, "--label pos+feats");
    let tagged = dir.run("tag m train.jsonl").success();
    let first = "{\"id\":1,\"tokens\":[\"dogs\",\"bark\"],\"labels\":[\"NOUN+Plur\",\"VERB+_\"],\
                 \"pos\":[\"NOUN\",\"VERB\"],\"feats\":[\"Plur\",\"_\"]}\n";
    assert!(tagged.starts_with(first), "{tagged}");
    let report = dir.run("eval m train.jsonl").success();
    assert!(report.contains("   feats: 100.00%  (3 of 3 tokens)\n"), "{report}");
    dir.write("tagged.jsonl", tagged);
    let eval = "eval --predictions tagged.jsonl train.jsonl --label pos+feats";
    assert_eq!(dir.run(eval).success(), report);
}

#[test]
fn other_formats_have_the_joined_label_where_there_is_one() {
    let dir = conllu();
    dir.write("text.txt", "dogs bark\n");
    let inline = dir.run("tag m text.txt --output inline").success();
    assert_eq!(inline, "dogs/NOUN+Number=Plur bark/VERB+Mood=Ind|Tense=Pres\n");
    let columns = dir.run("tag m text.txt").success();
    assert_eq!(columns, "dogs\tNOUN\tNumber=Plur\nbark\tVERB\tMood=Ind|Tense=Pres\n\n");
    let spans = dir.run("tag m text.txt --output spans").json_lines();
    assert_eq!(spans[0]["spans"][0]["label"], "NOUN+Number=Plur");
    let best = dir.run("tag m text.txt --output conll --nbest 2").success();
    assert!(best.contains("dogs\tNOUN\tNumber=Plur\n"), "{best}");
    let explained = dir.run("explain m text.txt --output json").success();
    assert!(explained.contains("NOUN+Number=Plur"));
}

#[test]
fn labels_with_prefixes_encode_no_spans_when_joined() {
    let text = "Ann B-PER NNP\nLee I-PER NNP\nleft O VBD\n";
    let options = "--columns word,ner,pos --label ner+pos";
    let dir = trained("train.conll", text, options);
    assert_eq!(dir.inspect("")["scheme"], "raw");
    let json = dir.run("tag m train.conll --output jsonl").json_lines();
    assert_eq!(json[0].get("spans"), None);
    let report = dir.run("eval m train.conll").success();
    assert!(report.starts_with("accuracy: 100.00%  (3 of 3 tokens)\n"), "{report}");
    dir.run(&format!("train train.conll --dev train.conll {TRAIN} {options} --log log")).success();
    let log = dir.json_lines("log");
    assert_eq!(log[2]["dev_accuracy"].as_f64(), Some(1.0), "{}", log[2]);
    dir.write("tagged", dir.run("tag m train.conll").success());
    let compared = dir.run(&format!("compare train.conll tagged tagged --json {options}"));
    assert_eq!(compared.json().get("f1"), None);
    for scheme in ["iob2", "bioes", "io", "plain"] {
        assert_eq!(
            train_error("train.conll", text, &format!("{options} --scheme {scheme}")),
            format!(
                "--scheme {scheme}: the labels join columns (ner+pos), so they encode no spans; \
                 omit the option"
            )
        );
    }
    let message = dir.run("tag m train.conll --scheme iob2").failure();
    assert!(message.contains("no spans"), "{message}");
}

#[test]
fn a_value_with_the_joint_is_refused_in_training_and_not_read_in_tagging() {
    let text = UD.replace("SYM\tSYM", "S+M\tSYM");
    assert_eq!(
        train_error("train.conllu", &text, "--label upos+feats"),
        "train.conllu:10: the value 'S+M' of the column 'upos' contains '+'; in labels of joined \
         columns (upos+feats) only the last column may have such values"
    );
    let dir = conllu();
    dir.write("bare.conllu", &text);
    assert_eq!(dir.run("tag m bare.conllu").success(), UD);
}

#[test]
fn templates_cannot_read_the_columns() {
    let dir = TestDir::new(&[("train.conllu", UD), ("words.tpl", "word\nfeats\n")]);
    let train = format!("train train.conllu {TRAIN} --label upos+feats");
    let message = dir.run(&train).failure();
    assert!(message.contains("the template reads the label column 'feats'"), "{message}");
}

#[test]
fn known_labels_of_joined_columns_are_refused() {
    let dir = conllu();
    let message = dir.run("tag m train.conllu --forced upos+feats").failure();
    assert!(message.contains("cannot be partial or forced"), "{message}");
}

#[test]
fn training_continues_only_with_the_same_columns() {
    let dir = conllu();
    let init = |label: &str| {
        let train = "train train.conllu --quiet --model new --max-iterations 2 --dropout 0";
        dir.run(&format!("{train} --init m --label {label}"))
    };
    init("upos+feats").success();
    assert_eq!(
        init("upos").failure(),
        "--init m: its labels join the columns upos+feats, those of the training data are of a \
         single column; expected the same columns (--label)"
    );
    let message = init("upos+xpos").failure();
    assert!(message.contains("data join the columns upos+xpos; expected"), "{message}");
}

#[test]
fn two_passes_have_joined_labels() {
    let text =
        "-DOCSTART-\n\ndogs NNS NOUN Plur\nbark VB VERB _\n\na DT DET _\ndogs NN NOUN Plur\n\n";
    let text = text.repeat(6);
    let files = [("train.conll", text.as_str()), ("words.tpl", "word\npredicted_word\n")];
    let dir = TestDir::new(&files);
    let columns = "--columns word,xpos,upos,feats --label upos+feats";
    dir.run(&format!("train train.conll {TRAIN} {columns}")).success();
    let tagged = dir.run("tag m train.conll").success();
    assert!(tagged.contains("dogs NN NOUN Plur NOUN Plur\n"), "{tagged}");
    let report = dir.run("eval m train.conll").success();
    assert!(report.contains("    upos: 100.00%"), "{report}");
}

#[test]
fn check_and_report_take_joined_labels() {
    let dir = conllu();
    let json = dir.run("check train.conllu --label upos+feats --json").json();
    assert!(json.to_string().contains("\"DET+_\""), "{json}");
    dir.run("report --model m --gold train.conllu --output report.html").success();
    assert!(dir.text("report.html").contains("NOUN+Number=Plur"));
    dir.write("tagged.conllu", dir.run("tag m train.conllu").success());
    let message = dir
        .run("report --predictions tagged.conllu --label upos+feats --output other.html")
        .failure();
    assert!(message.contains("expected a file with gold labels (--gold)"), "{message}");
}
