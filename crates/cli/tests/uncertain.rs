//! `dropchain tag --uncertain`.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

const TEXT: &str = "Ann Lee left Rome .\nqq Zz qq .\nThe bank of York closed .\nXx yy Zz vv .\n";

fn dir() -> TestDir {
    let dir = TestDir::with_model(NER_CORPUS, "--columns word,pos,label --template minimal");
    dir.write("pool.txt", TEXT);
    dir
}

fn json(dir: &TestDir, options: &str) -> Vec<Value> {
    let line = format!("tag m pool.txt --output jsonl {options}");
    let text = dir.run(&line).success();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn scores(lines: &[Value]) -> Vec<f64> {
    lines.iter().map(|line| line["uncertainty"].as_f64().unwrap()).collect()
}

#[test]
fn the_most_uncertain_sentences_come_first_with_their_places() {
    let dir = dir();
    let all = json(&dir, "--uncertain 9");
    assert_eq!(all.len(), 4);
    assert!(scores(&all).is_sorted_by(|a, b| a >= b), "{all:?}");
    let lines: Vec<u64> = all[..2].iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert!(lines == [2, 4] || lines == [4, 2], "{all:?}");
    assert_eq!(all[0]["file"], "pool.txt");
    assert!(all[0]["labels"].is_array() && all[0]["text"].is_string());
    // Fewer are the first of all, whatever the number of threads.
    for threads in [1, 3] {
        assert_eq!(json(&dir, &format!("--uncertain 2 --threads {threads}")), all[..2]);
    }
}

#[test]
fn columns_have_comments_that_can_be_read_again() {
    let dir = dir();
    let text = dir.run("tag m train.conll --uncertain 1").success();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("# uncertainty = 0."), "{text}");
    assert_eq!(lines[1], "# file = train.conll");
    assert!(lines[2].starts_with("# line = "), "{text}");
    dir.write("next.conll", &text);
    let again = dir.run("tag m next.conll --columns word,pos,label,new --comments").success();
    assert!(again.contains("# uncertainty = 0."), "{again}");
    let inline = dir.run("tag m pool.txt --uncertain 1 --output inline").success();
    assert!(inline.starts_with("# 0.") && inline.contains(" pool.txt:"), "{inline}");
}

#[test]
fn members_of_json_lines_are_kept() {
    let dir = dir();
    dir.write("pool.jsonl", "{\"id\":1.50,\"line\":7,\"text\":\"Zz qq\"}\n");
    let text = dir.run("tag m pool.jsonl --uncertain 5").success();
    assert!(text.starts_with("{\"uncertainty\":0."), "{text}");
    assert!(text.contains("\"line\":1,\"id\":1.50,"), "{text}");
}

#[test]
fn a_diverse_choice_for_an_annotation_tool_has_no_near_duplicates() {
    let dir = dir();
    dir.write("pool.txt", TEXT.replace("qq Zz qq .", "qq Zz 7 . Rome closed . qq Zz 12 ."));
    let choose = |options: &str| {
        let line = format!("tag m pool.txt --uncertain 9 --output label-studio {options}");
        dir.run(&line).json().as_array().unwrap().clone()
    };
    let (all, diverse) = (choose(""), choose("--diverse --threshold 0"));
    assert_eq!((all.len(), diverse.len()), (6, 5));
    // Each sentence is a text of its own, with positions in it.
    let is_own = |task: &&Value| task["data"]["text"] == "Rome closed .";
    let task = diverse.iter().find(is_own).unwrap();
    assert_eq!((&task["data"]["file"], &task["data"]["line"]), (&"pool.txt".into(), &2.into()));
    let region = &task["predictions"][0]["result"][0];
    assert_eq!((&region["value"]["start"], &region["value"]["end"]), (&0.into(), &4.into()));
    assert!(region["score"].as_f64().unwrap() > 0.3, "{region}");
}

#[test]
fn sentences_that_do_not_fit_in_memory_are_an_error() {
    let dir = dir();
    dir.write("many.txt", TEXT.repeat(2000));
    let error = dir.run("tag m many.txt --uncertain 100000 --memory 400k").exits(1);
    assert!(error.contains("do not fit in memory"), "{error}");
    dir.run("tag m many.txt --uncertain 10 --memory 400k").success();
}
