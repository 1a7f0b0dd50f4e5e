//! `dropchain-mpi` trains the models of `dropchain`, byte by byte, and no rank is left alone.
//!
//! Needs Open MPI, and the program `dropchain` beside this one: run `mpi/test`.
#![cfg(unix)]
#![allow(clippy::print_stdout)] // what is skipped

mod support;

use std::fs;
use std::thread::available_parallelism;

use support::{Ranks, public, sample, wait};

/// The options that describe the columns of the sample corpus.
const COLUMNS: &str = "--columns word,upos,ner --template ner";

fn with_sample(n: usize) -> Ranks {
    let [train, dev] = [sample("train", 300), sample("dev", 80)];
    Ranks::new(n, &[("train.conll", &train), ("dev.conll", &dev)])
}

fn train(options: &str) -> String {
    format!("train train.conll {COLUMNS} {options}")
}

/// Checks that several numbers of ranks train the model of one process.
fn assert_same_models(line: &str, numbers: &[usize], ranks: &Ranks) {
    let expected = ranks.reference(line);
    for &n in numbers {
        let output = ranks.run(n, &format!("{line} --model m --threads 1"));
        assert_eq!(output.code, Some(0), "{line}: {}", output.stderr);
        assert!(ranks.read(0, "m") == expected, "{n} ranks, {line}");
    }
}

#[test]
fn any_number_of_ranks_trains_the_same_model() {
    let ranks = with_sample(5);
    for (numbers, options) in [
        ([1, 3], "--dropout 0"),
        ([2, 5], "--dropout 0 --l1 0.3 --prune 0.001"),
        ([2, 3], "--warm-up 4 --dev dev.conll"),
        ([3, 5], "--warm-up 4 --unlabeled dev.conll"),
        ([2, 3], "--warm-up 4 --gradient message --states observed"),
        ([1, 5], "--warm-up 4 --noise reweighted=3 --caseless"),
        ([2, 3], "--noise gaussian --warm-up 3 --dev dev.conll"),
    ] {
        let line = train(&format!("--max-iterations 8 {options}"));
        assert_same_models(&line, &numbers, &ranks);
    }
}

#[test]
fn two_passes_train_the_same_model() {
    let ranks = with_sample(3);
    let line = train("--max-iterations 6 --dropout 0 --dev dev.conll");
    assert_same_models(&line.replace("ner ", "ner-two-passes "), &[3], &ranks);
}

#[test]
fn a_public_corpus_trains_the_same_model() {
    let parts = ["train.conll", "dev.conll", "unlabeled.txt"];
    let [Some(train), Some(dev), Some(text)] =
        parts.map(|part| public(&format!("wnut17/{part}"), 1000))
    else {
        println!("skipped: wnut17 not found");
        return;
    };
    let text: String = text.split_inclusive('\n').take(2000).collect();
    let ranks = Ranks::new(5, &parts.into_iter().zip([&*train, &dev, &text]).collect::<Vec<_>>());
    let line = "train train.conll --template ner --dev dev.conll --max-iterations 8 --warm-up 4";
    assert_same_models(line, &[2], &ranks);
    let line = format!("{line} --unlabeled unlabeled.txt dev.conll");
    assert_same_models(&line, &[1, 5], &ranks);
    assert_same_models(&line, &[3], &ranks);
}

/// Options for the sample.
const SAMPLE: &str = "--columns word,upos,ner --template minimal --states observed";

#[test]
fn ranks_may_outnumber_sentences() {
    let ranks = with_sample(5);
    let rare = format!("{}Ada\tPROPN\tB-MISC\n\n", sample("train", 120));
    let few = "Ada\tPROPN\tB-PER\n\nshe\tPRON\tO\n\nRome\tPROPN\tB-LOC\n";
    for rank in 0..5 {
        ranks.write(rank, "rare.conll", &rare);
        ranks.write(rank, "few.conll", few);
    }
    for line in [
        "train train.conll --max-iterations 6 --min-count 2 --scheme bioes",
        "train rare.conll train.conll --max-iterations 6 --unlabeled dev.conll",
        "train few.conll --max-iterations 6 --dev dev.conll",
    ] {
        assert_same_models(&format!("{line} {SAMPLE} --warm-up 3"), &[2, 5], &ranks);
    }
}

#[test]
fn rank_0_alone_writes_and_prints() {
    let ranks = with_sample(3);
    let output = ranks.run(3, &train("--max-iterations 2 --model m --log log"));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(output.stderr.matches("wrote m").count(), 1);
    assert_eq!(output.stderr.matches("iteration    2").count(), 1);
    let given = ["train.conll", "dev.conll"];
    assert_eq!(ranks.written(0, &given), ["log", "m"]);
    assert_eq!(ranks.written(1, &given), [""; 0]);
    assert_eq!(ranks.written(2, &given), [""; 0]);
}

