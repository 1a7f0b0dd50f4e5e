//! Ready-made attributes: in JSON lines, and assumed of the data of a model without a template.

use crate::support::TestDir;

const CRFSUITE: &str = "B-PER\tw=Ann\tcap:2\nO\tw=left\n\nO\tw=in\nB-LOC\tw=Rome\tcap:2\n";

const JSON: &str = concat!(
    r#"{"tokens":["Ann","left"],"attributes":[["w=Ann",["cap",2]],["w=left"]],"#,
    r#""labels":["B-PER","O"]}"#,
    "\n",
    r#"{"attributes":[{"w=in":1},{"w=Rome":1,"cap":2}],"labels":["O","B-LOC"]}"#,
    "\n",
);

#[test]
fn attributes_in_json_train_the_weights_that_crfsuites_format_trains() {
    let dir = TestDir::new(&[("train.crfsuite", CRFSUITE), ("train.jsonl", JSON)]);
    let weights = |file: &str| {
        dir.run(&format!("train {file} --model m --quiet --l2 0.1")).success();
        let report = dir.run("inspect m --top 100").success();
        report.lines().filter(|line| line.contains("w=")).map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = weights("train.crfsuite");
    assert!(!expected.is_empty());
    assert_eq!(weights("train.jsonl"), expected);
    let tagged = dir.run("tag m train.jsonl").json_lines();
    assert_eq!(tagged[0]["labels"][0], "B-PER");
    assert_eq!(tagged[1]["labels"][1], "B-LOC");
    assert!(dir.run_with_stdin("tag m", JSON).stderr.contains("read as JSON lines"));
    let report = dir.run("eval m train.jsonl").success();
    assert!(report.contains("correct: 2"), "{report}");
    assert_eq!(dir.run("eval m train.crfsuite").success(), report);
    dir.write("more.txt", CRFSUITE);
    let run = dir.run("train more.txt --dev more.txt --init m --model n");
    let notice = "read as CRFsuite's format, since m has no template";
    assert!(run.stderr.contains(notice), "{}", run.stderr);
    run.success();
}
