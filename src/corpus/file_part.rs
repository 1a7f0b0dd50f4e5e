//! Parts of files, for processes that divide them: ranges of bytes that end where sentences do.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::format::Format;
use super::lines::{InputStream, MAX_LINE, is_blank_byte, is_encoded};
use super::parse::ReadOptions;
use crate::error::{Error, Result};

/// Size of the read buffer, in bytes.
const BUFFER: usize = 64 << 10;

/// A range of the bytes of a file that holds whole sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    path: OsString,
    start: u64,
    end: u64,
}

/// Where a format can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// After any line.
    Line,
    /// After a blank line.
    BlankLine,
}

impl Cut {
    /// Returns `None` if files in the format cannot be cut.
    fn of(format: Format, options: &ReadOptions) -> Option<Self> {
        match format {
            _ if options.reader.is_some() => None,
            Format::Text if options.paragraphs => Some(Self::BlankLine),
            Format::Text | Format::Jsonl => Some(Self::Line),
            Format::Conll | Format::Conllu | Format::Crfsuite => Some(Self::BlankLine),
        }
    }
}

impl FilePart {
    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// Divides files, given their formats, into `parts` parts of about the same size, and returns
    /// the pieces of files of part number `part`, from 0. In order, the pieces of all parts are the
    /// files. Returns `None` if a file cannot be cut: standard input, and files that are
    /// compressed, in another encoding than UTF-8, or in a format that a line break does not
    /// divide.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read.
    pub fn divide(
        files: &[(&OsStr, Format)],
        options: &ReadOptions,
        part: usize,
        parts: usize,
    ) -> Result<Option<Vec<Self>>> {
        let mut open = Vec::new();
        let mut total = 0;
        for &(path, format) in files {
            let Some(cut) = Cut::of(format, options).filter(|_| path != "-") else {
                return Ok(None);
            };
            let io = |error| Error::io(path, error);
            let mut file = File::open(path).map_err(io)?;
            let metadata = file.metadata().map_err(io)?;
            if !metadata.is_file() || options.encoding.is_some() {
                return Ok(None);
            }
            let mut first = Vec::new();
            (&mut file).take(3).read_to_end(&mut first).map_err(io)?;
            if is_encoded(&first) {
                return Ok(None);
            }
            open.push((path, file, cut, total..total + metadata.len()));
            total += metadata.len();
        }
        let share = |part: usize| (u128::from(total) * part as u128 / parts as u128) as u64;
        let own = share(part)..share(part + 1);
        let mut pieces = Vec::new();
        for (path, mut file, cut, range) in open {
            let length = range.end - range.start;
            let mut end_of = |at: u64| match at.saturating_sub(range.start) {
                at if at < length => sentence_end(&mut file, at, length, cut),
                _ => Ok(length),
            };
            let ends = end_of(own.start).and_then(|start| Ok([start, end_of(own.end)?]));
            let [start, end] = ends.map_err(|error| Error::io(path, error))?;
            if start < end {
                pieces.push(Self {
                    path: path.to_owned(),
                    start,
                    end,
                });
            }
        }
        Ok(Some(pieces))
    }

    /// Opens the part. Also returns the number of lines before it.
    pub(super) fn open(&self) -> Result<(InputStream, u64)> {
        let open = || -> io::Result<(InputStream, u64)> {
            let mut file = File::open(&self.path)?;
            let lines = count_lines((&mut file).take(self.start))?;
            file.seek(SeekFrom::Start(self.start))?;
            let reader = BufReader::with_capacity(BUFFER, file);
            Ok((Box::new(reader.take(self.end - self.start)), lines))
        };
        open().map_err(|error| Error::io(&self.path, error))
    }
}

/// Returns the end of the first line or blank line that begins at byte `at` or later, or that of
/// the file; 0 for the first byte.
fn sentence_end(file: &mut File, at: u64, length: u64, cut: Cut) -> io::Result<u64> {
    let Some(before) = at.checked_sub(1) else {
        return Ok(0);
    };
    file.seek(SeekFrom::Start(before))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut end = before + reader.skip_until(b'\n')? as u64;
    if cut == Cut::Line {
        return Ok(end.min(length));
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader)
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        end += read as u64;
        if read == 0 || end >= length || line.iter().copied().all(is_blank_byte) {
            return Ok(end.min(length));
        }
    }
}

