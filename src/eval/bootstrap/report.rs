//! The result of a paired bootstrap test, as JSON and as text.

use std::fmt;

use serde::Serialize;

/// One in this many samples lies beyond each end of the interval: 2.5 %.
const TAIL: usize = 40;

/// Significance levels that the report names, strictest first.
const LEVELS: [(f64, &str); 3] = [(0.001, "0.1%"), (0.01, "1%"), (0.05, "5%")];

/// The result of a paired bootstrap test. `compare --json` serializes it with these field names.
/// Scores are fractions in 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BootstrapReport {
    /// Number of tokens, document boundaries included.
    pub tokens: u64,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of samples.
    pub samples: u32,
    /// Seed of the samples.
    pub seed: u64,
    /// Span F1, micro-averaged; `None` if the gold labels encode no spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<Difference>,
    /// Fraction of tokens with the correct label.
    pub accuracy: Difference,
}

/// A score of both taggers, and the significance of their difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Score of tagger A.
    pub a: f64,
    /// Score of tagger B.
    pub b: f64,
    /// B − A.
    pub difference: f64,
    /// 95 % percentile interval of the difference.
    pub interval: [f64; 2],
    /// Two-sided p-value of the difference.
    pub p_value: f64,
}

impl Difference {
    /// Compares scores `[A, B]`, given the differences of the samples.
    pub(super) fn new([a, b]: [f64; 2], mut drawn: Vec<f64>) -> Self {
        let p_value = p_value(&drawn);
        drawn.sort_unstable_by(f64::total_cmp);
        let tail = ((drawn.len() + 1) / TAIL).max(1);
        Self {
            a,
            b,
            difference: b - a,
            interval: [drawn[tail - 1], drawn[drawn.len() - tail]],
            p_value,
        }
    }
}

/// The two-sided p-value of a difference, given those of the samples.
pub(super) fn p_value(drawn: &[f64]) -> f64 {
    let not_above = drawn.iter().filter(|&&d| d <= 0.0).count();
    let not_below = drawn.iter().filter(|&&d| d >= 0.0).count();
    let one_sided = (not_above.min(not_below) + 1) as f64 / (drawn.len() + 1) as f64;
    (2.0 * one_sided).min(1.0)
}

/// Writes a table in percent with a verdict on each score; ends with a newline.
impl fmt::Display for BootstrapReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} sentences, {} tokens; {} samples, seed {}",
            self.sentences, self.tokens, self.samples, self.seed
        )?;
        writeln!(
            f,
            "{:8}  {:>6}  {:>6}  {:>6}  {:>18}  {:>6}",
            "", "A", "B", "B - A", "95% interval", "p"
        )?;
        if let Some(f1) = &self.f1 {
            row(f, "F1", f1)?;
        }
        row(f, "accuracy", &self.accuracy)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, score: &Difference) -> fmt::Result {
    let [low, high] = score.interval;
    writeln!(
        f,
        "{name:8}  {:6.2}  {:6.2}  {:+6.2}  {:>18}  {:.4}  {}",
        100.0 * score.a,
        100.0 * score.b,
        100.0 * score.difference,
        format!("[{:+.2}, {:+.2}]", 100.0 * low, 100.0 * high),
        score.p_value,
        verdict(score)
    )
}

fn verdict(score: &Difference) -> String {
    let better = if score.difference > 0.0 { "B" } else { "A" };
    match LEVELS.iter().find(|(level, _)| score.p_value <= *level) {
        Some((_, level)) if score.difference != 0.0 => {
            format!("{better} is better, significant at the {level} level")
        }
        _ => "no significant difference".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_count_ties_on_both_sides_and_are_never_zero() {
        assert_eq!(p_value(&[0.1; 9]), 0.2);
        assert_eq!(p_value(&[-0.1; 9]), 0.2);
        assert_eq!(p_value(&[0.0; 9]), 1.0);
        assert_eq!(
            p_value(&[0.1, 0.1, 0.0, -0.1, 0.1, 0.1, 0.1, 0.1, 0.1]),
            0.6
        );
    }

    #[test]
    fn the_interval_excludes_one_in_forty_samples_at_either_end() {
        let drawn = |samples: i32| (1..=samples).rev().map(f64::from).collect();
        let interval = |samples| Difference::new([0.0, 1.0], drawn(samples)).interval;
        assert_eq!(interval(1), [1.0, 1.0]);
        assert_eq!(interval(38), [1.0, 38.0]);
        assert_eq!(interval(79), [2.0, 78.0]);
        assert_eq!(interval(2000), [50.0, 1951.0]);
    }

    #[test]
    fn the_table_names_the_significance_level() {
        let score = |p_value| Difference {
            a: 0.8467,
            b: 0.8742,
            difference: 0.0275,
            interval: [0.012, 0.0431],
            p_value,
        };
        let report = BootstrapReport {
            tokens: 20,
            sentences: 3,
            samples: 2000,
            seed: 1,
            f1: Some(score(0.0009995)),
            accuracy: score(0.2),
        };
        assert_eq!(
            report.to_string(),
            "\
3 sentences, 20 tokens; 2000 samples, seed 1
               A       B   B - A        95% interval       p
F1         84.67   87.42   +2.75      [+1.20, +4.31]  0.0010  \
           B is better, significant at the 0.1% level
accuracy   84.67   87.42   +2.75      [+1.20, +4.31]  0.2000  no significant difference
"
        );
    }
}
