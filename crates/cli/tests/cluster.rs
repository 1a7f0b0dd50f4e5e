//! `dropchain cluster`

use crate::support::{NER_CORPUS, TestDir};

const TEXT: &str = "the dog runs. a cat sleeps. the cat runs. a dog sleeps. the dog sleeps.\n";

#[test]
fn templates_read_the_clusters() {
    let dir = TestDir::new(&[("raw.txt", TEXT), ("names.conll", NER_CORPUS)]);
    dir.run("cluster raw.txt names.conll --clusters 4 --output paths.txt").success();
    dir.write("my.tpl", "word\ncluster(\"paths.txt\", 1, 2)\ncluster(\"paths.txt\")\n");
    dir.run("train names.conll --template my.tpl --model m --quiet").success();
    let shown = dir.run("inspect m --json --top 100").success();
    assert!(shown.contains("cluster(\\\"paths.txt\\\", 1, 2)[0]="), "{shown}");
}
