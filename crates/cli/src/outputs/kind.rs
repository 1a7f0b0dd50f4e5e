//! The kinds of output files, recognized by their contents.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use serde_json::{Map, Value};

/// Number of bytes from which a file is recognized: more than the first line of a log.
const BEGINNING: u64 = 1 << 20;

/// Number of lines within which a manual page has its title.
const TITLE_LINES: usize = 5;

/// How a page of `dropchain report` begins.
pub const PAGE: &str = "<!DOCTYPE html>\n<!-- dropchain report -->\n";

/// Number of characters of a line to quote.
const QUOTE: usize = 40;

/// The kind of a file that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A model.
    Model,
    /// JSON lines, the first of which has the field `event`.
    Log,
    /// Brown clusters: bit path, word and count, separated by tabs.
    Clusters,
    /// A JSON object with the version of dropchain that wrote it.
    Report,
    /// The state of a training run or a search.
    Checkpoint,
    /// Tagged text, in any format.
    Tagged,
    /// A manual page of this program.
    ManPage,
    /// A page of `dropchain report`.
    Page,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Log => "log",
            Self::Clusters => "cluster file",
            Self::Report => "report",
            Self::Checkpoint => "checkpoint",
            Self::Tagged => "tagged text",
            Self::ManPage => "manual page",
            Self::Page => "page of dropchain report",
        })
    }
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Model,
        Self::Log,
        Self::Clusters,
        Self::Report,
        Self::Checkpoint,
        Self::ManPage,
        Self::Page,
    ];

    /// Says what an existing file is, unless it is of the expected kind.
    pub fn describe(path: &Path, expected: Self) -> io::Result<Option<String>> {
        let mut beginning = Vec::new();
        File::open(path)?
            .take(BEGINNING)
            .read_to_end(&mut beginning)?;
        let is_kind = |kind: Self| kind.matches(&beginning, path);
        if is_kind(expected) {
            return Ok(None);
        }
        let other = Self::ALL.into_iter().find(|kind| is_kind(*kind));
        Ok(Some(match other {
            Some(kind) => format!("a {kind}"),
            None => describe_contents(&beginning),
        }))
    }

    fn matches(self, beginning: &[u8], path: &Path) -> bool {
        match self {
            Self::Model => {
                let magics = [b"DROPCHN\n", b"DROPCLS\n", b"DROPREG\n"];
                magics.iter().any(|magic| beginning.starts_with(*magic))
            }
            Self::Checkpoint => beginning.starts_with(b"DROPCKP\n"),
            Self::Log => first_line(beginning)
                .and_then(|line| serde_json::from_str(line).ok())
                .is_some_and(|line: Map<String, Value>| line.contains_key("event")),
            Self::Clusters => first_line(beginning).is_some_and(is_cluster_line),
            Self::Page => beginning.starts_with(PAGE.as_bytes()),
            Self::Report => beginning.starts_with(b"{") && is_report(path),
            Self::Tagged => false, // corrected by hand, it looks the same
            Self::ManPage => {
                let mut lines = beginning.split(|byte| *byte == b'\n').take(TITLE_LINES);
                lines.any(|line| line.starts_with(b".TH dropchain"))
            }
        }
    }
}

fn first_line(beginning: &[u8]) -> Option<&str> {
    let line = beginning.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()
}

fn is_cluster_line(line: &str) -> bool {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    let [path, word, count] = [next(), next(), next()];
    path.bytes().all(|bit| matches!(bit, b'0' | b'1'))
        && !word.is_empty()
        && count.parse::<u64>().is_ok()
        && fields.next().is_none()
}

fn is_report(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let object: serde_json::Result<Map<String, Value>> =
        serde_json::from_reader(BufReader::new(file));
    object.is_ok_and(|object| object.contains_key("version"))
}

fn describe_contents(beginning: &[u8]) -> String {
    if beginning.starts_with(&[0x1f, 0x8b]) {
        return "compressed data (gzip)".to_owned();
    }
    if beginning.starts_with(b"lCRF") {
        return "a CRFsuite model".to_owned();
    }
    match first_line(beginning) {
        Some(line) if !line.contains('\0') => {
            let line = line.trim_end();
            let mut quote: String = line.chars().take(QUOTE).collect();
            if quote.len() < line.len() {
                quote.push('…');
            }
            format!("text that begins with {quote:?}")
        }
        _ => "binary data".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(contents: &[u8], expected: Kind) -> Option<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), contents).unwrap();
        Kind::describe(file.path(), expected).unwrap()
    }

    #[test]
    fn every_kind_is_recognized_and_no_other() {
        let files: [(Kind, &[u8]); 7] = [
            (Kind::Model, b"DROPCHN\n\x02"),
            (Kind::Log, b"{\"event\":\"start\"}\n{\"event\":"),
            (Kind::Clusters, b"0110\tLondon\t12\n1\tin\t3\n"),
            (Kind::Report, b"{\n  \"version\": \"0.1.0\"\n}\n"),
            (Kind::Checkpoint, b"DROPCKP\n\x01"),
            (Kind::ManPage, b".ie \\n(.g .ds Aq\n.TH dropchain-train 1\n"),
            (
                Kind::Page,
                b"<!DOCTYPE html>\n<!-- dropchain report -->\n<html>",
            ),
        ];
        for (kind, contents) in files {
            for expected in Kind::ALL {
                let found = describe(contents, expected);
                let other = (kind != expected).then(|| format!("a {kind}"));
                assert_eq!(found, other, "{kind} for {expected}");
            }
        }
    }

    #[test]
    fn other_files_are_described() {
        for (contents, expected) in [
            (
                &b"Ann NNP B-PER\n"[..],
                "text that begins with \"Ann NNP B-PER\"",
            ),
            (
                b"{\"tokens\":[\"a\"]}\n",
                "text that begins with \"{\\\"tokens\\\":[\\\"a\\\"]}\"",
            ),
            (b"\x1f\x8b\x08", "compressed data (gzip)"),
            (b"lCRF\x01\x02", "a CRFsuite model"),
            (b"\xff\xfe", "binary data"),
        ] {
            for kind in Kind::ALL {
                assert_eq!(describe(contents, kind).as_deref(), Some(expected));
            }
        }
    }
}
