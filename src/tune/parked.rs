//! Weights that wait for their training to go on: in memory, or in a temporary file where memory is
//! short. They come back as they were, to the bit.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::sync::Mutex;

use super::pool::lock;
use crate::error::{Error, Result};

/// Numbers of a piece that is written or read at once.
const PIECE: usize = 1 << 13;

/// Weights that wait.
#[derive(Debug)]
pub(super) enum Parked {
    Memory(Vec<f64>),
    /// A file without a name, and how many numbers it holds. Several may want a copy at a time.
    File(Mutex<File>, usize),
}

impl Parked {
    pub fn new(weights: Vec<f64>, in_file: bool) -> Result<Self> {
        if !in_file {
            return Ok(Self::Memory(weights));
        }
        let file = tempfile::tempfile().map_err(failed)?;
        write(&file, &weights).map_err(failed)?;
        Ok(Self::File(Mutex::new(file), weights.len()))
    }

    /// A copy of the weights.
    pub fn copy(&self) -> Result<Vec<f64>> {
        match self {
            Self::Memory(weights) => Ok(weights.clone()),
            Self::File(file, count) => read(&lock(file), *count).map_err(failed),
        }
    }
}

fn failed(error: io::Error) -> Error {
    Error::io(std::env::temp_dir().join("(a temporary file)"), error)
}

fn write(mut file: &File, weights: &[f64]) -> io::Result<()> {
    for piece in weights.chunks(PIECE) {
        let bytes: Vec<u8> = piece.iter().flat_map(|x| x.to_le_bytes()).collect();
        file.write_all(&bytes)?;
    }
    Ok(())
}

fn read(mut file: &File, count: usize) -> io::Result<Vec<f64>> {
    file.rewind()?;
    let mut weights = Vec::with_capacity(count);
    let mut bytes = vec![0; 8 * PIECE];
    while weights.len() < count {
        let bytes = &mut bytes[..8 * PIECE.min(count - weights.len())];
        file.read_exact(bytes)?;
        let numbers = bytes.as_chunks().0.iter();
        weights.extend(numbers.map(|&number| f64::from_le_bytes(number)));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_come_back_to_the_bit_as_often_as_they_are_asked_for() {
        let weights: Vec<f64> = (0..3 * PIECE + 5).map(|i| (i as f64).sin()).collect();
        for in_file in [false, true] {
            let parked = Parked::new(weights.clone(), in_file).unwrap();
            assert!(parked.copy().unwrap() == weights);
            assert!(parked.copy().unwrap() == weights);
        }
    }
}
