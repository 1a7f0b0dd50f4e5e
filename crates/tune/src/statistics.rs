//! Statistics of the scores on folds.

/// Returns the mean; 0 of no values.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the standard deviation of a sample; 0 of a single value.
pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    variance(values).sqrt()
}

/// Returns the standard error of the mean.
pub(super) fn standard_error(values: &[f64]) -> f64 {
    (variance(values) / values.len() as f64).sqrt()
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

/// Returns the standard error of the mean of k folds.
///
/// The training data of folds overlap, so it is corrected as by Nadeau and Bengio (2003): the
/// variance of the mean is taken as s²·(1/k + 1/(k − 1)) instead of s²/k.
fn error_over_folds(values: &[f64]) -> f64 {
    let k = values.len() as f64;
    (variance(values) * (1.0 / k + 1.0 / (k - 1.0))).sqrt()
}

/// Returns half of the length of the 95 % interval of the mean over folds, by Student's t.
pub(super) fn half_interval(values: &[f64]) -> f64 {
    let degrees = values.len() - 1;
    // The critical value of one degree of freedom is 12.7.
    let (mut low, mut high) = (0.0, 13.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        let is_inside = two_sided(middle, degrees) > 0.05;
        *(if is_inside { &mut low } else { &mut high }) = middle;
    }
    low * error_over_folds(values)
}

/// Returns the two-sided p-value of the mean of paired differences over folds.
pub(super) fn paired_p_value(differences: &[f64]) -> f64 {
    let (mean, degrees) = (mean(differences), differences.len() - 1);
    let error = error_over_folds(differences);
    if error > 0.0 { two_sided(mean / error, degrees) } else { f64::from(mean == 0.0) }
}

/// Returns the probability that |T| > |t| for Student's t with whole degrees of freedom, by the
/// closed forms 26.7.3 and 26.7.4 of Abramowitz and Stegun.
fn two_sided(t: f64, degrees: usize) -> f64 {
    let (sine, cosine) = (t.abs() / (degrees as f64).sqrt()).atan().sin_cos();
    let is_odd = degrees % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    for k in (degrees % 2..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * (k as f64 + 1.0) / (k as f64 + 2.0);
    }
    let inside = match is_odd {
        true => std::f64::consts::FRAC_2_PI * (sine.atan2(cosine) + sine * sum),
        false => sine * sum,
    };
    (1.0 - inside).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropchain::kernel::math::assert_close;

    #[test]
    fn critical_values_of_t_have_their_probability() {
        let values = [(1, 12.706_205), (2, 4.302_653), (3, 3.182_446), (4, 2.776_445)];
        for (degrees, t) in values.into_iter().chain([(9, 2.262_157), (10, 2.228_139)]) {
            assert_close(two_sided(t, degrees), 0.05, 1e-6);
            assert_close(two_sided(-t, degrees), 0.05, 1e-6);
            assert_eq!(two_sided(0.0, degrees), 1.0);
        }
    }

    #[test]
    fn the_p_value_allows_for_training_data_that_overlap() {
        // Mean 1 and variance ½: t = 1 / √(½ · (1/5 + 1/4)) = 2.108.
        let differences = [1.0, 2.0, 0.0, 1.0, 1.0];
        assert_close(standard_deviation(&differences), 0.5_f64.sqrt(), 1e-15);
        assert_close(standard_error(&differences), 0.1_f64.sqrt(), 1e-15);
        let t = 1.0 / (0.5_f64 * 0.45).sqrt();
        assert_close(paired_p_value(&differences), two_sided(t, 4), 1e-15);
        assert_close(paired_p_value(&differences), 0.102_738, 1e-4);
        // The critical value of 4 degrees of freedom is 2.776.
        let error = (0.5_f64 * 0.45).sqrt();
        assert_close(half_interval(&differences), 2.776_445 * error, 1e-6);
    }

    #[test]
    fn equal_differences_are_certain_and_no_difference_is_none() {
        assert_eq!(paired_p_value(&[0.5, 0.5]), 0.0);
        assert_eq!(paired_p_value(&[0.0, 0.0]), 1.0);
    }
}
