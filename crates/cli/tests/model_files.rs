//! Model files that change, disappear, or are not files.

use std::fs::{self, OpenOptions};

use crate::support::{NER_CORPUS, Session, TestDir, sample_corpus};

/// A directory with two models, `m` and `other`, with different labels and weights.
fn two_models() -> TestDir {
    let train = sample_corpus("train");
    let renamed = train.replace("PER", "XYZ").replace("LOC", "PER");
    let options = "--template ner --max-iterations 8 --quiet";
    let lines = format!(
        "train train.conll --model m --l2 0.1 {options};\
         train other.conll --model other --l2 3 {options}"
    );
    TestDir::trained(&[("train.conll", &train), ("other.conll", &renamed)], &lines)
}

/// The sentences of the sample corpus, one per line.
fn lines(part: &str) -> Vec<String> {
    let corpus = sample_corpus(part);
    let sentences = corpus.trim_end().split("\n\n");
    let words = |sentence: &str| {
        let words = sentence.lines().filter_map(|line| line.split_whitespace().next());
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    sentences.map(words).collect()
}

/// Changes a model file in some way.
type Change = fn(&TestDir);

fn set_length(dir: &TestDir, length: usize) {
    let file = OpenOptions::new().write(true).open(dir.path("m")).unwrap();
    file.set_len(length as u64).unwrap();
}

#[test]
fn labels_stay_whatever_happens_to_the_model_file() {
    let changes: [Change; 6] = [
        // As `cp` does it: into the same file.
        |dir| fs::write(dir.path("m"), dir.bytes("other")).unwrap(),
        |dir| set_length(dir, 0),
        |dir| set_length(dir, 10 * dir.bytes("m").len()),
        |dir| fs::write(dir.path("m"), vec![0; dir.bytes("m").len()]).unwrap(),
        |dir| fs::remove_file(dir.path("m")).unwrap(),
        |dir| fs::rename(dir.path("other"), dir.path("m")).unwrap(),
    ];
    let lines = lines("dev");
    let dir = two_models();
    let tag = |line: &String| dir.run_with_stdin("tag m --output inline", line).success();
    let expected: Vec<String> = lines.iter().take(12).map(tag).collect();
    assert!(expected.iter().any(|line| line.contains("[PER")));
    for change in changes {
        let dir = two_models();
        let mut session = Session::start(&dir, "tag m --output inline");
        session.exchange(&lines[0], &expected[0]);
        change(&dir);
        for (line, expected) in lines.iter().zip(&expected).skip(1) {
            session.exchange(line, expected);
        }
        session.finish();
    }
}

#[test]
fn blocks_of_another_model_are_never_mistaken_for_those_of_this_one() {
    // The beginning of a file from one model, the rest from another of the same size: what a
    // reader may see while the file is overwritten.
    let dir = two_models();
    let (first, second) = (dir.bytes("m"), dir.bytes("other"));
    let text = lines("dev")[..6].concat();
    let tag = |model: &str| dir.run_with_stdin(&format!("tag {model} --output inline"), &text);
    let expected = tag("m").success();
    let mut detected = 0;
    for part in 1..20 {
        let at = first.len() * part / 20;
        let torn: Vec<u8> = (0..first.len())
            .map(|i| if i < at { first[i] } else { second.get(i).copied().unwrap_or(0) })
            .collect();
        dir.write("torn", torn);
        let output = tag("torn");
        if output.status.success() {
            assert_eq!(output.success(), expected, "{part}");
        } else {
            assert!(output.failure().contains("the model is damaged"), "{part}");
            detected += 1;
        }
    }
    assert!(detected > 5, "{detected}");
}

// Not a regular file

#[cfg(unix)]
#[test]
fn a_pipe_that_no_program_writes_to_is_an_error_and_does_not_hang() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    dir.make_pipe("pipe");
    for line in ["tag pipe train.conll", "inspect pipe", "eval pipe train.conll"] {
        assert_eq!(
            dir.run(line).failure(),
            "pipe: the file is empty, or a pipe that no program writes to; expected a dropchain \
             model",
            "{line}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_can_be_read_from_a_pipe() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    dir.write("text", "Ann Lee left Rome.\n");
    let model = dir.bytes("m");
    let expected = dir.run("tag m text").success();
    let tag = |bytes: &[u8]| dir.run_with_stdin("tag /dev/stdin text", bytes);
    assert_eq!(tag(&model).success(), expected);
    let (length, short) = (model.len(), model.len() - 1);
    assert_eq!(
        tag(&model[..short]).failure(),
        format!(
            "/dev/stdin: the model is damaged: it has {short} bytes; according to its preamble, \
             {length}; retrain it or restore a copy"
        )
    );
    tag(&[&model[..], b"\n"].concat()).fails_with("there are bytes after its last section");
    // A preamble that promises 2⁶² bytes, before data without end.
    let mut endless = model[..192].to_vec();
    endless[16..24].copy_from_slice(&(1_u64 << 62).to_le_bytes());
    endless.resize(10_000_000, 0);
    let message = tag(&endless).failure();
    let expected = "/dev/stdin: reading the model: about 4611686018428 MB of memory needed; ";
    assert!(message.starts_with(expected), "{message}");
}

// Memory

#[test]
fn a_sentence_that_takes_too_much_memory_is_an_error_at_its_line() {
    let train = sample_corpus("train");
    let line = "train train.conll --template my.tpl --max-iterations 3 --model m --quiet";
    let files = [("train.conll", train.as_str()), ("my.tpl", "word\nedge: word\n")];
    let dir = TestDir::trained(&files, line);
    let options = "--format conll --output conll";
    dir.write("long.conll", "Ann\tX\tO\n\n".to_owned() + &"a\tX\tO\n".repeat(40_000) + "\n");
    let tagged = dir.run(&format!("tag m long.conll {options}")).success();
    let output = dir.run(&format!("tag m long.conll {options} --memory 25M --quiet"));
    assert!(tagged.starts_with(&output.stdout) && output.stdout.starts_with("Ann"));
    let message = output.failure();
    let expected = "long.conll:3: tagging a sentence of 40000 tokens with 9 labels and edge \
                    attributes: about ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.contains("; the limit is 25 MB; expected a shorter sentence"), "{message}");
    // A hundred thousand paths of this sentence: 110 GB.
    dir.run("tag m long.conll --nbest 100000 --memory 20G --quiet").fails_at("long.conll:3: ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_of_many_labels_needs_memory_for_their_transitions() {
    use std::fmt::Write;
    let mut corpus = String::new();
    for i in 0..3000 {
        let _ = writeln!(corpus, "w{i} L{i}\n");
    }
    let dir = TestDir::new(&[("train.conll", &corpus), ("my.tpl", "bias\n"), ("text", "a\n")]);
    let line = "train train.conll --template my.tpl --order 0 --max-iterations 1 --model m";
    dir.run(line).success();
    dir.run("tag m text").success();
    // 300 MB of address space do not hold five arrays of 3000² numbers.
    let message = dir.shell("ulimit -v 300000 && exec \"$D\" tag m text --threads 1").failure();
    let expected = "m: a model of 3000 labels: about 360 MB of memory needed; ";
    assert!(message.starts_with(expected), "{message}");
}
