//! Fast summation of node weights, in the format of nearly all models.
//!
//! This is where tagging spends most of its time. Dense rows are summed in SIMD registers, up to
//! [`MAX_VECTORS`] vectors of [`LANES`] scores at a time, so that a score is loaded and stored once
//! per token and not once per attribute. Sums are formed in the order of the attributes, so the
//! result has the same bits as a plain loop.

use std::marker::PhantomData;

use super::encoding::WeightEncoding;
use super::slots::WeightLocation;
use crate::error::Result;
use crate::model::bytes::{Bytes, prefetch_range};
use crate::model::format::Precision;
use crate::simd::{self, Kernel};

/// Number of weights of a dense row that are loaded together.
const LANES: usize = 4;

/// Number of vectors of partial sums that fit in registers.
const MAX_VECTORS: usize = 8;

/// The bit of the label that marks the last entry of a sparse row.
const LAST: u16 = 1 << 15;

/// A weight as stored: the bytes of a float.
trait StoredWeight: Copy + Default {
    /// An entry of a sparse row: label and weight.
    type Entry;

    /// Divides the bytes of dense rows.
    fn weights(data: &[u8]) -> &[Self];

    /// Divides the bytes of sparse rows.
    fn entries(data: &[u8]) -> &[Self::Entry];

    /// Returns the label of an entry with the mark of the last one, and its weight.
    fn split(entry: &Self::Entry) -> (u16, Self);

    fn value(self) -> f64;
}

impl StoredWeight for [u8; 4] {
    type Entry = [u8; 6];

    #[inline(always)]
    fn weights(data: &[u8]) -> &[Self] {
        data.as_chunks().0
    }

    #[inline(always)]
    fn entries(data: &[u8]) -> &[Self::Entry] {
        data.as_chunks().0
    }

    #[inline(always)]
    fn split(entry: &Self::Entry) -> (u16, Self) {
        let [a, b, weight @ ..] = *entry;
        (u16::from_le_bytes([a, b]), weight)
    }

    #[inline(always)]
    fn value(self) -> f64 {
        f64::from(f32::from_le_bytes(self))
    }
}

impl StoredWeight for [u8; 8] {
    type Entry = [u8; 10];

    #[inline(always)]
    fn weights(data: &[u8]) -> &[Self] {
        data.as_chunks().0
    }

    #[inline(always)]
    fn entries(data: &[u8]) -> &[Self::Entry] {
        data.as_chunks().0
    }

    #[inline(always)]
    fn split(entry: &Self::Entry) -> (u16, Self) {
        let [a, b, weight @ ..] = *entry;
        (u16::from_le_bytes([a, b]), weight)
    }

    #[inline(always)]
    fn value(self) -> f64 {
        f64::from_le_bytes(self)
    }
}

/// The weights of a node table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightRows<'a> {
    pub(super) bytes: &'a Bytes,
    /// The file up to the end of the weights.
    pub(super) data: &'a [u8],
    /// Offset of the weights.
    pub(super) start: usize,
    /// Exclusive upper bound of locations: number of dense rows, or of sparse entries.
    pub(super) locations: u64,
    /// Number of labels K.
    pub(super) labels: usize,
    pub(super) encoding: WeightEncoding,
}

