//! JSON objects, one after the other: one per line, or in an array, on any number of lines.

use dropchain::corpus::LineReader;
use dropchain::kernel::{corpus::MEMORY_PER_BYTE, memory::input_over_limit};
use dropchain::{Error, Place, Result};

/// Finds the objects of a stream, without parsing them. What is wrong is skipped: an error is not
/// met again.
#[derive(Debug, Default)]
pub struct JsonObjects {
    memory: u64, // of an object, in bytes
    example: &'static str,
    text: String, // the current line
    at: usize,    // what of it has been read, in bytes
    line: u64,
    array: Option<u64>, // the line of the bracket of an open array
    is_ended: bool,     // by an object whose end is not known
}

/// An object that is being read.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// Reads a byte; returns whether it ends the object.
    fn ends_at(&mut self, byte: u8) -> bool {
        match byte {
            _ if std::mem::take(&mut self.is_escaped) => {}
            b'"' => self.in_string = !self.in_string,
            b'\\' if self.in_string => self.is_escaped = true,
            b'{' | b'[' if !self.in_string => self.depth += 1,
            b'}' | b']' if !self.in_string => self.depth -= 1,
            _ => {}
        }
        self.depth == 0
    }
}

impl JsonObjects {
    /// Finds objects that take at most `memory` bytes once parsed. Messages show an example.
    pub fn new(memory: u64, example: &'static str) -> Self {
        Self { memory, example, ..Self::default() }
    }

    /// Returns the next object and the line that it begins on.
    ///
    /// # Errors
    ///
    /// The errors of reading; something else than an object, an object or an array that does not
    /// end, or an object that is too large.
    pub fn next(&mut self, lines: &mut LineReader) -> Result<Option<(String, u64)>> {
        while !self.is_ended {
            let rest = &self.text[self.at..];
            let Some(at) = rest.find(|c: char| !c.is_ascii_whitespace()) else {
                if self.next_line(lines)? {
                    continue;
                }
                let Some(line) = self.array.take() else { return Ok(None) };
                let message = "the array that begins here does not end";
                return Err(Error::input(Place::line(&**lines.file(), line), message));
            };
            self.at += at;
            match (rest.as_bytes()[at], self.array) {
                (b'{', _) => return self.object(lines).map(Some),
                (b'[', None) => self.array = Some(self.line),
                (b']', Some(_)) => self.array = None,
                (b',', Some(_)) => {}
                _ => {
                    let column = self.text[..self.at].chars().count() as u64 + 1;
                    self.at = self.text.len();
                    let place = Place::column(&**lines.file(), self.line, column);
                    let example = self.example;
                    let message = format!("expected a JSON object with a text, such as {example}");
                    return Err(Error::input(place, message));
                }
            }
            self.at += 1;
        }
        Ok(None)
    }

    /// Reads the next line; returns whether there is one. The memory of several is that of their
    /// object, which is counted here.
    fn next_line(&mut self, lines: &mut LineReader) -> Result<bool> {
        lines.begin_sentence();
        self.text.clear();
        self.at = 0;
        let Some(line) = lines.next_line()? else { return Ok(false) };
        self.text.push_str(line.text);
        self.line = line.number;
        Ok(true)
    }

    /// Reads the object that begins here.
    fn object(&mut self, lines: &mut LineReader) -> Result<(String, u64)> {
        let (mut scan, mut object) = (Scan::default(), String::new());
        let begin = Place::line(&**lines.file(), self.line);
        loop {
            let rest = &self.text[self.at..];
            if let Some(end) = rest.bytes().position(|byte| scan.ends_at(byte)) {
                object.push_str(&rest[..=end]);
                self.at += end + 1;
                return Ok((object, begin.line));
            }
            object.push_str(rest);
            object.push('\n');
            if object.len() as u64 > self.memory / MEMORY_PER_BYTE {
                self.is_ended = true;
                let what = "the JSON object that begins here needs";
                let expected = "smaller objects (does it end?)";
                return Err(input_over_limit(begin, what, self.memory, expected));
            }
            if !self.next_line(lines)? {
                return Err(Error::input(begin, "the JSON object that begins here does not end"));
            }
        }
    }
}
