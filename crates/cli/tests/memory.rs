//! Limits on memory: too much is an error before it is an abort, and long runs do not grow.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use dropchain::corpus::{Format, ReadLimits, ReadOptions};
use dropchain::{Corpus, MemoryLimit, Sentence, Template, TrainOptions, Trainer};

use crate::support::{NER_CORPUS, TestDir, finish, gzip, wait_until};

/// How the models that tag are trained.
const MODEL: &str = "--columns word,pos,label --template minimal";

/// A field of `/proc/PID/status` in bytes; `None` once the process has ended, or not on Linux.
fn process_status(process: u32, field: &str) -> Option<u64> {
    status_field(&status(process)?, field)
}

fn status(process: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/status")).ok()
}

fn status_field(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn has_proc() -> bool {
    let has_proc = process_status(std::process::id(), "VmHWM:").is_some();
    if !has_proc {
        println!("skipped: the system does not report the memory of processes");
    }
    has_proc
}

/// Runs the program, and returns its peak memory in bytes, without that of its own code, with its
/// output.
fn peak(dir: &TestDir, line: &str) -> (u64, crate::support::Output) {
    let mut child = dir.command(line).stdin(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        // Of one moment: a process that ends has no files any more.
        let status = status(child.id()).unwrap_or_default();
        let fields = ["VmHWM:", "RssFile:"].map(|field| status_field(&status, field));
        if let [Some(all), Some(files)] = fields {
            peak = all.saturating_sub(files).max(peak);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    (peak, finish(child, line))
}

/// Sentences of one token each.
fn short_sentences(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        let _ = write!(text, "w{} {}\n\n", i % 7, ["O", "X"][i % 2]);
        text
    })
}

/// A corpus with `labels` labels: each token is a word of its own.
fn many_labels(labels: usize) -> String {
    (0..labels).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "w{} l{i}", i % 50);
        if i % 10 == 9 {
            text.push('\n');
        }
        text
    })
}

/// A corpus of words that occur once.
fn many_words(words: usize) -> String {
    (0..words).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "word{i}x{i} {}", ["O", "X", "Y"][i % 3]);
        if i % 10 == 9 {
            text.push('\n');
        }
        text
    })
}

#[test]
fn a_corpus_over_the_limit_is_an_error_with_its_line() {
    let dir = TestDir::with_model(NER_CORPUS, MODEL);
    // Compressed a hundred times: its size says nothing.
    dir.write("bomb.conll", gzip(&short_sentences(100_000)));
    dir.write("small.conll", short_sentences(100));
    for command in [
        "train --quiet bomb.conll --template minimal --model new",
        "train --quiet small.conll --template minimal --model new --dev bomb.conll",
        "train --quiet small.conll --template minimal --model new --unlabeled bomb.conll",
        "tune --quiet bomb.conll --template minimal --model new --folds 2",
        "eval --predictions bomb.conll bomb.conll",
        "compare bomb.conll bomb.conll bomb.conll",
        "bench gradients --quiet bomb.conll --template minimal",
    ] {
        let message = dir.run(&format!("{command} --memory 5M")).failure();
        let place = message.strip_prefix("bomb.conll:");
        let place = place.unwrap_or_else(|| panic!("{command}: {message}"));
        let (line, rest) = place.split_once(": ").unwrap();
        assert!((1_000..100_000).contains(&line.parse::<u64>().unwrap()));
        assert_eq!(
            rest,
            "the sentences up to here need more memory than the limit, 5 MB; expected less text \
             or a larger limit (--memory)",
            "{command}"
        );
    }
    assert_eq!(dir.names(), ["bomb.conll", "m", "small.conll", "train.conll"]);
    // Clusters keep words, not sentences.
    let words: String = (0..100_000).map(|i| format!("word-{i}\n")).collect();
    dir.write("words.txt", words);
    dir.run("cluster --quiet words.txt --output paths --memory 5M")
        .fails_with(": the text up to here needs more memory than the limit, 5 MB");
    // A stream keeps nothing.
    dir.run("tag m bomb.conll --format conll --columns word,pos --memory 5M").success();
}

