//! Reading lines: decompressed, numbered, validated as UTF-8, without line endings.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};

#[cfg(feature = "encodings")]
use super::decoding_reader::NotDecodable;
use super::guess::FileKind;
use super::read_report::Repair;
use super::source::{Decoding, InputStream, Source};
use crate::error::{Error, Place, Result};
use crate::memory::input_over_limit;
use crate::sentence::SourceFile;

/// Maximum length of a line in bytes, including its ending. Text has no longer lines, but a binary
/// file may.
pub const MAX_LINE: usize = 64 << 20;

/// How much is skipped at most after an error, in bytes. A device may have no end.
const MAX_SKIPPED: u64 = 1 << 30;

/// Maximum number of lines that are looked at before the first sentence is read, and of their
/// bytes.
const MAX_LINES: usize = 100;
pub(super) const MAX_PEEKED: usize = 1 << 20;

/// The mark with which some programs begin a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A byte order mark that is not at the beginning, as in files that were joined.
const INNER_MARK: Repair = Repair {
    one: "byte order mark inside the file",
    many: "byte order marks inside files",
    fate: "removed from the start of the line (files joined with cat?)",
};

/// Line ends that Windows wrote for CRLF in text mode.
const DOUBLE_CR: Repair = Repair {
    one: "line ends in CR CR LF",
    many: "lines end in CR CR LF",
    fate: "read as a line end",
};

/// The line endings, the longest first.
const ENDINGS: [&str; 3] = ["\r\r\n", "\r\n", "\n"];

/// The name of the copy in messages.
const COPY: &str = "the copy of the text";

/// Memory of a line of a sentence beyond its bytes, such as the ends of its cells.
const LINE: u64 = 32;

/// Memory of a line that is looked at before it is read, beyond its bytes: its allocation, its
/// place in a queue that doubles, and those of a copy.
const LINE_AHEAD: u64 = 160;

/// The memory that a byte of a line takes while its format is not known: the buffer, which doubles,
/// beside the one that it replaces, and the decoded text.
const BUFFERED: u64 = 4;

/// Receives a copy of what is read.
pub(super) type OutputStream = Box<dyn Write + Send>;

/// Reads an input line by line, into one buffer.
pub struct LineReader {
    source: Source,
    file: SourceFile,
    number: u64,
    /// The number of bytes that were read: a parser that does not add to it has not moved on.
    pub(super) position: u64,
    buffer: Vec<u8>,
    ahead: VecDeque<Vec<u8>>, // lines that were peeked at
    ahead_memory: u64,        // of all of them so far
    decoded: String,          // the line, if it was not UTF-8
    limits: Limits,
    /// Receives what is read, decompressed, with a byte order mark and the line endings.
    pub(super) copy: Option<OutputStream>,
}

/// How long a line may be, and an upper bound of the memory of a sentence while it is being read.
#[derive(Clone, Copy, Debug)]
struct Limits {
    line: u64,     // in bytes
    sentence: u64, // in bytes of memory
    per_byte: u64, // memory of what a byte of input is parsed to
    held: u64,     // memory of the lines that have been read of the sentence
}

impl Limits {
    /// Counts a line and returns whether the sentence is still within the limit. Blank lines are
    /// not kept.
    fn add(&mut self, line: &[u8]) -> bool {
        if !are_blank(line) {
            // A comment is a string of its own.
            let own = if line.starts_with(b"#") { LINE_AHEAD } else { LINE };
            self.held += self.per_byte * line.len() as u64 + own;
        }
        self.held <= self.sentence
    }
}

/// A line of an input.
#[derive(Clone, Copy)]
pub struct InputLine<'a> {
    /// The text of the line, without the line ending.
    pub text: &'a str,
    /// The name of the input.
    pub file: &'a SourceFile,
    /// The line number, from 1.
    pub number: u64,
    /// LF, CRLF, CR CR LF, or nothing at the end of the input.
    pub ending: &'static str,
    /// Whether a byte order mark stands before the text.
    pub has_mark: bool,
}

impl<'a> InputLine<'a> {
    /// A line of a text in memory, with its ending.
    pub fn new(line: &'a str, file: &'a SourceFile, number: u64) -> Self {
        let ending = ENDINGS.into_iter().find(|ending| line.ends_with(ending));
        let text = line.strip_suffix(ending.unwrap_or("\r"));
        Self {
            text: text.unwrap_or(line),
            file,
            number,
            ending: ending.unwrap_or_default(),
            has_mark: false,
        }
    }

