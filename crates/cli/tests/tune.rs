//! `dropchain tune`

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{TestDir, keys};

const SAMPLE: &str = "tune train.conll --columns word,upos,ner --template minimal --model m \
                      --patience 5";

#[test]
fn the_table_has_the_best_configuration_first_and_the_model_its_score() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --dev dev.conll --dropout 0,0.3 --l2 0.1,1 --precision f64");
    let output = dir.run(&line);
    assert!(output.stderr.contains("4 configurations, 4 training runs; "), "{output:?}");
    let table = output.success();
    let lines: Vec<Vec<&str>> = table.lines().map(|l| l.split_whitespace().collect()).collect();
    // The template is the same everywhere, and edges have the noise of attributes.
    let heading = "dropout L2 dev F1 best at iterations stopped by";
    assert_eq!(lines[0].join(" "), heading);
    let score = |line: &Vec<&str>| line[2].parse::<f64>().unwrap();
    assert_eq!(lines.len(), 8);
    for pair in lines[1..5].windows(2) {
        assert!(score(&pair[0]) >= score(&pair[1]), "{table}");
    }
    let best = &lines[1];
    assert!(lines[6].join(" ").starts_with("a score on 95 spans is"), "{table}");
    assert!(lines[7].join(" ").starts_with(&format!("best: --dropout {}", best[0])));
    let eval = dir.run("eval m dev.conll --json").json();
    assert_eq!(format!("{:.2}", 100.0 * eval["f1"].as_f64().unwrap()), best[2]);
}

#[test]
fn json_and_log_agree_on_every_configuration() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --dev dev.conll --dropout 0.3 --l2 0.03,0.1,0.3,1 --json --log l");
    let output = dir.run(&line).json();
    let configurations = output["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 4);
    let fields = BTreeSet::from([
        "number",
        "template",
        "dropout",
        "edge_dropout",
        "l2",
        "l1",
        "unlabeled_weight",
        "dev_f1",
        "best_iteration",
        "iterations",
        "recall_bias",
        "objective",
        "stop_reason",
    ]);
    for configuration in configurations {
        assert_eq!(keys(configuration), fields);
    }
    let log = dir.json_lines("l");
    let events: Vec<&str> = log.iter().map(|l| l["event"].as_str().unwrap()).collect();
    assert_eq!((events[0], events[events.len() - 1]), ("start", "end"));
    assert_eq!(events.len(), 2 + 4);
    let end = &log[log.len() - 1];
    let best = &configurations[0];
    assert_eq!(end["best"], best["number"]);
    assert_eq!(end["options"], output["options"]);
    let last = log.iter().rfind(|l| l["number"] == best["number"]);
    assert_eq!(last.unwrap()["dev_f1"], best["dev_f1"]);
    assert_eq!(dir.names(), ["dev.conll", "l", "m", "train.conll"]);
}

