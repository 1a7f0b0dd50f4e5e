//! Pages of several runs: tiles, verdicts, the table, learning curve.

use super::*;

/// Returns the log of a run with these options and sentences, its score and how it ended.
fn log(options: &str, sentences: usize, score: f64, end: &str) -> String {
    let start = START
        .replace("\"l2\":0.1", options)
        .replace("\"sentences\":3", &format!("\"sentences\":{sentences}"));
    let iteration = ITERATION.replace("0.25", &score.to_string());
    let end = match end {
        "" => String::new(),
        reason => format!(
            "{{\"event\":\"end\",\"stop_reason\":\"{reason}\",\"iterations\":1,\"seconds\":0.5,\
             \"best_iteration\":1,\"recall_bias\":0.0,\"regularization\":\"L2 0.1\"}}\n"
        ),
    };
    [start, iteration, end].concat()
}

/// Returns the text of the page of logs, called 0.log, 1.log, …
fn page(logs: &[String]) -> String {
    let mut report = Report::default();
    for (i, log) in logs.iter().enumerate() {
        report.add_log(log, &format!("{i}.log")).unwrap();
    }
    let page = report.html(None).unwrap();
    assert!(!page.contains("NaN"));
    page
}

/// Returns the rows of a table, their cells separated by blanks.
fn rows(page: &str, caption: &str) -> Vec<String> {
    let table = page.split_once(caption).unwrap().1;
    let table = table.split_once("</table>").unwrap().0;
    let rows = table.split("<tr").skip(1);
    let text = |row: &str| {
        let parts = row.split('<').filter_map(|part| part.split_once('>'));
        let parts: Vec<&str> = parts.map(|(_, text)| text.trim()).collect();
        parts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    rows.map(|row| text(&format!("<tr{row}"))).collect()
}

#[test]
fn verdicts_say_how_a_run_ended() {
    for (reason, expected) in [
        (
            "patience",
            "0.log: stopped early after 1 iteration: no improvement on development data \
                      for 40 iterations.",
        ),
        ("improvement", "0.log: converged after 1 iteration: the value no longer improves."),
        (
            "max_iterations",
            "0.log: reached --max-iterations after 1 iteration, before it converged.",
        ),
        ("interrupted", "0.log: interrupted after 1 iteration."),
        ("", "0.log: unfinished after 1 iteration"),
    ] {
        let page = page(&[log("\"l2\":0.1,\"patience\":40", 3, 0.25, reason)]);
        assert!(page.contains(expected), "{page}");
        assert!(page.contains("Kept: F1 25.00 on development data, at iteration 1"), "{page}");
    }
    let all = ["max_iterations"; 3].map(|reason| log("\"l2\":0.1", 3, 0.25, reason));
    assert!(page(&all).contains("Of 3 runs: 3 reached --max-iterations."));
    let text = page(&[log("\"l2\":0.1", 3, 0.25, "max_iterations")]);
    assert!(text.contains("the last one: more may raise it"), "{text}");
}

#[test]
fn runs_are_sorted_by_score_with_the_settings_that_differ() {
    let options = |l2: f64| format!("\"l2\":{l2},\"edge_dropout\":0.5,\"max_iterations\":{l2}");
    let logs = [0.2, 0.3].map(|l2| log(&options(l2), 3, l2, "patience"));
    let page = page(&logs);
    assert_eq!(
        rows(&page, "Runs, the best first, and the settings that differ</caption>"),
        [
            "run file kept score mean of 5 at iteration iterations seconds stop reason l2 \
             max-iterations",
            "A ★ 1.log F1 30.00 – 1 1 0.5 patience 0.3 0.3",
            "B 0.log F1 20.00 – 1 1 0.5 patience 0.2 0.2",
        ]
    );
    let expected = "The best of 2 runs is A, 1.log (l2 0.3, max-iterations 0.3): F1 30.00";
    assert!(page.contains(expected), "{page}");
}

#[test]
fn of_many_runs_the_best_are_told_apart() {
    let scores = (0..20).map(|i| f64::from(i) / 20.0);
    let page = page(&scores.map(|s| log("\"l2\":0.1", 3, s, "patience")).collect::<Vec<_>>());
    assert!(page.contains("15 others"), "{page}");
    assert!(page.contains("Of 20 runs: 20 stopped early."), "{page}");
    let plot = page.split("<svg xmlns").nth(1).unwrap();
    assert_eq!(plot.matches("class=\"rest\"").count(), 15);
    assert_eq!(page.matches("class=\"letter\"").count(), 3 * 5);
    assert!(page.len() < 400_000);
}

#[test]
fn runs_on_parts_of_the_data_have_a_learning_curve() {
    let run = |sentences, score, seed: u32| {
        log(&format!("\"l2\":0.1,\"seed\":{seed}"), sentences, score, "patience")
    };
    let curve = page(&[run(10, 0.5, 1), run(10, 0.6, 2), run(100, 0.75, 1)]);
    assert!(curve.contains("training sentences 10, score, in percent 55 (50 to 60)"), "{curve}");
    let gain = "From 10 to 100 training sentences, each doubling gave +6.0 points: more data would";
    assert_eq!(curve.matches(gain).count(), 3, "summary, plot and its description: {curve}");
    let units = |units| {
        [(10, 0.7), (100, 0.75)].map(|(size, score)| {
            let sizes = format!("\"dev_sentences\":1,\"dev_units\":{units}");
            run(size, score, 1).replace("\"dev_sentences\":1", &sizes)
        })
    };
    assert!(page(&units(100)).contains("within ±4.33, too little to say"), "{curve}");
    assert!(page(&units(1000)).contains("more data would help"), "{curve}");
    let none = page(&[run(10, 0.5, 1), run(10, 0.6, 2)]);
    assert!(!none.contains("Learning curve"), "{none}");
}

#[test]
fn corpora_sizes_and_commands_are_below_the_title() {
    let config = "\"config\":{\"command\":\"train\",\"options\":{\"input\":[\"a.conll\"],\
                  \"columns\":[\"word,ner\"],\"l2\":\"0.1\"}},\"threads\":1";
    let log = log("\"l2\":0.1", 1200, 0.5, "patience").replace("\"threads\":1", config);
    let page = page(&[log]);
    assert!(page.contains("<h1>dropchain report: a.conll</h1>"), "{page}");
    assert!(page.contains("a.conll: 1\u{202f}200 sentences, 9 tokens"), "{page}");
    // No line breaks within an option.
    let options = ["dropchain train a.conll", "--columns word,ner", "--l2 0.1"];
    for option in options {
        assert!(page.contains(&format!("<span>{option}</span>")), "{page}");
    }
    let settings = rows(&page, "<caption>Settings</caption>");
    assert_eq!(settings.iter().filter(|row| row.starts_with("l2 ")).count(), 1);
}

#[test]
fn runs_within_a_standard_error_of_the_best_are_not_told_apart() {
    let page = |units: usize| {
        let sizes = format!("\"dev_sentences\":1,\"dev_units\":{units}");
        let logs = [0.7, 0.75, 0.6].map(|score| {
            log("\"l2\":0.1", 3, score, "patience").replace("\"dev_sentences\":1", &sizes)
        });
        page(&logs)
    };
    let (few, many) = (page(50), page(10_000));
    let marks = |page: &str| -> Vec<String> {
        let rows = rows(page, "<caption>Runs</caption>").into_iter().skip(1);
        rows.map(|row| row.split(" F1").next().unwrap().to_owned()).collect()
    };
    assert_eq!(marks(&few), ["A ★ 1.log", "B ≈ 0.log", "C 2.log"]);
    let tie = "2 of 3 runs are not told apart: they are within ±6.12 (the standard error on 50 \
               spans) of A, 1.log";
    assert!(few.contains(tie) && !few.contains("The best of"), "{few}");
    assert_eq!(marks(&many), ["A ★ 1.log", "B 0.log", "C 2.log"]);
    assert!(many.contains("The best of 3 runs is A, 1.log"), "{many}");
}
