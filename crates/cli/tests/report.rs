//! `dropchain report`.

use std::fs;

use serde_json::Value;

use crate::support::{Browser, NER_CORPUS, POS_CORPUS, TestDir};

/// Gold labels and predictions with one error of each kind.
const GOLD: &str = "\
Ann B-PER
Lee I-PER
left O
Rome B-LOC

The O
York B-ORG
Bank I-ORG
closed O
Paris B-LOC
";
const PREDICTED: &str = "\
Ann B-PER
Lee O
left B-MISC
Rome B-PER

The O
York O
Bank B-LOC
closed O
Paris O
";

/// A log of two iterations.
const LOG: &str = "\
{\"event\":\"start\",\"version\":\"1\",\"files\":[\"t\"],\"threads\":1,\"config\":{\"seed\":1},\
\"parameters\":{\"l2\":0.1,\"seed\":1},\"sentences\":3,\"tokens\":9,\"unlabeled_sentences\":0,\
\"dev_sentences\":1,\"labels\":2,\"attributes\":9,\"collapsed_attributes\":8,\"weights\":20,\
\"active_per_token\":4.5,\"collapsed_active_per_token\":4.0,\"estimated_memory\":1000}
{\"event\":\"iteration\",\"iteration\":0,\"objective\":9.5,\"log_likelihood\":-9.5,\"dropout\":0.0,\
\"l2\":0.0,\"l1\":0.0,\"gradient_norm\":5.0,\"evaluations\":1,\"nonzero\":0,\"seconds\":0.1,\
            \"dev_f1\":0.0}
{\"event\":\"iteration\",\"iteration\":1,\"objective\":4.5,\"log_likelihood\":-3.5,\"dropout\":0.5,\
\"l2\":0.5,\"l1\":0.0,\"gradient_norm\":1.0,\"evaluations\":2,\"nonzero\":9,\"seconds\":0.2,\
            \"dev_f1\":0.75}
{\"event\":\"end\",\"stop_reason\":\"patience\",\"iterations\":1,\"seconds\":0.2,\
\"regularization\":\"L2 0.3\",\
            \"best_iteration\":1,\
\"recall_bias\":0.0}
";

fn with_files() -> TestDir {
    TestDir::new(&[("gold.conll", GOLD), ("pred.conll", PREDICTED), ("run.log", LOG)])
}

/// Runs `report` and returns the page.
fn report(dir: &TestDir, arguments: &str) -> String {
    dir.run(&format!("report {arguments} --output r.html --quiet")).success();
    dir.text("r.html")
}

/// Asserts that a page has the sections with these ids and no other.
fn assert_sections(page: &str, expected: &[&str]) {
    let ids = page.split("<section id=\"").skip(1);
    let ids: Vec<&str> = ids.map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(ids, expected);
}

/// The text of a page without markup, white space collapsed.
fn text_of(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let mut text = String::new();
    for part in body.split('<') {
        text.push(' ');
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_page_may_go_to_standard_output() {
    let dir = with_files();
    let printed = dir.run("report run.log --output -").success();
    assert_eq!(printed, report(&dir, "run.log"));
    assert!(!dir.path("-").exists());
}

#[test]
fn a_page_has_the_sections_that_there_are_inputs_for() {
    let dir = with_files();
    let page = report(&dir, "run.log");
    assert_sections(&page, &["summary", "training"]);
    let text = text_of(&page);
    assert!(text.contains("run.log L2 0.3 F1 75.00 – 1 – 1 0.2 patience"), "{text}");
    assert!(text.contains("Kept F1 on development data 75.00 run.log, iteration 1 of 1"), "{text}");
    let systems = "--gold gold.conll --predictions pred.conll --predictions gold.conll";
    let page = report(&dir, &format!("{systems} --train gold.conll"));
    assert_sections(&page, &["summary", "scores", "significance", "errors"]);
    assert!(text_of(&page).contains("F1 of spans by their rarest word"), "{page}");
}

#[test]
fn a_real_run_has_tiles_and_plots_of_all_sections() {
    let dir = TestDir::with_model(NER_CORPUS, "--dev train.conll --log a.log --template ner");
    let page = report(&dir, "a.log --gold train.conll --model m --train train.conll");
    assert_sections(&page, &["summary", "training", "scores", "errors"]);
    let text = text_of(&page);
    for expected in [
        "F1 on train.conll 100.00 m, 95% interval 100.00 to 100.00",
        "Errors 0",
        "m: ECE",
        "By occurrences in the training data",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // The score, the parts of the objective; words, calibration.
    assert_eq!(page.matches("<svg xmlns").count(), 2 + 1 + 2, "plots");
    assert!(!page.contains("NaN"));
}

#[test]
fn errors_are_in_their_sentences_with_kind_file_and_line() {
    let page = report(&with_files(), "--gold gold.conll --predictions pred.conll");
    let text = text_of(&page);
    for expected in [
        "PER with wrong boundaries 1 gold.conll:1: wrong boundary gold Ann Lee PER left Rome LOC \
         predicted Ann PER Lee left MISC Rome PER",
        "MISC spurious 1 gold.conll:3",
        "LOC predicted as PER 1 gold.conll:4",
        "ORG predicted as LOC 1 gold.conll:7",
        "LOC missed 1 gold.conll:10",
        "wrong boundary 1 wrong type and boundary 1 all 5",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn all_pairs_of_systems_are_tested() {
    let dir = with_files();
    dir.write("b.conll", PREDICTED.replace("Paris O", "Paris B-LOC"));
    let page = report(
        &dir,
        "--gold gold.conll --predictions pred.conll --predictions b.conll --predictions gold.conll",
    );
    let text = text_of(&page);
    for expected in [
        "F1 on gold.conll 100.00 gold.conll, the highest of 3 systems, 95% interval",
        "systems difference 95% interval p p (Holm) significant b.conll − pred.conll ",
        "gold.conll ★ 100.00 100.00 – 100.00 100.00 100.00 100.00",
        "gold.conll − pred.conll +100.00 [",
        "p-values of 3 pairs are adjusted by the method of Holm",
        "fixed by b.conll: wrong in pred.conll alone",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // What two systems get wrong is shown once.
    assert_eq!(page.matches("data-systems=\"0 1\"").count(), 4);
    assert!(page.contains("data-systems=\"0\" data-wrong=\"0\""), "{page}");
    assert!(page.contains("aria-label=\"ORG predicted as LOC, 1\""), "{page}");
}

#[test]
fn the_score_on_training_data_stands_beside_that_on_gold_data() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let arguments = "--gold train.conll --model m --train";
    let text = text_of(&report(&dir, &format!("{arguments} train.conll")));
    assert!(text.contains("Overfitting: F1 of m is 100.00 on the training data ("), "{text}");
    // Words alone are counted, but not scored.
    dir.write("words.conll", "Ann 1\nleft 2\n");
    let text = text_of(&report(&dir, &format!("{arguments} words.conll")));
    assert!(!text.contains("Overfitting"), "{text}");
}

#[test]
fn gold_and_predicted_labels_are_the_last_columns_of_a_file_without_gold() {
    let dir = with_files();
    dir.write("both.conll", "Ann NNP B-PER B-PER\nleft VBD O B-LOC\n");
    let text = text_of(&report(&dir, "--predictions both.conll"));
    assert!(text.contains("LOC spurious 1 both.conll:2"), "{text}");
    assert!(text.contains("both.conll 66.67 66.67 – 66.67 50.00 100.00 50.00"), "{text}");
}

#[test]
fn probabilities_of_tag_are_calibrated_as_those_of_the_model() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    for (output, file) in [("conll", "p.conll"), ("jsonl", "p.jsonl")] {
        let tagged = dir.run(&format!("tag m train.conll --marginals --output {output}"));
        dir.write(file, tagged.success());
    }
    let calibration = |arguments: &str| {
        let text = text_of(&report(&dir, arguments));
        let line = text.split("Calibration, all tokens").nth(1).expect("the plot of all tokens");
        let line = line.split_once(": ECE").expect("its error").1;
        line.split_once(" tokens.").expect("a number of tokens").0.to_owned()
    };
    let expected = calibration("--gold train.conll --model m");
    assert!(!expected.starts_with(" 0.0000"), "{expected}");
    assert_eq!(calibration("--gold train.conll --predictions p.conll"), expected);
    assert_eq!(calibration("--predictions p.conll"), expected);
    assert_eq!(calibration("--gold train.conll --predictions p.jsonl"), expected);
}

#[test]
fn labels_without_spans_have_accuracy_and_wrong_labels() {
    let dir = TestDir::new(&[("gold.conll", POS_CORPUS)]);
    dir.write("pred.conll", POS_CORPUS.replacen("bank NN\n", "bank VB\n", 1));
    let arguments = "--gold gold.conll --predictions pred.conll --train gold.conll";
    let text = text_of(&report(&dir, arguments));
    assert!(text.contains("NN predicted as VB 1 gold.conll:8"), "{text}");
    assert!(text.contains("Accuracy by frequency"), "{text}");
    assert!(!text.contains("Errors by kind") && !text.contains("span"), "{text}");
}

#[test]
fn text_of_corpora_and_logs_is_never_markup() {
    let hostile = "</script><img/src=x/onerror=alert(1)>\"'&";
    let dir = TestDir::new(&[]);
    dir.write("gold.conll", format!("{hostile} B-{hostile}\nb O\n"));
    dir.write("pred.conll", format!("{hostile} O\nb B-</style><b>\n"));
    let name = serde_json::to_string(hostile).unwrap();
    let log = LOG.replace("\"l2\":0.1", &format!("\"l2\":0.1,{name}:{name}"));
    dir.write("<i>.log", log.replace("[\"t\"]", &format!("[{name}]")));
    dir.command("report <i>.log --gold gold.conll --predictions pred.conll --output r.html")
        .args(["--title", hostile])
        .status()
        .unwrap();
    let page = dir.text("r.html");
    for tag in ["<img", "<i>", "</style><b>"] {
        assert!(!page.contains(tag), "{tag} in {page}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    assert!(page.contains("&lt;img"));
}

#[test]
fn a_page_needs_no_network() {
    let page = report(&with_files(), "run.log --gold gold.conll --predictions pred.conll");
    let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for external in ["http:", "https:", "src=", "url(", "@import", "<link", "<iframe"] {
        assert!(!page.contains(external), "{external}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn logs_of_runs_that_were_killed_are_reported() {
    let dir = with_files();
    let end = LOG.find("{\"event\":\"end\"").unwrap();
    dir.write("killed.log", &LOG[..end + 9]); // in the middle of a line
    let text = text_of(&report(&dir, "killed.log run.log"));
    assert!(text.contains("Of 2 runs: 1 unfinished, 1 stopped early."), "{text}");
    assert!(text.contains("not ended"), "{text}");
    dir.write("early.log", LOG.lines().next().unwrap());
    assert_sections(&report(&dir, "early.log"), &["summary", "training"]);
}

#[test]
fn the_page_is_the_same_for_any_number_of_threads() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let arguments = "--gold train.conll --model m --train train.conll --threads";
    let pages = [1, 3].map(|threads| report(&dir, &format!("{arguments} {threads}")));
    assert!(pages[0] == pages[1]);
}

/// What is wrong with the layout or the colors of a page, and what its filter finds.
const FINDINGS: &str = r#"
  const numbers = (color) => {
    const parts = color.match(/[\d.]+/g).map(Number);
    const scale = color.startsWith("color(") ? 1 : 255;
    return [parts.slice(0, 3).map((part) => part / scale), parts[3] === undefined ? 1 : parts[3]];
  };
  const luminance = (rgb) => {
    const linear = rgb.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [rgb, alpha] = numbers(getComputedStyle(e).backgroundColor);
      if (alpha > 0) return rgb;
    }
    return [1, 1, 1];
  };
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const color = element.tagName === "text" ? style.fill : style.color;
    const [a, b] = [numbers(color)[0], background(element)].map(luminance);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const visible = [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && e.textContent.trim() && !e.children.length)
    .filter((e) => !["SCRIPT", "OPTION"].includes(e.tagName));
  const faint = visible.filter((e) => contrast(e) < 4.5);
  const form = document.getElementById("filter");
  const choose = (name, value) => {
    form.elements[name].value = value;
    form.dispatchEvent(new Event("input"));
    const shown = [...document.querySelectorAll(".errors li")].filter((e) => !e.hidden).length;
    form.elements[name].value = "";
    return shown;
  };
  const follow = (label) => {
    for (const group of document.querySelectorAll(".errors")) group.open = false;
    document.querySelector(`a[aria-label="${label}"]`).click();
    return [...document.querySelectorAll(".errors[open] > summary")].map((e) => e.textContent);
  };
  return {
    width: innerWidth,
    overflow: document.documentElement.scrollWidth - innerWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    resources: performance.getEntriesByType("resource").map((entry) => entry.name),
    faint: faint.map((e) => `${e.tagName} ${e.className} ${e.textContent}: ${contrast(e)}`),
    plots: [...document.querySelectorAll("svg")].filter((e) => e.clientWidth > 200).length,
    formIsVisible: form.checkVisibility(),
    words: choose("word", "york"),
    nothing: choose("word", "nothing like it"),
    fixed: choose("system", "0 1"),
    broken: choose("system", "1 0"),
    all: choose("system", ""),
    opened: follow("ORG predicted as LOC, 1"),
  };
"#;

#[test]
fn the_page_works_in_a_browser_at_two_widths_and_in_both_themes() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let dir = with_files();
    let long = "x".repeat(300);
    dir.write("other.log", LOG.replace("\"l2\":0.1", &format!("\"l2\":0.1,\"{long}\":\"{long}\"")));
    report(
        &dir,
        "run.log other.log --gold gold.conll --predictions pred.conll --predictions gold.conll \
         --train gold.conll",
    );
    for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
        let findings = browser.run(&dir, "r.html", width, dark, FINDINGS);
        let values = findings.values;
        assert_eq!(findings.console, [""; 0], "messages in the console");
        assert_eq!((&values["width"], &values["dark"]), (&Value::from(width), &Value::from(dark)));
        assert_eq!(values["overflow"], 0, "wider than the window: {values:#}");
        let none = Value::Array(Vec::new());
        assert_eq!(values["resources"], none, "requests");
        assert_eq!(values["faint"], none, "text of little contrast");
        assert_eq!(values["plots"], 5);
        assert_eq!(values["formIsVisible"], true);
        let found = ["words", "nothing", "fixed", "broken", "all"].map(|name| &values[name]);
        assert_eq!(found, [2, 0, 5, 0, 5]);
        assert_eq!(values["opened"], serde_json::json!(["ORG predicted as LOC 1\n"]));
    }
}

#[test]
fn the_page_is_readable_without_script() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let dir = with_files();
    let page = report(&dir, "--gold gold.conll --predictions pred.conll");
    let (start, rest) = page.split_once("<script>").unwrap();
    let end = rest.split_once("</script>").unwrap().1;
    fs::write(dir.path("r.html"), format!("{start}{end}")).unwrap();
    let script = "return [...document.querySelectorAll('.errors > summary, #filter')]
        .filter((e) => e.checkVisibility()).map((e) => e.tagName);";
    let findings = browser.run(&dir, "r.html", 800, false, script);
    assert_eq!(
        findings.values,
        serde_json::json!(["SUMMARY", "SUMMARY", "SUMMARY", "SUMMARY", "SUMMARY"]),
        "no form, all kinds of errors"
    );
}
