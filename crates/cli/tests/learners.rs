//! The online learners: `--algorithm sgd|ap|pa|arow`.

use crate::support::{NER_CORPUS, TestDir};

/// Every online algorithm with some of its options, and the dropout of sgd.
const LEARNERS: [&str; 5] = [
    "--algorithm sgd --dropout 0 --l2 0.01",
    "--algorithm sgd --dropout 0.3 --noise monte-carlo --warm-up 1",
    "--algorithm ap --states observed",
    "--algorithm pa=0.5",
    "--algorithm arow=0.5",
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

#[test]
fn weights_that_overflow_end_training_and_leave_an_old_model() {
    let corpus = "A\tx:1e30\ty:1e30\nB\tx:1e30\tz:-1e30\n\nB\tx:1e30\nA\tz:1e30\n\n";
    let dir = TestDir::new(&[("train.crfsuite", corpus)]);
    let old = "DROPCRF\nold";
    dir.write("m", old);
    let line = "train train.crfsuite --model m --quiet --algorithm sgd=1e300 --dropout 0";
    let message = dir.run(line).exits(4);
    let expected = "error: the loss is not finite in epoch 1; expected smaller attribute \
                    values, or smaller steps\n";
    assert_eq!(message, expected);
    assert_eq!(dir.text("m"), old);
}
