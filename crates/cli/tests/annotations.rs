//! `tag`: outputs for annotation tools and browsers.

use serde_json::{Value, json};

use crate::support::{NER_CORPUS, TestDir};

fn ner_model() -> TestDir {
    TestDir::with_model(NER_CORPUS, "--template ner")
}

/// Positions count characters, bytes or units of UTF-16.
const TEXT: &str = "😀 Ann Lee.\n";

#[test]
fn every_tool_gets_the_positions_in_the_text_and_the_scores_asked_for() {
    let dir = ner_model();
    dir.write("a.txt", TEXT);
    for (output, expected) in [
        ("doccano", "{\"text\":\"😀 Ann Lee.\",\"label\":[[3,10,\"PER\"]]}\n"),
        ("brat", "T1\tPER 2 9\tAnn Lee\n"),
    ] {
        let tagged = dir.run(&format!("tag m a.txt --output {output}")).success();
        assert_eq!(tagged, expected, "{output}");
    }
    let spans = &dir.run("tag m a.txt --output spans --offsets bytes").json()["spans"][0];
    assert_eq!(
        (&spans["start"], &spans["end"], &spans["label"]),
        (&json!(5), &json!(12), &json!("PER"))
    );
    let line = "tag m a.txt --output spans --marginals";
    let exact = dir.run(line).json()["spans"][0]["probability"].as_f64().unwrap();
    for (output, name) in [("jsonl", "spans"), ("displacy", "ents"), ("spans", "spans")] {
        for (threshold, spans) in [(exact, 1), (exact + 1e-9, 0)] {
            let line = format!("tag m a.txt --output {output} --threshold PER={threshold}");
            let marks = dir.run(&line).json()[name].as_array().unwrap().clone();
            assert_eq!(marks.len(), spans, "{output}");
            assert!(marks.iter().all(|mark| mark["probability"] == exact), "{output}");
        }
    }
    let tasks = dir.run("tag m a.txt --output label-studio --marginals").json();
    let prediction = &tasks[0]["predictions"][0];
    assert_eq!(prediction["model_version"], "m");
    let region = &prediction["result"][0];
    assert_eq!(region["value"]["text"], "Ann Lee");
    let score = |value: &Value| value["score"].as_f64().unwrap();
    assert!(0.3 < score(prediction) && score(prediction) <= score(region));
}

#[test]
fn scores_by_threshold_are_those_of_the_spans_that_tag_writes() {
    let dir = ner_model();
    let line = "eval m train.conll --thresholds=0,0.7,0.9,1 --figure f.svg --json";
    let scores = dir.run(line).json();
    for score in scores.as_array().unwrap() {
        let line = format!("tag m train.conll --threshold {}", score["threshold"]);
        dir.write("tagged", dir.run(&line).success());
        let expected = dir.run("eval tagged train.conll --json").json();
        for name in ["precision", "recall", "f1", "accuracy", "types"] {
            assert_eq!(score[name], expected[name], "{line}");
        }
    }
    assert!(scores[0]["recall"].as_f64() > scores[3]["recall"].as_f64());
    assert!(dir.text("f.svg").starts_with("<svg "));
}

#[test]
fn inline_output_is_colored_on_request_and_never_in_a_pipe() {
    let dir = ner_model();
    let tagged = |options: &str| {
        let line = format!("tag m --output inline {options}");
        dir.run_with_stdin(&line, "Ann left.").success()
    };
    assert_eq!(tagged(""), "[PER Ann] left.\n");
    assert_eq!(tagged("--color never"), "[PER Ann] left.\n");
    let colored = "\x1b[38;5;16m\x1b[48;5;183m[PER Ann]\x1b[0m left.\n";
    assert_eq!(tagged("--color always"), colored);
    let spans = dir.run_with_stdin("tag m --output doccano --color always", "Ann left.");
    assert!(!spans.success().contains('\x1b'));
}

/// Runs a line of shell on a terminal; `None` if there is no program for that.
#[cfg(target_os = "linux")]
fn on_terminal(dir: &TestDir, line: &str) -> Option<String> {
    let command =
        format!("command -v script >/dev/null || exit 99; script -qec '{line}' /dev/null");
    let output = dir.shell(&command);
    (output.status.code() != Some(99)).then(|| output.success())
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn a_terminal_has_colors_unless_the_environment_says_no() {
    let dir = ner_model();
    dir.write("a.txt", "Ann left.");
    for (environment, has_colors) in [
        ("TERM=xterm", true),
        ("TERM=xterm NO_COLOR=1", false),
        ("TERM=xterm CLICOLOR=0", false),
        ("TERM=dumb", false),
    ] {
        let unset = "env -u NO_COLOR -u CLICOLOR -u CLICOLOR_FORCE -u CI";
        let line = format!("{unset} {environment} $D tag m a.txt --output inline");
        let Some(tagged) = on_terminal(&dir, &line) else {
            println!("skipped: there is no program `script`");
            return;
        };
        assert!(tagged.contains("[PER Ann]"), "{tagged}");
        assert_eq!(tagged.contains("\x1b[48;5;183m[PER Ann]"), has_colors, "{environment}");
    }
}
