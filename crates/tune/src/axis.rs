//! The values of an option that a search tries.

use std::str::FromStr;

use serde_json::{Value, json};

use dropchain::kernel::random::uniform;
use dropchain::{Error, Result};

/// The end of every parse error.
const EXPECTED: &str = "expected numbers such as 0.1,0.3 or a range such as 0.01:1";

/// The values that an option may take: numbers, names, and ranges to draw from; written as
/// `0,0.3,0.5` or `0.01:1` or `0,0.01:1` or `exact,window=2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis(Vec<Item>);

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Value(Value),
    Range(f64, f64),
}

/// The distribution of numbers drawn from a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Uniform, for rates.
    Linear,
    /// Log-uniform, for strengths and weights, whose orders of magnitude matter.
    Logarithmic,
    /// Uniform, rounded to a whole number.
    Whole,
}

impl Axis {
    /// Creates an axis of numbers, sorted and without duplicates.
    pub(super) fn numbers(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        Self::of(numbers.into_iter().map(number).collect())
    }

    /// Creates an axis of values; null is that of an option that is not set.
    pub(super) fn of(values: Vec<Value>) -> Self {
        Self(values.into_iter().map(Item::Value).collect())
    }

    /// Returns all values; `None` if there is a range.
    pub(super) fn values(&self) -> Option<Vec<Value>> {
        let value = |item: &Item| match item {
            Item::Value(value) => Some(value.clone()),
            Item::Range(..) => None,
        };
        self.0.iter().map(value).collect()
    }

    /// Returns all values, and the ends of all ranges.
    pub(super) fn ends(&self) -> impl Iterator<Item = Value> {
        self.0.iter().flat_map(|item| match item {
            Item::Value(value) => vec![value.clone()],
            Item::Range(low, high) => vec![number(*low), number(*high)],
        })
    }

    /// Returns a range that cannot be drawn from on this scale, as it was written, if there is one.
    pub(super) fn invalid_range(&self, scale: Scale) -> Option<String> {
        self.0.iter().find_map(|item| match item {
            Item::Range(low, high) if scale == Scale::Logarithmic && *low <= 0.0 => {
                Some(format!("{low}:{high}"))
            }
            _ => None,
        })
    }

    /// Draws an item at random, and if it is a range, a number of three significant digits from it.
    pub(super) fn draw(&self, scale: Scale, seed: u64, counter: u64) -> Value {
        let chosen = 1.0 - uniform(seed, counter);
        let chosen = ((chosen * self.0.len() as f64) as usize).min(self.0.len() - 1);
        let (low, high) = match &self.0[chosen] {
            Item::Value(value) => return value.clone(),
            Item::Range(low, high) => (*low, *high),
        };
        let u = uniform(seed, counter + 1);
        let drawn = match scale {
            Scale::Linear | Scale::Whole => low + u * (high - low),
            Scale::Logarithmic => (low.ln() + u * (high.ln() - low.ln())).exp(),
        };
        let drawn = three_digits(drawn).clamp(low, high);
        number(if scale == Scale::Whole { drawn.round() } else { drawn })
    }
}

fn three_digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// Returns a number as options have it: a whole one without a fraction.
fn number(x: f64) -> Value {
    let whole = x as i64;
    if whole as f64 == x { json!(whole) } else { json!(x) }
}

impl FromStr for Axis {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |problem: &str| Error::parameter(format!("'{text}': {problem}; {EXPECTED}"));
        let finite = |item: &str| match item.parse() {
            Ok(x) if f64::is_finite(x) => Ok(x),
            _ if item.is_empty() => Err(wrong("a number is missing")),
            _ => Err(wrong(&format!("'{item}' is not a number"))),
        };
        let mut items = Vec::new();
        for item in text.split(',').map(str::trim) {
            let is_name = item.starts_with(char::is_alphabetic) && item.parse::<f64>().is_err();
            let item = match item.split_once(':') {
                _ if is_name => Item::Value(json!(item)),
                None => Item::Value(number(finite(item)?)),
                Some((low, high)) => {
                    let (low, high) = (finite(low.trim())?, finite(high.trim())?);
                    if low >= high {
                        let problem = if low == high { "empty" } else { "reversed" };
                        return Err(Error::parameter(format!(
                            "the range {item} is {problem}; expected the lower end first, then a \
                             higher one"
                        )));
                    }
                    Item::Range(low, high)
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
    fn numbers_names_and_ranges_can_be_combined() {
        let value = |value| Item::Value(value);
        let items = [value(json!(0)), Item::Range(0.01, 1.0), value(json!(2))];
        assert_eq!(axis("0, 0.01:1, 2,0.0").0, items);
        assert_eq!(axis("1e-2").values(), Some(vec![json!(0.01)]));
        assert_eq!(axis("exact,window=2").values(), Some(vec![json!("exact"), json!("window=2")]));
        assert_eq!(axis("0,0.1:1").values(), None);
        assert_eq!(Axis::numbers(vec![0.3, 0.0, 0.3]), axis("0,0.3"));
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
        let expected = "expected the lower end first, then a higher one";
        assert_eq!(error("0,1:0.1"), format!("the range 1:0.1 is reversed; {expected}"));
        assert_eq!(error("1:1"), format!("the range 1:1 is empty; {expected}"));
    }

    #[test]
    fn draws_are_uniform_on_the_scale_of_the_range_and_have_three_digits() {
        let low = |scale| {
            let draws = (0..2000).map(|i| axis("0.01:1").draw(scale, 1, 2 * i).as_f64().unwrap());
            let draws: Vec<f64> = draws.collect();
            assert!(draws.iter().all(|x| (0.01..=1.0).contains(x) && three_digits(*x) == *x));
            draws.iter().filter(|&&x| x < 0.1).count()
        };
        assert!((900..1100).contains(&low(Scale::Logarithmic)));
        assert!((130..240).contains(&low(Scale::Linear)));
        let narrow = axis("0.99961:0.99962").draw(Scale::Linear, 1, 0).as_f64().unwrap();
        assert!((0.99961..=0.99962).contains(&narrow));
        assert!((0..9).all(|i| axis("0:20").draw(Scale::Whole, 1, i).is_u64()));
    }
}
