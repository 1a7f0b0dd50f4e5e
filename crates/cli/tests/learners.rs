//! The online learners: `--algorithm sgd|ap|pa|arow`.

use crate::support::{NER_CORPUS, TestDir};

/// A learner with a learning rate and dropout, and one of mistakes.
const LEARNERS: [&str; 2] = [
    "--algorithm sgd --dropout 0.3 --noise monte-carlo --warm-up 1",
    "--algorithm pa=0.5 --states observed",
];

#[test]
fn every_learner_reproduces_its_training_data_and_keeps_its_best_epoch() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    for learner in LEARNERS {
        let train =
            "train train.conll --dev train.conll --template ner --model m --log log --quiet";
        dir.run(&format!("{train} --max-iterations 30 {learner}")).success();
        let report = dir.run("eval m train.conll --json").json();
        assert_eq!(report["f1"], 1.0, "{learner}");
        let log = dir.json_lines("log");
        let (first, end) = (&log[1], &log[log.len() - 1]);
        assert_eq!((&first["event"], &first["iteration"]), (&"iteration".into(), &1.into()));
        assert!(first["gradient_norm"].is_null(), "{learner}");
        let is_sgd = learner.contains("sgd");
        assert_eq!(first["log_likelihood"].is_number(), is_sgd, "{learner}");
        assert_eq!(first.get("learning_rate").is_some(), is_sgd, "{learner}");
        assert_eq!(end["dev_f1"], 1.0, "{learner}");
    }
}
