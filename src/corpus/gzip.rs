//! Decompressing gzip.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The first two bytes of a gzip member.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Decompresses the members of a gzip file, one after the other.
///
/// As in gzip, zeros may follow the last member: tapes and block devices pad with them. Anything
/// else there is an error, where gzip warns: data may be missing.
pub(super) struct GzipReader<R> {
    member: Option<GzDecoder<R>>, // `None` at the end
}

impl<R: BufRead> GzipReader<R> {
    pub fn new(input: R) -> Self {
        Self {
            member: Some(GzDecoder::new(input)),
        }
    }
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer).map_err(describe)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut input) = self.member.take().map(GzDecoder::into_inner) else {
                break;
            };
            if has_member(&mut input)? {
                self.member = Some(GzDecoder::new(input));
            }
        }
        Ok(0)
    }
}

/// Skips zeros, and returns whether another member begins.
fn has_member(input: &mut impl BufRead) -> io::Result<bool> {
    let mut is_padded = false;
    loop {
        let bytes = input.fill_buf()?;
        let Some(&first) = bytes.first() else {
            return Ok(false);
        };
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        if zeros > 0 {
            is_padded = true;
            input.consume(zeros);
        } else if first == MAGIC[0] && !is_padded {
            return Ok(true);
        } else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "other data follow the gzip data; expected nothing, zeros or more gzip data",
            ));
        }
    }
}

/// Replaces the messages of the decoder.
fn describe(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(
            error.kind(),
            "the gzip data end too early: the file is truncated",
        ),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            io::Error::new(error.kind(), format!("the gzip data are damaged: {error}"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decompress(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        // Few bytes at a time, as from a pipe.
        let input = BufReader::with_capacity(3, bytes);
        let read = GzipReader::new(input).read_to_end(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn members_are_concatenated_and_zeros_may_follow() {
        let members = [gzip(b"a"), gzip(b""), gzip(b"b\n")].concat();
        assert_eq!(decompress(&members).unwrap(), b"ab\n");
        assert_eq!(
            decompress(&[members, vec![0; 1000]].concat()).unwrap(),
            b"ab\n"
        );
    }

    #[test]
    fn anything_else_after_the_members_is_an_error() {
        for rest in [&b"junk"[..], b"\0\0junk", b"\0\x1f\x8b"] {
            let error = decompress(&[&gzip(b"a")[..], rest].concat()).unwrap_err();
            assert!(error.starts_with("other data follow"), "{rest:?}: {error}");
        }
    }

    #[test]
    fn truncated_and_damaged_data_are_errors() {
        let mut whole = gzip(b"a text that is long enough");
        for end in 1..whole.len() {
            let error = decompress(&whole[..end]).unwrap_err();
            assert!(error.contains("truncated"), "{end}: {error}");
        }
        let sum = whole.len() - 8;
        whole[sum] ^= 1;
        assert!(decompress(&whole).unwrap_err().contains("damaged"));
    }
}
