//! Weights of sentences.

use crate::support::{NER_CORPUS, TestDir};

#[test]
fn weights_of_unlabeled_text_count_too() {
    let text = "# weight = 2\nAnn N\nleft V\n\nBob N\nmet V\nRome N\n\n";
    let copies = "Ann N\nleft V\n\nAnn N\nleft V\n\nBob N\nmet V\nRome N\n\n";
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("a.conll", text), ("b.conll", copies)]);
    let objective = |unlabeled: &str| {
        dir.run(&format!(
            "train train.conll --model m --quiet --columns word,pos,label --comments \
             --template minimal --max-iterations 4 --warm-up 1 --log {unlabeled}.log \
             --unlabeled {unlabeled}.conll --unlabeled-weight 0.5"
        ));
        let log = dir.json_lines(&format!("{unlabeled}.log"));
        log[4]["objective"].as_f64().unwrap()
    };
    let [weighted, repeated] = ["a", "b"].map(objective);
    assert!((weighted - repeated).abs() < 1e-6, "{weighted} {repeated}");
}

#[test]
fn training_says_that_weights_are_used() {
    let weighted = format!("# weight = 0.5\n{NER_CORPUS}");
    let dir = TestDir::new(&[("train.conll", &weighted)]);
    let run = dir.run("train train.conll --model m --template minimal --comments --log log");
    let stderr = run.exits(0);
    assert!(stderr.contains("no development data: trains to convergence"), "{stderr}");
    assert!(stderr.contains("3 sentences of total weight 2.5, 19 tokens"), "{stderr}");
    let log = dir.json_lines("log");
    assert_eq!(log[0]["total_weight"], 2.5);
    assert_eq!(log[0].get("partial_tokens"), None);
}
