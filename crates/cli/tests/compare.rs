//! `dropchain compare`

use crate::support::{NER_CORPUS, TestDir};
#[test]
fn the_column_of_probabilities_is_not_the_one_of_labels() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let tag = "tag m train.conll --columns word,pos,label";
    dir.write("a", dir.run(tag).success());
    dir.write("b", dir.run(&format!("{tag} --marginals")).success());
    let eval = |side: &str| dir.run(&format!("eval --predictions {side} train.conll")).success();
    assert_eq!(eval("b"), eval("a"));
    assert!(eval("a").contains("found: 6 phrases"), "{}", eval("a"));
    let report = dir.run("compare train.conll a b --json").json();
    assert_eq!(report["accuracy"]["difference"], 0.0);
    let other = dir.text("b").replacen("Ann", "Eve", 1);
    dir.write("b", other);
    assert!(
        dir.run("eval --predictions b train.conll")
            .failure()
            .starts_with("b:1: found the token 'Eve'; ")
    );
}
