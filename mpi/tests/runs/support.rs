//! Runs the program by `mpirun`, each rank in a folder of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_dropchain-mpi");

/// The ranks of one test take all processors.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A run that takes more seconds hangs.
const TIMEOUT: &str = "300";

/// The output of a run, and its exit code.
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// Returns the lines of standard error that are not of `mpirun`.
    pub fn message(&self) -> &str {
        self.stderr.split("\n----").next().unwrap().trim()
    }
}

/// Folders for ranks, `0`, `1` and so on, in a temporary one.
pub struct Ranks {
    folder: TempDir,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Ranks {
    /// Creates folders for `n` ranks, all with these files.
    pub fn new(n: usize, files: &[(&str, &str)]) -> Self {
        let ranks = Self {
            folder: tempfile::tempdir().unwrap(),
            _one_at_a_time: ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner),
        };
        for rank in 0..n {
            fs::create_dir(ranks.path(rank, "")).unwrap();
            for (name, text) in files {
                ranks.write(rank, name, text);
            }
        }
        let script = format!(
            "#!/bin/sh\ncd \"{}/$OMPI_COMM_WORLD_RANK\" && echo $$ > pid &&\n\
             exec '{PROGRAM}' \"$@\"\n",
            ranks.folder.path().display()
        );
        let start = ranks.folder.path().join("start");
        fs::write(&start, script).unwrap();
        fs::set_permissions(&start, fs::Permissions::from_mode(0o755)).unwrap();
        ranks
    }

    pub fn path(&self, rank: usize, name: &str) -> PathBuf {
        self.folder.path().join(rank.to_string()).join(name)
    }

    pub fn write(&self, rank: usize, name: &str, text: &str) {
        fs::write(self.path(rank, name), text).unwrap();
    }

    pub fn read(&self, rank: usize, name: &str) -> Vec<u8> {
        fs::read(self.path(rank, name)).unwrap()
    }

    /// Sends a signal to a rank.
    pub fn send(&self, signal: &str, rank: usize) {
        let pid = String::from_utf8(self.read(rank, "pid")).unwrap();
        let status =
            Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status().unwrap();
        assert!(status.success());
    }

    /// Returns the names of the files that a rank has written.
    pub fn written(&self, rank: usize, given: &[&str]) -> Vec<String> {
        let files = fs::read_dir(self.path(rank, "")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> =
            names.filter(|name| name != "pid" && !given.contains(&name.as_str())).collect();
        names.sort();
        names
    }

    /// Runs `mpirun OPTIONS -n N dropchain-mpi LINE`.
    pub fn run(&self, n: usize, line: &str) -> Output {
        self.run_with("--bind-to none", n, line)
    }

    /// Runs the program with options for `mpirun`.
    pub fn run_with(&self, options: &str, n: usize, line: &str) -> Output {
        let mut command = Command::new("timeout");
        command.args([TIMEOUT, "mpirun"]);
        self.output(command, options, n, line)
    }

    fn output(&self, mut command: Command, options: &str, n: usize, line: &str) -> Output {
        self.complete(&mut command, options, n, line);
        let output = command.output().unwrap();
        Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts the program, and waits until the log of rank 0 has the third iteration.
    pub fn start(&self, n: usize, line: &str) -> Child {
        let _ = fs::remove_file(self.path(0, "log"));
        let mut command = Command::new("mpirun");
        let line = format!("{line} --log log");
        self.complete(&mut command, "--bind-to none", n, &line);
        let mut child = command.spawn().unwrap();
        let log = self.path(0, "log");
        while !fs::read_to_string(&log).is_ok_and(|log| log.contains("\"iteration\":3,")) {
            if child.try_wait().unwrap().is_some() {
                panic!("ended before its third iteration: {}", wait(child).stderr);
            }
            thread::sleep(Duration::from_millis(5));
        }
        child
    }

    fn complete(&self, command: &mut Command, options: &str, n: usize, line: &str) {
        command
            .args(["--oversubscribe", "--allow-run-as-root"])
            .args(options.split_whitespace())
            .args(["-n", &n.to_string()])
            .arg(self.folder.path().join("start"))
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    /// Trains with `dropchain` in the folder of rank 0, and returns the model.
    pub fn reference(&self, line: &str) -> Vec<u8> {
        let program = Path::new(PROGRAM).with_file_name("dropchain");
        let line = format!("{line} --quiet --model reference");
        let status = Command::new(program)
            .args(line.split_whitespace())
            .current_dir(self.path(0, ""))
            .status()
            .unwrap();
        assert!(status.success(), "{line}");
        self.read(0, "reference")
    }
}

/// Waits for a program.
pub fn wait(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Reads the beginning of a part of the sample corpus.
pub fn sample(part: &str, sentences: usize) -> String {
    let file = root().join(format!("corpora/sample/{part}.conll"));
    let text = fs::read_to_string(file).unwrap();
    let text: String = text.split_inclusive("\n\n").take(sentences).collect();
    text.trim_end().to_owned() + "\n"
}

/// Reads the beginning of a public corpus, if it is there.
pub fn public(file: &str, sentences: usize) -> Option<String> {
    let folders = ["../shared/corpora", "corpora/public"].map(|folder| root().join(folder));
    let text = folders.iter().find_map(|folder| fs::read_to_string(folder.join(file)).ok())?;
    let sentences = text.split_inclusive("\n\n").take(sentences);
    Some(sentences.collect::<String>().trim_end().to_owned() + "\n")
}
