//! Runs the program in a temporary directory.

mod browser;
#[cfg(unix)]
mod server;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

pub use browser::Browser;
#[cfg(unix)]
pub use server::{Connection, Response, Server, post, serve};
pub use session::Session;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_dropchain");

/// A run that takes longer counts as hung.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often to check whether a run has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Named entities: word, part of speech, label in the IOB2 scheme.
pub const NER_CORPUS: &str = "\
Ann NNP B-PER
Lee NNP I-PER
left VBD O
Rome NNP B-LOC
. . O

The DT O
bank NN O
of IN O
York NNP B-LOC
closed VBD O
. . O

Bob NNP B-PER
met VBD O
Ann NNP B-PER
Lee NNP I-PER
in IN O
New NNP B-LOC
York NNP I-LOC
. . O
";

/// Parts of speech: labels that encode no spans.
pub const POS_CORPUS: &str = "\
Ann NNP
Lee NNP
left VBD
Rome NNP
. .

The DT
bank NN
of IN
York NNP
closed VBD
. .

Bob NNP
met VBD
Ann NNP
in IN
Rome NNP
. .
";

/// The contents and the name of a file.
type File = (Vec<u8>, String);

/// A temporary directory to run the program in.
pub struct TestDir(TempDir);

/// The result of a run.
#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    line: String,
}

impl TestDir {
    /// Creates a directory with files: their names and contents.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = Self(TempDir::new().unwrap());
        for (name, contents) in files {
            dir.write(name, contents);
        }
        dir
    }

    /// Creates a directory with the file `train.conll` and the model `m` trained on it with
    /// `options`, with so little L2 that the model reproduces its training data.
    pub fn with_model(corpus: &str, options: &str) -> Self {
        let train = format!("train train.conll --model m --quiet --l2 0.01 {options}");
        Self::trained(&[("train.conll", corpus)], &train)
    }

    /// Creates a directory with `files` and what the training `lines` write, which are separated by
    /// semicolons. Tests that ask for the same share one run.
    pub fn trained(files: &[(&str, &str)], lines: &str) -> Self {
        static RUNS: Mutex<BTreeMap<String, Arc<OnceLock<Vec<File>>>>> =
            Mutex::new(BTreeMap::new());
        let key = format!("{lines} {files:?}");
        let run = Arc::clone(RUNS.lock().unwrap().entry(key).or_default());
        let after = run.get_or_init(|| {
            let dir = Self::new(files);
            lines.split(';').for_each(|line| drop(dir.run(line).success()));
            dir.names().into_iter().map(|name| (dir.bytes(&name), name)).collect()
        });
        let dir = Self::new(&[]);
        after.iter().for_each(|(bytes, name)| dir.write(name, bytes));
        dir
    }

    /// Creates a directory with the training and development parts of the sample corpus:
    /// `train.conll` and `dev.conll`.
    pub fn with_sample_corpus() -> Self {
        Self::new(&[("train.conll", &sample_corpus("train")), ("dev.conll", &sample_corpus("dev"))])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Parses a file of JSON lines.
    pub fn json_lines(&self, name: &str) -> Vec<Value> {
        parse_json_lines(&self.text(name))
    }

    /// Returns the names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Creates a named pipe.
    #[cfg(unix)]
    pub fn make_pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status();
        assert!(made.unwrap().success());
    }

    /// Returns the program with the arguments in `line`, separated by white space.
    pub fn command(&self, line: &str) -> Command {
        let mut command = self.piped(PROGRAM);
        command.args(line.split_whitespace());
        command
    }

    /// Returns a line of shell, in which `$D` is the program.
    #[cfg(unix)]
    pub fn shell_command(&self, line: &str) -> Command {
        let mut command = self.piped("sh");
        command.args(["-c", line]).env("D", PROGRAM);
        command
    }

    fn piped(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a line of shell with empty standard input; `$D` is the program.
    #[cfg(unix)]
    pub fn shell(&self, line: &str) -> Output {
        let mut command = self.shell_command(line);
        finish(command.stdin(Stdio::null()).spawn().unwrap(), line)
    }

    /// Runs the program with empty standard input.
    pub fn run(&self, line: &str) -> Output {
        self.run_with_stdin(line, "")
    }

    /// Runs the program with the given standard input.
    pub fn run_with_stdin(&self, line: &str, stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self.command(line).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.as_ref().to_vec();
        // Writing fails if the program ends before it has read all of its input.
        let writer = thread::spawn(move || drop(pipe.write_all(&bytes)));
        let output = finish(child, line);
        writer.join().unwrap();
        output
    }

    /// Runs `inspect --json` on the model `m` with further `options`.
    pub fn inspect(&self, options: &str) -> Value {
        self.run(&format!("inspect m --json {options}")).json()
    }
}

