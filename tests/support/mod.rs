//! A temporary folder with the program running in it.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long a run may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names: word, part of speech, label in the IOB2 scheme.
pub const NAMES: &str = "\
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

/// The same with labels of no scheme: the parts of speech are the last column.
pub const WORDS: &str = "\
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

/// A folder that goes away with its owner.
pub struct Folder(TempDir);

/// What a run gave.
#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    line: String,
}

impl Folder {
    /// A folder with files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        for (name, contents) in files {
            folder.write(name, contents);
        }
        folder
    }

    /// A folder with the file `train.conll` and the model `m` trained on it until it knows it by
    /// heart, with `options`.
    pub fn trained(corpus: &str, options: &str) -> Self {
        let folder = Self::new(&[("train.conll", corpus)]);
        let line = format!("train train.conll --model m --quiet --l2 0.01 {options}");
        folder.run(&line).succeeded();
        folder
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

    /// The lines of a file of JSON lines.
    pub fn json_lines(&self, name: &str) -> Vec<Value> {
        json_lines(&self.text(name))
    }

    /// Names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The program with the arguments in `line`, which blanks separate.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropchain"));
        command
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program without input.
    pub fn run(&self, line: &str) -> Output {
        self.run_with(line, "")
    }

    /// Runs the program with standard input.
    pub fn run_with(&self, line: &str, stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self.command(line).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.as_ref().to_vec();
        // The program may end without having read it all.
        let writer = thread::spawn(move || drop(pipe.write_all(&bytes)));
        let output = finish(child, line);
        writer.join().unwrap();
        output
    }
}

impl Output {
    /// What it printed; it must have succeeded.
    pub fn succeeded(self) -> String {
        assert_eq!(self.status.code(), Some(0), "{self:#?}");
        self.stdout
    }

    /// What it complained of, without its own name; it must have failed with exit code 1 and one
    /// complaint, and a complaint is no panic.
    pub fn failed(self) -> String {
        assert_eq!(self.status.code(), Some(1), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        let message = self.stderr.strip_prefix("dropchain: ");
        let message = message.unwrap_or_else(|| panic!("{self:#?}"));
        message.trim_end().to_owned()
    }

    /// The JSON value that it printed.
    pub fn json(self) -> Value {
        let line = self.line.clone();
        let text = self.succeeded();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e} in {text}"))
    }

    /// The lines of JSON that it printed.
    pub fn json_lines(self) -> Vec<Value> {
        json_lines(&self.succeeded())
    }
}

fn json_lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(line).collect()
}

/// Waits for a run, reading what it prints; one that hangs is killed and fails the test.
pub fn finish(mut child: Child, line: &str) -> Output {
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let status = wait(&mut child, line);
    let text = |reader: Option<JoinHandle<String>>| reader.map_or(String::new(), joined);
    Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
        line: line.to_owned(),
    }
}

/// Waits for a run to end; one that hangs is killed and fails the test.
pub fn wait(child: &mut Child, line: &str) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("dropchain {line}: hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}

fn joined(reader: JoinHandle<String>) -> String {
    reader.join().unwrap()
}

/// Waits until `ready`; what never comes fails the test.
pub fn eventually(what: &str, mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < PATIENCE, "{what} never came");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The sample corpus.
pub fn sample(part: &str) -> String {
    let root = OsStr::new(env!("CARGO_MANIFEST_DIR"));
    let file = PathBuf::from(root).join(format!("corpora/sample/{part}.conll"));
    fs::read_to_string(file).unwrap()
}
