//! Statistics of the scores on folds, and the difference between two configurations, fold by fold.

use serde::Serialize;

use super::trial::Trial;

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

/// The difference between the scores of two configurations over the folds: the first minus the
/// second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldDifference {
    /// Number of the first configuration.
    pub first: usize,
    /// Number of the second configuration.
    pub second: usize,
    /// The difference of their scores on each fold.
    pub fold_differences: Vec<f64>,
    /// The mean of the differences.
    pub mean: f64,
    /// The standard deviation of the differences.
    pub standard_deviation: f64,
    /// The number of folds on which the first is ahead.
    pub ahead: usize,
    /// The two-sided p-value of a paired t-test over the folds, corrected for training data that
    /// overlap.
    pub p_value: f64,
}

/// The differences that a search with folds reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FoldDifferences {
    /// The lead of the best configuration over the second best, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<FoldDifference>,
    /// The gain of noise: the best configuration with it, minus the best without, if there are
    /// both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_gain: Option<FoldDifference>,
}

impl FoldDifferences {
    /// Compares configurations, sorted, the best first; none of them without folds.
    pub(super) fn new(trials: &[Trial]) -> Self {
        let best = |has_noise: bool| {
            let mut all = trials.iter().filter(|t| t.configuration.has_noise() == has_noise);
            all.find(|trial| trial.folds().is_some())
        };
        let pair = |(first, second)| FoldDifference::new(first, second);
        let runner_up = trials.first().zip(trials.get(1)).and_then(pair);
        Self { runner_up, noise_gain: best(true).zip(best(false)).and_then(pair) }
    }
}

impl FoldDifference {
    pub(super) fn new(first: &Trial, second: &Trial) -> Option<Self> {
        let pairs = first.folds()?.fold_scores.iter().zip(&second.folds()?.fold_scores);
        let differences: Vec<f64> = pairs.map(|(first, second)| first - second).collect();
        Some(Self {
            first: first.number,
            second: second.number,
            mean: mean(&differences),
            standard_deviation: standard_deviation(&differences),
            ahead: differences.iter().filter(|&&d| d > 0.0).count(),
            p_value: paired_p_value(&differences),
            fold_differences: differences,
        })
    }
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