    /// An error at this line.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::input(Place::line(&**self.file, self.number), message)
    }
}

impl LineReader {
    /// Reads `input`; `file` is its name in messages.
    pub fn new(input: InputStream, file: impl Into<SourceFile>) -> Self {
        let line = MAX_LINE as u64;
        Self {
            source: Source::new(input, Decoding::default()),
            file: file.into(),
            number: 0,
            position: 0,
            buffer: Vec::new(),
            ahead: VecDeque::new(),
            ahead_memory: 0,
            decoded: String::new(),
            limits: Limits { line, sentence: u64::MAX, per_byte: BUFFERED, held: 0 },
            copy: None,
        }
    }

    /// Reads another input like this one: with its encoding and its limits.
    pub fn like(&self, input: InputStream, file: impl Into<SourceFile>) -> Self {
        Self {
            source: Source::new(input, self.source.decoding.clone()),
            limits: Limits { held: 0, ..self.limits },
            ..Self::new(Box::new(io::empty()), file)
        }
    }

    /// Limits the memory of a sentence, of which a byte of input takes so many when parsed. Without
    /// a parser yet, it is that of the lines to peek at.
    pub fn limit_memory(&mut self, limit: u64, per_byte: Option<u64>) {
        let per_byte = per_byte.unwrap_or_default().max(BUFFERED);
        self.limits = Limits { sentence: limit, per_byte, held: 0, ..self.limits };
    }

    /// The maximum length of a line in bytes, for which there is also enough memory.
    pub fn longest(&self) -> usize {
        let Limits { line, sentence, per_byte, .. } = self.limits;
        usize::try_from(line.min(sentence / per_byte)).unwrap_or(usize::MAX)
    }

    /// Begins another sentence: what has been read is kept elsewhere.
    pub fn begin_sentence(&mut self) {
        self.limits.held = 0;
    }

