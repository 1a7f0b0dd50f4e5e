//! Sums over vectors and over the entries of a row or column. They have several partial sums, so
//! that an addition need not wait for the one before it.

/// The number of partial sums.
const LANES: usize = 8;

/// Returns a·b.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Returns the sums of `N` terms over the entries of a row or column: their numbers and, unless all
/// are 1, their values. `term` gets both.
#[inline(always)]
pub(super) fn entry_sums<const N: usize>(
    (numbers, values): (&[u32], Option<&[f64]>),
    term: impl Fn(usize, f64) -> [f64; N],
) -> [f64; N] {
    match values {
        None => sums(numbers.len(), |i| term(numbers[i] as usize, 1.0)),
        Some(values) => sums(numbers.len(), |i| term(numbers[i] as usize, values[i])),
    }
}

/// Returns the sums of `N` terms of each index below `length`.
#[inline(always)]
pub(super) fn sums<const N: usize>(length: usize, term: impl Fn(usize) -> [f64; N]) -> [f64; N] {
    const LANES: usize = 4; // of N sums each
    let mut lanes = [[0.0; N]; LANES];
    let whole = length - length % LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sums) in lanes.iter_mut().enumerate() {
            add(sums, term(start + lane));
        }
    }
    for (i, sums) in (whole..length).zip(&mut lanes) {
        add(sums, term(i));
    }
    let [mut total, second, mut third, fourth] = lanes;
    add(&mut total, second);
    add(&mut third, fourth);
    add(&mut total, third);
    total
}

#[inline(always)]
fn add<const N: usize>(sums: &mut [f64; N], terms: [f64; N]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_every_entry_once() {
        for length in 0..20 {
            let numbers: Vec<u32> = (0..length).collect();
            let values: Vec<f64> = numbers.iter().map(|&i| f64::from(1 << i)).collect();
            let power = |i: usize, x: f64| [x, f64::from(1 << i), 1.0];
            let expected = f64::from((1 << length) - 1);
            let count = f64::from(length);
            let found = entry_sums((&numbers, Some(&values)), power);
            assert_eq!(found, [expected, expected, count]);
            assert_eq!(
                entry_sums((&numbers, None), power),
                [count, expected, count]
            );
            assert_eq!(dot(&values, &vec![1.0; values.len()]), expected);
        }
    }
}
