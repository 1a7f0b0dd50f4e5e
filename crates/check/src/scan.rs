//! Problems of the bytes and characters of lines, found while a parser reads them.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::characters::{is_invisible, quoted};
use super::finding::{FindingKind, Findings};
use dropchain::Place;
use dropchain::kernel::corpus::InputStream;

/// Maximum number of bytes that are looked at together; longer lines are errors of the parser.
const MAX_LINE: u64 = (64 << 20) + 1;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Looks at the lines of a file.
#[derive(Debug)]
pub(super) struct LineScan {
    file: String,
    line: u64,
    is_inside: bool, // of a line whose beginning was looked at
    findings: Findings,
    lossy: bool,              // what is not UTF-8 is replaced in training, too
    endings: [(u64, u64); 2], // lines that end in LF, in CRLF: how many, and the first
}

impl LineScan {
    pub fn new(file: &str, findings: Findings, lossy: bool) -> Self {
        let file = file.to_owned();
        Self { file, line: 0, is_inside: false, findings, lossy, endings: [(0, 0); 2] }
    }

    fn add(&mut self, kind: FindingKind, column: u64, text: impl FnOnce() -> String) {
        let place = Place::column(&*self.file, self.line, column);
        self.findings.add(kind, place, text);
    }

    /// Looks at a line, with its ending, and replaces what is not UTF-8.
    fn line(&mut self, bytes: &mut Vec<u8>) {
        self.line += u64::from(!self.is_inside);
        self.is_inside = !bytes.ends_with(b"\n");
        if self.line == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            let place = Place::file(&*self.file);
            self.findings.add(FindingKind::ByteOrderMark, place, String::new);
        }
        if bytes.ends_with(b"\n") {
            let (count, first) = &mut self.endings[usize::from(bytes.ends_with(b"\r\n"))];
            if *count == 0 {
                *first = self.line;
            }
            *count += 1;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let column = valid.chars().count() as u64 + 1;
            let byte = bytes[error.valid_up_to()];
            let text = || format!("byte 0x{byte:02X}; convert the file, or name its --encoding");
            let kind = match self.lossy {
                true => FindingKind::ReplacementCharacter,
                false => FindingKind::InvalidUtf8,
            };
            self.add(kind, column, text);
            *bytes = String::from_utf8_lossy(bytes).into_owned().into_bytes();
        } else if let Ok(text) = std::str::from_utf8(bytes) {
            self.characters(text);
        }
    }

    /// Looks at the characters of a line; adds each kind of problem once.
    fn characters(&mut self, text: &str) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let mark = text.strip_prefix('\u{feff}').filter(|_| self.line == 1);
        let text = mark.unwrap_or(text);
        if text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
            return;
        }
        let mut found = BTreeMap::new();
        let mut previous = ' ';
        for (column, c) in (1..).zip(text.chars()) {
            if let Some(kind) = problem(previous, c) {
                found.entry(kind).or_insert((column, c));
            }
            previous = c;
        }
        for (kind, (column, c)) in found {
            self.add(kind, column, || {
                format!("U+{:04X} in {}", c as u32, quoted(word_at(text, column)))
            });
        }
    }

    /// Ends the file, and returns the findings.
    pub fn finish(mut self) -> Findings {
        let [unix, windows] = self.endings;
        let ((count, first), ending) = match windows.0 < unix.0 {
            true => (windows, "CRLF"),
            false => (unix, "LF"),
        };
        if windows.0 > 0 && unix.0 > 0 {
            let text = || format!("the first of {count} lines that end in {ending}");
            let place = Place::line(self.file, first);
            self.findings.add(FindingKind::MixedLineEndings, place, text);
        } else if windows.0 > 0 {
            self.findings.add(FindingKind::Crlf, Place::file(self.file), String::new);
        }
        self.findings
    }
}

/// Returns the problem of a character, given the one before it.
fn problem(previous: char, c: char) -> Option<FindingKind> {
    Some(match c {
        '\t' | ' '..='~' => return None,
        '\u{fffd}' => FindingKind::ReplacementCharacter,
        // The continuation byte of a two-byte sequence after its first byte, both as Latin-1.
        '\u{80}'..='\u{bf}' if matches!(previous, 'Ã' | 'Â') => FindingKind::Mojibake,
        _ if c.is_control() => FindingKind::ControlCharacter,
        _ if c.is_whitespace() => FindingKind::OddSpace,
        '\u{200c}' | '\u{200d}' => FindingKind::Joiner,
        _ if is_invisible(c) => FindingKind::InvisibleCharacter,
        _ => return None,
    })
}

