//! The journal of a search: the weights of suspended trainings, and with a checkpoint everything
//! that is needed to continue after a crash.
//!
//! Between two rungs every configuration has weights on every fold, which can take many times the
//! memory of the trainings that run concurrently. They are appended to a file and read back bit for
//! bit, which takes far less time than the iterations in between (decision 23). Without a
//! checkpoint the file is temporary and unnamed. The file of a checkpoint is synced after each
//! record: a crash costs the segments that were running, and at most a part of the last record is
//! in the file (decision 28).
//!
//! # File format
//!
//! Integers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | magic `DROPCKP\n` |
//! | 8–15 | kind and version, `tune  3\n` |
//! | 16– | records |
//!
//! The first record describes the search ([`SearchIdentity`](super::identity::SearchIdentity)),
//! each of the others a segment ([`SegmentStore`](super::segment_store::SegmentStore)):
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | length n of the description |
//! | 8–15 | number w of weights |
//! | 16–23 | XXH3-64 of bytes 0–15, seeded with the offset of the record |
//! | n | description |
//! | 8w | weights |
//! | 8 | XXH3-64 of description and weights, seeded with the sum before |

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use super::pool::lock;
use dropchain::error::{Error, Result};
use dropchain::train::CHECKPOINT_MAGIC;

const FORMAT: [u8; 8] = *b"tune  3\n";
const PREAMBLE: u64 = 16;
const HEAD: u64 = 24;
const SUM: u64 = 8;

/// Maximum length of a description, so that no damage causes a larger allocation.
pub(super) const MAX_DESCRIPTION: usize = 1 << 26;

/// Number of weights that are converted at a time.
const BUFFER: usize = 1 << 13;

/// An append-only file of records.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    is_durable: bool,
    end: Mutex<End>,
}

#[derive(Debug)]
struct End {
    file: File,
    len: u64, // bytes
}

/// Weights in a [`Journal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredWeights {
    offset: u64, // bytes
    len: usize,  // numbers
}

/// A record that was read.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    pub description: Vec<u8>,
    pub weights: StoredWeights,
}

/// The records of a journal.
#[derive(Debug, PartialEq)]
pub(super) struct Records {
    pub all: Vec<Record>,
    /// Whether an incomplete record was cut off.
    pub was_torn: bool,
    end: u64,
}

impl StoredWeights {
    /// Splits the weights after the first `len`; `None` if there are fewer.
    pub fn split_at(self, len: usize) -> Option<[Self; 2]> {
        let rest = self.len.checked_sub(len)?;
        Some([
            Self { len, ..self },
            Self {
                offset: self.offset + 8 * len as u64,
                len: rest,
            },
        ])
    }

    /// Returns the number of weights.
    pub fn len(self) -> usize {
        self.len
    }
}

impl Journal {
    /// Creates a journal in an unnamed temporary file, which the system deletes when the process
    /// ends.
    pub fn temporary() -> Result<Self> {
        let path = std::env::temp_dir().join("(temporary file)");
        let file = tempfile::tempfile().map_err(|e| Error::io(&path, e))?;
        Self::begin(file, path, false)
    }

    /// Begins a journal in the file of a checkpoint, erasing its contents.
    pub fn create(file: File, path: &Path) -> Result<Self> {
        Self::begin(file, path.to_owned(), true)
    }