#[test]
fn the_attributes_of_a_corpus_count_against_the_limit() {
    let dir = TestDir::new(&[]);
    let words = (0..20_000).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "w{i}x{i}y{i} O");
        if i % 10 == 9 {
            text.push('\n');
        }
        text
    });
    dir.write("train.conll", words);
    let message =
        dir.run("train --quiet train.conll --template ner --model m --memory 6M").failure();
    assert!(message.starts_with("train.conll:"), "{message}");
    assert!(
        message.contains(": the attributes up to here need more memory than the limit, 6 MB;"),
        "{message}"
    );
}

#[test]
fn a_sentence_over_the_memory_limit_is_an_error_with_its_line() {
    let dir = TestDir::new(&[]);
    let cases = [
        ("long.conll", "word O\n".repeat(1_000_000)),
        ("long.crfsuite", "A\ta\tb\tc\n".repeat(500_000)),
        ("comments.conllu", "# comment\n".repeat(1_000_000)),
        ("starts.conll", "-DOCSTART- -X-\n".repeat(1_000_000)),
        ("long.jsonl", format!("{{\"tokens\":[\"a\"{}]}}\n", ",\"a\"".repeat(1_000_000))),
        ("attributes.crfsuite", format!("A{}\n", "\tattribute".repeat(500_000))),
    ];
    for (name, text) in cases {
        dir.write(name, text);
        let memory = MemoryLimit::Bytes(20_000_000);
        let limits = ReadLimits { max_sentence: 10_000_000, memory };
        let format = Some(Format::guess(name));
        let options = ReadOptions { format, limits, ..ReadOptions::default() };
        let message = Corpus::read([dir.path(name)], &options).unwrap_err().to_string();
        assert!(message.contains(&format!("{name}:")), "{message}");
        assert!(
            message.contains("the sentence up to here needs more memory than the limit, 20 MB"),
            "{message}"
        );
    }
}

#[test]
fn a_sentence_that_is_too_long_is_refused_with_its_first_line() {
    let dir = TestDir::new(&[
        ("a.conll", "a O\n\nb O\nc O\nd B\n"),
        ("a.conllu", "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n"),
        ("a.crfsuite", "X\ta\n\nX\ta\nX\ta\nY\ta\n"),
        ("a.jsonl", "{\"tokens\":[\"a\",\"b\",\"c\"],\"labels\":[\"O\",\"O\",\"B\"]}\n"),
    ]);
    let rows: String = (1..4).map(|i| format!("{i}\ta\t_\tX{i}\t_\t_\t_\t_\t_\t_\n")).collect();
    dir.write("a.conllu", rows);
    for (file, line) in [("a.crfsuite", 3), ("a.conllu", 1), ("a.jsonl", 1), ("a.conll", 3)] {
        let read = |max_sentence| {
            let limits = ReadLimits { max_sentence, ..ReadLimits::default() };
            let format = Some(Format::guess(file));
            let options = ReadOptions { format, limits, ..ReadOptions::default() };
            Corpus::read([dir.path(file)], &options).map(|corpus| corpus.sentences().len())
        };
        let error = read(2).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!(
                "{file}:{line}: the sentence that begins here has more than 2 tokens; expected \
                 fewer (are the blank lines between sentences missing? `max_sentence` changes the \
                 limit)"
            )),
            "{error}"
        );
        read(3).unwrap();
    }
    dir.run("train --quiet a.conll --template minimal --model m").success();
    for command in
        ["cluster --quiet a.conll --output p", "tag --quiet m a.conll --columns word,label"]
    {
        dir.run(&format!("{command} --max-sentence 2"))
            .fails_at("a.conll:3: the sentence that begins");
    }
    // The default.
    dir.write("long.conll", "a O\n".repeat(100_001));
    dir.run("train --quiet long.conll --template minimal --model m")
        .fails_at("long.conll:1: the sentence that begins here has more than 100000 ");
}

#[test]
fn raw_text_is_split_into_sentences_of_the_maximum_length() {
    let dir = TestDir::with_model(NER_CORPUS, MODEL);
    let text = "one two three four five six seven";
    let tagged = dir.run_with_stdin("tag m --max-sentence 3", text).success();
    let sentences: Vec<usize> = tagged.split("\n\n").map(|s| s.lines().count()).collect();
    assert_eq!(sentences, [3, 3, 1, 0]);
    let words: Vec<&str> = tagged.split_whitespace().step_by(2).collect();
    assert_eq!(words.join(" "), text);
    // Offsets are those of the text, as without the limit.
    let json = format!("{{\"text\":\"{text}\"}}\n");
    let offsets = |options: &str| {
        let tagged = dir.run_with_stdin(&format!("tag m --format jsonl {options}"), &json);
        let lines = tagged.json_lines();
        let offsets = lines.iter().flat_map(|line| line["offsets"].as_array().unwrap());
        offsets.cloned().collect::<Vec<_>>()
    };
    assert_eq!(offsets("--max-sentence 2"), offsets(""));
}

