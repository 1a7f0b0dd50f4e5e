//! Adding up node weights that are `f32`, as those of nearly all models: most of the time of tagging.

use super::super::bytes::Bytes;
use super::{WeightLocation, touch};
use crate::error::Result;
use crate::simd::{self, Kernel};

/// Weights of a dense row that are read together.
const LANES: usize = 4;

/// Vectors of sums that fit the processor.
const MAX_VECTORS: usize = 8;

/// Bytes of the label and the weight of a sparse row's entry.
const ENTRY: usize = 6;

/// The bit of the label that marks the last entry of a sparse row.
const LAST: u16 = 1 << 15;

/// The weights of a table, `[attributes][K]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightRows<'a> {
    pub(super) bytes: &'a Bytes,
    pub(super) data: &'a [u8], // of the file, up to the end of the weights
    pub(super) start: usize,   // of the weights
    pub(super) number: u64,    // of rows, or of the entries of all sparse ones
    pub(super) labels: usize,
    pub(super) dense: bool,
}

impl WeightRows<'_> {
    /// Bytes of a row, at most.
    #[inline(always)]
    fn size(&self) -> usize {
        self.labels * if self.dense { size_of::<f32>() } else { ENTRY }
    }

    /// Where the row at a location begins, once it is known to be there and whole.
    #[inline(always)]
    pub fn locate(&self, location: WeightLocation) -> Result<usize> {
        if location.0 >= self.number {
            return Err(self.bytes.missing_weights());
        }
        let number = location.0 as usize;
        let size = self.size();
        let start = self.start + number * if self.dense { size } else { ENTRY };
        self.bytes.get(start..(start + size).min(self.data.len()))?;
        Ok(start)
    }

    /// Reads something of every part of the row at a place that memory gives as a whole. Of a sparse
    /// row it is the first, after which the processor goes on by itself.
    #[inline(always)]
    pub fn prefetch(&self, place: usize) -> u8 {
        let size = if self.dense { self.size() } else { 1 };
        touch(self.data, place, size)
    }

    /// Adds the rows at places that [`WeightRows::locate`] gave, each times a number, to `scores`, of which there
    /// are at least K, in their order.
    #[inline]
    pub fn add(&self, rows: &[(usize, f64)], scores: &mut [f64]) -> Result<()> {
        let scores = &mut scores[..self.labels];
        if self.dense {
            self.add_dense(rows, scores);
            return Ok(());
        }
        for &(place, value) in rows {
            match add_sparse(&self.data[place..], value, scores) {
                Sparse::Added => {}
                Sparse::Misplaced => return Err(self.bytes.weight_without_label()),
                Sparse::Endless => return Err(self.bytes.missing_weights()),
            }
        }
        Ok(())
    }

    #[inline]
    fn add_dense(&self, rows: &[(usize, f64)], scores: &mut [f64]) {
        for (i, scores) in scores.chunks_mut(LANES * MAX_VECTORS).enumerate() {
            let before = i * LANES * MAX_VECTORS * size_of::<f32>();
            let data = self.data.get(before..).unwrap_or_default();
            match scores.len().div_ceil(LANES) {
                1 => add::<1>(data, rows, scores),
                2 => add::<2>(data, rows, scores),
                3 => add::<3>(data, rows, scores),
                4 => add::<4>(data, rows, scores),
                5 => add::<5>(data, rows, scores),
                6 => add::<6>(data, rows, scores),
                7 => add::<7>(data, rows, scores),
                _ => add::<MAX_VECTORS>(data, rows, scores),
            }
        }
    }
}

/// How adding a sparse row went.
enum Sparse {
    Added,
    /// A weight belongs to no label.
    Misplaced,
    /// The last entry is not marked.
    Endless,
}

/// Adds the sparse row that `data` begins with, times `value`.
#[inline(always)]
fn add_sparse(data: &[u8], value: f64, scores: &mut [f64]) -> Sparse {
    // No row has more entries than labels: beyond lies what has not been checked.
    let (entries, _) = data.as_chunks::<ENTRY>();
    for &[a, b, c, d, e, f] in entries.iter().take(scores.len()) {
        let label = u16::from_le_bytes([a, b]);
        match scores.get_mut(usize::from(label & !LAST)) {
            Some(score) => *score += value * f64::from(f32::from_le_bytes([c, d, e, f])),
            None => return Sparse::Misplaced,
        }
        if label & LAST != 0 {
            return Sparse::Added;
        }
    }
    Sparse::Endless
}

#[inline(always)]
fn add<const N: usize>(data: &[u8], rows: &[(usize, f64)], scores: &mut [f64]) {
    simd::dispatch(Add::<N> { data, rows, scores });
}