    fn begin(mut file: File, path: PathBuf, is_durable: bool) -> Result<Self> {
        let mut begin = || {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&[CHECKPOINT_MAGIC, FORMAT].concat())
        };
        begin().map_err(|e| Error::io(&path, e))?;
        let len = PREAMBLE;
        Ok(Self {
            path,
            is_durable,
            end: Mutex::new(End { file, len }),
        })
    }

    /// Continues the journal whose records were read from the file, after cutting off what is left
    /// of an incomplete one.
    pub fn resume(file: File, path: &Path, records: &Records) -> Result<Self> {
        if records.was_torn {
            let cut = file.set_len(records.end).and_then(|()| file.sync_all());
            cut.map_err(|e| Error::io(path, e))?;
        }
        let len = records.end;
        Ok(Self {
            path: path.to_owned(),
            is_durable: true,
            end: Mutex::new(End { file, len }),
        })
    }

    /// Returns whether the journal outlives the process.
    pub fn is_durable(&self) -> bool {
        self.is_durable
    }

    /// Appends a record, durably if the journal is.
    ///
    /// # Errors
    ///
    /// The file cannot be written. The records before remain.
    pub fn append(&self, description: &[u8], weights: [&[f64]; 2]) -> Result<StoredWeights> {
        let mut end = lock(&self.end);
        let offset = end.len;
        let len = weights.iter().map(|weights| weights.len()).sum();
        let mut written = write_record(&end.file, offset, description, weights);
        if self.is_durable {
            written = written.and_then(|()| end.file.sync_data());
        }
        if let Err(error) = written {
            let _ = end.file.set_len(offset);
            return Err(Error::io(&self.path, error));
        }
        let start = offset + HEAD + description.len() as u64;
        end.len = start + 8 * len as u64 + SUM;
        Ok(StoredWeights { offset: start, len })
    }

    /// Reads weights.
    pub fn read(&self, weights: StoredWeights) -> Result<Vec<f64>> {
        read_weights(&lock(&self.end).file, weights).map_err(|e| Error::io(&self.path, e))
    }

    /// Returns the error for contents that cannot be used.
    pub fn damaged(&self, what: &str) -> Error {
        damaged(&self.path, what)
    }
}

/// Returns the error for a checkpoint that cannot be used.
fn damaged(path: &Path, what: &str) -> Error {
    Error::checkpoint(
        path,
        format!("is damaged: {what}; remove it to start from the beginning"),
    )
}

fn write_record(
    mut file: &File,
    offset: u64,
    description: &[u8],
    weights: [&[f64]; 2],
) -> io::Result<()> {
    let len: usize = weights.iter().map(|weights| weights.len()).sum();
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(description.len() + 8 * BUFFER.min(len) + 64);
    bytes.extend((description.len() as u64).to_le_bytes());
    bytes.extend((len as u64).to_le_bytes());
    let sum = xxh3_64_with_seed(&bytes, offset);
    bytes.extend(sum.to_le_bytes());
    bytes.extend(description);
    file.write_all(&bytes)?;
    let mut hasher = Xxh3::with_seed(sum);
    hasher.update(description);
    for numbers in weights.iter().flat_map(|weights| weights.chunks(BUFFER)) {
        bytes.clear();
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        hasher.update(&bytes);
        file.write_all(&bytes)?;
    }
    file.write_all(&hasher.digest().to_le_bytes())
}

fn read_weights(mut file: &File, stored: StoredWeights) -> io::Result<Vec<f64>> {
    file.seek(SeekFrom::Start(stored.offset))?;
    let mut weights = Vec::with_capacity(stored.len);
    let mut bytes = vec![0; 8 * BUFFER];
    while weights.len() < stored.len {
        let bytes = &mut bytes[..8 * BUFFER.min(stored.len - weights.len())];
        file.read_exact(bytes)?;
        let numbers = bytes.as_chunks().0.iter();
        weights.extend(numbers.map(|&number| f64::from_le_bytes(number)));
    }
    Ok(weights)
}

impl Records {
    /// Returns the end of each record.
    #[cfg(test)]
    pub fn ends(&self) -> Vec<u64> {
        let end = |record: &Record| record.weights.offset + 8 * record.weights.len as u64 + SUM;
        self.all.iter().map(end).collect()
    }

    /// Reads the records of a journal and verifies all of its checksums. A file that ends within
    /// the first record, or before it, has no records.
    ///
    /// # Errors
    ///
    /// [`Error::Checkpoint`] if the file is not the journal of a search, or is damaged;
    /// [`Error::Io`] if it cannot be read.
    pub fn read(file: &File, path: &Path) -> Result<Self> {
        let failed = |e| Error::io(path, e);
        let len = file.metadata().map_err(failed)?.len();
        let mut reader = BufReader::with_capacity(8 * BUFFER, file);
        reader.seek(SeekFrom::Start(0)).map_err(failed)?;
        check_preamble(&mut reader, path)?;
        let mut records = Self {
            all: Vec::new(),
            was_torn: len < PREAMBLE,
            end: PREAMBLE,
        };
        while !records.was_torn && records.end < len {
            let found = read_record(&mut reader, records.end, len).map_err(failed)?;
            match found {
                Found::Record(record) => {
                    let weights = record.weights;
                    records.end = weights.offset + 8 * weights.len as u64 + SUM;
                    records.all.push(record);
                }
                Found::Torn => records.was_torn = true,
                Found::Damage => {
                    let what = format!(
                        "the record at byte {} does not match its checksum",
                        records.end
                    );
                    return Err(damaged(path, &what));
                }
            }
        }
        Ok(records)
    }
}

