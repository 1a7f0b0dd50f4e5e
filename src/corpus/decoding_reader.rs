//! Decoding a stream to UTF-8.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read};

use encoding_rs::{Decoder, DecoderResult};

use super::read_report::ReadReport;
use super::text_encoding::TextEncoding;

/// What replaces bytes that are no text.
pub(super) const REPLACEMENT: &str = "\u{fffd}";

/// Decodes a stream to UTF-8, in the encoding that a byte order mark at its start tells, or else
/// the given one.
pub(super) struct DecodingReader<R> {
    input: R,
    decoder: Decoder,
    lossy: Option<ReadReport>, // counts replacements
    owed: bool,                // a replacement has not been written yet
    fault: Option<io::Error>,  // after what has been decoded
    pending: VecDeque<u8>,     // decoded, for a reader whose buffer has no room for a character
    is_done: bool,
}

/// A buffer of this size has room for a replacement and the longest character.
const ROOM: usize = 16;

/// The bytes of a stream are no text in its encoding.
#[derive(Debug)]
pub(super) struct NotDecodable(&'static str);

impl fmt::Display for NotDecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the next bytes are not {}; expected text in this encoding (--lossy replaces what is \
             not)",
            self.0
        )
    }
}

impl std::error::Error for NotDecodable {}

impl<R: BufRead> DecodingReader<R> {
    /// Decodes `input`. With a report, what is no text becomes U+FFFD, and is counted there.
    pub fn new(input: R, encoding: TextEncoding, lossy: Option<ReadReport>) -> Self {
        Self {
            input,
            decoder: encoding.0.new_decoder(),
            lossy,
            owed: false,
            pending: VecDeque::new(),
            fault: None,
            is_done: false,
        }
    }

    /// Decodes bytes that are no text: as U+FFFD, or as an error after what came before.
    fn malformed(&mut self) {
        match &self.lossy {
            Some(report) => {
                report.add_replaced(1);
                self.owed = true;
            }
            None => {
                let name = self.decoder.encoding().name();
                let error = io::Error::new(io::ErrorKind::InvalidData, NotDecodable(name));
                self.fault = Some(error);
            }
        }
    }
}

impl<R: BufRead> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            if buffer.len() >= ROOM {
                return self.decode(buffer);
            }
            let mut decoded = [0; ROOM];
            let count = self.decode(&mut decoded)?;
            self.pending.extend(&decoded[..count]);
        }
        self.pending.read(buffer)
    }
}

impl<R: BufRead> DecodingReader<R> {
    /// Decodes into a buffer of at least [`ROOM`] bytes; 0 bytes are the end.
    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        loop {
            if written == 0
                && let Some(error) = self.fault.take()
            {
                return Err(error);
            }
            if std::mem::take(&mut self.owed) {
                let end = written + REPLACEMENT.len();
                match buffer.get_mut(written..end) {
                    Some(space) => space.copy_from_slice(REPLACEMENT.as_bytes()),
                    None => {
                        self.owed = true;
                        return Ok(written);
                    }
                }
                written = end;
            }
            if self.is_done || self.fault.is_some() {
                return Ok(written);
            }
            let bytes = self.input.fill_buf()?;
            let is_last = bytes.is_empty();
            let space = &mut buffer[written..];
            let (result, read, count) = self
                .decoder
                .decode_to_utf8_without_replacement(bytes, space, is_last);
            self.input.consume(read);
            written += count;
            match result {
                DecoderResult::InputEmpty => {
                    self.is_done = is_last;
                    // What has been decoded is passed on before waiting for more.
                    if written > 0 {
                        return Ok(written);
                    }
                }
                DecoderResult::OutputFull => return Ok(written),
                DecoderResult::Malformed(..) => self.malformed(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn decode(bytes: &[u8], label: &str, lossy: bool) -> (String, Option<String>, u64) {
        let report = ReadReport::default();
        let encoding = label.parse().unwrap();
        // Few bytes at a time, as from a pipe.
        let input = BufReader::with_capacity(3, bytes);
        let decoder = DecodingReader::new(input, encoding, lossy.then(|| report.clone()));
        let mut reader = BufReader::with_capacity(16, decoder);
        let mut text = Vec::new();
        let error = reader.read_to_end(&mut text).err();
        let text = String::from_utf8(text).unwrap();
        (
            text,
            error.map(|error| error.to_string()),
            report.replaced(),
        )
    }

    #[test]
    fn text_is_decoded_in_pieces_of_any_size() {
        let text = "Zürich, naïve, Åse";
        let latin1: Vec<u8> = text.chars().map(|c| c as u8).collect();
        assert_eq!(decode(&latin1, "latin1", false), (text.to_owned(), None, 0));
        let text = "Ada 😀 é\n".repeat(20);
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&utf16, "utf-16le", false), (text, None, 0));
    }

    #[test]
    fn a_byte_order_mark_is_stronger_than_the_name() {
        assert_eq!(decode("\u{feff}é".as_bytes(), "latin1", false).0, "é");
        assert_eq!(decode(b"\xff\xfea\0", "latin1", false).0, "a");
        assert_eq!(decode(b"\xfe\xff\0a", "utf-8", false).0, "a");
    }

    #[test]
    fn what_is_no_text_is_an_error_after_what_came_before_or_replaced() {
        let bytes = b"ab\x82\xa0\xffc"; // a, b, hiragana a, no text, c
        let (text, error, _) = decode(bytes, "shift_jis", false);
        assert_eq!(text, "abあ");
        assert!(
            error
                .unwrap()
                .starts_with("the next bytes are not Shift_JIS")
        );
        let (text, error, replaced) = decode(bytes, "shift_jis", true);
        assert_eq!((text.as_str(), error, replaced), ("abあ\u{fffd}c", None, 1));
        // The first half of a character at the end.
        assert_eq!(decode(b"a\x82", "shift_jis", true).0, "a\u{fffd}");
    }
}
