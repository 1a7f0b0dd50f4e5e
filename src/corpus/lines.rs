//! The lines of an input: decompressed, counted, checked to be UTF-8, without their ends.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Place, Result};

/// The longest line that is read, in bytes with its end: no text has such a line, but a binary
/// file may.
const MAX_LINE: usize = 64 << 20;

/// Size of the buffer behind a decompressor, in bytes.
const BUFFER: usize = 64 << 10;

/// A stream of bytes to read lines from.
pub(super) type Input = Box<dyn BufRead + Send>;

/// The lines of an input, read one at a time.
pub(super) struct Lines {
    input: Input,
    file: Arc<str>,
    number: u64,
    buffer: Vec<u8>,
    limit: usize,
}

/// A line with its place, from 1.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub text: &'a str,
    pub file: &'a Arc<str>,
    pub number: u64,
}

impl Line<'_> {
    /// An error at this line.
    pub fn fault(&self, message: impl Into<String>) -> Error {
        Error::input(Place::line(&**self.file, self.number), message)
    }
}

impl Lines {
    pub fn new(input: Input, file: Arc<str>) -> Self {
        Self::with_limit(input, file, MAX_LINE)
    }

    fn with_limit(input: Input, file: Arc<str>, limit: usize) -> Self {
        Self {
            input,
            file,
            number: 0,
            buffer: Vec::new(),
            limit,
        }
    }

    /// The name of the input; `-` is standard input.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The number of the line read last; 0 before the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end (LF or CRLF); `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        self.buffer.clear();
        if let Err(error) = self.fill() {
            return Err(Error::io(&*self.file, error));
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        if self.buffer.len() > self.limit {
            return Err(Error::input(
                Place::line(&*self.file, self.number),
                format!("the line is longer than {} MiB", self.limit >> 20),
            ));
        }
        self.check().map(Some)
    }

    /// Reads up to the next line end or just past the limit.
    fn fill(&mut self) -> io::Result<()> {
        if self.number == 0 {
            self.decompress()?;
        }
        let most = self.limit as u64 + 1;
        (&mut self.input)
            .take(most)
            .read_until(b'\n', &mut self.buffer)?;
        Ok(())
    }

    /// Puts a decompressor before an input that begins as gzip does, whatever its name.
    fn decompress(&mut self) -> io::Result<()> {
        // A pipe may deliver a single byte at first; no text begins with this one.
        if matches!(self.input.fill_buf()?, [0x1f] | [0x1f, 0x8b, ..]) {
            let packed = std::mem::replace(&mut self.input, Box::new(io::empty()));
            let plain = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(packed));
            self.input = Box::new(plain);
        }
        Ok(())
    }

    /// The buffered line as text, without byte order mark and line end.
    fn check(&self) -> Result<Line<'_>> {
        let mut bytes = &self.buffer[..];
        if self.number == 1 {
            if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
                return Err(Error::input(
                    Place::file(&*self.file),
                    "the file is UTF-16; expected UTF-8 (convert it: iconv -f UTF-16 -t UTF-8)",
                ));
            }
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Line {
                text,
                file: &self.file,
                number: self.number,
            }),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                let column = String::from_utf8_lossy(valid).chars().count() as u64 + 1;
                let byte = rest.first().copied().unwrap_or_default();
                Err(Error::input(
                    Place::column(&*self.file, self.number, column),
                    format!(
                        "byte 0x{byte:02X} is not UTF-8; expected UTF-8 (convert the file, for example with iconv)"
                    ),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    fn lines(bytes: &[u8]) -> Lines {
        Lines::new(Box::new(Cursor::new(bytes.to_vec())), Arc::from("x"))
    }

    fn read(bytes: &[u8]) -> Vec<String> {
        let mut lines = lines(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            assert_eq!(line.number as usize, all.len() + 1);
            all.push(line.text.to_owned());
        }
        all
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn line_ends_are_lf_or_crlf_and_the_last_may_lack() {
        assert_eq!(read(b"a\r\n\nb\n c"), ["a", "", "b", " c"]);
        assert_eq!(read(b"a\n"), ["a"]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_alone() {
        assert_eq!(read(b"\xef\xbb\xbfa\n\xef\xbb\xbfb"), ["a", "\u{feff}b"]);
    }

    #[test]
    fn gzip_is_known_by_its_first_bytes_and_may_have_several_members() {
        let packed = [gzip(b"a\nb"), gzip(b"c\n")].concat();
        assert_eq!(read(&packed), ["a", "bc"]);
    }

    #[test]
    fn a_cut_gzip_file_is_an_error_that_names_it() {
        let packed = gzip(b"a\nb\n");
        let mut lines = lines(&packed[..packed.len() - 9]);
        let error = loop {
            match lines.next_line() {
                Ok(line) => assert!(line.is_some(), "the end went unnoticed"),
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, Error::Io { path, .. } if path.as_os_str() == "x"));
    }

    #[test]
    fn bad_utf8_is_an_error_with_its_column_in_characters() {
        let mut lines = lines(b"ok\n\xc3\xa4b\xe9c\n");
        lines.next_line().unwrap();
        assert_eq!(
            lines.next_line().err().unwrap().to_string(),
            "x:2:3: byte 0xE9 is not UTF-8; expected UTF-8 (convert the file, for example with iconv)"
        );
    }

    #[test]
    fn utf16_is_named() {
        assert_eq!(
            lines(b"\xff\xfea\0").next_line().err().unwrap().to_string(),
            "x: the file is UTF-16; expected UTF-8 (convert it: iconv -f UTF-16 -t UTF-8)"
        );
    }

    #[test]
    fn a_line_over_the_limit_is_an_error_and_is_not_read_to_its_end() {
        let endless = Box::new(BufReader::new(io::repeat(b'a')));
        let mut lines = Lines::with_limit(endless, Arc::from("x"), 2 << 20);
        assert_eq!(
            lines.next_line().err().unwrap().to_string(),
            "x:1: the line is longer than 2 MiB"
        );
        assert!(lines.buffer.len() <= (2 << 20) + 1);
    }
}
