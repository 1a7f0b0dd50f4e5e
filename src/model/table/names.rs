//! The names of the attributes of a table.

use std::io::{Read, Write};
use std::ops::Range;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::error::{Error, Result};
use crate::model::container::Container;
use crate::name_list::NameList;

/// How many times as long as their encoding names may be. Without a limit, a small file could
/// declare names that take all memory.
const LARGEST_RATIO: usize = 64;

/// How much longer names may be in any case.
const SMALL: usize = 1 << 16;

/// The names of a table in a file: their lengths in 4 bytes each and their bytes, each as a DEFLATE
/// stream, decoded when first accessed.
#[derive(Clone, Debug)]
pub(in crate::model) struct Names {
    count: usize,
    lengths: Range<usize>,
    bytes: Range<usize>,
    decoded: OnceLock<Result<NameList, String>>, // or what is wrong with the encoding
}

impl Names {
    /// Creates the names of `count` attributes in these sections.
    pub fn new(count: usize, lengths: Range<usize>, bytes: Range<usize>) -> Self {
        Self { count, lengths, bytes, decoded: OnceLock::new() }
    }

    /// Returns name `i`, in training order.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there is none; [`Error::Model`] if the file is damaged there.
    pub fn get<'a>(&'a self, file: &'a Container, i: usize) -> Result<&'a [u8]> {
        let count = self.count;
        if i >= count {
            let message = format!("attribute {i} does not exist: there are {count}");
            return Err(Error::parameter(message));
        }
        Ok(self.decoded(file)?.get(i))
    }

    /// Returns all names.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub fn decoded(&self, file: &Container) -> Result<&NameList> {
        let decoded = match self.decoded.get() {
            Some(decoded) => decoded,
            None => {
                let [lengths, names] = [&self.lengths, &self.bytes].map(|s| file.get(s.clone()));
                let encoded = [lengths?, names?];
                (self.decoded).get_or_init(|| decode(self.count, encoded))
            }
        };
        decoded.as_ref().map_err(|what| file.damaged(what))
    }
}

/// Decodes `count` names, given their lengths and their bytes as encoded.
fn decode(count: usize, [lengths, names]: [&[u8]; 2]) -> Result<NameList, String> {
    if count == 0 {
        return Ok(NameList::default());
    }
    let lengths = decompress(lengths, 4 * count);
    let (mut end, mut ends) = (0_u64, Vec::new());
    let unreadable = "the lengths of its names cannot be read";
    for length in lengths.ok_or(unreadable)?.as_chunks().0 {
        end += u64::from(u32::from_le_bytes(*length));
        ends.push(end);
    }
    if end > names.len().saturating_mul(LARGEST_RATIO).saturating_add(SMALL) as u64 {
        return Err(format!("its names have {end} bytes, more than they can"));
    }
    let bytes = decompress(names, end as usize).ok_or("its names cannot be read")?;
    Ok(NameList { bytes, ends })
}

/// Encodes names: returns the lengths and the names.
pub(super) fn encode(names: &NameList) -> [Vec<u8>; 2] {
    let mut start = 0;
    let lengths = names.ends.iter().flat_map(|&end| {
        let length = (end - std::mem::replace(&mut start, end)) as u32;
        length.to_le_bytes()
    });
    let lengths: Vec<u8> = lengths.collect();
    let bytes = &names.bytes;
    let mut compressed = compress(bytes, Compression::fast());
    if bytes.len() > compressed.len() * LARGEST_RATIO + SMALL {
        compressed = compress(bytes, Compression::none());
    }
    [compress(&lengths, Compression::fast()), compressed]
}

/// Returns the `length` bytes of a stream; `None` if it has others.
fn decompress(stream: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if length > 0 {
        DeflateDecoder::new(stream).take(length as u64 + 1).read_to_end(&mut bytes).ok()?;
    }
    (bytes.len() == length).then_some(bytes)
}

fn compress(bytes: &[u8], level: Compression) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("memory takes all that is written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&[u8]]) -> NameList {
        let mut list = NameList::default();
        names.iter().for_each(|name| list.push(name));
        list
    }

    fn decoded(count: usize, encoded: &[Vec<u8>; 2]) -> Result<NameList, String> {
        decode(count, [&encoded[0], &encoded[1]])
    }

    #[test]
    fn names_are_decoded_as_they_were() {
        let long = "ä".repeat(10_000);
        for names in [&[][..], &[&b""[..]], &[b"a", b"", b"word[0]=x\n\0", long.as_bytes(), b"a"]] {
            let list = list(names);
            let decoded = decoded(names.len(), &encode(&list)).unwrap();
            assert_eq!((&decoded.bytes, &decoded.ends), (&list.bytes, &list.ends));
        }
    }

    #[test]
    fn names_that_compress_too_well_are_stored_as_they_are() {
        let names = vec![b'a'; 1 << 20];
        let encoded = encode(&list(&[&names]));
        assert!(encoded[1].len() > names.len());
        assert_eq!(decoded(1, &encoded).unwrap().bytes, names);
        // What nothing writes is not read: 16 MiB from 16 KiB.
        let names = vec![b'a'; 16 << 20];
        let [lengths, _] = encode(&list(&[&names]));
        let small = compress(&names, Compression::best());
        let error = decoded(1, &[lengths, small]).unwrap_err();
        assert_eq!(error, "its names have 16777216 bytes, more than they can");
    }

    #[test]
    fn names_that_contradict_their_lengths_are_damage() {
        let names: [&[u8]; 2] = [b"first", b"second"];
        let good = encode(&list(&names));
        let error = |count: usize, lengths: &[u8], names: &[u8]| {
            let [lengths, names] = [lengths, names].map(|x| compress(x, Compression::fast()));
            decoded(count, &[lengths, names]).unwrap_err()
        };
        assert!(decoded(2, &good).is_ok());
        let [unreadable, unequal] =
            ["the lengths of its names cannot be read", "its names cannot be read"];
        for count in [1, 3] {
            assert_eq!(decoded(count, &good).unwrap_err(), unreadable);
        }
        assert_eq!(decoded(2, &[vec![0xff], vec![]]).unwrap_err(), unreadable);
        assert_eq!(error(1, &[1, 0, 0], b"a"), unreadable);
        assert_eq!(error(1, &[2, 0, 0, 0], b"a"), unequal);
        assert_eq!(error(1, &[2, 0, 0, 0], b"abc"), unequal);
    }
}