impl WeightRows<'_> {
    /// Returns the size of a row in bytes; of a sparse row, the maximum.
    #[inline(always)]
    fn row_size(&self) -> usize {
        self.labels * self.encoding.entry_size()
    }

    /// Returns the offset of the row at a location, after verifying its bytes.
    #[inline(always)]
    pub fn locate(&self, location: WeightLocation) -> Result<usize> {
        let number = location.to_number();
        if number >= self.locations {
            return Err(self.bytes.missing_weights());
        }
        let size = self.row_size();
        let unit = if self.encoding.dense {
            size
        } else {
            self.encoding.entry_size()
        };
        let start = self.start + number as usize * unit;
        self.bytes.get(start..(start + size).min(self.data.len()))?;
        Ok(start)
    }

    /// Prefetches every cache line of the row at an offset. For a sparse row it prefetches the
    /// first line and leaves the others to the hardware prefetcher.
    #[inline(always)]
    pub fn prefetch(&self, offset: usize) -> u8 {
        let size = if self.encoding.dense {
            self.row_size()
        } else {
            1
        };
        prefetch_range(self.data, offset, size)
    }

    /// Adds rows to the first K `scores`, in order. A row is specified by the offset that
    /// [`WeightRows::locate`] returned and the factor that its weights are multiplied by.
    #[inline]
    pub fn add(&self, rows: &[(usize, f64)], scores: &mut [f64]) -> Result<()> {
        let scores = &mut scores[..self.labels];
        match (self.encoding.precision, self.encoding.dense) {
            (Precision::F32, true) => add_dense::<[u8; 4]>(self.data, rows, scores),
            (Precision::F64, true) => add_dense::<[u8; 8]>(self.data, rows, scores),
            (Precision::F32, false) => return self.add_sparse::<[u8; 4]>(rows, scores),
            (Precision::F64, false) => return self.add_sparse::<[u8; 8]>(rows, scores),
        }
        Ok(())
    }

    #[inline]
    fn add_sparse<W: StoredWeight>(&self, rows: &[(usize, f64)], scores: &mut [f64]) -> Result<()> {
        for &(offset, value) in rows {
            match add_sparse_row::<W>(&self.data[offset..], value, scores) {
                Ok(()) => {}
                Err(SparseRowError::UnknownLabel) => return Err(self.bytes.weight_without_label()),
                Err(SparseRowError::Unterminated) => return Err(self.bytes.missing_weights()),
            }
        }
        Ok(())
    }
}

#[inline]
fn add_dense<W: StoredWeight>(data: &[u8], rows: &[(usize, f64)], scores: &mut [f64]) {
    for (i, scores) in scores.chunks_mut(LANES * MAX_VECTORS).enumerate() {
        let before = i * LANES * MAX_VECTORS * size_of::<W>();
        let data = data.get(before..).unwrap_or_default();
        match scores.len().div_ceil(LANES) {
            1 => add_columns::<W, 1>(data, rows, scores),
            2 => add_columns::<W, 2>(data, rows, scores),
            3 => add_columns::<W, 3>(data, rows, scores),
            4 => add_columns::<W, 4>(data, rows, scores),
            5 => add_columns::<W, 5>(data, rows, scores),
            6 => add_columns::<W, 6>(data, rows, scores),
            7 => add_columns::<W, 7>(data, rows, scores),
            _ => add_columns::<W, MAX_VECTORS>(data, rows, scores),
        }
    }
}

/// The kinds of damage to a sparse row.
enum SparseRowError {
    UnknownLabel,
    /// No entry is marked as the last.
    Unterminated,
}

/// Adds the sparse row at the start of `data`, times `value`.
#[inline(always)]
fn add_sparse_row<W: StoredWeight>(
    data: &[u8],
    value: f64,
    scores: &mut [f64],
) -> Result<(), SparseRowError> {
    // A row has at most K entries; bytes after that have not been verified.
    for entry in W::entries(data).iter().take(scores.len()) {
        let (label, weight) = W::split(entry);
        match scores.get_mut(usize::from(label & !LAST)) {
            Some(score) => *score += value * weight.value(),
            None => return Err(SparseRowError::UnknownLabel),
        }
        if label & LAST != 0 {
            return Ok(());
        }
    }
    Err(SparseRowError::Unterminated)
}

#[inline(always)]
fn add_columns<W: StoredWeight, const N: usize>(
    data: &[u8],
    rows: &[(usize, f64)],
    scores: &mut [f64],
) {
    simd::dispatch(AddDenseRows::<W, N> {
        data,
        rows,
        scores,
        weight: PhantomData,
    });
}

/// Adds the first `scores.len()` ≤ `LANES`·N weights of dense rows.
struct AddDenseRows<'a, W, const N: usize> {
    data: &'a [u8],
    rows: &'a [(usize, f64)],
    scores: &'a mut [f64],
    weight: PhantomData<W>,
}

impl<W: StoredWeight, const N: usize> Kernel for AddDenseRows<'_, W, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut sums = [[0.0; LANES]; N];
        let flat = sums.as_flattened_mut();
        flat[..self.scores.len()].copy_from_slice(self.scores);
        for &(offset, value) in self.rows {
            // What follows the row's last weight goes into lanes that are discarded.
            let rest = W::weights(&self.data[offset..]);
            match rest.as_chunks().0.first_chunk() {
                Some(vectors) => add_row(vectors, value, &mut sums),
                None => {
                    let mut last = [[W::default(); LANES]; N];
                    last.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
                    add_row(&last, value, &mut sums);
                }
            }
        }
        let sums = sums.as_flattened();
        self.scores.copy_from_slice(&sums[..self.scores.len()]);
    }
}

