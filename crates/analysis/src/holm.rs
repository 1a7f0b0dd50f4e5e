//! Several tests at once.

/// Adjusts p-values for the number of tests, by the step-down method of Holm (1979): the chance of
/// any p-value below α is at most α if there is no difference at all. In the order given.
///
/// The i-th lowest of m p-values, from 1, is multiplied by m + 1 − i; none is below a lower one, or
/// above 1.
///
/// ```
/// let adjusted = dropchain_analysis::holm(&[0.04, 0.01, 0.5]);
/// assert_eq!(adjusted, [0.08, 0.03, 0.5]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (rank, i) in order.into_iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        highest = highest.max(factor * p_values[i]).min(1.0);
        adjusted[i] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_needs_no_adjustment() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn adjusted_p_values_keep_their_order_and_are_at_most_one() {
        // 3·0.02 = 0.06 is more than 2·0.021 = 0.042.
        assert_eq!(holm(&[0.021, 0.02, 0.9]), [0.06, 0.06, 0.9]);
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
    }
}
