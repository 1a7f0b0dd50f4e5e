//! Penalties of template lines, and the path of `tune --l1`.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir, sample_corpus};

fn directory(template: &str) -> TestDir {
    TestDir::new(&[("train.conll", NER_CORPUS), ("my.tpl", template)])
}

/// Returns the sum of the absolute weights of node attributes that begin with `prefix`.
fn sum(dir: &TestDir, prefix: &str) -> f64 {
    let inspected = dir.inspect("--top 100000");
    let labels = inspected["labels"].as_object().unwrap().values();
    let attributes = labels.flat_map(|label| label["attributes"].as_array().unwrap());
    let own = attributes.filter(|a| a["attribute"].as_str().unwrap().starts_with(prefix));
    own.map(|a| a["weight"].as_f64().unwrap().abs()).sum()
}

#[test]
fn a_line_is_tied_as_its_options_say() {
    let dir = directory("word l2=10000\nsuffix(2) l2*=0.1 dropout=0\nlower l1=50\n");
    let train = "train train.conll --template my.tpl --model m --quiet";
    for options in
        ["", "--noise monte-carlo --samples 4 --edge-dropout 0.6", "--noise additive --dropout 0.1"]
    {
        dir.run(&format!("{train} --max-iterations 60 {options}")).success();
        assert!(sum(&dir, "word[0]=") < 0.01, "{options}");
        assert!(sum(&dir, "suffix(2)[0]=") > 0.5, "{options}");
        assert_eq!(sum(&dir, "lower[0]="), 0.0, "{options}");
    }
    // The model has the options, and names without them; another training continues with them.
    let template = dir.run("inspect m --json").json()["template"].clone();
    assert_eq!(template, "word l2=10000\nsuffix(2) l2*=0.1 dropout=0\nlower l1=50\n");
    dir.run("tag m train.conll --columns word,pos,label").success();
    dir.run("train train.conll --init m --model n --quiet --max-iterations 5").success();
}

#[test]
fn options_of_lines_out_of_range_are_errors_at_their_place() {
    for (template, options, expected) in [
        (
            "word\nlower l2=-1\n",
            "",
            "my.tpl:2:10: l2 -1; expected a finite number that is not negative",
        ),
        (
            "word\nlower l4=1\n",
            "",
            "my.tpl:2:7: there is no option 'l4'; expected one of l1, l2, dropout",
        ),
        (
            "word\nlower dropout*=4\n",
            "--dropout 0.3",
            "my.tpl:2: dropout*=4 of --dropout 0.3 is 1.2; expected a rate below 1",
        ),
        (
            "word\n\nU:%x[0,0] l2=1\n",
            "",
            "my.tpl:3:1: 'U:%x[0,0] l2=1' is in CRF++ or Wapiti syntax, but line 1 is in dropchain \
             syntax; expected a single syntax throughout the file",
        ),
    ] {
        let dir = directory(template);
        // Before any corpus is read.
        let rest = format!("none.conll --template my.tpl --model m {options}");
        for command in ["train", "tune --folds 2"] {
            let error = dir.run(&format!("{command} {rest}")).failure();
            assert_eq!(error, expected);
        }
        assert_eq!(dir.names(), ["my.tpl", "train.conll"]);
    }
    let dir = directory("word dropout=0.5\n");
    let output = dir.run("train train.conll --template my.tpl --model m --dropout 0");
    let expected = "my.tpl:1: the dropout of this line has no effect";
    assert!(output.stderr.contains(expected), "{output:?}");
    output.success();
}

#[test]
fn a_search_scales_the_factors_of_lines() {
    let dir = directory("word l2*=1000\nlower\n");
    let tune = "tune train.conll --folds 2 --template my.tpl --model m --quiet --json --dropout 0 \
                --l2 0.1,1 --max-iterations 40";
    dir.run(tune).success();
    assert!(sum(&dir, "word[0]=") < 0.1 && sum(&dir, "lower[0]=") > 0.5);
    // Another option of a line is another search.
    dir.run(&format!("{tune} --checkpoint ck")).success();
    assert!(!dir.path("ck").exists());
}

#[test]
fn the_path_of_l1_reports_weights() {
    let first = |part: &str, count: usize| {
        let text = sample_corpus(part);
        let sentences: Vec<&str> = text.split("\n\n").take(count).collect();
        sentences.join("\n\n") + "\n\n"
    };
    let dir =
        TestDir::new(&[("train.conll", &first("train", 60)), ("dev.conll", &first("dev", 30))]);
    let tune = "tune train.conll --columns word,upos,ner --template minimal --quiet --model m \
                --dropout 0 --l2 0 --l1 0.1,3,0.3,1 --max-iterations 60";
    let results = dir.run(&format!("{tune} --dev dev.conll --json --log log")).json();
    let trials = results["configurations"].as_array().unwrap();
    let mut path: Vec<(f64, u64)> = trials
        .iter()
        .map(|t| (t["l1"].as_f64().unwrap(), t["nonzero_weights"].as_u64().unwrap()))
        .collect();
    path.sort_by(|a, b| b.0.total_cmp(&a.0));
    assert!(path.windows(2).all(|pair| pair[0].1 < pair[1].1), "{path:?}");
    let log = dir.json_lines("log");
    let lines: Vec<&Value> = log.iter().filter(|l| l["event"] == "configuration").collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line["nonzero_weights"].is_u64()));
    let table = dir.run(&format!("{tune} --folds 2")).success();
    let heading: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    let heading = heading.join(" ");
    assert!(heading.contains("mean F1 ± weights best at"), "{table}");
    // Without L1 all weights count: there is nothing to report.
    let none = "tune train.conll --columns word,upos,ner --template minimal --quiet --model m \
                --dropout 0 --l2 0.1 --max-iterations 5 --folds 2 --json";
    let none = dir.run(none).json();
    assert_eq!(none["configurations"][0]["nonzero_weights"], Value::Null);
}