/// Reads the preamble. One that ends early is that of an empty journal.
fn check_preamble(reader: &mut impl Read, path: &Path) -> Result<()> {
    let mut found = Vec::new();
    let read = reader.take(PREAMBLE).read_to_end(&mut found);
    read.map_err(|e| Error::io(path, e))?;
    if [CHECKPOINT_MAGIC, FORMAT].concat().starts_with(&found) {
        return Ok(());
    }
    Err(Error::checkpoint(
        path,
        if found.starts_with(&CHECKPOINT_MAGIC) {
            "is a checkpoint of another command or version; expected one of `tune`"
        } else {
            "is not a checkpoint of `tune`; expected one to resume"
        },
    ))
}

/// What there is at the end of the records that were read.
enum Found {
    Record(Record),
    /// The remains of the last record, which was being written during a crash.
    Torn,
    Damage,
}

fn read_record(reader: &mut impl Read, offset: u64, file_len: u64) -> io::Result<Found> {
    let Some(rest) = (file_len - offset).checked_sub(HEAD) else {
        return Ok(Found::Torn);
    };
    let mut head = [0; HEAD as usize];
    reader.read_exact(&mut head)?;
    let [length, weights, sum] = [0, 8, 16].map(|at| u64_at(&head, at));
    if xxh3_64_with_seed(&head[..16], offset) != sum {
        // After a power failure, a file may end in zeros in place of what was written last.
        let is_torn = is_zero(reader)?;
        return Ok(if is_torn { Found::Torn } else { Found::Damage });
    }
    let body = weights
        .checked_mul(8)
        .and_then(|bytes| bytes.checked_add(length)?.checked_add(SUM));
    let (Some(body), true) = (body, length <= MAX_DESCRIPTION as u64) else {
        return Ok(Found::Damage);
    };
    if body > rest {
        return Ok(Found::Torn);
    }
    let mut description = vec![0; length as usize];
    reader.read_exact(&mut description)?;
    let mut hasher = Xxh3::with_seed(sum);
    hasher.update(&description);
    let mut bytes = vec![0; 8 * BUFFER];
    let mut left = 8 * weights;
    while left > 0 {
        let bytes = &mut bytes[..(8 * BUFFER as u64).min(left) as usize];
        reader.read_exact(bytes)?;
        hasher.update(bytes);
        left -= bytes.len() as u64;
    }
    let mut sum = [0; SUM as usize];
    reader.read_exact(&mut sum)?;
    if hasher.digest() != u64::from_le_bytes(sum) {
        let is_last = body == rest;
        return Ok(if is_last { Found::Torn } else { Found::Damage });
    }
    Ok(Found::Record(Record {
        description,
        weights: StoredWeights {
            offset: offset + HEAD + length,
            len: weights as usize,
        },
    }))
}