    /// Returns the bytes that have not been read, decompressed and decoded to UTF-8.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub fn into_decoded(mut self) -> io::Result<InputStream> {
        self.source.open()?;
        let peeked: Vec<u8> = self.ahead.into_iter().flatten().collect();
        Ok(Box::new(io::Cursor::new(peeked).chain(self.source.take())))
    }

    /// Sets how to decode the input, of which nothing has been read yet.
    pub(super) fn decode_as(&mut self, decoding: Decoding) {
        self.source = Source::new(self.source.take(), decoding);
    }

    /// The name of the input; `-` is standard input.
    pub fn file(&self) -> &SourceFile {
        &self.file
    }

    /// The number of the last line read; 0 before the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line, without its ending (LF or CRLF); `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is not in its encoding, or exceeds a limit.
    pub fn next_line(&mut self) -> Result<Option<InputLine<'_>>> {
        self.buffer.clear();
        self.fill().map_err(|error| self.read_error(error, self.number + 1))?;
        if self.buffer.is_empty() {
            if let Some(copy) = &mut self.copy {
                copy.flush().map_err(|error| Error::io(COPY, error))?;
            }
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        let place = || Place::line(&*self.file, self.number);
        if self.buffer.len() as u64 > self.limits.line {
            let message = format!("the line is longer than {} MiB", self.limits.line >> 20);
            return Err(Error::input(place(), message));
        }
        if let Some(copy) = &mut self.copy {
            let copied = match self.source.decoding.lossy {
                true => copy.write_all(String::from_utf8_lossy(&self.buffer).as_bytes()),
                false => copy.write_all(&self.buffer),
            };
            copied.map_err(|error| Error::io(COPY, error))?;
        }
        let is_cut = self.buffer.len() > self.longest();
        if !self.limits.add(&self.buffer) || is_cut {
            return Err(input_over_limit(
                place(),
                "the sentence up to here needs",
                self.limits.sentence,
                "shorter sentences, shorter lines",
            ));
        }
        self.decode().map(Some)
    }

    /// Skips the rest of a sentence that cannot be read: the lines up to a blank one, which may be
    /// the last that was read.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or there is no end in sight.
    pub fn skip_sentence(&mut self) -> Result<()> {
        let end = self.position.saturating_add(MAX_SKIPPED);
        while !self.buffer.is_empty() && !are_blank(&self.buffer) {
            let is_whole = self.buffer.ends_with(b"\n");
            self.skip(end)?;
            if is_whole && !self.buffer.is_empty() {
                self.number = self.number.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Skips the rest of a line that is too long.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or there is no end in sight.
    pub fn skip_line(&mut self) -> Result<()> {
        let end = self.position.saturating_add(MAX_SKIPPED);
        while self.buffer.len() > self.longest() && !self.buffer.ends_with(b"\n") {
            self.skip(end)?;
        }
        Ok(())
    }

    /// Replaces the buffer by what comes next, unless the position `end` is reached.
    fn skip(&mut self, end: u64) -> Result<()> {
        if self.position >= end {
            let place = Place::line(&*self.file, self.number);
            return Err(Error::input(place, "what cannot be read here has no end"));
        }
        self.buffer.clear();
        self.fill().map_err(|error| Error::io(&*self.file, error))
    }

    /// Returns line `i` of those that have not been read, from 0, without its ending; `None` if
    /// there are not so many, one of them is too long, or together they exceed the memory limit.
    /// What is not UTF-8 is replaced.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub fn peek(&mut self, i: usize) -> Result<Option<String>> {
        while self.ahead.len() <= i {
            let is_cut = self.ahead.back().is_some_and(|line| line.len() > self.longest());
            if is_cut || self.ahead_memory > self.limits.sentence {
                return Ok(None);
            }
            let mut line = Vec::new();
            let number = self.number + self.ahead.len() as u64 + 1;
            self.read_line(&mut line).map_err(|error| self.read_error(error, number))?;
            if line.is_empty() {
                return Ok(None);
            }
            self.ahead_memory += BUFFERED * line.len() as u64 + LINE_AHEAD;
            self.ahead.push_back(line);
        }
        Ok(Some(text_of(&self.ahead[i])))
    }

    /// Returns the first lines of a file, of which nothing has been read, up to the first blank
    /// line after others, or beyond it if these say so: in a stream, nothing may follow yet. The
    /// last one may be cut.
    pub(super) fn first_lines(&mut self, go_on: impl Fn(&[String]) -> bool) -> Result<Vec<String>> {
        let (mut first, mut bytes, mut goes_on) = (Vec::new(), 0, false);
        while first.len() < MAX_LINES && bytes <= MAX_PEEKED {
            let Some(mut line) = self.peek(first.len())? else { break };
            let mut ends = (0..=line.len().min(MAX_PEEKED)).rev();
            line.truncate(ends.find(|&end| line.is_char_boundary(end)).unwrap_or(0));
            let has_content = || first.iter().any(|line: &String| !is_blank(line));
            if !goes_on && is_blank(&line) && has_content() {
                goes_on = go_on(&first);
                if !goes_on {
                    break;
                }
            }
            bytes += line.len();
            first.push(line);
        }
        Ok(first)
    }

    /// Returns the lines that have not been read but are there already: those that were peeked at,
    /// or else the first ones of a file. Of a program or a person that writes one line and waits
    /// for its answer, this is that line. What is not UTF-8 is replaced.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub fn available(&mut self) -> Result<Vec<String>> {
        if !self.ahead.is_empty() {
            return Ok(self.ahead.iter().map(|line| text_of(line)).collect());
        }
        match self.source.open().and_then(BufRead::fill_buf) {
            Ok(bytes) => {
                let whole = bytes.split_inclusive(|&byte| byte == b'\n');
                Ok(whole.filter(|line| line.ends_with(b"\n")).map(text_of).collect())
            }
            Err(error) => Err(self.read_error(error, self.number + 1)),
        }
    }

    /// Fills the buffer with the next line.
    fn fill(&mut self) -> io::Result<()> {
        let mut line = self.ahead.pop_front().unwrap_or_else(|| std::mem::take(&mut self.buffer));
        let result = if line.is_empty() { self.read_line(&mut line) } else { Ok(()) };
        self.position += line.len() as u64;
        self.buffer = line;
        result
    }

    /// Appends what is up to and including the next LF, but at most one byte more than the limit.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        let most = self.longest() as u64 + 1;
        self.source.open()?.take(most).read_until(b'\n', line)?;
        Ok(())
    }

    /// Returns the error of reading line `number`.
    fn read_error(&self, error: io::Error, number: u64) -> Error {
        #[cfg(feature = "encodings")]
        if let Some(fault) = error.get_ref().and_then(|e| e.downcast_ref::<NotDecodable>()) {
            return Error::input(Place::line(&*self.file, number), fault.to_string());
        }
        if let Some(kind) = error.get_ref().and_then(|e| e.downcast_ref::<FileKind>()) {
            return Error::input(Place::file(&*self.file), kind.to_string());
        }
        let _ = number;
        Error::io(&*self.file, error)
    }

    /// Decodes the buffered line as UTF-8, without byte order mark and line ending.
    fn decode(&mut self) -> Result<InputLine<'_>> {
        // A cell of its own inside a file is a token of text that had a mark there.
        let is_cell = |rest: &&[u8]| self.number > 1 && matches!(rest.first(), Some(b' ' | b'\t'));
        let marked = self.buffer.strip_prefix(BYTE_ORDER_MARK).filter(|rest| !is_cell(rest));
        let bytes = marked.unwrap_or(&self.buffer);
        let Decoding { lossy, report, .. } = &self.source.decoding;
        let line = match std::str::from_utf8(bytes) {
            Ok(line) => line,
            Err(_) if *lossy => {
                let invalid = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
                report.add(&Repair::REPLACED, invalid.count() as u64);
                self.decoded = String::from_utf8_lossy(bytes).into_owned();
                &self.decoded
            }
            Err(error) => return Err(self.not_utf8(bytes, error.valid_up_to())),
        };
        let line = InputLine {
            has_mark: marked.is_some(),
            ..InputLine::new(line, &self.file, self.number)
        };
        if line.has_mark && line.number > 1 {
            report.warn_at(&INNER_MARK, line.file, line.number);
        }
        if line.ending == ENDINGS[0] {
            report.warn_at(&DOUBLE_CR, line.file, line.number);
        }
        Ok(line)
    }

    /// Returns the error of a line that is UTF-8 up to a byte.
    fn not_utf8(&self, bytes: &[u8], valid: usize) -> Error {
        let (valid, rest) = bytes.split_at(valid);
        let column = String::from_utf8_lossy(valid).chars().count() as u64 + 1;
        let byte = rest.first().copied().unwrap_or_default();
        let message = format!(
            "byte 0x{byte:02X} is not UTF-8; expected UTF-8 (`encoding` reads another encoding, \
             for example latin1; utf-8-lossy replaces what is no text)"
        );
        Error::input(Place::column(&*self.file, self.number, column), message)
    }
}

