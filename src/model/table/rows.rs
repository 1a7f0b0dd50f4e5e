//! Summation of weights.
//!
//! This is where tagging spends most of its time. Dense rows are summed in SIMD registers, up to
//! [`MAX_VECTORS`] vectors of [`LANES`] scores at a time, so that a score is loaded and stored once
//! per token and not once per attribute. Sums are formed in the order of the attributes, so the
//! result has the same bits as a plain loop.

use std::marker::PhantomData;

use super::encoding::{StoredWeight, WeightEncoding, WeightLocation};
use crate::error::Result;
use crate::model::container::{Container, prefetch_range};
use crate::model::format::Precision;
use crate::simd::{self, Kernel};

/// Number of weights of a dense row that are loaded together.
const LANES: usize = 4;

/// Number of vectors of partial sums that fit in registers.
const MAX_VECTORS: usize = 8;

/// The damage of a location that is out of bounds, or of a row without a last entry.
const OUT_OF_BOUNDS: &str = "the weights of an attribute are out of bounds";

/// The damage of a weight whose label does not exist.
const UNKNOWN_LABEL: &str = "a weight is for a label that does not exist";

/// The position of an entry of a sparse row: its bytes. The highest bit marks the last entry.
trait StoredPosition: Sized {
    /// Returns the label, or pair of labels, and whether the entry is the last, given the bytes of
    /// the position.
    fn split(bytes: &[u8]) -> Option<(usize, bool)>;

    /// Returns the score at a position, in lines of `stride` scores of which K are used.
    #[inline(always)]
    fn score(position: usize, _labels: usize, _stride: usize) -> usize {
        position
    }
}

impl StoredPosition for u8 {
    #[inline(always)]
    fn split(bytes: &[u8]) -> Option<(usize, bool)> {
        let &[position] = bytes else { return None };
        Some((usize::from(position & 0x7f), position >> 7 != 0))
    }
}

impl StoredPosition for u16 {
    #[inline(always)]
    fn split(bytes: &[u8]) -> Option<(usize, bool)> {
        let &[a, b] = bytes else { return None };
        let position = Self::from_le_bytes([a, b]);
        Some((usize::from(position & 0x7fff), position >> 15 != 0))
    }
}

impl StoredPosition for u32 {
    #[inline(always)]
    fn split(bytes: &[u8]) -> Option<(usize, bool)> {
        let position = Self::from_le_bytes(*bytes.first_chunk()?);
        Some(((position & 0x7fff_ffff) as usize, position >> 31 != 0))
    }

    #[inline(always)]
    fn score(position: usize, labels: usize, stride: usize) -> usize {
        position / labels * stride + position % labels
    }
}

/// Where the rows of a table are in a file, and how they are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLayout {
    /// Offset of the first row.
    pub start: usize,
    /// Offset of the end of the last row.
    pub end: usize,
    /// Exclusive upper bound of locations.
    pub locations: u64,
    /// Number of labels K.
    pub labels: usize,
    /// Number of scores of an attribute, K or K².
    pub scores: usize,
    pub encoding: WeightEncoding,
}

/// The weights of a table, for summation.
#[derive(Clone, Copy, Debug)]
pub struct WeightRows<'a> {
    file: &'a Container,
    data: &'a [u8], // the file up to the end of the weights
    layout: RowLayout,
}

impl<'a> WeightRows<'a> {
    /// Returns the rows of a file with this layout.
    pub(super) fn new(file: &'a Container, layout: RowLayout) -> Self {
        Self { file, data: &file.contents[..layout.end], layout }
    }

    /// Returns the size of a row in bytes; of a sparse row, the maximum.
    #[inline(always)]
    fn row_size(&self) -> usize {
        self.layout.encoding.row_size(self.layout.scores)
    }

    /// Returns the offset of the row at a location, after verifying its bytes.
    #[inline(always)]
    pub fn locate(&self, location: WeightLocation) -> Result<usize> {
        let number = location.0;
        if number >= self.layout.locations {
            return Err(self.file.damaged(OUT_OF_BOUNDS));
        }
        let size = if self.layout.encoding.is_dense() { self.row_size() } else { 1 };
        let start = self.layout.start + number as usize * size;
        let end = (start + self.row_size()).min(self.data.len());
        self.file.get(start..end)?;
        Ok(start)
    }

    /// Returns the weights of the row at a location, each after its position.
    pub(super) fn read(&self, location: WeightLocation) -> Result<Vec<(usize, f64)>> {
        let encoding = self.layout.encoding;
        let mut weights = Vec::new();
        let entries = self.data[self.locate(location)?..].chunks_exact(encoding.entry_size());
        // A row has at most K or K² entries; bytes after that have not been verified.
        for (i, entry) in entries.take(self.layout.scores).enumerate() {
            let (position, is_last) = match encoding.is_dense() {
                true => (i, i + 1 == self.layout.scores),
                false => encoding.read_position(entry),
            };
            if position >= self.layout.scores {
                return Err(self.file.damaged(UNKNOWN_LABEL));
            }
            weights.push((position, encoding.read_weight(entry)));
            if is_last {
                return Ok(weights);
            }
        }
        Err(self.file.damaged(OUT_OF_BOUNDS))
    }

