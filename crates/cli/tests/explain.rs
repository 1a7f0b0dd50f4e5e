//! `dropchain explain`: why labels are what they are.

use serde_json::Value;

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

const TEXT: &str = "Ann Lee met Bob in New York .\n\nRome closed .\n";

/// Explains in JSON.
fn explain(dir: &TestDir, line: &str, stdin: &str) -> Vec<Value> {
    let output = dir.run_with_stdin(&format!("explain {line} --output json"), stdin);
    let lines = output.success();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// Asserts that the parts of every token sum to its margin.
fn assert_sums(sentences: &[Value]) {
    let tokens = sentences.iter().flat_map(|s| s["explanations"].as_array().unwrap());
    for token in tokens {
        let parts = token["parts"].as_array().unwrap();
        let sum: f64 = parts.iter().map(|part| number(&part["contribution"])).sum();
        let all = sum + number(&token["others"]["contribution"]);
        assert!((all - number(&token["margin"])).abs() < 1e-9, "{token}");
        assert!(number(&token["margin"]) >= 0.0, "{token}");
        let margin = number(&token["margin"]);
        let sizes = parts.iter().map(|part| number(&part["contribution"]).abs());
        assert!(sizes.is_sorted_by(|x, y| x >= y), "{margin}");
    }
}

/// Asserts that labels are those of `tag` and parts sum to margins.
fn assert_explains(dir: &TestDir, input: &str) {
    let explained = explain(dir, &format!("{input} --top 1000"), "");
    let tagged = dir.run(&format!("tag {input} --output jsonl --scheme raw"));
    let tagged = tagged.success();
    let tagged: Vec<Value> =
        (tagged.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!tagged.is_empty());
    assert_eq!(explained.len(), tagged.len());
    for (explained, tagged) in explained.iter().zip(&tagged) {
        assert_eq!(explained["tokens"], tagged["tokens"]);
        assert_eq!(explained["labels"], tagged["labels"]);
        let count = explained["explanations"].as_array().unwrap().len();
        assert_eq!(count, tagged["tokens"].as_array().unwrap().len());
    }
    assert_sums(&explain(dir, &format!("{input} --top 2"), ""));
    assert_sums(&explained);
}

#[test]
fn both_passes_and_documents_are_explained() {
    let dir = TestDir::with_sample_corpus();
    dir.write("two.tpl", "word\nshape(dan2)\npredicted\nothers(word[-1])\n");
    let line =
        "train train.conll --template two.tpl --model m --quiet --max-iterations 4 --dropout 0";
    dir.run(line).success();
    assert!(dir.inspect("")["first_pass"].is_object());
    let explained = explain(&dir, "m dev.conll --top 1000", "");
    let names = explained.iter().flat_map(|s| s["explanations"].as_array().unwrap());
    let names = names.flat_map(|token| token["parts"].as_array().unwrap());
    let mut names = names.filter_map(|part| part["attribute"].as_str());
    assert!(names.any(|name| name.starts_with("predicted")));
    assert_explains(&dir, "m dev.conll");
}

#[test]
fn the_terminal_shows_spans_and_unclear_tokens_first() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let text = dir.run_with_stdin("explain m", TEXT).success();
    assert!(text.starts_with("[PER Ann Lee] met [PER Bob] in [LOC New York] .\n"), "{text}");
    for (block, count) in [("\n[PER Ann Lee]  p ", 1), ("\n[LOC New York]  p ", 1), (" met]", 0)] {
        assert_eq!(text.matches(block).count(), count, "{block} in {text}");
    }
    assert!(text.contains("other tokens, with margins of "), "{text}");
    assert!(text.contains("\nThe margin is the lead in score") && !text.contains('\u{1b}'));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let some = "explain m --token met --token 1 --top 3 --code";
    let some = dir.run_with_stdin(some, TEXT).success();
    for (line, count) in
        [("\n[O met]", 1), ("\n[B-PER Ann]", 1), ("\n[B-LOC Rome]", 1), (" Bob]  p", 0)]
    {
        assert_eq!(some.matches(line).count(), count, "{line} in {some}");
    }
    assert!(some.contains("[0]="), "{some}");
    for (token, message) in [("Paris", "no token of the input"), ("99", "no sentence of the input")]
    {
        let line = format!("explain m --token met --token {token}");
        let error = dir.run_with_stdin(&line, TEXT).failure();
        assert!(
            error.contains(&format!("--token {token}")) || error.contains("--token '"),
            "{error}"
        );
        assert!(error.contains(message), "{error}");
    }
    let against = "explain m --token Ann --against LOC --output json";
    let against = dir.run_with_stdin(against, "Ann left .\n").json();
    assert_eq!(against["explanations"][0]["runner_up"]["label"], "B-LOC");

    let dir = TestDir::with_model(POS_CORPUS, "--template pos");
    let text = dir.run_with_stdin("explain m", "Bob left .\n").success();
    assert!(text.starts_with("Bob/NNP left/VBD ./.\n"), "{text}");
    assert_eq!(text.matches(" as likely as ").count(), 1, "{text}");
}

#[test]
fn known_labels_are_kept_by_what_is_compared() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    dir.write("partly.conll", "Ann NNP B-PER\nLee NNP _\nleft VBD _\n\n");
    let line = "m partly.conll --forced label --columns word,pos,label --top 100";
    let explained = explain(&dir, line, "");
    let tokens = explained[0]["explanations"].as_array().unwrap();
    assert_eq!(tokens[0]["label"], "B-PER");
    assert_eq!(tokens[0]["runner_up"], Value::Null);
    assert_eq!(tokens[1]["runner_up"]["start"], 1);
    let text =
        dir.run("explain m partly.conll --forced label --columns word,pos,label --token Ann");
    assert!(text.success().contains("[B-PER Ann]  p 1.000, no other such label is possible"));
}

#[test]
fn hostile_text_stays_text() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let sentence = "{\"tokens\": [\"<script>alert(1)</script>\", \"\\u001b[31m\", \"Ann\"]}\n";
    let html = dir.run_with_stdin("explain m --format jsonl --output html", sentence).success();
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert!(html.contains("&lt;script&gt;alert(1)") && !html.contains("<script"), "{html}");
    for reference in ["http", "src=", "url(", "@import", "\u{1b}"] {
        assert!(!html.contains(reference), "{reference} in {html}");
    }
    assert_eq!(html.matches("<details").count(), html.matches("</details>").count());
    let text = dir.run_with_stdin("explain m --format jsonl --all", sentence).success();
    assert!(text.contains("\\u{1b}[31m") && !text.contains('\u{1b}'), "{text}");
}
