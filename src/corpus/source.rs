//! The bytes of an input: decompressed and decoded to UTF-8 once the first of them are read.
//!
//! Names and tables of encodings are those of the Encoding Standard of the web, in which `latin1`
//! is windows-1252. A byte order mark is stronger than the name: a file that begins with one is
//! UTF-8 or UTF-16, whatever was said.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::str::FromStr;

use flate2::bufread::MultiGzDecoder;

#[cfg(feature = "encodings")]
use super::decoding_reader::DecodingReader;
use super::guess::FileKind;
use super::read_report::ReadReport;
use crate::error::{Error, Result};
use crate::input_file::GZIP;

/// A byte stream to read lines from.
pub type InputStream = Box<dyn BufRead + Send>;

/// Size of the buffer for decompressed data, in bytes.
const BUFFER: usize = 64 << 10;

/// The byte order marks of UTF-16.
const UTF16_MARKS: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// An encoding of text, such as `latin1`, `utf-16le` or `gb18030`. Without the feature `encodings`
/// there is none but UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextEncoding(
    #[cfg(feature = "encodings")] pub(super) &'static encoding_rs::Encoding,
    #[cfg(not(feature = "encodings"))] std::convert::Infallible,
);

impl TextEncoding {
    /// The name of the encoding.
    pub fn name(self) -> &'static str {
        #[cfg(feature = "encodings")]
        {
            self.0.name()
        }
        #[cfg(not(feature = "encodings"))]
        match self.0 {}
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TextEncoding {
    type Err = Error;

    /// Parses a label of the Encoding Standard, in upper or lower case.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there is no such label.
    fn from_str(label: &str) -> Result<Self> {
        #[cfg(feature = "encodings")]
        if let Some(encoding) = encoding_rs::Encoding::for_label(label.as_bytes())
            && encoding != encoding_rs::REPLACEMENT
        {
            return Ok(Self(encoding));
        }
        Err(Error::parameter(format!(
            "unknown encoding '{label}': expected a name such as latin1, windows-1250, utf-16le, \
             shift_jis, gb18030 or koi8-r"
        )))
    }
}

/// How bytes become text.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoding {
    /// The encoding; `None`: UTF-8, or UTF-16 with a byte order mark.
    pub encoding: Option<TextEncoding>,
    /// Bytes that are no text are replaced by U+FFFD.
    pub lossy: bool,
    /// Where this and other changes are counted.
    pub report: ReadReport,
}

/// A byte stream, and how to make text of it.
pub(super) struct Source {
    stream: InputStream,
    pub decoding: Decoding,
    is_open: bool, // whether compression and encoding have been looked for
}

impl Source {
    pub fn new(stream: InputStream, decoding: Decoding) -> Self {
        Self { stream, decoding, is_open: false }
    }

    /// Returns the stream, decompressed and decoded to UTF-8 unless it has another fault.
    #[inline]
    pub fn open(&mut self) -> io::Result<&mut InputStream> {
        if !std::mem::replace(&mut self.is_open, true) {
            self.begin()?;
        }
        Ok(&mut self.stream)
    }

    #[cold]
    fn begin(&mut self) -> io::Result<()> {
        // gzip is recognized whatever the name of the file.
        if self.starts_with_one_of(&[GZIP])? {
            let decoder = MultiGzDecoder::new(self.take());
            self.stream = Box::new(BufReader::with_capacity(BUFFER, decoder));
        }
        match self.binary_kind()? {
            Some(kind) => Err(io::Error::new(io::ErrorKind::InvalidData, kind)),
            None => self.decode(),
        }
    }

    /// Returns what the input is if it is no text.
    fn binary_kind(&mut self) -> io::Result<Option<FileKind>> {
        if FileKind::telling(self.stream.fill_buf()?).is_none() {
            // A pipe may deliver few bytes at a time; no line after the first is waited for.
            let mut start = Vec::new();
            while FileKind::telling(&start).is_none()
                && (&mut self.stream).take(1).read_to_end(&mut start)? > 0
            {}
            self.stream = Box::new(io::Cursor::new(start).chain(self.take()));
        }
        let kind = FileKind::of_bytes(self.stream.fill_buf()?);
        let is_decoded = self.decoding.encoding.is_some();
        Ok(kind.filter(|kind| !is_decoded || !matches!(kind, FileKind::Utf16(_))))
    }

    /// Returns what has not been read, to be replaced.
    pub fn take(&mut self) -> InputStream {
        std::mem::replace(&mut self.stream, Box::new(io::empty()))
    }

    /// Decodes the input to UTF-8 if it has another encoding, or the byte order mark of UTF-16.
    #[cfg(feature = "encodings")]
    fn decode(&mut self) -> io::Result<()> {
        let is_utf16 = self.starts_with_one_of(&UTF16_MARKS)?;
        let utf8 = || TextEncoding(encoding_rs::UTF_8);
        if let Some(encoding) = self.decoding.encoding.or_else(|| is_utf16.then(utf8)) {
            let lossy = self.decoding.lossy.then(|| self.decoding.report.clone());
            self.stream = Box::new(DecodingReader::new(self.take(), encoding.0, lossy));
        }
        Ok(())
    }

    /// Rejects the byte order mark of UTF-16.
    #[cfg(not(feature = "encodings"))]
    fn decode(&mut self) -> io::Result<()> {
        let fault = "the file is UTF-16; expected UTF-8";
        match self.starts_with_one_of(&UTF16_MARKS)? {
            true => Err(io::Error::new(io::ErrorKind::InvalidData, fault)),
            false => Ok(()),
        }
    }

    /// Returns whether the input starts with one of these marks. Nothing is consumed.
    fn starts_with_one_of(&mut self, marks: &[[u8; 2]]) -> io::Result<bool> {
        let first = self.stream.fill_buf()?.first().copied();
        if !marks.iter().any(|mark| first == Some(mark[0])) {
            return Ok(false);
        }
        // A pipe may deliver a single byte first.
        let mut start = Vec::with_capacity(2);
        (&mut self.stream).take(2).read_to_end(&mut start)?;
        let found = marks.iter().any(|mark| start == mark);
        self.stream = Box::new(io::Cursor::new(start).chain(self.take()));
        Ok(found)
    }
}

#[cfg(all(test, feature = "encodings"))]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_the_web() {
        let name = |label: &str| label.parse::<TextEncoding>().map(|encoding| encoding.to_string());
        assert_eq!(name("latin1").unwrap(), "windows-1252");
        assert_eq!(name("UTF8").unwrap(), "UTF-8");
        assert_eq!(name("SJIS").unwrap(), "Shift_JIS");
        for unknown in ["", "latin-one", "iso-2022-kr"] {
            let error = name(unknown).unwrap_err().to_string();
            assert!(error.starts_with("unknown encoding '"), "{error}");
        }
    }
}
