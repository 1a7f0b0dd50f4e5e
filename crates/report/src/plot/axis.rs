//! Axes: what is between their ends, and where the grid lines are.

/// Number of grid lines to aim at.
const TICKS: f64 = 6.0;

/// Values beyond are drawn at this distance from zero.
pub(super) const LARGEST: f64 = 1e30;

/// The share of the highest value below which a lowest value is so close to 0 that a linear axis
/// starts there.
const NEAR_ZERO: f64 = 0.25;

/// The digits of the signs of exponents, from 0.
const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// Scale that maps values to positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// In proportion.
    #[default]
    Linear,
    /// Logarithmic, if all values are positive.
    Log,
}

/// An axis.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Axis {
    /// Title of the axis.
    pub label: String,
    /// Scale that maps values to positions.
    pub scale: Scale,
    /// The ends; by default those of the values.
    pub range: Option<(f64, f64)>,
    /// Names of the values 0, 1, 2, …, if they are no numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// Creates an axis from the lowest to the highest value.
    pub fn new(label: &str, scale: Scale) -> Self {
        let label = label.to_owned();
        Self { label, scale, ..Self::default() }
    }

    /// Sets the ends.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Describes a value: what it is, and its name or four of its digits.
    pub(super) fn describe(&self, value: f64) -> String {
        let name = self.names.get(value.max(0.0) as usize).cloned();
        let value = name.unwrap_or_else(|| format_digits(value));
        format!("{} {value}", self.label).trim_start().to_owned()
    }
}

/// The values of an axis, and where they are in the plot.
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
    scale: Scale,
    /// The least distance of grid lines: 1 between whole numbers.
    least_step: f64,
    /// The places of its ends.
    pub ends: [f64; 2],
}

impl Interval {
    pub fn new(axis: &Axis, values: &[f64], ends: [f64; 2]) -> Self {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(f64::MIN, f64::max);
        let scale = match axis.range.map_or(low, |(start, _)| low.min(start)) > 1.0 / LARGEST {
            true => axis.scale,
            false => Scale::Linear,
        };
        let usable = |&(low, high): &(f64, f64)| low < high && (high - low).is_finite();
        // There is nothing between names.
        let named = (!axis.names.is_empty()).then(|| (-0.5, axis.names.len() as f64 - 0.5));
        let (low, high) = axis.range.or(named).filter(usable).unwrap_or_else(|| match scale {
            Scale::Log => (low / 1.2, high * 1.2),
            Scale::Linear => {
                // Ranges that rounding errors fill would have no places for labels.
                let pad = (0.04 * (high - low)).max(1e-6 * low.abs().max(high.abs()));
                let pad = if pad > 0.0 { pad } else { 1.0 };
                let is_near_zero = (0.0..NEAR_ZERO * high).contains(&low);
                (if is_near_zero { 0.0 } else { low - pad }, high + pad)
            }
        });
        let are_whole = values.iter().all(|value| value.fract() == 0.0);
        let least_step = if are_whole { 1.0 } else { 0.0 };
        Self { low, high, scale, least_step, ends }
    }

    /// Returns the ends of the axis in the plot, and their values, for scripts.
    pub fn data(&self) -> String {
        let [start, end] = self.ends;
        let scale = match self.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
        };
        format!("{start} {end} {} {} {scale}", self.low, self.high)
    }

    /// Returns the place of a value, at an end if it lies outside.
    pub fn place(&self, value: f64) -> f64 {
        self.place_beyond(value.max(self.low).min(self.high))
    }

    /// Returns the place of a value, beyond the ends if it lies outside.
    pub fn place_beyond(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.ends[0] + share * (self.ends[1] - self.ends[0])
    }

    fn decades(&self) -> f64 {
        (self.high / self.low).log10()
    }

    /// Returns the values of the grid lines with their labels.
    pub fn ticks(&self, axis: &Axis) -> Vec<(f64, String)> {
        if !axis.names.is_empty() {
            let names = axis.names.iter().enumerate();
            return names.map(|(i, name)| (i as f64, name.clone())).collect();
        }
        if self.scale == Scale::Log && self.decades() > 1.0 {
            let digits = if self.decades() < 2.2 { &[1.0, 2.0, 5.0][..] } else { &[1.0] };
            let step = (self.decades() / TICKS).ceil().max(1.0) as usize;
            let values = self.in_decades(digits, step);
            return values.map(|value| (value, format_power(value))).collect();
        }
        let rough = ((self.high - self.low) / TICKS).max(self.least_step);
        let power = 10f64.powf(rough.log10().floor());
        let mut steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter();
        let step = steps.find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil();
        let values = (0..=TICKS as u32).map(|i| (first + f64::from(i)) * step);
        let values = values.take_while(|value| *value <= self.high);
        values.map(|value| (value, format_tick(value, step))).collect()
    }

    /// Returns the values between the grid lines of a few decades.
    pub fn minor_ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Linear || !(1.0..TICKS).contains(&self.decades()) {
            return Vec::new();
        }
        self.in_decades(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1).collect()
    }

    /// Iterates over the multiples of every `step`-th power of 10 that are on the axis.
    fn in_decades(&self, digits: &[f64], step: usize) -> impl Iterator<Item = f64> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let powers = (first as i32..=last as i32).step_by(step);
        // Division by a power is exact where multiplication by its inverse is not.
        let multiple = |digit: f64, power: i32| match power {
            0.. => digit * 10f64.powi(power),
            _ => digit / 10f64.powi(-power),
        };
        let values = powers.flat_map(move |power| digits.iter().map(move |&d| multiple(d, power)));
        values.filter(|value| (self.low..=self.high).contains(value))
    }
}

