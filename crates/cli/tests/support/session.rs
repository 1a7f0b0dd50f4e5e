//! Interactive use of a running program.

use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::{TestDir, wait};

/// A running `tag` process that is fed input interactively.
pub struct Session<'a> {
    dir: PhantomData<&'a TestDir>, // must outlive the process
    child: Child,
    stdin: ChildStdin,
    output: Receiver<String>,
}

impl<'a> Session<'a> {
    /// Starts the program.
    pub fn start(dir: &'a TestDir, line: &str) -> Self {
        let mut child = dir.command(line).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, output) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if send.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self { dir: PhantomData, child, stdin, output }
    }

    /// Writes input and asserts that its complete output arrives before any further input.
    pub fn exchange(&mut self, input: &str, output: &str) {
        self.stdin.write_all(input.as_bytes()).unwrap();
        self.stdin.flush().unwrap();
        for expected in output.lines() {
            match self.output.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => assert_eq!(line, expected),
                Err(_) => {
                    self.child.kill().unwrap();
                    panic!("no output for {input:?}");
                }
            }
        }
    }

    /// Closes the input and waits until the process has ended, whatever it writes until then.
    pub fn finish_after_output(mut self) {
        drop(self.stdin);
        assert!(wait(&mut self.child, "tag").success());
    }

    /// Closes the input and asserts that the process ends without further output.
    pub fn finish(mut self) {
        drop(self.stdin);
        assert!(wait(&mut self.child, "tag").success());
        assert!(self.output.recv().is_err(), "unexpected output");
    }
}