/// Adds up to N vectors of weights at each place.
struct Add<'a, const N: usize> {
    data: &'a [u8],
    rows: &'a [(usize, f64)],
    scores: &'a mut [f64],
}

/// Bytes of the weights of a vector.
type Vector = [u8; LANES * size_of::<f32>()];

impl<const N: usize> Kernel for Add<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut sums = [[0.0; LANES]; N];
        let flat = sums.as_flattened_mut();
        flat[..self.scores.len()].copy_from_slice(self.scores);
        for &(place, value) in self.rows {
            // What follows the last weight is added to sums that are thrown away.
            let rest = &self.data[place..];
            match rest.as_chunks().0.first_chunk() {
                Some(vectors) => add_row(vectors, value, &mut sums),
                None => {
                    let mut last = [[0; LANES * size_of::<f32>()]; N];
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
fn add_row<const N: usize>(vectors: &[Vector; N], value: f64, sums: &mut [[f64; LANES]; N]) {
    for i in 0..N {
        let (weights, _) = vectors[i].as_chunks();
        for lane in 0..LANES {
            sums[i][lane] += value * f64::from(f32::from_le_bytes(weights[lane]));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::layout::Layout;
    use super::*;
    use crate::model::Precision;

    #[test]
    fn sums_are_those_of_one_weight_after_the_other_for_any_number_of_labels() {
        for labels in 1..=70 {
            // Three rows from byte 7 on; nothing follows the last.
            let weights: Vec<f32> = (0..3 * labels).map(|i| (i as f32).sin()).collect();
            let mut data = vec![0xff; 7];
            data.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
            let bytes = Bytes::owned(data, Path::new("x"));
            let table = WeightRows {
                bytes: &bytes,
                data: bytes.all(),
                start: 7,
                number: 3,
                labels,
                dense: true,
            };
            let rows = [(2, 1.0), (0, -0.7), (2, 1e-3)];
            let places = rows.map(|(row, value)| (7 + row * labels * 4, value));
            let mut expected = vec![0.25; labels];
            for (row, value) in rows {
                for (score, weight) in expected.iter_mut().zip(&weights[row * labels..]) {
                    *score += value * f64::from(*weight);
                }
            }
            // What is left of a line of scores is not touched.
            let mut scores = vec![0.25; labels + 3];
            table.add(&places, &mut scores).unwrap();
            assert_eq!(scores[..labels], expected);
            assert_eq!(scores[labels..], [0.25; 3]);
        }
    }

    #[test]
    fn sparse_rows_are_read_as_they_are_written() {
        let layout = Layout {
            dense: false,
            narrow: true,
            precision: Precision::F32,
            flagged: true,
        };
        assert_eq!(layout.entry(), ENTRY);
        let mut data = vec![0xff; 7];
        for (label, last, weight) in [(4, true, 1.5), (0, false, -2.0), (3, true, 0.5)] {
            layout.push(label, last, weight, &mut data);
        }
        let rows = |bytes: &Bytes, places: &[(usize, f64)]| {
            let table = WeightRows {
                bytes,
                data: bytes.all(),
                start: 7,
                number: 3,
                labels: 5,
                dense: false,
            };
            let mut scores = vec![0.0; 8];
            table.add(places, &mut scores).map(|()| scores)
        };
        let bytes = Bytes::owned(data.clone(), Path::new("x"));
        let scores = rows(&bytes, &[(7 + ENTRY, 1.0), (7, 2.0), (7 + ENTRY, 0.5)]).unwrap();
        assert_eq!(scores, [-3.0, 0.0, 0.0, 0.75, 3.0, 0.0, 0.0, 0.0]);

        // A row without an end, and a weight without a label.
        let bytes = Bytes::owned(data[..7 + 2 * ENTRY].to_vec(), Path::new("x"));
        assert!(rows(&bytes, &[(7 + ENTRY, 1.0)]).is_err());
        layout.push(5, true, 1.0, &mut data);
        let bytes = Bytes::owned(data, Path::new("x"));
        assert!(rows(&bytes, &[(7 + 3 * ENTRY, 1.0)]).is_err());

        // More entries than labels, though the last is marked.
        let mut data = vec![0xff; 7];
        for last in [false, false, false, false, false, true] {
            layout.push(0, last, 1.0, &mut data);
        }
        let bytes = Bytes::owned(data, Path::new("x"));
        assert!(rows(&bytes, &[(7, 1.0)]).is_err());
        assert!(rows(&bytes, &[(7 + ENTRY, 1.0)]).is_ok());
    }
}
