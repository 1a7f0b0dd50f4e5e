use dropchain_numerics::testing::Lcg;
use dropchain_numerics::testing::internal::{FixedPointSum, anchor, untied};

/// Terms of magnitudes from 1e-9 to 1, some with few bits, and the sum of their magnitudes.
fn terms(n: usize) -> (Vec<f64>, f64) {
    let mut numbers = Lcg(1);
    let exponents = numbers.vector(n);
    let terms = numbers.vector(n).into_iter().zip(exponents);
    let terms = terms.enumerate().map(|(i, (x, exponent))| match i % 3 {
        0 => f64::from(x as f32 / 3.0),
        _ => x * 10f64.powf(9.0 * (exponent.abs().min(1.0) - 1.0)),
    });
    let terms: Vec<f64> = terms.collect();
    let bound = terms.iter().map(|x| x.abs()).sum();
    (terms, bound)
}

fn sum<'a>(terms: impl IntoIterator<Item = &'a f64>, bound: f64) -> f64 {
    let start = anchor(bound);
    terms.into_iter().fold(start, |sum, &x| sum + untied(x)) - start
}

#[test]
fn sums_have_the_same_bits_in_any_order_and_grouping() {
    let (terms, bound) = terms(10_000);
    let whole = sum(&terms, bound);
    assert_eq!(sum(terms.iter().rev(), bound).to_bits(), whole.to_bits());
    for parts in [2, 3, 7, 1000] {
        let total: f64 = terms.chunks(terms.len() / parts).map(|part| sum(part, bound)).sum();
        assert_eq!(total.to_bits(), whole.to_bits(), "{parts} parts");
    }
    let plain: f64 = terms.iter().sum();
    assert!((plain - whole).abs() < 1e-12 * bound, "{plain} {whole}");
    // The test would see a difference: ordinary sums have one.
    assert_ne!(plain.to_bits(), terms.iter().rev().sum::<f64>().to_bits());
}

#[test]
fn a_tie_does_not_depend_on_the_accumulator() {
    // Half a unit of the anchor 1.5·2^3, added to an even and to an odd multiple.
    let (start, half) = (anchor(1.0), 2f64.powi(3 - 53));
    assert_eq!(start, 12.0);
    let rounded = |sum: f64, term: f64| (sum + term) - sum;
    let sums = [start, start + 2.0 * half];
    let [even, odd] = sums.map(|sum| rounded(sum, half));
    assert_ne!(even, odd);
    let [even, odd] = sums.map(|sum| rounded(sum, untied(half)));
    assert_eq!(even, odd);
}

#[test]
fn no_terms_sum_to_0_and_neither_do_zeros() {
    for bound in [0.0, 1e-300, 1.0, 1e300] {
        assert_eq!(sum(&[], bound), 0.0);
        assert_eq!(sum(&[0.0, -0.0, 0.0], bound), 0.0);
    }
}

#[test]
fn what_is_not_finite_stays_so() {
    for bound in [f64::INFINITY, f64::NAN, f64::MAX] {
        assert!(!sum(&[1.0], bound).is_finite());
    }
    for term in [f64::INFINITY, f64::NAN] {
        assert!(!sum(&[term, 1.0], 2.0).is_finite());
    }
}

#[test]
fn fixed_point_sums_are_exact_in_parts() {
    let (terms, _) = terms(1000);
    let total = |terms: &[f64]| {
        let mut sum = FixedPointSum::default();
        terms.iter().for_each(|&x| sum.add(1e6 * x));
        sum
    };
    let whole = total(&terms);
    let mut words = [0.0; FixedPointSum::WORDS];
    for part in terms.chunks(37) {
        let part = total(part).to_words();
        words.iter_mut().zip(part).for_each(|(x, y)| *x += y);
    }
    assert_eq!(FixedPointSum::from_words(words).value().to_bits(), whole.value().to_bits());
    let plain: f64 = terms.iter().map(|x| 1e6 * x).sum();
    assert!((whole.value() - plain).abs() < 1e-6);
    assert!(whole.value() != 0.0);
}

#[test]
fn fixed_point_sums_have_no_range_to_overflow() {
    for (term, expected) in [(1e40, f64::INFINITY), (-1e40, f64::NEG_INFINITY)] {
        let mut sum = FixedPointSum::default();
        sum.add(term);
        sum.add(1.0);
        assert_eq!(sum.value(), expected);
        assert_eq!(FixedPointSum::from_words(sum.to_words()).value(), expected);
    }
    let mut sum = FixedPointSum::default();
    sum.add(f64::NAN);
    assert!(sum.value().is_nan());
}