#[test]
fn training_over_the_limit_is_an_error_before_it_is_allocated() {
    let dir = TestDir::new(&[("edges.tpl", "word\nedge: word\n")]);
    dir.write("train.conll", many_labels(4_096));
    let line = "train train.conll --quiet --template edges.tpl --model m --memory 8G";
    let (peak, output) = peak(&dir, line);
    let message = output.failure();
    let (before, after) = message.split_once(": about ").unwrap();
    assert!(
        before.starts_with("training on ") && before.ends_with(" weights of 4096 labels"),
        "{message}"
    );
    let (needed, advice) = after.split_once(" MB of memory needed; ").unwrap();
    assert!(needed.parse::<u64>().unwrap() > 30_000, "{message}");
    assert_eq!(
        advice,
        "the limit is 8000 MB; expected fewer weights (--states observed, --min-count 2), fewer \
         labels or a larger limit (--memory)"
    );
    assert!(peak < 500_000_000, "{peak} bytes were allocated");
}

#[test]
fn too_many_clusters_for_the_memory_are_an_error_before_they_are_allocated() {
    let words: String = (0..9_000).map(|i| format!("a{i} b ")).collect();
    let dir = TestDir::new(&[("text.txt", &words)]);
    let message =
        dir.run("cluster text.txt --clusters 9000 --output paths --memory 100M --quiet").failure();
    assert!(
        message.starts_with("clustering: about 1") && message.contains("the limit is 100 MB"),
        "{message}"
    );
    assert!(!dir.path("paths").exists());
}

#[test]
fn the_estimated_memory_is_close_to_the_peak() {
    if !has_proc() {
        return;
    }
    let dir = TestDir::with_sample_corpus();
    dir.write("labels.conll", many_labels(400));
    dir.write("edges.tpl", "word\nword[-1]\nedge: word\n");
    let sample = "train train.conll --columns word,pos,label --template ner --dev dev.conll";
    for (name, line) in [
        ("sample", format!("{sample} --max-iterations 9")),
        (
            "labels",
            "train labels.conll --max-iterations 2 --template minimal --states all".to_owned(),
        ),
        ("pairs of labels", "train labels.conll --max-iterations 2 --template minimal".to_owned()),
        (
            "edges",
            "train train.conll --max-iterations 9 --template edges.tpl --label pos \
             --columns word,pos,ner"
                .to_owned(),
        ),
    ] {
        let line = format!("{line} --model m --log log --threads 2 --quiet");
        let (peak, output) = peak(&dir, &line);
        output.success();
        let start = &dir.json_lines("log")[0];
        let estimate = start["estimated_memory"].as_u64().unwrap();
        // The decision has a table of larger runs. Small ones depend more on the allocator.
        let (estimate, peak) = (estimate as f64, peak as f64);
        let is_close = peak < 1.1 * estimate + 10e6 && estimate < 1.4 * peak + 15e6;
        assert!(is_close, "{name}: {estimate} for {peak}");
    }
}

/// The resident memory of `tag` after each part of a stream of unique words.
fn tagging_memory(dir: &TestDir, parts: usize, words_per_part: usize) -> Vec<u64> {
    let line = "tag m --format text --threads 2";
    let mut child = dir.command(line).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut memory = Vec::new();
    let mut number = 0u64;
    for _ in 0..parts {
        let mut text = String::new();
        for i in 0..words_per_part {
            number += 1;
            let end = if i % 10 == 9 { '\n' } else { ' ' };
            let _ = write!(text, "Word{number}x{:x}{end}", number * 0x9e37);
        }
        input.write_all(text.as_bytes()).unwrap();
        memory.push(process_status(child.id(), "VmRSS:").unwrap());
    }
    drop(input);
    finish(child, line).success();
    memory
}

#[test]
fn tagging_new_words_without_end_does_not_grow() {
    if !has_proc() {
        return;
    }
    let dir = TestDir::with_model(NER_CORPUS, "--columns word,pos,label --template ner");
    let memory = tagging_memory(&dir, 10, 30_000);
    // Caches are full after the first parts.
    let (warm, last) = (memory[4], memory[9]);
    assert!(last < warm + (4 << 20), "grows: {memory:?}");
}

