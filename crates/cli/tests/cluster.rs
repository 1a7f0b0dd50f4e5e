//! `dropchain cluster`

use crate::support::{NER_CORPUS, TestDir};

const TEXT: &str = "the dog runs. a cat sleeps. the cat runs. a dog sleeps. the dog sleeps.\n";

fn test_dir() -> TestDir {
    TestDir::new(&[("raw.txt", TEXT), ("names.conll", NER_CORPUS)])
}

#[test]
fn templates_read_the_clusters() {
    let dir = test_dir();
    dir.run("cluster raw.txt names.conll --clusters 4 --output paths.txt").success();
    dir.write("my.tpl", "word\ncluster(\"paths.txt\", 1, 2)\ncluster(\"paths.txt\")\n");
    dir.run("train names.conll --template my.tpl --model m --quiet").success();
    let shown = dir.run("inspect m --json --top 100").success();
    assert!(shown.contains("cluster(\\\"paths.txt\\\", 1, 2)[0]="), "{shown}");
}

#[test]
fn every_line_has_a_path_a_word_and_its_count() {
    let dir = test_dir();
    dir.run("cluster raw.txt names.conll --clusters 3 --output paths.txt --quiet").success();
    let text = dir.text("paths.txt");
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(!cells[0].is_empty() && cells[0].bytes().all(|b| matches!(b, b'0' | b'1')));
        assert!(cells[2].parse::<u64>().unwrap() > 0, "{line}");
    }
    assert!(text.lines().any(|line| line.ends_with("\tAnn\t2")), "{text}");
    assert!(!text.contains("B-PER") && !text.contains("NNP"), "{text}");
}
