//! Files that are no text, by their first bytes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::file_kind::FileKind;

/// How many bytes are looked at.
const BYTES: usize = 64;

/// The first four bytes of all files of this program.
const OWN: &[u8] = b"DROP";

/// The length of the line that they begin.
const OWN_LINE: usize = 8;

/// First bytes, what they are of, and what makes text of it.
const BINARY: [(&[u8], &str, &str); 13] = [
    (b"PAR1", "a Parquet table", PANDAS),
    (b"ARROW1", "an Arrow table", PANDAS),
    (b"PK\x03\x04", "a zip archive", "unzip it"),
    (b"PK\x05\x06", "an empty zip archive", "unzip it"),
    (b"\xfd7zXZ\0", "compressed by xz", "xz -dc FILE"),
    (b"BZh", "compressed by bzip2", "bzip2 -dc FILE"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x FILE"),
    (
        b"x\x9c",
        "compressed by zlib, as spaCy's DocBin",
        "Corpus.read of the Python package reads it",
    ),
    (b"%PDF-", "a PDF", "pdftotext FILE"),
    (b"SQLite format 3\0", "a database of SQLite", "export a table"),
    (b"\xd0\xcf\x11\xe0", "an Office document", "save it as text"),
    (b"\x89PNG", "a picture", "expected text"),
];

const PANDAS: &str =
    "with pandas: read_parquet or read_feather, then to_json(…, orient='records', lines=True)";

/// Opens a regular file.
pub(super) fn open_regular(path: &Path) -> Option<File> {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| File::open(path).ok())?
}

impl FileKind {
    /// Returns the kind of a regular file that is no text, by its first bytes.
    pub fn of_first_bytes(file: impl AsRef<Path>) -> Option<Self> {
        let mut bytes = Vec::new();
        let read = open_regular(file.as_ref())?.take(BYTES as u64).read_to_end(&mut bytes);
        read.ok().and_then(|_| Self::of_bytes(&bytes))
    }

    /// Returns whether a file that begins so is one of this program, of any kind and version.
    pub fn is_own(bytes: &[u8]) -> bool {
        bytes.starts_with(OWN) && bytes.get(OWN_LINE - 1) == Some(&b'\n')
    }

    /// Returns how many of the first bytes tell: those of the first line, with which the first line
    /// of this program's files begins. `None` if more must be read.
    pub(in crate::corpus) fn telling(bytes: &[u8]) -> Option<usize> {
        let skipped = if bytes.starts_with(OWN) { OWN_LINE } else { 0 };
        let end = bytes.iter().skip(skipped).position(|&byte| byte == b'\n');
        let end = end.map(|end| skipped + end + 1).or((bytes.len() >= BYTES).then_some(BYTES))?;
        Some(end.min(BYTES))
    }

    /// Returns the kind of a file that is no text, by its first bytes.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = &bytes[..Self::telling(bytes).unwrap_or(bytes.len())];
        // Text may begin with the same letters, but has no control characters.
        let has_controls = || bytes.iter().any(|&b| b < b'\t' || (14..32).contains(&b));
        let is_binary = |mark: &[u8]| !mark.is_ascii() || mark.len() > 4 || has_controls();
        if Self::is_own(bytes) && has_controls() {
            return Some(Self::Model("a model or checkpoint of dropchain"));
        }
        if bytes.starts_with(b"lCRF") && has_controls() {
            return Some(Self::Model("a model of CRFsuite"));
        }
        if let Some((_, what, advice)) =
            BINARY.iter().find(|(mark, ..)| bytes.starts_with(mark) && is_binary(mark))
        {
            return Some(Self::Binary(what, advice));
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return None; // a mark says that it is UTF-16
        }
        let (even, odd): (Vec<_>, Vec<_>) = bytes.chunks_exact(2).map(|b| (b[0], b[1])).unzip();
        let zeros = |half: &[u8]| half.iter().filter(|&&byte| byte == 0).count();
        let is_zeros = |half: &[u8], other| {
            half.len() >= 4 && 2 * zeros(half) > half.len() && zeros(other) == 0
        };
        match (is_zeros(&odd, &even), is_zeros(&even, &odd)) {
            (true, _) => Some(Self::Utf16("utf-16le")),
            (_, true) => Some(Self::Utf16("utf-16be")),
            _ => None,
        }
    }
}