impl Output {
    /// Asserts that the run succeeded, and returns its standard output.
    pub fn success(self) -> String {
        assert_eq!(self.status.code(), Some(0), "{self:#?}");
        self.stdout
    }

    /// Asserts that the run ended with an exit code, and returns its standard error.
    pub fn exits(self, code: i32) -> String {
        assert_eq!(self.status.code(), Some(code), "{self:#?}");
        self.stderr
    }

    /// Asserts that the run failed with exit code 1 and one error message rather than a panic, and
    /// returns the message without its first word.
    pub fn failure(self) -> String {
        assert_eq!(self.status.code(), Some(1), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        let message = self.stderr.strip_prefix("error: ");
        let message = message.unwrap_or_else(|| panic!("{self:#?}"));
        message.trim_end().to_owned()
    }

    /// Asserts that the run failed with a message in which this is.
    #[track_caller]
    pub fn fails_with(self, part: impl AsRef<str>) {
        let (line, message) = (self.line.clone(), self.failure());
        assert!(message.contains(part.as_ref()), "{line}: {message}");
    }

    /// Asserts that the run failed with a message that begins with this.
    #[track_caller]
    pub fn fails_at(self, start: impl AsRef<str>) {
        let (line, message) = (self.line.clone(), self.failure());
        assert!(message.starts_with(start.as_ref()), "{line}: {message}");
    }

    /// Asserts that the run succeeded, and parses its standard output as JSON.
    pub fn json(self) -> Value {
        let line = self.line.clone();
        let text = self.success();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e} in {text}"))
    }

    /// Asserts that the run succeeded, and parses its standard output as JSON lines.
    pub fn json_lines(self) -> Vec<Value> {
        parse_json_lines(&self.success())
    }
}

fn parse_json_lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(line).collect()
}

/// Returns the keys of a JSON object.
pub fn keys(object: &Value) -> BTreeSet<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

/// The names in a line, to compare with [`keys`].
pub fn fields(names: &str) -> BTreeSet<&str> {
    names.split(' ').collect()
}

pub fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Waits for a run to end while reading its output. A run that hangs is killed and fails the test.
pub fn finish(mut child: Child, line: &str) -> Output {
    let stdout = child.stdout.take().map(spawn_reader);
    let stderr = child.stderr.take().map(spawn_reader);
    let status = wait(&mut child, line);
    let text = |reader: Option<JoinHandle<String>>| {
        reader.map_or(String::new(), |reader| reader.join().unwrap())
    };
    Output { status, stdout: text(stdout), stderr: text(stderr), line: line.to_owned() }
}

/// Waits for a run to end. A run that hangs is killed and fails the test.
pub fn wait(child: &mut Child, line: &str) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > TIMEOUT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("dropchain {line}: timed out");
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Sends a signal, unless the run has ended.
#[cfg(unix)]
pub fn send(signal: &str, child: &mut Child) {
    if child.try_wait().unwrap().is_none() {
        let id = child.id().to_string();
        let kill = Command::new("kill").args(["-s", signal, &id]).status();
        // Not every system signals a process that has just ended.
        assert!(kill.unwrap().success() || child.try_wait().unwrap().is_some());
    }
}

/// Waits until a run handles signals, which it does before it reads anything.
#[cfg(unix)]
pub fn wait_for_handlers(child: &Child) {
    if cfg!(target_os = "linux") {
        wait_until("the signal handlers", || handles_signals(child));
    } else {
        thread::sleep(Duration::from_millis(500));
    }
}

/// Returns whether a process on Linux handles SIGTERM.
#[cfg(unix)]
pub fn handles_signals(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << 14) != 0)
}

fn spawn_reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}

/// Waits until `condition` holds; fails the test on timeout.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TIMEOUT, "timed out waiting for {what}");
        thread::sleep(POLL_INTERVAL);
    }
}

/// Reads the beginning of a part of the sample corpus (train, dev or test): 392 sentences of train,
/// 84 of the others, so that programs without optimization train in a moment.
pub fn sample_corpus(part: &str) -> String {
    let root = OsStr::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let file = PathBuf::from(root).join(format!("corpora/sample/{part}.conll"));
    let text = fs::read_to_string(file).unwrap();
    let sentences = text.split_inclusive("\n\n");
    let text: String = sentences.take(if part == "train" { 392 } else { 84 }).collect();
    text.trim_end().to_owned() + "\n"
}
