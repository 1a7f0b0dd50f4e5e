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

const TRAIN: &str = "--template words.tpl --model m --quiet --dropout 0 --l2 0.001";

fn conllu() -> TestDir {
    let files = [("train.conllu", UD), ("words.tpl", "word\n")];
    TestDir::trained(&files, &format!("train train.conllu {TRAIN} --label upos+feats"))
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
    assert!(summary.contains("labels from upos+feats\n"), "{summary}");
}

#[test]
fn check_and_report_take_joined_labels() {
    let dir = conllu();
    let json = dir.run("check train.conllu --label upos+feats --json").json();
    assert!(json.to_string().contains("\"DET+_\""), "{json}");
    dir.run("report --model m --gold train.conllu --output report.html").success();
    assert!(dir.text("report.html").contains("NOUN+Number=Plur"));
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