#[test]
fn help_and_wrong_arguments_are_printed_once() {
    let ranks = Ranks::new(2, &[]);
    let version = ranks.run(2, "--version");
    assert_eq!(version.code, Some(0));
    let expected = format!("dropchain-mpi {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(version.stdout, expected);
    let help = ranks.run(2, "train --help");
    assert_eq!(help.code, Some(0));
    assert_eq!(help.stdout.matches("[OPTIONS]").count(), 1);
    let tag = ranks.run(2, "tag m");
    assert_eq!(tag.code, Some(2));
    assert_eq!(tag.stderr.matches("unrecognized subcommand 'tag'").count(), 1);
    assert_eq!(tag.stderr.matches("for others, use 'dropchain'").count(), 1);
}

#[test]
fn what_one_rank_finds_wrong_ends_all_with_one_message() {
    let ranks = with_sample(3);
    let fails = |options: &str, expected: &str| {
        let line = train(&format!("--model m --max-iterations 2 --quiet {options}"));
        let output = ranks.run(3, &line);
        assert_eq!(output.code, Some(1), "{line}: {}", output.stderr);
        assert_eq!(output.message(), format!("error: {expected}"));
        assert!(!ranks.path(0, "m").exists());
    };
    let text = sample("train", 300);
    fs::remove_file(ranks.path(2, "train.conll")).unwrap();
    fails("", "rank 2: train.conll: No such file or directory (os error 2)");
    ranks.write(2, "train.conll", &text.replacen("London", "Londinium", 1));
    fails(
        "",
        "rank 2 read other sentences from train.conll than rank 0; expected the same files and \
         options on all machines",
    );
    ranks.write(2, "train.conll", &text);
    ranks.write(0, "run.options", "--l2=0.5\n");
    ranks.write(2, "run.options", "--l2=0.6\n");
    fails("--config run.options", "rank 1: run.options: No such file or directory (os error 2)");
    ranks.write(1, "run.options", "--l2=0.5\n");
    fails(
        "--config run.options",
        "rank 2 has other options than rank 0; expected the same files and options on all machines",
    );
    fails("--dropout 2", "dropout 2; expected a rate of at least 0 and below 1");
}

#[test]
fn what_ranks_cannot_divide_is_refused() {
    let ranks = with_sample(2);
    for options in ["--algorithm ap", "--warm-start online", "--noise monte-carlo"] {
        let output = ranks.run(2, &train(&format!("--model m {options}")));
        assert_eq!(output.code, Some(1));
        let expected = format!("error: {options} ");
        assert!(output.message().starts_with(&expected), "{}", output.stderr);
    }
    for line in [
        format!("train - {COLUMNS} --model m"),
        "train train.conll --config - --model m".to_owned(),
        train("--model m --clusters -"),
    ] {
        let output = ranks.run(2, &line);
        assert_eq!(output.code, Some(1), "{line}");
        let expected = "error: -: standard input reaches rank 0 alone";
        assert!(output.message().starts_with(expected), "{}", output.stderr);
    }
    assert_eq!(ranks.written(0, &["train.conll", "dev.conll"]), [""; 0]);
    let line = train("--algorithm ap --max-iterations 2");
    assert_same_models(&line, &[1], &ranks);
}

#[test]
fn what_rank_0_cannot_write_is_an_error_of_all() {
    let ranks = with_sample(2);
    fs::create_dir(ranks.path(0, "m")).unwrap();
    let output = ranks.run(2, &train("--max-iterations 2 --quiet --model m"));
    assert_eq!(output.code, Some(1));
    assert!(output.message().starts_with("error: rank 0: m: "));
    fs::create_dir(ranks.path(0, "out")).unwrap();
    let line = train("--max-iterations 40 --model out/late --dropout 0 --threads 1");
    let child = ranks.start(2, &line);
    fs::remove_dir_all(ranks.path(0, "out")).unwrap();
    let output = wait(child);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("out/late: "), "{}", output.stderr);
}

#[test]
fn a_killed_rank_ends_all_and_leaves_an_old_model() {
    let ranks = with_sample(3);
    let old = "DROPCRF\nan old model";
    ranks.write(0, "m", old);
    let child = ranks.start(3, &train("--model m --l2 1e-9 --dropout 0.5 --threads 1"));
    ranks.send("KILL", 2);
    let output = wait(child);
    assert_ne!(output.code, Some(0), "{}", output.stderr);
    for part in ["noticed that process rank 2 with PID", "signal 9 (Killed)"] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    assert_eq!(ranks.read(0, "m"), old.as_bytes());
}

#[test]
fn an_interrupted_run_saves_its_model_and_resumes_with_other_ranks() {
    let ranks = with_sample(3);
    let line = train("--max-iterations 40 --dev dev.conll --threads 1");
    let expected = ranks.reference(&line);
    let line = format!("{line} --model m --checkpoint state --checkpoint-every 1 --resume");
    let child = ranks.start(2, &line);
    ranks.send("TERM", 0);
    let output = wait(child);
    assert_eq!(output.code, Some(143), "{}", output.stderr);
    let message = "error: interrupted by SIGTERM after ";
    assert_eq!(output.stderr.matches(message).count(), 1, "{}", output.stderr);
    assert!(ranks.read(0, "m") != expected);
    assert!(!ranks.path(1, "state").exists());
    let output = ranks.run(3, &line);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(output.stderr.contains("resuming after iteration"));
    assert!(ranks.read(0, "m") == expected);
}

#[test]
fn ranks_share_the_processors_of_their_machine() {
    let all = available_parallelism().unwrap().get();
    let ranks = with_sample(2);
    let threads = |binding: &str, n: usize| {
        let line = train("--max-iterations 1 --model m --log log");
        let output = ranks.run_with(binding, n, &line);
        assert_eq!(output.code, Some(0), "{}", output.stderr);
        let log = String::from_utf8(ranks.read(0, "log")).unwrap();
        let (_, rest) = log.split_once("\"threads\":").unwrap();
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(threads("--bind-to none", 1), all);
    assert_eq!(threads("--bind-to none", 2), (all / 2).max(1));
    assert_eq!(threads("--bind-to core --cpus-per-proc 1", 2), 1);
}
