//! `dropchain tune`

use std::collections::BTreeSet;

use crate::support::{TestDir, fields, keys};

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
    let heading = "dropout L2 dev F1 mean of 5 kept iterations stopped by";
    assert_eq!(lines[0].join(" "), heading);
    let score = |line: &Vec<&str>| line[2].parse::<f64>().unwrap();
    for pair in lines[1..5].windows(2) {
        assert!(score(&pair[0]) >= score(&pair[1]), "{table}");
    }
    let best = &lines[1];
    assert!(lines[6].join(" ").starts_with("a score on 95 spans is"), "{table}");
    let last = lines.last().unwrap().join(" ");
    assert!(last.starts_with(&format!("kept: --dropout {}", best[0])));
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
    let expected = "number dropout l2 dev_f1 dev_mean best_iteration iterations recall_bias \
                    objective stop_reason";
    for configuration in configurations {
        assert_eq!(keys(configuration), fields(expected));
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
fn folds_need_no_development_file_and_predict_all_sentences() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --folds 3 --random 4 --dropout 0,0.1:0.6 --l2 0.01:1 --seed 5");
    let output = dir.run(&format!("{line} --json --log l --predictions p.conll")).json();
    let configurations = output["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 4);
    assert!(configurations.iter().all(|c| c["fold_scores"].as_array().unwrap().len() == 3));
    assert_eq!(output["iterations_on_all_data"], configurations[0]["best_iteration"]);
    let gain = &output["noise_gain"];
    assert_eq!(dir.json_lines("l").last().unwrap()["noise_gain"], *gain);
    dir.run("tag m dev.conll").success();
    // Scores and probabilities of the predictions are those of other commands.
    let scores = dir.run("eval p.conll train.conll --json --confusion").json();
    assert_eq!(scores["f1"], output["out_of_fold"]["f1"]);
    assert_eq!(scores["confusions"], output["out_of_fold"]["confusions"]);
    let check = "check train.conll --columns word,upos,ner --suspicious 5 --json --quiet \
                 --predictions";
    let suspicious = dir.run(&format!("{check} p.conll")).json()["suspicious"].take();
    assert!(suspicious[0]["suspicion"].as_f64().unwrap() > 0.5, "{suspicious}");
    let error = dir.run(&format!("{check} train.conll")).failure();
    assert!(error.contains("found no probability"), "{error}");
    dir.run("report l --gold train.conll --predictions p.conll --output page.html").success();
    let page = dir.text("page.html");
    assert!(page.contains("Search") && page.contains("Calibration"), "{page}");
    let again = dir.run(&format!("{line} --predictions p.conll")).failure();
    assert!(again.starts_with("--predictions p.conll: this file exists"), "{again}");
    let table = dir.run(&line).success();
    let mean = 100.0 * gain["mean"].as_f64().unwrap();
    let expected = format!("dropout over the best without: {mean:+.2} ± ");
    let gain = table.lines().find(|line| line.starts_with(&expected)).expect(&table);
    assert!(gain.contains(" of 3 folds (p = "), "{gain}");
    assert!(table.contains("\nmean F1 ") && table.contains("\nkept: --dropout "), "{table}");
    assert!(table.contains("\nout of fold: ") && table.contains("accuracy: "), "{table}");
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
    let dir = TestDir::new(&[("train.conll", ""), ("dev.conll", ""), ("x.txt", "")]);
    for (options, expected) in [
        ("--edge-dropout -0.5", "edge dropout -0.5; expected a rate of at least 0"),
        ("--dropout much", "dropout 'much': invalid float literal"),
        ("--gradient fast", "gradient 'fast'; expected "),
        (
            "--l2 0.01:1",
            "L2: a range has infinitely many values; expected single numbers for a grid",
        ),
        ("--template nonsense", "--template nonsense: no such file or built-in template"),
        ("--template minimal", "--template minimal is given twice"),
        ("--log m", "--log m: this is the model file"),
        ("--log nowhere/l", "--log nowhere/l: there is no folder nowhere"),
        ("--dropout 0 --gradient local", "--gradient local: requires noise"),
        ("--dropout 0 --unlabeled x.txt", "--unlabeled: requires noise"),
    ] {
        // The corpora are empty: reading them would be a different error.
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
        ("--dev dev.conll --l2 1:0.1", "the range 1:0.1 is reversed"),
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
fn the_model_is_that_of_train_with_the_options_that_are_printed() {
    let dir = TestDir::with_sample_corpus();
    let line = format!(
        "{SAMPLE} --dev dev.conll --dropout 0.3 --edge-dropout 0.2 --l2 0.1 --warm-up 0,6 \
         --gradient exact,window=1"
    );
    let table = dir.run(&line).success();
    let heading: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert!(heading.join(" ").starts_with("warm-up gradient dev F1"), "{table}");
    let best = table.lines().last().unwrap().strip_prefix("kept: ").unwrap().to_owned();
    assert!(best.starts_with("--dropout 0.3 --edge-dropout 0.2 --l2 0.1 --warm-up "), "{best}");
    let content = |dir: &TestDir| {
        let mut inspected = dir.inspect("");
        ["options", "training", "fingerprint"].map(|part| inspected[part].take())
    };
    let found = content(&dir);
    let train = SAMPLE.replacen("tune", "train", 1);
    dir.run(&format!("{train} --dev dev.conll {best}")).success();
    assert_eq!(content(&dir), found);
}