/// Returns the cell of a line that has the character `column`, from 1.
fn word_at(text: &str, column: u64) -> &str {
    let at = text.char_indices().nth(column as usize - 1);
    let (before, after) = text.split_at(at.map_or(text.len(), |(i, _)| i));
    let start = before.rfind(['\t', ' ']).map_or(0, |i| i + 1);
    let end = after.find(['\t', ' ']).map_or(text.len(), |i| before.len() + i);
    &text[start..end]
}

/// Looks at the lines of an input on their way to a parser, which gets text that is UTF-8.
pub(super) struct ScannedInput {
    input: InputStream,
    scan: Arc<Mutex<LineScan>>,
    longest: u64, // of the bytes that are looked at together
    line: Vec<u8>,
    position: usize, // of what has not been read in `line`
}

impl ScannedInput {
    /// Looks at lines within a limit on memory, of which a byte takes a few.
    pub fn new(input: InputStream, scan: Arc<Mutex<LineScan>>, memory: u64) -> Self {
        let longest = MAX_LINE.min(memory / 8).max(1);
        Self { input, scan, longest, line: Vec::new(), position: 0 }
    }
}

impl Read for ScannedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for ScannedInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position == self.line.len() {
            self.position = 0;
            self.line.clear();
            let mut line = (&mut self.input).take(self.longest);
            line.read_until(b'\n', &mut self.line)?;
            if !self.line.is_empty() {
                self.scan.lock().unwrap_or_else(PoisonError::into_inner).line(&mut self.line);
            }
        }
        Ok(&self.line[self.position..])
    }

    fn consume(&mut self, amount: usize) {
        self.position = (self.position + amount).min(self.line.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings of a file, as kinds with places, and what a parser gets.
    fn scan(bytes: &[u8]) -> (Vec<String>, String) {
        let scan = Arc::new(Mutex::new(LineScan::new("x", Findings::new(9), false)));
        let input = Box::new(io::Cursor::new(bytes.to_vec()));
        let mut text = String::new();
        ScannedInput::new(input, Arc::clone(&scan), u64::MAX).read_to_string(&mut text).unwrap();
        let scan = Arc::into_inner(scan).unwrap().into_inner().unwrap();
        let mut found = Vec::new();
        for finding in scan.finish().finish() {
            for example in finding.examples {
                found.push(format!("{:?} {} {}", finding.kind, example.place, example.text));
            }
        }
        (found, text)
    }

    #[test]
    fn bytes_that_are_not_utf8_are_found_on_every_line_and_replaced() {
        let (found, text) = scan(b"a\xe9 O\nb O\n\xffc O\n");
        let rest = "; convert the file, or name its --encoding";
        assert_eq!(
            found,
            [
                format!("InvalidUtf8 x:1:2 byte 0xE9{rest}"),
                format!("InvalidUtf8 x:3:1 byte 0xFF{rest}")
            ]
        );
        assert_eq!(text, "a\u{fffd} O\nb O\n\u{fffd}c O\n");
    }

    #[test]
    fn line_endings_are_counted() {
        assert_eq!(scan(b"a\r\nb\r\n").0, ["Crlf x "]);
        assert_eq!(
            scan(b"a\nb\r\nc\n").0,
            ["MixedLineEndings x:2 the first of 1 lines that end in CRLF"]
        );
        assert!(scan(b"a\nb").0.is_empty());
    }

    #[test]
    fn characters_that_are_not_seen_are_found_once_per_line() {
        let line = "\u{feff}a\tx\u{a0}y\u{a0} b\u{200b}c \u{7}é \u{200d}Ã© \u{fffd} \u{85}\n";
        let (found, text) = scan(line.as_bytes());
        assert_eq!(
            found,
            [
                "ReplacementCharacter x:1:19 U+FFFD in '\u{fffd}'",
                "Mojibake x:1:17 U+00A9 in '\\u{200d}Ã©'",
                "ControlCharacter x:1:12 U+0007 in '\\u{7}é'",
                r"OddSpace x:1:4 U+00A0 in 'x\u{a0}y\u{a0}'",
                r"InvisibleCharacter x:1:9 U+200B in 'b\u{200b}c'",
                "ByteOrderMark x ",
                "Joiner x:1:15 U+200D in '\\u{200d}Ã©'",
            ]
        );
        assert_eq!(text, line);
    }

    #[test]
    fn accents_and_other_scripts_are_no_problem() {
        assert!(scan("Köln Ağrı 東京 Ålesund Â é\n".as_bytes()).0.is_empty());
    }
}