#[test]
fn folds_need_no_development_file_and_report_their_scores() {
    let dir = TestDir::with_sample_corpus();
    let line =
        format!("{SAMPLE} --folds 3 --random 4 --dropout 0,0.1:0.6 --l2 0.01:1 --json --seed 5");
    let output = dir.run(&line).json();
    let configurations = output["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 4);
    for configuration in configurations {
        let scores = configuration["fold_scores"].as_array().unwrap();
        let mean = scores.iter().map(|s| s.as_f64().unwrap()).sum::<f64>() / 3.0;
        assert_eq!(scores.len(), 3);
        assert!((configuration["mean_f1"].as_f64().unwrap() - mean).abs() < 1e-12);
        let squares = scores.iter().map(|s| (s.as_f64().unwrap() - mean).powi(2));
        let deviation = (squares.sum::<f64>() / 2.0).sqrt();
        let field = |name: &str| configuration[name].as_f64().unwrap();
        assert!((field("standard_deviation") - deviation).abs() < 1e-12);
        assert!((field("standard_error") - deviation / 3.0_f64.sqrt()).abs() < 1e-12);
    }
    assert_eq!(output["iterations_on_all_data"], configurations[0]["best_iteration"]);
    dir.run("tag m dev.conll").success();
}

#[test]
fn folds_say_what_dropout_gains_over_the_best_without() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --folds 3 --dropout 0,0.3 --l2 0.1,0.3");
    let output = dir.run(&format!("{line} --json --log l")).json();
    let gain = &output["noise_gain"];
    let configurations = output["configurations"].as_array().unwrap();
    let scores = |number: &Value| -> Vec<f64> {
        let mut all = configurations.iter();
        let found = all.find(|c| c["number"] == *number).unwrap();
        let scores = found["fold_scores"].as_array().unwrap();
        scores.iter().map(|s| s.as_f64().unwrap()).collect()
    };
    let best = |with: bool| {
        let mut all = configurations.iter();
        &all.find(|c| (c["dropout"] != 0.0) == with).unwrap()["number"]
    };
    assert_eq!(gain["with_noise"], *best(true));
    assert_eq!(gain["without_noise"], *best(false));
    let (with, without) = (scores(best(true)), scores(best(false)));
    let mean = with.iter().zip(&without).map(|(a, b)| a - b).sum::<f64>() / 3.0;
    assert!((gain["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    let log = dir.json_lines("l");
    assert_eq!(log[log.len() - 1]["noise_gain"], *gain);

    let table = dir.run(&line).success();
    let expected = format!("dropout over the best without: {:+.2} ± ", 100.0 * mean);
    let last = table.lines().last().unwrap();
    assert!(last.starts_with(&expected), "{last}: {expected}");
    assert!(last.contains(" of 3 folds (p = "), "{last}");
    let on_dev = dir.run(&format!("{SAMPLE} --dev dev.conll --dropout 0,0.3 --l2 0.1 --json"));
    assert!(on_dev.json().get("noise_gain").is_none());
}

#[test]
fn results_are_the_same_for_any_number_of_threads_and_any_memory() {
    let dir = TestDir::with_sample_corpus();
    for scoring in ["--dev dev.conll", "--folds 2"] {
        let mut first = None;
        for spread in ["--threads 1", "--threads 3 --memory 1G", "--threads 4 --memory 40M"] {
            let line = format!("{SAMPLE} {scoring} --random 4 --l2 0.01:1 --quiet {spread}");
            let table = dir.run(&line).success();
            let found = (table, dir.bytes("m"));
            let first = first.get_or_insert_with(|| found.clone());
            assert_eq!(found.0, first.0, "{scoring} {spread}");
            assert!(found.1 == first.1, "{scoring} {spread}");
        }
    }
}

#[test]
fn templates_are_compared_and_unlabeled_text_can_be_weighted() {
    let dir = TestDir::with_sample_corpus();
    dir.write("more.txt", "Ada Lovelace lived in London.\n");
    dir.write("words.tpl", "word\nword[-1]\n");
    let line = format!(
        "{SAMPLE} --template words.tpl --dev dev.conll --dropout 0,0.3 --l2 0.3 --json \
         --unlabeled more.txt --unlabeled-weight 0.1,1"
    );
    let output = dir.run(&line).json();
    let configurations = output["configurations"].as_array().unwrap();
    let templates: BTreeSet<&str> =
        configurations.iter().map(|c| c["template"].as_str().unwrap()).collect();
    assert_eq!(templates, BTreeSet::from(["minimal", "words.tpl"]));
    // Without noise, the weight of unlabeled text is irrelevant.
    assert_eq!(configurations.len(), 6);
}

#[test]
fn pre_extracted_attributes_need_no_template() {
    let corpus = "B-X\ta\tb\nO\tc\n\nO\tc\n\nB-X\ta\nO\td\n\nO\tb\nB-X\ta\n\n";
    let dir = TestDir::new(&[("t.crfsuite", corpus), ("d.crfsuite", corpus)]);
    let line = "tune t.crfsuite --dev d.crfsuite --model m --dropout 0 --l2 0.1,1";
    let table = dir.run(line).success();
    assert!(table.contains("100.00"), "{table}");
}

#[test]
fn invalid_options_are_rejected_before_any_work() {
    let dir = TestDir::new(&[]);
    for (options, expected) in [
        ("--dropout 0.3,1", "dropout 1; expected a rate of at least 0"),
        ("--edge-dropout -0.5", "edge dropout -0.5; expected a rate of at least 0"),
        ("--l2 -1", "L2 strength -1; expected a finite number"),
        (
            "--l2 0.01:1",
            "L2: a range has infinitely many values; expected single numbers for a grid",
        ),
        ("--random 5 --l2 0:1", "L2: the range 0:1 begins at 0"),
        ("--random 0", "0 random configurations; expected 1 to 1000"),
        ("--template nonsense", "--template nonsense: no such file or built-in template"),
        ("--template minimal", "--template minimal is given twice"),
        ("--log m", "--log m: this is the model file"),
        ("--log nowhere/l", "nowhere/l: "),
        ("--dropout 0 --gradient local", "--gradient local: requires noise"),
        ("--dropout 0 --unlabeled x.txt", "--unlabeled: requires noise"),
    ] {
        // The corpora do not exist: reading them would be a different error.
        let line = format!("{SAMPLE} --dev dev.conll {options}");
        let message = dir.run(&line).failure();
        assert!(message.starts_with(expected), "{options}: {message}");
    }
}

#[test]
fn unparsable_arguments_are_bad_usage() {
    let dir = TestDir::with_sample_corpus();
    for (options, expected) in [
        ("", "--dev"),
        ("--dev dev.conll --folds 3", "cannot be used with"),
        ("--folds 1", "1 is not in 2.."),
        ("--dev dev.conll --gradient fast", "fast"),
        ("--dev dev.conll --l2 1:0.1", "the range 1:0.1 is reversed"),
        ("--dev dev.conll --l2 1:1", "the range 1:1 is empty"),
        ("--dev dev.conll --l2 0.1,,1", "a number is missing"),
        ("--dev dev.conll --dropout much", "'much' is not a number"),
        ("--dev dev.conll --memory lots", "expected a size such as 4G"),
    ] {
        let output = dir.run(&format!("{SAMPLE} {options}"));
        assert_eq!(output.status.code(), Some(2), "{output:#?}");
        assert!(output.stderr.contains(expected), "{output:#?}");
    }
}

#[test]
fn errors_found_in_the_data_leave_files_alone() {
    let dir = TestDir::with_sample_corpus();
    let (model, log) = ("DROPCRF\nold", "{\"event\":\"old\"}\n");
    dir.write("m", model);
    dir.write("l", log);
    for (options, expected) in [
        ("--folds 1000", "1000 folds of 392 sentences; expected at least 2 folds"),
        ("--dev dev.conll --memory 1M", "training on "),
        ("--dev nowhere.conll", "nowhere.conll: "),
    ] {
        let message = dir.run(&format!("{SAMPLE} --log l --quiet {options}")).failure();
        assert!(message.starts_with(expected), "{options}: {message}");
        assert_eq!((dir.text("m"), dir.text("l")), (model.to_owned(), log.to_owned()));
    }
}

#[test]
fn a_search_without_any_iteration_leaves_the_model_alone() {
    let dir = TestDir::with_sample_corpus();
    dir.write("m", "DROPCRF\nold");
    let options = "--dev dev.conll --dropout 0 --l1 100000";
    let message = dir.run(&format!("{SAMPLE} --log l --quiet {options}")).failure();
    let expected = "no configuration made an iteration: training begins at the minimum";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(dir.text("m"), "DROPCRF\nold");
    assert_eq!(dir.json_lines("l")[0]["event"], "start");
}

#[test]
fn every_course_of_training_is_that_of_train() {
    let dir = TestDir::with_sample_corpus();
    let line = "tune train.conll --dev dev.conll --columns word,upos,ner --template minimal \
                --model m --patience 10 --l2 0.1 --dropout 0,0.3 \
                --warm-up 0,6 --gradient exact,window=1";
    let output = dir.run(&format!("{line} --json --log l")).json();
    let configurations = output["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 5);
    for row in configurations {
        if row["dropout"] == 0.0 {
            assert!(row.get("warm_up").is_none() && row.get("gradient").is_none());
            continue;
        }
        let (warm_up, gradient) = (&row["warm_up"], row["gradient"].as_str().unwrap());
        dir.run(&format!(
            "train train.conll --dev dev.conll --columns word,upos,ner --template minimal \
             --model other --patience 10 --l2 0.1 --warm-up {warm_up} \
             --gradient {gradient} --log t --quiet"
        ))
        .success();
        let log = dir.json_lines("t");
        assert_eq!(log.last().unwrap()["iterations"], row["iterations"]);
        let noisy = log.iter().filter(|line| line["event"] == "iteration");
        let noisy = noisy.skip(1 + warm_up.as_u64().unwrap() as usize);
        let scores: Vec<f64> = noisy.map(|l| l["dev_f1"].as_f64().unwrap()).collect();
        let kept = row["best_iteration"].as_u64().unwrap() - warm_up.as_u64().unwrap();
        assert_eq!(row["dev_f1"], scores[kept as usize - 1], "{row}");
        // A score counts with those of the four iterations with noise before it.
        let mean = |i: usize| {
            let recent = &scores[i.saturating_sub(5)..i];
            recent.iter().sum::<f64>() / recent.len() as f64
        };
        let kept = mean(kept as usize);
        assert!((1..=scores.len()).all(|i| mean(i) <= kept), "{row}");
    }
    let logged = dir.json_lines("l");
    let of_log = |field: &str| {
        let lines = logged.iter().filter(|line| line["event"] == "configuration");
        lines.filter(|line| line.get(field).is_some()).count()
    };
    assert_eq!((of_log("warm_up"), of_log("gradient")), (4, 4));
    let table = dir.run(line).success();
    let heading: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert!(heading.join(" ").contains("dropout warm-up gradient dev F1"), "{table}");
    let best = &configurations[0];
    let flags = match best.get("warm_up") {
        None => "--dropout 0 --l2 0.1".to_owned(),
        Some(warm_up) => format!(
            "--dropout 0.3 --edge-dropout 0.3 --l2 0.1 --warm-up {warm_up} --gradient {}",
            best["gradient"].as_str().unwrap()
        ),
    };
    assert_eq!(table.lines().last().unwrap(), format!("best: {flags}"));
}

#[test]
fn one_warm_up_and_one_engine_are_those_of_all_configurations() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --dev dev.conll --dropout 0.3 --l2 0.1,1 --warm-up 3");
    let output = dir.run(&format!("{line} --gradient window=3 --json")).json();
    let options = &output["options"];
    assert_eq!(options["warm_up"], 3);
    assert_eq!(options["gradient"], "window=3");
    for row in output["configurations"].as_array().unwrap() {
        assert_eq!((&row["warm_up"], &row["gradient"]), (&3.into(), &"window=3".into()));
    }
}
