//! Decoding a stream to UTF-8.

use std::io::{self, BufRead, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

use super::read_report::{ReadReport, Repair};

/// Size of the buffer of decoded text, in bytes.
const BUFFER: usize = 64 << 10;

/// Decodes a stream to UTF-8, in the encoding that a byte order mark at its start tells, or else
/// the given one.
pub(super) struct DecodingReader<R> {
    input: R,
    decoder: Decoder,
    lossy: Option<ReadReport>, // counts replacements
    fault: Option<io::Error>,  // after what has been decoded
    text: String,              // decoded
    position: usize,           // of what has not been read in `text`
    is_done: bool,
}

/// The bytes of a stream are no text in its encoding.
#[derive(Debug, thiserror::Error)]
#[error(
    "the next bytes are not {0}; expected text in this encoding (with -lossy at its end, it \
     replaces what is not)"
)]
pub(super) struct NotDecodable(&'static str);

impl<R: BufRead> DecodingReader<R> {
    /// Decodes `input`. With a report, what is no text becomes U+FFFD, and is counted there.
    pub fn new(input: R, encoding: &'static Encoding, lossy: Option<ReadReport>) -> Self {
        Self {
            input,
            decoder: encoding.new_decoder(),
            lossy,
            fault: None,
            text: String::with_capacity(BUFFER),
            position: 0,
            is_done: false,
        }
    }

    /// Decodes some text, unless the stream is at its end or at a fault.
    fn decode(&mut self) -> io::Result<()> {
        while self.text.is_empty() && self.fault.is_none() && !self.is_done {
            let bytes = self.input.fill_buf()?;
            let is_last = bytes.is_empty();
            let (result, read) =
                (self.decoder).decode_to_string_without_replacement(bytes, &mut self.text, is_last);
            self.input.consume(read);
            match (result, &self.lossy) {
                (DecoderResult::InputEmpty, _) => self.is_done = is_last,
                (DecoderResult::OutputFull, _) => {}
                (DecoderResult::Malformed(..), Some(report)) => {
                    report.add(&Repair::REPLACED, 1);
                    self.text.push(char::REPLACEMENT_CHARACTER);
                }
                (DecoderResult::Malformed(..), None) => {
                    let fault = NotDecodable(self.decoder.encoding().name());
                    self.fault = Some(io::Error::new(io::ErrorKind::InvalidData, fault));
                }
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for DecodingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position == self.text.len() {
            self.position = 0;
            self.text.clear();
            self.decode()?;
            if self.text.is_empty()
                && let Some(fault) = self.fault.take()
            {
                return Err(fault);
            }
        }
        Ok(&self.text.as_bytes()[self.position..])
    }

    fn consume(&mut self, amount: usize) {
        self.position = (self.position + amount).min(self.text.len());
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn decode(bytes: &[u8], label: &str, lossy: bool) -> (String, Option<String>, u64) {
        let report = ReadReport::default();
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        // Few bytes at a time, as from a pipe.
        let input = BufReader::with_capacity(3, bytes);
        let decoder = DecodingReader::new(input, encoding, lossy.then(|| report.clone()));
        let mut reader = BufReader::with_capacity(16, decoder);
        let mut text = Vec::new();
        let error = reader.read_to_end(&mut text).err();
        let text = String::from_utf8(text).unwrap();
        (text, error.map(|error| error.to_string()), report.count(&Repair::REPLACED))
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
        assert!(error.unwrap().starts_with("the next bytes are not Shift_JIS"));
        let (text, error, replaced) = decode(bytes, "shift_jis", true);
        assert_eq!((text.as_str(), error, replaced), ("abあ\u{fffd}c", None, 1));
        // The first half of a character at the end.
        assert_eq!(decode(b"a\x82", "shift_jis", true).0, "a\u{fffd}");
    }
}
