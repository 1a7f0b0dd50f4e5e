//! A temporary file for the weights of suspended trainings.
//!
//! Between two rungs every configuration has weights on every fold, which can take many times the
//! memory of the trainings that run concurrently. Writing and reading them takes far less time than
//! the iterations in between (decision 23). They are read back bit for bit.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use super::pool::lock;
use crate::error::{Error, Result};

/// Number of weights that are converted at a time.
const BUFFER: usize = 1 << 13;

/// An unnamed temporary file, which the system deletes when the process ends.
#[derive(Debug)]
pub(super) struct SpillFile(Mutex<Spill>);

#[derive(Debug)]
struct Spill {
    file: File,
    len: u64, // bytes
}

/// Weights in a [`SpillFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpilledWeights {
    offset: u64, // bytes
    len: usize,  // numbers
}

impl SpillFile {
    /// Creates the file.
    pub fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(failed)?;
        Ok(Self(Mutex::new(Spill { file, len: 0 })))
    }

    /// Writes weights, overwriting the earlier ones if there are as many.
    pub fn write(
        &self,
        weights: &[f64],
        earlier: Option<SpilledWeights>,
    ) -> Result<SpilledWeights> {
        let mut spill = lock(&self.0);
        let reused = earlier.filter(|earlier| earlier.len == weights.len());
        let offset = reused.map_or(spill.len, |earlier| earlier.offset);
        write(&spill.file, offset, weights).map_err(failed)?;
        spill.len = spill.len.max(offset + 8 * weights.len() as u64);
        Ok(SpilledWeights {
            offset,
            len: weights.len(),
        })
    }

    /// Reads weights.
    pub fn read(&self, weights: SpilledWeights) -> Result<Vec<f64>> {
        read(&lock(&self.0).file, weights).map_err(failed)
    }
}

fn failed(error: io::Error) -> Error {
    Error::io(std::env::temp_dir().join("(temporary file)"), error)
}

fn write(mut file: &File, offset: u64, weights: &[f64]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(8 * BUFFER);
    for numbers in weights.chunks(BUFFER) {
        bytes.clear();
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        file.write_all(&bytes)?;
    }
    Ok(())
}

fn read(mut file: &File, spilled: SpilledWeights) -> io::Result<Vec<f64>> {
    file.seek(SeekFrom::Start(spilled.offset))?;
    let mut weights = Vec::with_capacity(spilled.len);
    let mut bytes = vec![0; 8 * BUFFER];
    while weights.len() < spilled.len {
        let bytes = &mut bytes[..8 * BUFFER.min(spilled.len - weights.len())];
        file.read_exact(bytes)?;
        let numbers = bytes.as_chunks().0.iter();
        weights.extend(numbers.map(|&number| f64::from_le_bytes(number)));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(len: usize, seed: f64) -> Vec<f64> {
        (0..len).map(|i| (seed + i as f64).sin()).collect()
    }

    #[test]
    fn weights_are_read_back_to_the_bit() {
        let file = SpillFile::new().unwrap();
        let all = [3 * BUFFER + 5, 0, 7].map(|len| weights(len, 1.0));
        let spilled = all.each_ref().map(|w| file.write(w, None).unwrap());
        for _ in 0..2 {
            assert!(spilled.map(|s| file.read(s).unwrap()) == all);
        }
    }

    #[test]
    fn later_weights_take_the_place_of_earlier_ones() {
        let file = SpillFile::new().unwrap();
        let [first, second] = [1.0, 2.0].map(|seed| file.write(&weights(9, seed), None).unwrap());
        let again = file.write(&weights(9, 3.0), Some(first)).unwrap();
        assert_eq!(again, first);
        assert_eq!(file.read(again).unwrap(), weights(9, 3.0));
        assert_eq!(file.read(second).unwrap(), weights(9, 2.0));
        let longer = file.write(&weights(10, 4.0), Some(first)).unwrap();
        assert_eq!(file.read(longer).unwrap(), weights(10, 4.0));
        assert_eq!(file.read(first).unwrap(), weights(9, 3.0));
    }
}
