//! Training that is killed or interrupted, and resumed: the model and the log are those of a run
//! without interruption.

use std::env;
use std::thread;
use std::time::{Duration, Instant};

use dropchain_report::log::read_runs;
use serde_json::{Value, json};

use crate::support::{TestDir, wait};
#[cfg(unix)]
use crate::support::{finish, send};

/// Options of different kinds of training, each a second or less on the sample corpus. That all
/// kinds resume to the same bits is tested by the library and by the learners.
const KINDS: [&str; 4] = [
    "--dev dev.conll --warm-up 4",
    "--noise monte-carlo=1 --warm-up 3 --l1 0.1",
    "--algorithm arow",
    "--warm-start online --dev dev.conll --warm-up 4",
];

/// Returns how often a test kills training: `KILLS` times, as in `.ci/full`, or else `default`
/// times.
pub fn number_of_kills(default: usize) -> usize {
    env::var("KILLS").map_or(default, |kills| kills.parse().unwrap())
}

fn train(options: &str) -> String {
    format!(
        "train train.conll --template minimal --max-iterations 16 --quiet --model m --log log \
         --checkpoint state --checkpoint-every 1 {options}"
    )
}

/// Returns the runs in the log without times and thread counts.
pub fn log(dir: &TestDir) -> Value {
    let mut runs = read_runs(&dir.text("log"), "log").unwrap();
    for run in &mut runs {
        run.header.threads = 0;
        run.iterations.iter_mut().for_each(|iteration| iteration.time = Duration::ZERO);
        run.end.iter_mut().for_each(|end| end.time = Duration::ZERO);
    }
    json!(runs) // NaN is not equal to itself
}

/// A generator of pseudorandom numbers in [0, 1).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Resumes training three times, and kills it after a random time up to `longest`, unless it has
/// ended. Returns the number of kills, and of those after which there was a checkpoint.
pub fn kill_three_times(
    dir: &TestDir,
    line: &str,
    longest: Duration,
    random: &mut Random,
) -> [usize; 2] {
    let [mut kills, mut checkpoints] = [0, 0];
    for _ in 0..3 {
        let mut child = dir.command(&format!("{line} --resume")).spawn().unwrap();
        thread::sleep(longest.mul_f64(random.next()));
        let has_ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        wait(&mut child, "train");
        if has_ended {
            break;
        }
        kills += 1;
        checkpoints += usize::from(dir.path("state").exists());
    }
    [kills, checkpoints]
}

#[test]
fn training_killed_at_any_moment_resumes_to_the_same_model_and_log() {
    let dir = TestDir::with_sample_corpus();
    let mut random = Random(1);
    let mut checkpoints = 0;
    let all_kills = number_of_kills(KINDS.len());
    for (number, kind) in KINDS.iter().enumerate() {
        let line = train(kind);
        let begin = Instant::now();
        dir.run(&line).success();
        let duration = begin.elapsed();
        assert!(!dir.path("state").exists());
        let (model, records) = (dir.bytes("m"), log(&dir));
        let mut kills = 0;
        while kills < all_kills / KINDS.len() {
            dir.write("m", "");
            dir.write("log", "");
            let counts = kill_three_times(&dir, &line, duration.mul_f64(1.1), &mut random);
            kills += counts[0];
            checkpoints += counts[1];
            let threads = 1 + kills % 3;
            dir.run(&format!("{line} --resume --threads {threads}")).success();
            assert!(dir.bytes("m") == model, "{kind}: another model");
            assert_eq!(log(&dir), records, "{kind}");
            let expected = ["dev.conll", "log", "m", "train.conll"];
            // A process that is killed while it writes a file leaves its temporary file.
            let mut names = dir.names();
            names.retain(|name| !name.starts_with(".dropchain-"));
            assert_eq!(names, expected, "{number}");
        }
    }
    assert!(checkpoints > all_kills / 5, "{checkpoints} of {all_kills} runs had made a checkpoint");
}

#[cfg(unix)]
#[test]
fn interrupted_training_resumes_to_the_same_model_and_log() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{} --max-iterations 60", train(KINDS[0]));
    let line = line.replace("--max-iterations 16", "").replace("--quiet", "");
    dir.run(&line).success();
    let (model, records) = (dir.bytes("m"), log(&dir));
    // By time, the only checkpoint is that of the interrupt.
    let line = line.replace("--checkpoint-every 1", "--checkpoint-every 1h");
    dir.write("m", "");
    dir.write("log", "");
    let mut child = dir.command(&line).spawn().unwrap();
    while !dir.text("log").contains("\"iteration\":2,") {
        thread::sleep(Duration::from_millis(2));
    }
    send("INT", &mut child);
    let output = finish(child, &line);
    assert_eq!(output.status.code(), Some(130), "{output:#?}");
    assert!(output.stderr.contains("repeat the command with --resume"), "{output:#?}");
    assert!(dir.bytes("m") != model);
    dir.run(&line).fails_with("continue it with --resume");
    let output = dir.run(&format!("{line} --resume"));
    assert!(output.stderr.contains("resuming after iteration"), "{output:#?}");
    output.success();
    assert!(dir.bytes("m") == model);
    assert_eq!(log(&dir), records);
    assert!(!dir.path("state").exists());
}