/// The text of a line that is only looked at.
fn text_of(line: &[u8]) -> String {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned()
}

/// Whether a line separates sentences. White space beyond ASCII can be a token.
pub fn is_blank(line: &str) -> bool {
    line.bytes().all(is_blank_byte)
}

/// Whether the bytes of a line, with its ending, are a blank one.
fn are_blank(line: &[u8]) -> bool {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).iter().all(|&byte| is_blank_byte(byte))
}

fn is_blank_byte(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::ReadReport;
    use std::io::{BufReader, Cursor};

    fn lines(bytes: &[u8]) -> LineReader {
        LineReader::new(Box::new(Cursor::new(bytes.to_vec())), "x")
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
    fn lines_end_in_lf_or_crlf_and_the_last_may_have_no_ending() {
        assert_eq!(read(b"a\r\n\nb\n c"), ["a", "", "b", " c"]);
        assert_eq!(read(b"a\n"), ["a"]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn lines_that_are_there_already_are_looked_at_without_waiting() {
        let mut lines = lines("\u{feff}a\nb\r\n\nc".as_bytes());
        assert_eq!(lines.available().unwrap(), ["a", "b", ""]);
        assert_eq!(lines.peek(3).unwrap().unwrap(), "c");
        assert_eq!(lines.available().unwrap(), ["a", "b", "", "c"]);
        assert_eq!(lines.next_line().unwrap().unwrap().text, "a");
    }

    #[test]
    fn lines_that_are_looked_at_stay_within_the_memory_limit() {
        let text = "\n".repeat(1000) + "a";
        let mut lines = lines(text.as_bytes());
        lines.limit_memory(100 * LINE_AHEAD, None);
        assert!(lines.peek(90).unwrap().is_some());
        assert!(lines.peek(1000).unwrap().is_none() && lines.ahead.len() <= 100);
        let mut last = 0;
        while let Some(line) = lines.next_line().unwrap() {
            last = line.text.len();
        }
        assert_eq!((lines.number(), last), (1001, 1));
    }

    #[test]
    fn comments_before_a_sentence_stay_within_the_memory_limit() {
        // As strings, of which the shortest takes more memory than a token.
        for (text, most) in [("#\n", 100), ("a\n", 400)] {
            let text = text.repeat(1000);
            let mut lines = lines(text.as_bytes());
            lines.limit_memory(100 * LINE_AHEAD, Some(6));
            while let Ok(Some(_)) = lines.next_line() {}
            assert!((most * 9 / 10..most).contains(&lines.number()), "{}", lines.number());
        }
    }

    #[test]
    fn gzip_is_recognized_by_its_magic_bytes_and_may_have_several_members() {
        let compressed = [gzip(b"a\nb"), gzip(b"c\n")].concat();
        assert_eq!(read(&compressed), ["a", "bc"]);
    }

    #[test]
    fn text_that_begins_with_a_single_magic_byte_is_not_gzip() {
        assert_eq!(read(b"\x1f"), ["\x1f"]);
        assert_eq!(read(b"\x1fa\nb"), ["\x1fa", "b"]);
        let input = BufReader::with_capacity(1, Cursor::new(b"\x1fa\n".to_vec()));
        let mut lines = LineReader::new(Box::new(input), "x");
        assert_eq!(lines.next_line().unwrap().unwrap().text, "\x1fa");
    }

    #[test]
    fn a_damaged_gzip_file_is_an_error_that_names_it() {
        let whole = gzip(b"a\nb\n");
        let mut damaged = whole.clone();
        damaged[whole.len() - 8] ^= 1; // of the checksum
        for (bytes, expected) in [
            (whole[..whole.len() - 9].to_vec(), "x: "),
            (damaged, "x: corrupt gzip stream does not have a matching checksum"),
            ([&whole[..], b"junk"].concat(), "x: unexpected end of file"),
        ] {
            let mut lines = lines(&bytes);
            let error = loop {
                match lines.next_line() {
                    Ok(line) => assert!(line.is_some(), "the damage went unnoticed"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(&error, Error::Io { path, .. } if path.as_os_str() == "x"));
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }

    #[test]
    fn invalid_utf8_is_an_error_with_its_column_in_characters() {
        let mut lines = lines(b"ok\n\xc3\xa4b\xe9c\n");
        lines.next_line().unwrap();
        assert_eq!(
            lines.next_line().err().unwrap().to_string(),
            "x:2:3: byte 0xE9 is not UTF-8; expected UTF-8 \
             (`encoding` reads another encoding, for example latin1; utf-8-lossy replaces what is \
             no text)"
        );
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn the_byte_order_mark_of_utf16_is_respected() {
        assert_eq!(read(b"\xff\xfea\0\n\0\xe9\0"), ["a", "é"]);
        assert_eq!(read(&gzip(b"\xfe\xff\0a")), ["a"]);
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn what_is_no_text_in_an_encoding_is_an_error_with_its_line() {
        let mut lines = lines(b"a\n\x82\xa0\xff\n");
        let encoding = Some("shift_jis".parse().unwrap());
        lines.decode_as(Decoding { encoding, ..Decoding::default() });
        assert_eq!(lines.next_line().unwrap().unwrap().text, "a");
        assert_eq!(
            lines.next_line().err().unwrap().to_string(),
            "x:2: the next bytes are not Shift_JIS; expected text in this encoding (with \
             -lossy at its end, it replaces what is not)"
        );
    }

    #[test]
    fn what_is_not_utf8_can_be_replaced() {
        let mut lines = lines(b"\xc3\xa4b\xe9c\xe9\n\xc3\n");
        let report = ReadReport::default();
        lines.decode_as(Decoding { encoding: None, lossy: true, report: report.clone() });
        assert_eq!(lines.next_line().unwrap().unwrap().text, "äb\u{fffd}c\u{fffd}");
        assert_eq!(lines.next_line().unwrap().unwrap().text, "\u{fffd}");
        assert_eq!(report.count(&Repair::REPLACED), 3);
    }

    #[test]
    fn a_line_over_the_limit_is_an_error_and_is_not_read_to_its_end() {
        let endless = Box::new(BufReader::new(io::repeat(b'a')));
        let mut lines = LineReader::new(endless, "x");
        lines.limits.line = 2 << 20;
        assert_eq!(
            lines.next_line().err().unwrap().to_string(),
            "x:1: the line is longer than 2 MiB"
        );
        assert!(lines.buffer.len() <= (2 << 20) + 1);
    }

    #[test]
    fn only_ascii_white_space_makes_a_line_blank() {
        assert!(is_blank(""));
        assert!(is_blank(" \t \r\u{b}\u{c}"));
        assert!(!is_blank("\u{a0}"));
    }
}
