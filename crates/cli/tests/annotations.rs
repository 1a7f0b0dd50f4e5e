//! `tag`: outputs for annotation tools, browsers and programs of Stanford.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

fn ner_model() -> TestDir {
    TestDir::with_model(NER_CORPUS, "--template ner")
}

/// Emoji, a combining accent, tabs, CRLF and blank lines.
const TEXT: &str = "😀 Ann\tLee left Rome.\r\n\r\n  e\u{301} Bob met Ann  Lee in New York.\r\n";

/// Words that look like markup, as a JSON object with labels.
const HOSTILE: &str = concat!(
    r#"{"tokens": ["</mark>", "<script>alert(1)</script>", "[x]", "a/b", "&amp;", "\"'", "Ann"], "#,
    r#""labels": ["B-PER", "I-PER", "B-LOC", "B-LOC", "O", "O", "_"]}"#
);

/// The parts of a text that spans cover, with their labels.
fn covered(text: &str, spans: &Value) -> Vec<(String, String)> {
    let part = |span: &Value| {
        let [start, end] = ["start", "end"].map(|key| span[key].as_u64().unwrap() as usize);
        let part = text.chars().skip(start).take(end - start).collect();
        (span["label"].as_str().unwrap().to_owned(), part)
    };
    spans.as_array().unwrap().iter().map(part).collect()
}

fn owned(marks: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(label, part): &(&str, &str)| ((*label).to_owned(), (*part).to_owned());
    marks.iter().map(owned).collect()
}

#[test]
fn spans_lead_to_the_entities_of_the_text() {
    let dir = ner_model();
    let objects = dir.run_with_stdin("tag m --format text --output spans", TEXT).json_lines();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["text"], "😀 Ann\tLee left Rome.");
    let marks = |object: &Value| covered(object["text"].as_str().unwrap(), &object["spans"]);
    let first = owned(&[("PER", "Ann\tLee"), ("LOC", "Rome")]);
    assert_eq!(marks(&objects[0]), first);
    let second = owned(&[("PER", "Bob"), ("PER", "Ann  Lee"), ("LOC", "New York")]);
    assert_eq!(marks(&objects[1]), second);
    let displacy = dir.run_with_stdin("tag m --format text --output displacy", TEXT).json_lines();
    let text = displacy[1]["text"].as_str().unwrap();
    assert_eq!(covered(text, &displacy[1]["ents"]), second);
}

#[test]
fn offsets_are_in_the_unit_that_is_asked_for() {
    let dir = ner_model();
    for (options, start) in
        [("spans", 2), ("spans --offsets bytes", 5), ("spans --offsets utf16", 3)]
    {
        let line = format!("tag m --format text --output {options}");
        let objects = dir.run_with_stdin(&line, TEXT).json_lines();
        assert_eq!(objects[0]["spans"][0]["start"], start, "{options}");
    }
    // doccano counts as JavaScript does.
    for (options, start) in [("doccano", 3), ("doccano --offsets chars", 2)] {
        let line = format!("tag m --format text --output {options}");
        let objects = dir.run_with_stdin(&line, TEXT).json_lines();
        assert_eq!(objects[0]["label"][0], json!([start, start + 7, "PER"]), "{options}");
    }
}

#[test]
fn annotations_of_brat_refer_to_the_whole_input() {
    let dir = ner_model();
    dir.write("a.txt", TEXT);
    let annotations = dir.run("tag m a.txt --format text --output brat").success();
    let chars: Vec<char> = TEXT.chars().collect();
    let mut found = Vec::new();
    for line in annotations.lines() {
        let fields: Vec<&str> = line.splitn(3, '\t').collect();
        let [label, start, end] = fields[1].split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let [start, end] = [start, end].map(|number| number.parse::<usize>().unwrap());
        assert_eq!(chars[start..end].iter().collect::<String>(), fields[2]);
        assert_eq!(fields[0], format!("T{}", found.len() + 1));
        found.push((label.to_owned(), fields[2].to_owned()));
    }
    let expected = [
        ("PER", "Ann\tLee"),
        ("LOC", "Rome"),
        ("PER", "Bob"),
        ("PER", "Ann  Lee"),
        ("LOC", "New York"),
    ];
    assert_eq!(found, owned(&expected));
}

