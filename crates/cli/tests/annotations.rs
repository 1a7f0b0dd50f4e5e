//! `tag`: outputs for annotation tools and browsers.

use serde_json::{Value, json};

use crate::support::{NER_CORPUS, TestDir};

fn ner_model() -> TestDir {
    TestDir::with_model(NER_CORPUS, "--template ner")
}

/// Positions count characters, bytes or units of UTF-16.
const TEXT: &str = "😀 Ann Lee.\n";

/// Words that look like markup, as a JSON object with labels.
const HOSTILE: &str = concat!(
    r#"{"tokens": ["</mark>", "<script>alert(1)</script>", "[x]", "a/b", "&amp;", "\"'", "Ann"], "#,
    r#""labels": ["B-PER", "I-PER", "B-LOC", "B-LOC", "O", "O", "_"]}"#
);

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
    let displacy = dir.run("tag m a.txt --output displacy").json();
    assert_eq!(displacy["ents"], json!([{"start": 2, "end": 9, "label": "PER"}]));
    let tasks = dir.run("tag m a.txt --output label-studio --marginals").json();
    let prediction = &tasks[0]["predictions"][0];
    assert_eq!(prediction["model_version"], "m");
    let region = &prediction["result"][0];
    assert_eq!(region["value"]["text"], "Ann Lee");
    let score = |value: &Value| value["score"].as_f64().unwrap();
    assert!(0.3 < score(prediction) && score(prediction) <= score(region));
    let empty = dir.run_with_stdin("tag m --format text --output label-studio", "");
    assert_eq!(empty.json(), json!([]));
    // What is known is certain.
    let line = "tag m --format jsonl --forced labels --output spans --marginals";
    let object = dir.run_with_stdin(line, HOSTILE).json();
    assert!((score(&object["spans"][0]) - 1.0).abs() < 1e-9, "{object}");
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

#[test]
fn words_that_look_like_markup_are_text_of_pages() {
    let dir = ner_model();
    dir.write("a.jsonl", HOSTILE);
    let page = dir.run("tag m a.jsonl --forced labels --output html --marginals").success();
    assert!(!page.contains("<script"), "{page}");
    let marks: Vec<&str> = page.lines().filter(|line| line.starts_with("<p ")).collect();
    assert_eq!(marks.len(), 1);
    assert!(
        marks[0].starts_with(
            "<p dir=\"auto\"><mark style=\"--hue:265\" title=\"PER: probability 1.000\">\
             &lt;/mark&gt; &lt;script&gt;alert(1)&lt;/script&gt;<b>PER</b></mark> <mark "
        ),
        "{}",
        marks[0]
    );
}

#[test]
fn pages_and_arrays_are_whole_without_input_and_stream_with_it() {
    let dir = ner_model();
    let page = dir.run("tag m --format text --output html").success();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let texts: String = (0..3000).map(|i| format!("Ann {i} left. Bob met Lee.\n")).collect();
    dir.write("many.txt", &texts);
    let mut outputs = ["1", "4"].map(|threads| {
        let line = format!("tag m many.txt --output label-studio --threads {threads}");
        dir.run(&line).json()
    });
    assert_eq!(outputs[0].as_array().unwrap().len(), 3000);
    let last = outputs[1].as_array_mut().unwrap().pop().unwrap();
    assert_eq!(last["data"]["text"], "Ann 2999 left. Bob met Lee.");
    assert_eq!(outputs[0].as_array_mut().unwrap().pop().unwrap(), last);
    assert_eq!(outputs[0], outputs[1]);
}