fn count_lines(mut input: impl Read) -> io::Result<u64> {
    let mut buffer = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(lines),
            read => lines += buffer[..read].iter().filter(|&&b| b == b'\n').count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::corpus::{Corpus, Reader};

    const CONLL: &str = "Ada\tB-PER\nleft\tO\n\nin\tO\nLondon\tB-LOC\n  \n\nshe\tO\n\nMay\tO\n";

    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        directory
    }

    /// The sentences of all parts, with their places.
    fn read(files: &[(&OsStr, Format)], options: &ReadOptions, parts: usize) -> Vec<String> {
        let mut found = Vec::new();
        for part in 0..parts {
            let pieces = FilePart::divide(files, options, part, parts)
                .unwrap()
                .unwrap();
            for piece in &pieces {
                let format = files
                    .iter()
                    .find(|(path, _)| *path == piece.path())
                    .unwrap()
                    .1;
                let options = ReadOptions {
                    format: Some(format),
                    ..options.clone()
                };
                let sentences = Reader::open_part(piece, &options).unwrap();
                let sentences = sentences.map(|sentence| describe(&sentence.unwrap()));
                found.extend(sentences);
            }
        }
        found
    }

    fn describe(sentence: &crate::Sentence) -> String {
        let words: Vec<&str> = (0..sentence.len()).map(|t| sentence.cell(t, 0)).collect();
        format!("{} {}", sentence.place(0), words.join(" "))
    }

    #[test]
    fn the_parts_of_files_are_the_files_whatever_their_number() {
        let text = "One line. Two sentences.\n\nNo more\r\nthan that.\n";
        let jsonl = "{\"tokens\": [\"a\", \"b\"]}\n{\"tokens\": [\"c\"]}\n";
        let directory = directory(&[
            ("a.conll", CONLL.as_bytes()),
            ("b.conll", b"last\tO"),
            ("a.txt", text.as_bytes()),
            ("a.jsonl", jsonl.as_bytes()),
        ]);
        let path = |name: &str| directory.path().join(name).into_os_string();
        let [a, b, c, d] = ["a.conll", "b.conll", "a.txt", "a.jsonl"].map(path);
        let options = ReadOptions {
            unlabeled: true,
            ..ReadOptions::default()
        };
        let paragraphs = ReadOptions {
            paragraphs: true,
            ..options.clone()
        };
        for (files, options) in [
            (vec![(&*a, Format::Conll), (&*b, Format::Conll)], &options),
            (vec![(&*c, Format::Text)], &options),
            (vec![(&*c, Format::Text)], &paragraphs),
            (vec![(&*d, Format::Jsonl)], &options),
        ] {
            let mut whole = Vec::new();
            for (path, format) in &files {
                let options = ReadOptions {
                    format: Some(*format),
                    ..options.clone()
                };
                let corpus = Corpus::read([path], &options).unwrap();
                whole.extend(corpus.iter().map(describe));
            }
            assert!(whole.len() > 1);
            for parts in 1..120 {
                assert_eq!(read(&files, options, parts), whole, "{parts} parts");
            }
        }
    }

    #[test]
    fn what_cannot_be_cut_has_no_parts() {
        let directory = directory(&[
            ("a.conll", CONLL.as_bytes()),
            ("a.conll.gz", b"\x1f\x8b\x08rest"),
            ("utf16.txt", b"\xff\xfea\0"),
        ]);
        let path = |name: &str| directory.path().join(name).into_os_string();
        let options = ReadOptions::default();
        let divide = |path: &OsStr, format| FilePart::divide(&[(path, format)], &options, 0, 2);
        let is_cut = |path: &OsStr, format| divide(path, format).unwrap().is_some();
        assert!(is_cut(&path("a.conll"), Format::Conll));
        assert!(!is_cut(&path("a.conll.gz"), Format::Conll));
        assert!(!is_cut(&path("utf16.txt"), Format::Text));
        assert!(!is_cut(OsStr::new("-"), Format::Text));
        assert!(!is_cut(directory.path().as_os_str(), Format::Text));
        assert!(divide(&path("missing"), Format::Text).is_err());
    }
}
