//! Sums over slices.

/// Adds factor·`terms` to `sums`, elementwise.
pub(super) fn add_scaled(sums: &mut [f64], terms: &[f64], factor: f64) {
    assert_eq!(sums.len(), terms.len());
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += factor * term;
    }
}
