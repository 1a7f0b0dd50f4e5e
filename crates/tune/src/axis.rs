//! The values that one parameter may take.

use std::str::FromStr;

use dropchain::error::{Error, Result};
use dropchain::kernel::random::uniform;

/// The end of every parse error.
const EXPECTED: &str = "expected numbers such as 0.1,0.3 or a range such as 0.01:1";

/// The values that one parameter may take: numbers, ranges to draw from, or both; written as
/// `0,0.3,0.5` or `0.01:1` or `0,0.01:1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis(Vec<[f64; 2]>); // both ends of a range; the same for a number

/// The distribution of numbers drawn from a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Uniform, for rates.
    Linear,
    /// Log-uniform, for strengths and weights, whose orders of magnitude matter.
    Logarithmic,
}

impl Axis {
    /// Creates an axis of numbers, sorted and without duplicates.
    pub fn from_values(values: &[f64]) -> Self {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values.dedup();
        Self(values.into_iter().map(|value| [value; 2]).collect())
    }

    /// Returns the numbers; `None` if there is a range.
    pub(super) fn values(&self) -> Option<Vec<f64>> {
        let value = |[low, high]: &[f64; 2]| (low == high).then_some(*low);
        self.0.iter().map(value).collect()
    }

    /// Returns whether there is neither a number nor a range.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all numbers and the ends of all ranges.
    pub(super) fn ends(&self) -> impl Iterator<Item = f64> {
        self.0.iter().flatten().copied()
    }

    /// Returns a range that cannot be drawn from on this scale, as it was written, if there is one.
    pub(super) fn invalid_range(&self, scale: Scale) -> Option<String> {
        let mut ranges = self.0.iter().filter(|[low, high]| low < high);
        let invalid = ranges.find(|[low, _]| scale == Scale::Logarithmic && *low <= 0.0);
        invalid.map(|[low, high]| format!("{low}:{high}"))
    }

    /// Draws an item at random, and if it is a range, a number of three significant digits from it.
    pub(super) fn draw(&self, scale: Scale, seed: u64, counter: u64) -> f64 {
        let chosen = 1.0 - uniform(seed, counter);
        let [low, high] = self.0[((chosen * self.0.len() as f64) as usize).min(self.0.len() - 1)];
        if low == high {
            return low;
        }
        let u = uniform(seed, counter + 1);
        let drawn = match scale {
            Scale::Linear => low + u * (high - low),
            Scale::Logarithmic => (low.ln() + u * (high.ln() - low.ln())).exp(),
        };
        three_digits(drawn).clamp(low, high)
    }
}

fn three_digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

impl FromStr for Axis {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |number: &str| {
            let value = number.trim().parse().ok();
            value.filter(|value: &f64| value.is_finite()).ok_or_else(|| {
                let problem = match number.trim() {
                    "" => "a number is missing".to_owned(),
                    number => format!("'{number}' is not a number"),
                };
                Error::parameter(format!("'{text}': {problem}; {EXPECTED}"))
            })
        };
        let mut items = Vec::new();
        for item in text.split(',') {
            let item = match item.split_once(':') {
                None => [number(item)?; 2],
                Some((low, high)) => {
                    let (low, high) = (number(low)?, number(high)?);
                    if low >= high {
                        let problem = if low == high { "empty" } else { "reversed" };
                        return Err(Error::parameter(format!(
                            "the range {item} is {problem}; expected the lower end first, then a \
                             higher one"
                        )));
                    }
                    [low, high]
                }
            };
            if !items.contains(&item) {
                items.push(item);
            }
        }
        Ok(Self(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        text.parse().unwrap()
    }

    fn error(text: &str) -> String {
        text.parse::<Axis>().unwrap_err().to_string()
    }

    #[test]
    fn numbers_and_ranges_can_be_combined() {
        let items = [[0.0, 0.0], [0.01, 1.0], [2.0, 2.0]];
        assert_eq!(axis("0, 0.01:1, 2,0.0").0, items);
        assert_eq!(axis("1e-2").values(), Some(vec![0.01]));
        assert_eq!(axis("0,0.1:1").values(), None);
        assert_eq!(Axis::from_values(&[0.3, 0.0, 0.3]), axis("0,0.3"));
    }

    #[test]
    fn an_item_that_is_not_a_number_is_named() {
        for (text, problem) in [
            ("", "a number is missing"),
            ("0.1,,0.3", "a number is missing"),
            ("0.1,", "a number is missing"),
            (":1", "a number is missing"),
            ("0.1;0.3", "'0.1;0.3' is not a number"),
            ("0.1:0.2:0.3", "'0.2:0.3' is not a number"),
            ("inf", "'inf' is not a number"),
            ("nan", "'nan' is not a number"),
        ] {
            assert_eq!(error(text), format!("'{text}': {problem}; {EXPECTED}"));
        }
    }

    #[test]
    fn a_range_is_ascending() {
        let expected = "expected the lower end first, then a higher one";
        assert_eq!(error("0,1:0.1"), format!("the range 1:0.1 is reversed; {expected}"));
        assert_eq!(error("1:1"), format!("the range 1:1 is empty; {expected}"));
    }

    #[test]
    fn draws_are_uniform_on_the_scale_of_the_range() {
        let low = |scale| {
            let draws = (0..2000).map(|i| axis("0.01:1").draw(scale, 1, 2 * i));
            let draws: Vec<f64> = draws.collect();
            assert!(draws.iter().all(|x| (0.01..=1.0).contains(x)));
            draws.iter().filter(|&&x| x < 0.1).count()
        };
        assert!((900..1100).contains(&low(Scale::Logarithmic)));
        assert!((130..240).contains(&low(Scale::Linear)));
    }

    #[test]
    fn drawn_numbers_have_three_digits_and_stay_in_their_range() {
        let x = axis("0.01:1").draw(Scale::Logarithmic, 3, 0);
        assert_eq!(format!("{x:.2e}").parse::<f64>().unwrap(), x);
        let narrow = axis("0.99961:0.99962").draw(Scale::Linear, 1, 0);
        assert!((0.99961..=0.99962).contains(&narrow));
    }
}