/// Trains again and again in this process, and checks that its memory does not grow. Runs in a
/// process of its own, with `DROPCHAIN_TRAININGS` as the number of trainings.
#[expect(clippy::print_stdout, reason = "reports the memory to whoever runs it")]
#[test]
#[ignore = "runs in a process of its own"]
fn sequential_trainings() {
    let count = std::env::var("DROPCHAIN_TRAININGS");
    let count = count.map_or(1000, |count| count.parse::<usize>().unwrap());
    let corpus: Corpus = (0..60)
        .map(|i| {
            let words = (0..5).map(|t| format!("w{}", (7 * i + 3 * t) % 40));
            let labels = (0..5).map(|t| ["O", "B-X", "I-X"][(i + t) % 3].to_owned());
            Sentence::from_words(words).with_labels(labels).unwrap()
        })
        .collect();
    let options = TrainOptions { max_iterations: Some(8), ..TrainOptions::default() };
    let trainer = Trainer::new(options).unwrap();
    let memory = || process_status(std::process::id(), "VmRSS:").unwrap();
    let mut warm = 0;
    for i in 1..=count {
        let template = Template::shipped("ner").unwrap().unwrap();
        let trained = trainer.train(corpus.clone(), template, &mut ()).unwrap();
        assert!(!trained.model.as_bytes().is_empty());
        if i == count / 10 {
            warm = memory();
        }
        if i.is_multiple_of(count.div_ceil(10)) {
            println!("{i} trainings: {} kB", memory() / 1024);
        }
    }
    let growth = memory().saturating_sub(warm);
    assert!(growth < 4 << 20, "grew by {growth} bytes");
}

#[test]
fn a_hundred_trainings_in_one_process_do_not_grow() {
    if !has_proc() {
        return;
    }
    let test = std::env::current_exe().unwrap();
    let mut child = Command::new(test)
        .args(["--ignored", "--exact", "memory::sequential_trainings"])
        .env("DROPCHAIN_TRAININGS", "100")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("100 trainings", || child.try_wait().unwrap().is_some());
    let output = finish(child, "(100 trainings)").success();
    assert!(output.contains("1 passed"), "{output}");
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_address_space_is_an_error_and_leaves_no_files() {
    let dir = TestDir::with_model(NER_CORPUS, MODEL);
    dir.write("words.conll", many_words(5_000));
    let texts = (0..30_000).fold(String::new(), |mut text, i| {
        let end = if i % 60 == 59 { "\n" } else { " " };
        let _ = match i % 60 {
            0 => write!(text, "{}\tword{i} ", i / 60 % 2),
            _ => write!(text, "word{i}{end}"),
        };
        text
    });
    dir.write("texts.tsv", texts);
    dir.shell("\"$D\" classify train texts.tsv --max-iterations 2 --model classifier");
    let names = dir.names();
    let run = |command: &str, megabytes: usize| {
        let line = format!("ulimit -v {megabytes}000 && exec \"$D\" {command}");
        let output = dir.shell(&line);
        (output.status.code(), output.stderr)
    };
    let starts = (1..100).find(|tens| run("--version", 10 * tens).0 == Some(0)).unwrap() * 10;
    let train = "--max-iterations 2 --model new --threads 2";
    for (command, can_fail) in [
        (&*format!("train words.conll --template ner-two-passes {train}"), true),
        (&*format!("tune words.conll --template ner --folds 2 --l2 1 {train}"), true),
        (&*format!("classify train texts.tsv --loss logistic {train}"), true),
        (&*format!("classify tune texts.tsv --folds 2 --l2 1 {train}"), true),
        ("classify predict classifier texts.tsv", true),
        ("tag m words.conll --columns word,pos --threads 2", false),
        ("tag m /dev/zero --threads 2", true),
    ] {
        let mut refused = 0;
        for more in [10, 20, 30, 60] {
            let (code, message) = run(command, starts + more);
            assert!(matches!(code, Some(0 | 1)), "{starts} + {more}: {command}: {message}");
            refused += usize::from(code == Some(1));
            let _ = fs::remove_file(dir.path("new"));
            assert_eq!(dir.names(), names, "{starts} + {more}: {command}");
        }
        assert!(refused > 0 || !can_fail, "{command}: there was space enough");
    }
}
