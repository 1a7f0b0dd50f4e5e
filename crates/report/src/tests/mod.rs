//! Files that are no logs, or logs of several runs.

mod log;
mod runs;

use super::*;

const START: &str = concat!(
    r#"{"event":"start","version":"1","files":["a.conll"],"threads":1,"#,
    r#""parameters":{"l2":0.1},"sentences":3,"tokens":9,"unlabeled_sentences":0,"#,
    r#""dev_sentences":1,"labels":2,"attributes":9,"collapsed_attributes":8,"weights":20,"#,
    r#""active_per_token":4.5,"collapsed_active_per_token":4.0,"estimated_memory":1000}"#,
    "\n"
);
const ITERATION: &str = concat!(
    r#"{"event":"iteration","iteration":1,"objective":2.5,"log_likelihood":null,"dropout":0.0,"#,
    r#""l2":0.0,"l1":0.0,"gradient_norm":null,"evaluations":1,"nonzero":2,"seconds":0.5,"#,
    r#""dev_f1":0.25}"#,
    "\n"
);

fn report(text: &str) -> Result<Report> {
    let mut report = Report::default();
    report.add_log(text, "a.log").map(|()| report)
}

#[test]
fn runs_of_two_passes_have_names() {
    let pass = "{\"event\":\"pass\",\"pass\":\"fold\",\"number\":2,\"of\":5}\n";
    let report = report(&[START, ITERATION, pass, START, ITERATION].concat()).unwrap();
    let names = report.runs.iter().map(|run| run.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["a.log", "a.log, fold 2 of 5"]);
    let page = report.html(None).unwrap();
    assert!(page.contains("from 2.5000 to 2.5000") && !page.contains("NaN"), "{page}");
}

#[test]
fn a_search_is_shown_with_what_it_says_of_the_best() {
    let start = concat!(
        r#"{"event":"start","config":{"command":"tune","options":{"input":["x/a.conll"]}},"#,
        r#""plan":{"runs":2}}"#
    );
    let end = concat!(
        r#"{"event":"end","table":[["L2","mean F1",""],["0.1","80.00","★"],["1","79.00","≈"],"#,
        r#"["2"]],"notes":["the highest score has the smallest L2 tried"]}"#
    );
    let log = format!("{start}\n{{\"event\":\"configuration\",\"number\":1}}\n");
    let page = report(&format!("{log}{end}\n")).unwrap().html(None).unwrap();
    for part in [
        "<h1>dropchain report: x/a.conll</h1>",
        "<span>dropchain tune x/a.conll</span>",
        "<dt>Highest mean F1</dt><dd>80.00</dd>",
        "not told apart from 1 of 3 configurations",
        "has the smallest L2 tried",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let message = report(&log).unwrap_err().to_string();
    assert!(message.starts_with("a.log: the search has not ended"), "{message}");
}

#[test]
fn foreign_files_are_errors() {
    for (text, expected) in [
        ("Ann B-PER\n", "a.log:1: found \"Ann B-PER\"; expected a log in JSON lines"),
        ("{\"a\": 1}\n{\"b\": 2}\n", "a.log:1: missing field `event`"),
        ("{\n \"a\": 1\n", "a.log:1: found \"{\"; expected a log in JSON lines"),
        (ITERATION, "a.log:1: expected the line \"start\" before this event"),
        ("", "a.log: found no run; expected a log of training"),
        ("{\"event\":\"start\",\"configurations\":2}\n", "a.log:1: missing field"),
        ("{\"event\":\"other\"}\n{\"event\":\"x\"}\n", "a.log: found no run"),
    ] {
        let message = report(text).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
