//! The access log: a line of JSON for each request, without anything that a client wrote.
//!
//! A thread of its own writes the lines, so that no answer waits for a disk. Lines that cannot be
//! written are lost, counted and reported; requests are answered all the same.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dropchain::kernel::date;
use dropchain::{Error, Result};
use serde::Serialize;

use crate::models::Report;

/// Maximum number of lines that wait to be written.
const QUEUE: usize = 4096;

/// Interval between reports of lost lines.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// Time limit for the last lines.
const LAST_LINES: Duration = Duration::from_secs(2);

/// What was tagged in a request.
#[derive(Clone, Debug, Serialize)]
pub struct TaggedCounts {
    /// The model, as `NAME@FINGERPRINT`.
    pub model: String,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of tokens.
    pub tokens: u64,
}

/// A request and its answer, as a line of the log.
#[derive(Debug, Serialize)]
pub struct Access {
    /// When it was answered, in UTC.
    pub time: String,
    /// The method; `other` if HTTP does not define it.
    pub method: &'static str,
    /// The address without its options; `other` if there is nothing.
    pub path: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// Time from its headers to its answer.
    pub seconds: f64,
    /// Size of the body of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What was tagged, if something was.
    #[serde(flatten)]
    pub tagged: Option<TaggedCounts>,
}

/// Returns the time in UTC, to the millisecond.
pub fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = date::utc(now.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), now.subsec_millis())
}

enum Message {
    Line(Vec<u8>),
    Reopen,
    End(SyncSender<()>),
}

/// Sends lines to their writer.
pub struct AccessLog {
    sender: SyncSender<Message>,
    lost: Arc<AtomicU64>, // lines since the last report
}

impl AccessLog {
    /// Opens a log, to which lines are appended; `-` is standard error.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written.
    pub fn open(path: &Path) -> Result<(Self, LogWriter)> {
        let output = open(path).map_err(|error| Error::io(path, error))?;
        let (sender, receiver) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = LogWriter {
            path: path.to_owned(),
            output,
            receiver,
            lost: Arc::clone(&lost),
            is_torn: false,
            reported: None,
        };
        Ok((Self { sender, lost }, writer))
    }

    /// Adds a line, unless too many wait already.
    pub fn add(&self, access: &Access) {
        let line = serde_json::to_vec(access).unwrap_or_default();
        if self.sender.try_send(Message::Line([&line[..], b"\n"].concat())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Opens the file anew, which may have been renamed.
    pub fn reopen(&self) {
        let _ = self.sender.try_send(Message::Reopen);
    }

    /// Waits until all lines are written, but not long.
    pub fn end(&self) {
        let (done, written) = sync_channel(1);
        if self.sender.try_send(Message::End(done)).is_ok() {
            let _ = written.recv_timeout(LAST_LINES);
        }
    }
}

/// Writes the lines of a log.
pub struct LogWriter {
    path: PathBuf,
    output: Box<dyn Write + Send>,
    receiver: Receiver<Message>,
    lost: Arc<AtomicU64>,
    is_torn: bool,             // the last line is not complete
    reported: Option<Instant>, // when lost lines were
}

impl LogWriter {
    /// Writes lines until there is no server anymore.
    pub fn run(mut self, report: &Report) {
        while let Ok(message) = self.receiver.recv() {
            match message {
                Message::Line(line) => self.write(&line, report),
                Message::Reopen => match open(&self.path) {
                    Ok(output) => (self.output, self.is_torn) = (output, false),
                    Err(error) => report(&format!("{}: {error}", self.path.display())),
                },
                Message::End(done) => {
                    self.report_lost(report, "the server ends");
                    let _ = done.send(());
                }
            }
        }
    }

    fn write(&mut self, line: &[u8], report: &Report) {
        let line = if self.is_torn { &[b"\n", line].concat() } else { line };
        let mut rest = line;
        let written = loop {
            match self.output.write(rest) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
            if rest.is_empty() {
                break Ok(());
            }
        };
        if written.is_err() {
            self.is_torn |= rest.len() < line.len();
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            self.is_torn = false;
        }
        if self.reported.is_none_or(|at| at.elapsed() > REPORT_INTERVAL) {
            let why = written.map_or_else(|e| e.to_string(), |()| "too many at once".to_owned());
            self.report_lost(report, &why);
        }
    }

    /// Reports how many lines were lost since the last report, if any were.
    fn report_lost(&mut self, report: &Report, why: &str) {
        let (path, lost) = (self.path.display(), self.lost.swap(0, Ordering::Relaxed));
        if lost > 0 {
            self.reported = Some(Instant::now());
            report(&format!("{path}: lines of the access log that are lost: {lost} ({why})"));
        }
    }
}

fn open(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stderr()));
    }
    #[cfg(unix)]
    if path
        .metadata()
        .is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type()))
    {
        // Opening one waits for a reader.
        let message = "is a pipe; expected a file, or - for standard error";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let file: File = OpenOptions::new().create(true).append(true).open(path)?;
    Ok(Box::new(file))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Takes so many bytes, and no more until it is emptied.
    #[derive(Clone, Default)]
    struct SmallDisk(Arc<Mutex<(Vec<u8>, usize)>>);

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let count = bytes.len().min(disk.1.saturating_sub(disk.0.len()));
            disk.0.extend_from_slice(&bytes[..count]);
            match count {
                0 => Err(io::ErrorKind::StorageFull.into()),
                _ => Ok(count),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_lost_and_reported_and_the_next_ones_are_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (log, mut writer) = AccessLog::open(&directory.path().join("log")).unwrap();
        let disk = SmallDisk::default();
        disk.0.lock().unwrap().1 = 7;
        writer.output = Box::new(disk.clone());
        let reports = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&reports);
        let report = move |text: &str| heard.lock().unwrap().push(text.to_owned());
        for line in ["one\n", "two\n", "three\n"] {
            writer.write(line.as_bytes(), &report);
        }
        disk.0.lock().unwrap().1 = 99;
        writer.write(b"four\n", &report);
        assert_eq!(disk.0.lock().unwrap().0, b"one\ntwo\nfour\n");
        let reports = reports.lock().unwrap();
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].contains("log: lines of the access log that are lost: 1 ("));
        assert_eq!(log.lost.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_log_is_continued_and_opened_anew_where_it_was_renamed() {
        let directory = tempfile::tempdir().unwrap();
        let [path, old] = ["log", "old"].map(|name| directory.path().join(name));
        std::fs::write(&path, "before\n").unwrap();
        let (log, writer) = AccessLog::open(&path).unwrap();
        let thread = std::thread::spawn(|| writer.run(&|_: &str| ()));
        let add = |status| {
            log.add(&Access {
                time: "t".to_owned(),
                method: "GET",
                path: "/tag",
                status,
                seconds: 0.5,
                bytes: None,
                tagged: None,
            });
        };
        add(200);
        log.end();
        std::fs::rename(&path, &old).unwrap();
        log.reopen();
        add(404);
        log.end();
        let line = |status| {
            format!(
                "{{\"time\":\"t\",\"method\":\"GET\",\"path\":\"/tag\",\"status\":{status},\
                 \"seconds\":0.5}}\n"
            )
        };
        assert_eq!(std::fs::read_to_string(&old).unwrap(), format!("before\n{}", line(200)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), line(404));
        drop(log);
        thread.join().unwrap();
    }
}