fn u64_at(bytes: &[u8; HEAD as usize], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

/// Returns whether all bytes up to the end of the file are 0.
fn is_zero(reader: &mut impl Read) -> io::Result<bool> {
    let mut bytes = vec![0; 8 * BUFFER];
    loop {
        let n = reader.read(&mut bytes)?;
        if n == 0 {
            return Ok(true);
        }
        if bytes[..n].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(len: usize, seed: f64) -> Vec<f64> {
        (0..len).map(|i| (seed + i as f64).sin()).collect()
    }

    /// Returns the bytes of a journal with three records, and where each record ends.
    fn journal() -> (Vec<u8>, Vec<u64>) {
        let mut named = tempfile::NamedTempFile::new().unwrap();
        let journal = Journal::create(named.reopen().unwrap(), named.path()).unwrap();
        let mut ends = vec![PREAMBLE];
        for (description, len) in [(&b"search"[..], 0), (b"first", 9), (b"", 2 * BUFFER + 1)] {
            let weights = weights(len, 1.0);
            let (front, back) = weights.split_at(len / 3);
            journal.append(description, [front, back]).unwrap();
            ends.push(lock(&journal.end).len);
        }
        let mut bytes = Vec::new();
        named.read_to_end(&mut bytes).unwrap();
        (bytes, ends)
    }

    fn read(bytes: &[u8]) -> Result<Records> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Records::read(&file, Path::new("ck"))
    }

    #[test]
    fn weights_are_read_back_to_the_bit() {
        let journal = Journal::temporary().unwrap();
        let all = [3 * BUFFER + 5, 0, 7].map(|len| weights(len, 1.0));
        let stored = all
            .each_ref()
            .map(|w| journal.append(b"x", [w, &w[..2.min(w.len())]]));
        for (stored, weights) in stored.into_iter().zip(&all) {
            let [last, best] = stored.unwrap().split_at(weights.len()).unwrap();
            assert!(journal.read(last).unwrap() == *weights);
            assert_eq!(journal.read(best).unwrap(), weights[..2.min(weights.len())]);
        }
    }

    #[test]
    fn a_journal_that_ends_anywhere_has_the_records_before() {
        let (bytes, ends) = journal();
        let cuts = (0..bytes.len())
            .step_by(97)
            .chain(ends.iter().map(|&end| end as usize));
        for cut in cuts {
            let complete = ends[1..].iter().filter(|&&end| end <= cut as u64).count();
            let is_boundary = ends.contains(&(cut as u64));
            let records = read(&bytes[..cut]).unwrap();
            assert_eq!(
                (records.all.len(), records.was_torn),
                (complete, !is_boundary),
                "{cut}"
            );
            if (cut as u64) < ends[2] {
                continue; // records before the last one are synced
            }
            // What was not yet written may read as zeros.
            let mut zeros = bytes.clone();
            zeros[cut..].fill(0);
            let records = read(&zeros).unwrap();
            let is_whole = cut == bytes.len();
            assert_eq!(
                (records.all.len(), records.was_torn),
                (complete, !is_whole),
                "{cut}"
            );
        }
    }

    #[test]
    fn a_torn_record_is_cut_off_and_replaced() {
        let (bytes, ends) = journal();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes[..bytes.len() - 3]).unwrap();
        let path = Path::new("ck");
        let records = Records::read(&file, path).unwrap();
        let journal = Journal::resume(file.try_clone().unwrap(), path, &records).unwrap();
        assert_eq!(file.metadata().unwrap().len(), ends[2]);
        let stored = journal.append(b"again", [&[1.0, 2.0], &[]]).unwrap();
        assert_eq!(journal.read(stored).unwrap(), [1.0, 2.0]);
        let records = Records::read(&file, path).unwrap();
        assert_eq!(records.all[2].description, b"again");
        assert!(!records.was_torn);
    }

    #[test]
    fn a_flipped_bit_is_found_and_one_in_the_last_record_cuts_it_off() {
        let (bytes, ends) = journal();
        let begin_of_last = ends[2] as usize + HEAD as usize;
        for at in (PREAMBLE as usize..bytes.len()).step_by(13) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            match read(&damaged) {
                Ok(records) => {
                    assert!(at >= begin_of_last, "{at}");
                    assert_eq!((records.all.len(), records.was_torn), (2, true));
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(at < begin_of_last, "{at}: {error}");
                    assert!(
                        error.starts_with("ck: is damaged: the record at byte "),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn other_files_are_not_journals() {
        let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        let other = "ck: is not a checkpoint of `tune`; expected one to resume";
        assert_eq!(error(b"DROPCRF\n and so on"), other);
        assert_eq!(error(b"x"), other);
        assert_eq!(
            error(b"DROPCKP\ntrain 1\n and so on"),
            "ck: is a checkpoint of another command or version; expected one of `tune`"
        );
    }
}
