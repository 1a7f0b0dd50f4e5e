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
fn a_search_has_the_result_of_each_configuration() {
    let text = "{\"event\":\"start\",\"configurations\":2}\n\
                {\"event\":\"configuration\",\"number\":2,\"l2\":0.1,\"dev_f1\":0.5}\n\
                {\"event\":\"configuration\",\"number\":1,\"l2\":1.0,\"dev_f1\":0.7}\n\
                {\"event\":\"end\",\"best\":1}\n";
    let page = report(text).unwrap().html(None).unwrap();
    assert!(page.contains("<p>2 configurations.</p>"), "{page}");
    let [better, worse] = ["70.00", "50.00"].map(|score| page.find(score).unwrap());
    assert!(better < worse, "{page}");
    assert!(page.contains("Score by l2"), "{page}");
}

#[test]
fn measurements_of_gradients_are_one_object_on_one_line_or_many() {
    let text = r#"{"version": "0.1.0", "files": ["a"], "template": null, "sentences": 1,
        "tokens": 2, "labels": 2, "parameters": 9, "options": {}, "weights": "zero", "seed": 1,
        "repeat": 1, "threads": 1, "engines": [{"engine": "local", "collapsed": false,
        "seconds": 0.5, "ratio_to_likelihood": 2.0, "active_per_token": 1.5}]}"#;
    for text in [text, &text.replace('\n', ""), &text.replacen('{', "{\n", 1)] {
        let report = report(text).unwrap();
        assert_eq!(report.gradients[0].1.engines[0].engine, "local");
    }
}

#[test]
fn foreign_files_are_errors() {
    for (text, expected) in [
        ("Ann B-PER\n", "a.log:1: found \"Ann B-PER\"; expected a log of train or tune"),
        ("{\"a\": 1}\n{\"b\": 2}\n", "a.log: found a JSON object (missing field `version`"),
        ("{\n \"a\": 1\n", "a.log: found a JSON object (EOF"),
        (ITERATION, "a.log:1: expected the line \"start\" before this event"),
        ("", "a.log:1: found \"\"; expected a log"),
        ("{\"event\":\"other\"}\n{\"event\":\"x\"}\n", "a.log: found no run"),
    ] {
        let message = report(text).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