#[inline(always)]
fn add_row<W: StoredWeight, const N: usize>(
    vectors: &[[W; LANES]; N],
    value: f64,
    sums: &mut [[f64; LANES]; N],
) {
    for i in 0..N {
        for lane in 0..LANES {
            sums[i][lane] += value * vectors[i][lane].value();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn encoding(dense: bool, precision: Precision) -> WeightEncoding {
        WeightEncoding {
            dense,
            narrow: true,
            precision,
            flagged: !dense,
        }
    }

    #[test]
    fn sums_equal_those_of_a_plain_loop_for_any_number_of_labels() {
        for labels in 1..=70 {
            check_dense(labels, Precision::F32);
            check_dense(labels, Precision::F64);
        }
    }

    fn check_dense(labels: usize, precision: Precision) {
        // Three rows from byte 7 on; nothing follows the last.
        let weights: Vec<f64> = (0..3 * labels).map(|i| (i as f64).sin()).collect();
        let stored = |weight: f64| match precision {
            Precision::F32 => f64::from(weight as f32),
            Precision::F64 => weight,
        };
        let encoding = encoding(true, precision);
        let mut data = vec![0xff; 7];
        for &weight in &weights {
            encoding.push(0, false, weight, &mut data);
        }
        let bytes = Bytes::new(data, Path::new("x"));
        let table = WeightRows {
            bytes: &bytes,
            data: bytes.all(),
            start: 7,
            locations: 3,
            labels,
            encoding,
        };
        let rows = [(2, 1.0), (0, -0.7), (2, 1e-3)];
        let size = labels * encoding.entry_size();
        let positions = rows.map(|(row, value)| (7 + row * size, value));
        let mut expected = vec![0.25; labels];
        for (row, value) in rows {
            for (score, weight) in expected.iter_mut().zip(&weights[row * labels..]) {
                *score += value * stored(*weight);
            }
        }
        // The padding of a line of scores stays as it is.
        let mut scores = vec![0.25; labels + 3];
        table.add(&positions, &mut scores).unwrap();
        assert_eq!(scores[..labels], expected);
        assert_eq!(scores[labels..], [0.25; 3]);
    }

    #[test]
    fn sparse_rows_are_read_as_they_are_written() {
        for precision in [Precision::F32, Precision::F64] {
            check_sparse(encoding(false, precision));
        }
    }

    fn check_sparse(encoding: WeightEncoding) {
        let size = encoding.entry_size();
        let mut data = vec![0xff; 7];
        for (label, last, weight) in [(4, true, 0.1), (0, false, -2.0), (3, true, 0.5)] {
            encoding.push(label, last, weight, &mut data);
        }
        let rows = |bytes: &Bytes, positions: &[(usize, f64)]| {
            let table = WeightRows {
                bytes,
                data: bytes.all(),
                start: 7,
                locations: 3,
                labels: 5,
                encoding,
            };
            let mut scores = vec![0.0; 8];
            table.add(positions, &mut scores).map(|()| scores)
        };
        let bytes = Bytes::new(data.clone(), Path::new("x"));
        let scores = rows(&bytes, &[(7 + size, 1.0), (7, 2.0), (7 + size, 0.5)]).unwrap();
        let tenth = match encoding.precision {
            Precision::F32 => f64::from(0.1_f32),
            Precision::F64 => 0.1,
        };
        assert_eq!(scores, [-3.0, 0.0, 0.0, 0.75, 2.0 * tenth, 0.0, 0.0, 0.0]);

        // An unterminated row, and a weight without a label.
        let bytes = Bytes::new(data[..7 + 2 * size].to_vec(), Path::new("x"));
        assert!(rows(&bytes, &[(7 + size, 1.0)]).is_err());
        encoding.push(5, true, 1.0, &mut data);
        let bytes = Bytes::new(data, Path::new("x"));
        assert!(rows(&bytes, &[(7 + 3 * size, 1.0)]).is_err());

        // More entries than labels, though the last is marked.
        let mut data = vec![0xff; 7];
        for last in [false, false, false, false, false, true] {
            encoding.push(0, last, 1.0, &mut data);
        }
        let bytes = Bytes::new(data, Path::new("x"));
        assert!(rows(&bytes, &[(7, 1.0)]).is_err());
        assert!(rows(&bytes, &[(7 + size, 1.0)]).is_ok());
    }
}