#[test]
fn tasks_of_label_studio_have_scores() {
    let dir = ner_model();
    let tasks =
        dir.run_with_stdin("tag m --format text --output label-studio --marginals", TEXT).json();
    assert_eq!(tasks.as_array().unwrap().len(), 2);
    let prediction = &tasks[0]["predictions"][0];
    assert_eq!(prediction["model_version"], "m");
    let region = &prediction["result"][0];
    assert_eq!(region["value"]["text"], "Ann\tLee");
    assert_eq!(region["value"]["labels"], json!(["PER"]));
    let score = |value: &Value| value["score"].as_f64().unwrap();
    assert!(0.5 < score(prediction) && score(prediction) <= score(region));
    assert!(score(region) < 1.0);
    let empty = dir.run_with_stdin("tag m --format text --output label-studio", "");
    assert_eq!(empty.json(), json!([]));
}

#[test]
fn probabilities_of_spans_are_those_given_what_is_known() {
    let dir = ner_model();
    let line = "tag m --format jsonl --forced labels --output spans --marginals";
    let object = dir.run_with_stdin(line, HOSTILE).json();
    let scores = object["spans"].as_array().unwrap().iter();
    let scores: Vec<f64> = scores.map(|span| span["score"].as_f64().unwrap()).collect();
    assert!(scores.len() >= 3);
    // The labels before the span, in it and after it are known.
    assert!((scores[0] - 1.0).abs() < 1e-9, "{scores:?}");
}

#[test]
fn parts_of_speech_are_marks_of_single_tokens() {
    let dir = TestDir::with_model(POS_CORPUS, "--template pos");
    let text = "Ann left.";
    let tagged = |output| dir.run_with_stdin(&format!("tag m --output {output}"), text);
    assert_eq!(
        tagged("doccano").success(),
        "{\"text\":\"Ann left.\",\"label\":[[0,3,\"NNP\"],[4,8,\"VBD\"],[8,9,\".\"]]}\n"
    );
    assert_eq!(tagged("brat").success(), "T1\tNNP 0 3\tAnn\nT2\tVBD 4 8\tleft\nT3\t. 8 9\t.\n");
    let object = tagged("spans --marginals").json();
    assert!(object["spans"][2]["score"].as_f64().unwrap() > 0.5);
    assert_eq!(tagged("html").success().matches("<mark ").count(), 3);
}

#[test]
fn options_without_a_place_in_the_output_are_refused() {
    let dir = ner_model();
    for (options, expected) in [
        ("--output html --nbest 2", "--nbest: the output format html shows a single"),
        ("--output doccano --marginals", "--marginals: the output format doccano has no"),
        ("--output html --offsets bytes", "--offsets: only the output formats jsonl, spans and"),
        ("--offsets bytes", "--offsets: only the output formats jsonl, spans and"),
        (
            "train.conll train.conll --output brat",
            "--output brat: annotations refer to the positions in one text, and there are 2 inputs",
        ),
    ] {
        let message = dir.run(&format!("tag m {options}")).failure();
        assert!(message.starts_with(expected), "{options}: {message}");
    }
    let usage = dir.run("tag m --force").exits(2);
    assert!(usage.contains("--output-dir"), "{usage}");
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

/// Returns what a browser makes of a page, serialized; `None` if there is no Chromium.
fn rendered(dir: &TestDir, page: &str) -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let profile = dir.path("profile");
    let page = fs::canonicalize(dir.path(page)).unwrap();
    names.into_iter().find_map(|name| {
        let output = Command::new(name)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}", page.display()))
            .stdin(Stdio::null())
            .output()
            .ok()?;
        Some(String::from_utf8(output.stdout).unwrap())
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn a_browser_reads_the_page_as_it_was_written() {
    let dir = ner_model();
    dir.write("a.jsonl", HOSTILE);
    let page = dir.run("tag m a.jsonl --forced labels --output html --marginals").success();
    dir.write("page.html", &page);
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
    let Some(dom) = rendered(&dir, "page.html") else {
        println!("skipped: there is no Chromium");
        return;
    };
    // In text, a browser writes quotes as they are.
    let expected = marks[0].replace("&quot;", "\"").replace("&#39;", "'");
    assert!(dom.contains(&expected), "{dom}");
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