/// Formats a value with four digits, or all of a whole number.
pub(super) fn format_digits(value: f64) -> String {
    let size = value.abs();
    if size > 0.0 && !(1e-3..1e7).contains(&size) {
        return format!("{value:.3e}").replace('-', "−");
    }
    let digits = if size.fract() > 0.0 { 3.0 - size.log10().floor() } else { 0.0 };
    let decimals = digits.clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}").replace('-', "−")
}

/// Formats 1, 2 or 5 times a power of 10.
fn format_power(value: f64) -> String {
    let power = value.log10().floor();
    if (-3.0..4.0).contains(&power) {
        return format_tick(value, value);
    }
    let digit = (value / 10f64.powf(power)).round();
    let digit = if digit > 1.0 { format!("{digit}·") } else { String::new() };
    format!("{digit}10{}", superscript(power as i32))
}

fn superscript(power: i32) -> String {
    let sign = if power < 0 { "⁻" } else { "" };
    let digits = power.unsigned_abs().to_string();
    let digits = digits.bytes().map(|digit| SUPERSCRIPTS[usize::from(digit - b'0')]);
    sign.chars().chain(digits).collect()
}

/// Formats the value of a grid line, where lines are `step` apart.
fn format_tick(value: f64, step: f64) -> String {
    let size = value.abs();
    let text = if size != 0.0 && !(1e-3..1e6).contains(&size) && step.abs() < 1e-3 || size >= 1e6 {
        let text = format!("{value:.1e}").replace(".0e", "e");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{digits}·10{}", superscript(power.parse().unwrap_or(0)))
    } else {
        let decimals = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
        format!("{value:.decimals$}")
    };
    match text.trim_start_matches(['-', '0', '.']) {
        "" => "0".to_owned(),
        _ => text.replace('-', "−"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, scale: Scale) -> String {
        let axis = Axis::new("", scale).range(low, high);
        let ticks = Interval::new(&axis, &[low, high], [0.0, 1.0]).ticks(&axis);
        let labels: Vec<String> = ticks.into_iter().map(|(_, label)| label).collect();
        labels.join(" ")
    }

    #[test]
    fn grid_lines_are_at_round_values() {
        assert_eq!(labels(0.0, 105.0, Scale::Linear), "0 20 40 60 80 100");
        assert_eq!(labels(-0.1, 0.25, Scale::Linear), "−0.1 0 0.1 0.2");
        assert_eq!(labels(99.5, 100.5, Scale::Linear), "99.6 99.8 100.0 100.2 100.4");
        assert_eq!(labels(1.0, 2.0, Scale::Linear), "1 2");
        assert_eq!(labels(0.04, 3.0, Scale::Log), "0.05 0.1 0.2 0.5 1 2");
        assert_eq!(labels(0.004, 3.0, Scale::Log), "0.01 0.1 1");
        assert_eq!(labels(1e-17, 20.0, Scale::Log), "10⁻¹⁷ 10⁻¹³ 10⁻⁹ 10⁻⁵ 0.1");
        assert_eq!(labels(3e5, 3e7, Scale::Log), "5·10⁵ 10⁶ 2·10⁶ 5·10⁶ 10⁷ 2·10⁷");
        assert_eq!(labels(2e6, 3e6, Scale::Linear), "2·10⁶ 2.2·10⁶ 2.4·10⁶ 2.6·10⁶ 2.8·10⁶ 3·10⁶");
    }

    #[test]
    fn a_linear_axis_starts_at_zero_if_the_values_almost_do() {
        let start = |values: &[f64]| Interval::new(&Axis::default(), values, [0.0, 1.0]).low;
        assert_eq!(start(&[0.01, 0.4]), 0.0);
        assert!(start(&[80.0, 90.0]) > 79.0);
        assert!(start(&[-1.0, 1.0]) < -1.0);
    }

    #[test]
    fn a_range_that_is_none_is_not_used() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
            let axis = Axis::default().range(low, high);
            let interval = Interval::new(&axis, &[3.0, 4.0], [0.0, 1.0]);
            assert!(interval.place(3.5).is_finite(), "{low} to {high}");
        }
    }
}