    /// Prefetches every cache line of the row at an offset. For a sparse row it prefetches the
    /// first line and leaves the others to the hardware prefetcher.
    #[inline(always)]
    pub fn prefetch(&self, offset: usize) -> u8 {
        let size = if self.layout.encoding.is_dense() { self.row_size() } else { 1 };
        prefetch_range(self.data, offset, size)
    }

    /// Adds rows to the scores of a token, `[1 or K][stride]`, in order. A row is specified by the
    /// offset that [`WeightRows::locate`] returned and the factor that its weights are multiplied
    /// by.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if the file is damaged there.
    #[inline]
    pub fn add(&self, rows: &[(usize, f64)], stride: usize, scores: &mut [f64]) -> Result<()> {
        match self.layout.encoding.precision {
            Precision::F64 => self.add_stored::<[u8; 8]>(rows, stride, scores),
            Precision::F32 => self.add_stored::<[u8; 4]>(rows, stride, scores),
            Precision::F16 => self.add_stored::<[u8; 2]>(rows, stride, scores),
        }
    }

    #[inline(always)]
    fn add_stored<W: StoredWeight>(
        &self,
        rows: &[(usize, f64)],
        stride: usize,
        scores: &mut [f64],
    ) -> Result<()> {
        match self.layout.encoding.position_size {
            0 => {
                for (a, scores) in scores.chunks_exact_mut(stride).enumerate() {
                    let scores = &mut scores[..self.layout.labels];
                    add_dense::<W>(self.data, a * self.layout.labels, rows, scores);
                }
                Ok(())
            }
            1 => self.add_sparse::<W, u8>(rows, stride, scores),
            2 => self.add_sparse::<W, u16>(rows, stride, scores),
            _ => self.add_sparse::<W, u32>(rows, stride, scores),
        }
    }

    #[inline]
    fn add_sparse<W: StoredWeight, P: StoredPosition>(
        &self,
        rows: &[(usize, f64)],
        stride: usize,
        scores: &mut [f64],
    ) -> Result<()> {
        for &(offset, value) in rows {
            self.add_sparse_row::<W, P>(offset, value, stride, scores)
                .map_err(|what| self.file.damaged(what))?;
        }
        Ok(())
    }

    /// Adds the sparse row at an offset, times `value`; or returns what is damaged.
    #[inline(always)]
    fn add_sparse_row<W: StoredWeight, P: StoredPosition>(
        &self,
        offset: usize,
        value: f64,
        stride: usize,
        scores: &mut [f64],
    ) -> Result<(), &'static str> {
        let entries = self.data[offset..].chunks_exact(size_of::<P>() + size_of::<W>());
        // A row has at most K or K² entries; bytes after that have not been verified.
        for entry in entries.take(self.layout.scores) {
            let (position, weight) = entry.split_at(size_of::<P>());
            let (position, is_last) = P::split(position).ok_or(OUT_OF_BOUNDS)?;
            let score = scores.get_mut(P::score(position, self.layout.labels, stride));
            match (score, W::weights(weight)) {
                (Some(score), [weight]) if position < self.layout.scores => {
                    *score += value * weight.number();
                }
                _ => return Err(UNKNOWN_LABEL),
            }
            if is_last {
                return Ok(());
            }
        }
        Err(OUT_OF_BOUNDS)
    }
}

/// Adds the weights of dense rows from the one numbered `first` on.
#[inline]
fn add_dense<W: StoredWeight>(
    data: &[u8],
    first: usize,
    rows: &[(usize, f64)],
    scores: &mut [f64],
) {
    for (i, scores) in scores.chunks_mut(LANES * MAX_VECTORS).enumerate() {
        let first = first + i * LANES * MAX_VECTORS;
        match scores.len().div_ceil(LANES) {
            1 => add_columns::<W, 1>(data, first, rows, scores),
            2 => add_columns::<W, 2>(data, first, rows, scores),
            3 => add_columns::<W, 3>(data, first, rows, scores),
            4 => add_columns::<W, 4>(data, first, rows, scores),
            5 => add_columns::<W, 5>(data, first, rows, scores),
            6 => add_columns::<W, 6>(data, first, rows, scores),
            7 => add_columns::<W, 7>(data, first, rows, scores),
            _ => add_columns::<W, MAX_VECTORS>(data, first, rows, scores),
        }
    }
}

#[inline(always)]
fn add_columns<W: StoredWeight, const N: usize>(
    data: &[u8],
    first: usize,
    rows: &[(usize, f64)],
    scores: &mut [f64],
) {
    simd::dispatch(AddDenseRows::<W, N> { data, first, rows, scores, weight: PhantomData });
}

/// Adds `scores.len()` ≤ `LANES`·N weights of dense rows, from the one numbered `first` on.
struct AddDenseRows<'a, W, const N: usize> {
    data: &'a [u8],
    first: usize,
    rows: &'a [(usize, f64)],
    scores: &'a mut [f64],
    weight: PhantomData<W>,
}

