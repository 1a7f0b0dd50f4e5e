//! Runs a target on its stored inputs, then on random changes of them.
//!
//! Inputs are files: `seeds/TARGET/` has valid and nearly valid ones that together reach every
//! branch, `crashers/TARGET/` each input that once failed. A run is a function of the seed and the
//! number of iterations.

use std::any::Any;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use crate::ALLOCATOR;
use crate::mutate::{Mutator, Random};

/// Number of random inputs per target, unless `FUZZ_ITERATIONS` says otherwise: a second or two.
const ITERATIONS: u64 = 400;

/// Maximum length of a random input, in bytes.
const MAX_INPUT: usize = 16 << 10;

/// Memory that an input may take, in MB. All targets run in one process, so this is a bound for
/// several inputs at a time.
const MAX_MEMORY: f32 = 512.0;

/// How long an input may take in a long run. In a short one, such as that of `cargo test` beside
/// other work, time says nothing.
const MAX_SECONDS: u32 = 10;

/// Changes an input to another one; the second argument is an input to take parts from.
pub type Mutate<'a> = &'a dyn Fn(&mut Mutator, &mut Vec<u8>, &[u8]);

/// What to fuzz.
pub struct Target<'a> {
    /// The name of its folders.
    pub name: &'a str,
    /// Further inputs to start from, such as models of this version.
    pub seeds: Vec<Vec<u8>>,
    /// Words to insert.
    pub dictionary: Vec<String>,
    /// How to change inputs; [`Mutator::mutate`] if `None`.
    pub mutate: Option<Mutate<'a>>,
}

impl<'a> Target<'a> {
    pub fn new(name: &'a str, dictionary: &str) -> Self {
        Self { name, seeds: Vec::new(), dictionary: words(dictionary), mutate: None }
    }

    /// Calls `check` with each input; it panics if a property does not hold.
    pub fn run(self, check: impl Fn(&[u8])) {
        let mut inputs = self.seeds.clone();
        for folder in ["seeds", "crashers"] {
            inputs.extend(stored(&root().join(folder).join(self.name)));
        }
        assert!(!inputs.is_empty(), "no seeds for {}", self.name);
        let mut run = Run::new(self.name, &check);
        for input in &inputs {
            run.input(input);
        }
        self.fuzz(&mut run, &inputs);
    }

    fn fuzz(&self, run: &mut Run<'_>, inputs: &[Vec<u8>]) {
        let seed = number("FUZZ_SEED").unwrap_or(1);
        let iterations = number("FUZZ_ITERATIONS").unwrap_or(ITERATIONS);
        let mut mutator = Mutator::new(
            Random::new(seed ^ xxh3_64(self.name.as_bytes())),
            &self.dictionary,
            MAX_INPUT,
        );
        for _ in 0..iterations {
            let mut input = mutator.random.choose(inputs).cloned().unwrap_or_default();
            let other = mutator.random.choose(inputs).cloned().unwrap_or_default();
            match self.mutate {
                Some(mutate) => mutate(&mut mutator, &mut input, &other),
                None => mutator.mutate(&mut input, &other),
            }
            run.input(&input);
        }
        let (name, given) = (self.name, inputs.len());
        println!("{name}: seed {seed}, {given} stored inputs, {iterations} random ones");
        println!("{name}: the slowest took {:.1?}", run.slowest);
    }
}

/// The words of a dictionary, between blanks; in a word, `␣` is a blank, `⇥` a tab, and
/// `↵` a line end.
pub fn words(text: &str) -> Vec<String> {
    let words = text.split([' ', '\n']).filter(|word| !word.is_empty());
    words.map(|word| word.replace('␣', " ").replace('⇥', "\t").replace('↵', "\n")).collect()
}

/// The inputs of one target, one after the other.
struct Run<'a> {
    name: &'a str,
    check: &'a dyn Fn(&[u8]),
    /// The input being checked, in case that it ends the process: its length and its bytes.
    current: File,
    slowest: Duration,
    /// Told of every check that begins.
    watch: Sender<()>,
}

impl<'a> Run<'a> {
    fn new(name: &'a str, check: &'a dyn Fn(&[u8])) -> Self {
        fs::create_dir_all(target_folder()).unwrap();
        Self {
            name,
            check,
            current: File::create(target_folder().join(format!("{name}.current"))).unwrap(),
            slowest: Duration::ZERO,
            watch: watch(name.to_owned()),
        }
    }

    /// Checks an input.
    fn input(&mut self, input: &[u8]) {
        self.current.set_len(0).unwrap();
        self.current.write_all_at(input, 0).unwrap();
        ALLOCATOR.reset_peak_usage();
        let started = Instant::now();
        let result = self.check(input);
        let elapsed = started.elapsed();
        if elapsed > self.slowest {
            self.slowest = elapsed;
            save(&target_folder().join("slowest").join(self.name), input);
        }
        let memory = ALLOCATOR.peak_usage_as_mb();
        let failure = match &result {
            Err(panic) => message(&**panic),
            Ok(()) if memory > MAX_MEMORY => format!("took {memory} MB of memory"),
            Ok(()) => return,
        };
        let small = match result {
            Err(_) => self.minimize(input),
            Ok(()) => input.to_vec(),
        };
        let file = save(&target_folder().join("crashers").join(self.name), &small);
        panic!(
            "{}: {failure}\nthe input is {}: move it to tests/fuzz/crashers/{}/ and repair",
            self.name,
            file.display(),
            self.name
        );
    }

    fn check(&self, input: &[u8]) -> thread::Result<()> {
        let _ = self.watch.send(());
        catch_unwind(AssertUnwindSafe(|| (self.check)(input)))
    }

    /// Removes parts of a failing input as long as it fails.
    fn minimize(&self, input: &[u8]) -> Vec<u8> {
        let fails = |input: &[u8]| self.check(input).is_err();
        let mut small = input.to_vec();
        let mut size = small.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < small.len() {
                let mut shorter = small.clone();
                shorter.drain(at..(at + size).min(small.len()));
                if fails(&shorter) {
                    small = shorter;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        small
    }
}

/// Ends the process if a check of a long run takes too long, for it may take forever.
fn watch(name: String) -> Sender<()> {
    let (sender, checks) = mpsc::channel();
    if number("FUZZ_ITERATIONS").is_some() {
        thread::spawn(move || {
            let mut seconds = 0;
            while seconds < MAX_SECONDS {
                // One by one: those in which the process is stopped do not count.
                seconds = match checks.recv_timeout(Duration::from_secs(1)) {
                    Ok(()) => 0,
                    Err(RecvTimeoutError::Timeout) => seconds + 1,
                    Err(RecvTimeoutError::Disconnected) => return,
                };
            }
            let file = target_folder().join(format!("{name}.current"));
            println!("{name}: more than {seconds} seconds for {}", file.display());
            std::process::exit(1);
        });
    }
    sender
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("panicked").to_owned()
}

/// A number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    let parsed = value.parse();
    Some(parsed.unwrap_or_else(|_| panic!("{variable}={value}: expected a number")))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz")
}

/// Where failing inputs are written.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz")
}

/// Reads the files of a folder, in the order of their names; none if it does not exist.
fn stored(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Writes an input to a folder, named by its hash.
fn save(folder: &Path, input: &[u8]) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let file = folder.join(format!("{:016x}", xxh3_64(input)));
    fs::write(&file, input).unwrap();
    file
}
