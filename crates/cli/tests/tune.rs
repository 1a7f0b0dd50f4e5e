//! `dropchain tune`

use std::collections::BTreeSet;

use crate::support::{TestDir, fields, keys};

const SAMPLE: &str = "tune train.conll --columns word,upos,ner --template minimal --model m \
                      --patience 5";

#[test]
fn table_json_log_and_model_agree_on_every_configuration() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --dev dev.conll --dropout 0,0.3 --l2 0.1,1 --precision f64");
    let output = dir.run(&format!("{line} --log l"));
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

    let log = dir.json_lines("l");
    let events: Vec<&str> = log.iter().map(|l| l["event"].as_str().unwrap()).collect();
    let (start, end) = (&log[0], &log[log.len() - 1]);
    assert_eq!((&start["event"], &end["event"]), (&"start".into(), &"end".into()));
    assert_eq!(events[1..5], ["configuration"; 4]);
    let of_best = log.iter().rfind(|l| l["number"] == end["best"]).unwrap();
    assert_eq!(of_best["dev_f1"], eval["f1"]);
    assert_eq!(dir.names(), ["dev.conll", "l", "m", "train.conll"]);
}

#[test]
fn the_path_of_l1_reports_weights() {
    let dir = TestDir::with_sample_corpus();
    let line = SAMPLE.replace("--patience 5", "--max-iterations 20");
    let options = "--dev dev.conll --dropout 0 --l2 0 --l1 1,3 --json --log l";
    let output = dir.run(&format!("{line} {options}")).json();
    let configurations = output["configurations"].as_array().unwrap();
    let expected = "number dropout l2 l1 dev_f1 dev_mean best_iteration iterations recall_bias \
                    objective stop_reason nonzero_weights";
    let mut weights = Vec::new();
    for configuration in configurations {
        assert_eq!(keys(configuration), fields(expected));
        let number = |name: &str| configuration[name].as_f64().unwrap();
        weights.push((number("l1"), number("nonzero_weights")));
    }
    weights.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(weights.len() == 2 && weights[0].1 > weights[1].1, "{weights:?}");
    let end = dir.json_lines("l").pop().unwrap();
    assert_eq!(end["best"], configurations[0]["number"]);
    assert_eq!(end["options"], output["options"]);
}

#[test]
fn folds_need_no_development_file_and_predict_all_sentences() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SAMPLE} --folds 3 --random 2 --dropout 0,0.1:0.6 --l2 0.01:1 --seed 5");
    let output = dir.run(&format!("{line} --json --log l --predictions p.conll")).json();
    let configurations = output["configurations"].as_array().unwrap();
    assert_eq!(configurations.len(), 2);
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
    dir.run(&format!("{check} train.conll")).fails_with("found no probability");
    dir.run("report l --gold train.conll --predictions p.conll --output page.html").success();
    let page = dir.text("page.html");
    assert!(page.contains("Search") && page.contains("Calibration"), "{page}");
    dir.run(&format!("{line} --predictions p.conll"))
        .fails_at("--predictions p.conll: this file exists");
    let small = "--folds 3 --dropout 0,0.3 --l2 0.3 --max-iterations 6";
    let table = dir.run(&format!("{SAMPLE} {small}")).success();
    let gain = table.lines().find(|line| line.starts_with("dropout over the best without: "));
    assert!(gain.expect(&table).contains(" of 3 folds (p = "), "{table}");
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
fn the_model_is_that_of_train_with_the_options_that_are_printed() {
    let dir = TestDir::with_sample_corpus();
    let line =
        format!("{SAMPLE} --dev dev.conll --dropout 0.3 --edge-dropout 0.2 --l2 0.1 --warm-up 0,6");
    let table = dir.run(&line).success();
    let heading: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert!(heading.join(" ").starts_with("warm-up dev F1"), "{table}");
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