impl<W: StoredWeight, const N: usize> Kernel for AddDenseRows<'_, W, N> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let mut sums = [[0.0; LANES]; N];
        let flat = sums.as_flattened_mut();
        flat[..self.scores.len()].copy_from_slice(self.scores);
        for &(offset, value) in self.rows {
            // What follows the row's last weight goes into lanes that are discarded.
            let rest = W::weights(&self.data[offset..]).get(self.first..).unwrap_or_default();
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
    factor: f64,
    sums: &mut [[f64; LANES]; N],
) {
    for i in 0..N {
        for lane in 0..LANES {
            sums[i][lane] += factor * vectors[i][lane].number();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::format::AttributeKind;

    const PRECISIONS: [Precision; 3] = [Precision::F64, Precision::F32, Precision::F16];

    /// Appends a row, and returns its weights as stored.
    fn push(encoding: WeightEncoding, row: &[(u32, f64)], data: &mut Vec<u8>) -> Vec<f64> {
        let precision = encoding.precision;
        let round = |&(label, weight)| (label, precision.round(weight));
        let row: Vec<(u32, f64)> = row.iter().map(round).collect();
        encoding.push_row(&row, data);
        row.into_iter().map(|(_, weight)| weight).collect()
    }

    fn table(file: &Container, labels: usize, encoding: WeightEncoding) -> WeightRows<'_> {
        let end = file.contents.len();
        let layout = RowLayout { start: 7, end, locations: 3, labels, scores: labels, encoding };
        WeightRows::new(file, layout)
    }

    #[test]
    fn sums_equal_those_of_a_plain_loop_for_any_number_of_labels() {
        for labels in 1..=70 {
            for precision in PRECISIONS {
                check_dense(labels, precision);
            }
        }
    }

    fn check_dense(labels: usize, precision: Precision) {
        // Three rows from byte 7 on; nothing follows the last.
        let encoding = WeightEncoding::dense(precision);
        let mut data = vec![0xff; 7];
        let stored: Vec<Vec<f64>> = (0..3)
            .map(|i| {
                let row = (0..labels).map(|b| (b as u32, ((i * labels + b) as f64).sin()));
                push(encoding, &row.collect::<Vec<_>>(), &mut data)
            })
            .collect();
        let bytes = Container::of_test(data);
        let rows = [(2, 1.0), (0, -0.5), (2, 0.125)];
        let positions = rows.map(|(row, value)| (7 + row * encoding.row_size(labels), value));
        let mut expected = vec![0.25; labels];
        for (row, value) in rows {
            for (score, weight) in expected.iter_mut().zip(&stored[row]) {
                *score += value * weight;
            }
        }
        // The padding of a line of scores stays as it is.
        let mut scores = vec![0.25; labels + 3];
        table(&bytes, labels, encoding).add(&positions, labels + 3, &mut scores).unwrap();
        assert_eq!(scores[..labels], expected);
        assert_eq!(scores[labels..], [0.25; 3]);
    }

    #[test]
    fn sparse_rows_are_read_as_they_are_written() {
        for precision in PRECISIONS {
            // Positions of one byte and of two.
            for labels in [5, 200] {
                let encoding = WeightEncoding::sparse(AttributeKind::Node, labels, precision);
                check_sparse(encoding);
            }
        }
    }

    fn check_sparse(encoding: WeightEncoding) {
        let mut data = vec![0xff; 7];
        let first = push(encoding, &[(4, 0.1)], &mut data);
        let second_row = data.len();
        let second = push(encoding, &[(0, -2.0), (3, 0.5)], &mut data);
        let third_row = data.len();
        let rows = |bytes: &Container, positions: &[(usize, f64)]| {
            let mut scores = vec![0.0; 8];
            table(bytes, 5, encoding).add(positions, 8, &mut scores).map(|()| scores)
        };
        let bytes = Container::of_test(data.clone());
        let scores = rows(&bytes, &[(second_row, 1.0), (7, 2.0), (second_row, 0.5)]).unwrap();
        let expected = [1.5 * second[0], 0.0, 0.0, 1.5 * second[1], 2.0 * first[0], 0.0, 0.0, 0.0];
        assert_eq!(scores, expected);

        // An unterminated row, and one of no bytes.
        let bytes = Container::of_test(data[..third_row - 1].to_vec());
        assert!(rows(&bytes, &[(second_row, 1.0)]).is_err());
        assert!(rows(&bytes, &[(third_row - 1, 1.0)]).is_err());
        // A weight without a label.
        push(encoding, &[(5, 1.0)], &mut data);
        let bytes = Container::of_test(data);
        assert!(rows(&bytes, &[(third_row, 1.0)]).is_err());

        // As many entries as labels, and more, though the last is marked.
        for (entries, is_read) in [(5, true), (6, false)] {
            let mut data = vec![0xff; 7];
            push(encoding, &vec![(0, 1.0); entries], &mut data);
            let bytes = Container::of_test(data);
            assert_eq!(rows(&bytes, &[(7, 1.0)]).is_ok(), is_read);
        }
    }
}
