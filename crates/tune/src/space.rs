//! The search space: options with their values, which configurations combine or draw from.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::axis::{Axis, Scale};
use dropchain::kernel::train::Defaults;
use dropchain::train::TrainSettings;
use dropchain::{Error, Result};

/// Maximum number of configurations; more is a typo.
const MAX_CONFIGURATIONS: usize = 1000;

/// Maximum number of draws per requested configuration: a draw may repeat an earlier one.
const MAX_DRAWS: u64 = 1000;

/// An option that can be searched.
#[derive(Debug)]
pub struct Parameter {
    /// The option of `train`, with underscores.
    pub option: &'static str,
    /// The name in messages and tables.
    pub name: &'static str,
    scale: Scale,
    rank: usize, // in a grid: values of the last one change fastest
    needs_noise: bool,
}

/// All options that can be searched, as tables and commands have them.
pub const PARAMETERS: [Parameter; 8] = [
    parameter("template", "template", Scale::Linear, 0, false),
    parameter("dropout", "dropout", Scale::Linear, 4, false),
    parameter("edge_dropout", "edge dropout", Scale::Linear, 6, false),
    parameter("l2", "L2", Scale::Logarithmic, 3, false),
    parameter("l1", "L1", Scale::Logarithmic, 2, false),
    parameter("unlabeled_weight", "unlabeled weight", Scale::Logarithmic, 5, true),
    parameter("warm_up", "warm-up", Scale::Whole, 7, true),
    parameter("gradient", "gradient", Scale::Linear, 1, true),
];

const fn parameter(
    option: &'static str,
    name: &'static str,
    scale: Scale,
    rank: usize,
    needs_noise: bool,
) -> Parameter {
    Parameter { option, name, scale, rank, needs_noise }
}

/// Makes training parameters of options by name, such as `l2` and `0.1`; others are fixed.
pub type SettingsOf<'a> = dyn Fn(&[(String, String)]) -> Result<TrainSettings> + 'a;

/// A point of the search space.
#[derive(Clone, Debug, Serialize)]
pub struct Configuration {
    /// The values of the options that are searched, except those without effect; of a template,
    /// the name.
    #[serde(flatten)]
    pub options: Map<String, Value>,
    /// The index of the template.
    #[serde(skip)]
    pub template: usize,
    /// The training parameters, with these options.
    #[serde(skip)]
    pub settings: TrainSettings,
}

impl PartialEq for Configuration {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Configuration {
    /// Returns the value of an option; null if it is not searched or has no effect.
    pub fn value(&self, option: &str) -> &Value {
        self.options.get(option).unwrap_or(&Value::Null)
    }

    /// Returns whether there is any noise.
    pub fn has_noise(&self) -> bool {
        self.settings.has_noise()
    }

    /// Returns whether there is an L1 penalty.
    pub(super) fn has_l1(&self) -> bool {
        self.settings.regularization().l1 > 0.0
    }

    /// Compares two configurations by strength of regularization, the stronger one first: more
    /// noise, then more noise on edges, then stronger L2, then stronger L1, then more weight on
    /// unlabeled text, then the shorter warm-up, then the earlier template.
    pub fn compare_strength(&self, other: &Self) -> Ordering {
        let compare = |option: &str| {
            let values = [self, other].map(|one| one.value(option).as_f64());
            values[0].partial_cmp(&values[1]).unwrap_or(Ordering::Equal)
        };
        let strengths = ["dropout", "edge_dropout", "l2", "l1", "unlabeled_weight"];
        let order = strengths.into_iter().map(compare).find(|order| order.is_ne());
        let order = order.map_or_else(|| compare("warm_up"), Ordering::reverse);
        order.then(self.template.cmp(&other.template))
    }
}

/// The values of the options that are searched.
pub struct SearchSpace<'a> {
    axes: BTreeMap<usize, (&'static Parameter, Axis)>, // by rank
    templates: &'a [String],
    settings: &'a SettingsOf<'a>,
}

impl<'a> SearchSpace<'a> {
    /// Creates a space of axes, by the names of options, and the names of templates, if there are
    /// any to compare. Without axes of dropout and L2, these have values around the defaults of
    /// training; of a learner without noise, 0; with `only_defaults`, that of training alone.
    ///
    /// # Errors
    ///
    /// A value is out of range; a log-uniform range begins at 0.
    pub fn new(
        templates: &'a [String],
        axes: impl IntoIterator<Item = (&'a str, Axis)>,
        only_defaults: bool,
        settings: &'a SettingsOf<'a>,
    ) -> Result<Self> {
        let noise = [("dropout".to_owned(), Defaults::DROPOUT.to_string())];
        let (rates, strengths) = match settings(&noise) {
            Ok(_) => (
                vec![0.0, 0.3, 0.5, Defaults::DROPOUT],
                vec![0.03, 0.1, Defaults::L2, Defaults::L2_WITH_NOISE],
            ),
            Err(_) => (vec![0.0], vec![0.0]),
        };
        let unset = || Axis::of(vec![Value::Null]);
        let names = templates.iter().map(|name| Value::from(name.as_str()));
        let template = if templates.is_empty() { unset() } else { Axis::of(names.collect()) };
        let around = |values| if only_defaults { unset() } else { Axis::numbers(values) };
        let defaults = [
            ("template", template),
            ("l1", unset()),
            ("l2", around(strengths)),
            ("dropout", around(rates)),
            ("unlabeled_weight", unset()),
        ];
        let mut space = Self { axes: BTreeMap::new(), templates, settings };
        for (option, axis) in defaults.into_iter().chain(axes) {
            let found = PARAMETERS.iter().find(|parameter| parameter.option == option);
            let parameter =
                found.ok_or_else(|| Error::parameter(format!("{option} is not searched")))?;
            space.check(parameter, &axis)?;
            space.axes.insert(parameter.rank, (parameter, axis));
        }
        Ok(space)
    }

    /// Checks all values and the ends of all ranges.
    fn check(&self, parameter: &Parameter, axis: &Axis) -> Result<()> {
        for end in axis.ends().filter(|end| parameter.option != "template" && !end.is_null()) {
            (self.settings)(&[(parameter.option.to_owned(), text(&end))])?;
        }
        match axis.invalid_range(parameter.scale) {
            None => Ok(()),
            Some(range) => Err(Error::parameter(format!(
                "{}: the range {range} begins at 0, but numbers are drawn log-uniformly; expected \
                 a range that begins above 0 (0,0.01:1 draws 0 half of the time)",
                parameter.name
            ))),
        }
    }

    /// Returns all combinations of values, except those that differ only in a value that has no
    /// effect.
    ///
    /// # Errors
    ///
    /// An axis has a range; a value is out of range; there are more than 1000 combinations.
    pub fn grid(&self) -> Result<Vec<Configuration>> {
        let mut points = vec![Vec::new()];
        for (parameter, axis) in self.axes.values() {
            let values = axis.values().ok_or_else(|| {
                Error::parameter(format!(
                    "{}: a range has infinitely many values; expected single numbers for a grid, \
                     or configurations drawn at random (--random N)",
                    parameter.name
                ))
            })?;
            if points.len() * values.len() > MAX_CONFIGURATIONS {
                return Err(Error::parameter(format!(
                    "the grid has more than {MAX_CONFIGURATIONS} configurations; expected fewer, \
                     or a random search"
                )));
            }
            let extended = |point: &Vec<Value>| {
                let extend = |value| point.iter().cloned().chain([value]).collect::<Vec<_>>();
                values.iter().cloned().map(extend).collect::<Vec<_>>()
            };
            points = points.iter().flat_map(extended).collect();
        }
        let mut configurations = Vec::new();
        for point in points {
            self.push(point, &mut configurations)?;
        }
        Ok(configurations)
    }

    /// Returns `count` distinct configurations drawn at random, or all if there are no more than
    /// that.
    ///
    /// # Errors
    ///
    /// A value is out of range; `count` is 0 or more than 1000.
    pub fn random(&self, count: usize, seed: u64) -> Result<Vec<Configuration>> {
        if !(1..=MAX_CONFIGURATIONS).contains(&count) {
            return Err(Error::parameter(format!(
                "{count} random configurations; expected 1 to {MAX_CONFIGURATIONS}"
            )));
        }
        if let Ok(grid) = self.grid()
            && grid.len() <= count
        {
            return Ok(grid);
        }
        // The template takes one random number, every other parameter two.
        let numbers = 2 * self.axes.len() as u64 - 1;
        let mut configurations = Vec::new();
        for draw in 0..MAX_DRAWS * count as u64 {
            if configurations.len() == count {
                break;
            }
            let counters = (0..).map(|axis: u64| draw * numbers + (2 * axis).saturating_sub(1));
            let values = (self.axes.values().zip(counters))
                .map(|((parameter, axis), counter)| axis.draw(parameter.scale, seed, counter));
            self.push(values.collect(), &mut configurations)?;
        }
        Ok(configurations)
    }

    /// Adds a configuration, with a value for each axis, unless it is a duplicate.
    fn push(&self, mut point: Vec<Value>, configurations: &mut Vec<Configuration>) -> Result<()> {
        let mut options = Map::new();
        for parameter in &PARAMETERS {
            let axis = self.axes.keys().position(|rank| *rank == parameter.rank);
            let value = axis.map_or(Value::Null, |axis| point[axis].take());
            if !value.is_null() {
                options.insert(parameter.option.to_owned(), value);
            }
        }
        let texts = |is_taken: fn(&str) -> bool, options: &Map<String, Value>| {
            let taken = options.iter().filter(|(option, _)| is_taken(option));
            taken.map(|(option, value)| (option.clone(), text(value))).collect::<Vec<_>>()
        };
        let rates = texts(|option| ["dropout", "edge_dropout"].contains(&option), &options);
        if !(self.settings)(&rates)?.has_noise() {
            let needs_noise =
                |option: &str| PARAMETERS.iter().any(|p| p.option == option && p.needs_noise);
            options.retain(|option, _| !needs_noise(option));
        }
        if configurations.iter().any(|other| other.options == options) {
            return Ok(());
        }
        let template = options.get("template").and_then(Value::as_str);
        let template = self.templates.iter().position(|name| Some(&**name) == template);
        let settings = (self.settings)(&texts(|option| option != "template", &options))?;
        configurations.push(Configuration { options, template: template.unwrap_or(0), settings });
        Ok(())
    }
}

/// Formats the value of an option as on the command line, a dash if there is none.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        value => value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::settings_of;
    use serde_json::json;

    /// The grid, or as many random configurations with a seed, of axes.
    fn found(
        axes: &[(&str, &str)],
        random: Option<(usize, u64)>,
    ) -> Result<Vec<Configuration>, String> {
        let templates = ["a".to_owned(), "b".to_owned()];
        let count = if axes.iter().any(|axis| axis.0 == "template") { 2 } else { 1 };
        let axes = axes.iter().filter(|axis| axis.0 != "template");
        let axes = axes.map(|(option, values)| (*option, values.parse().unwrap()));
        let space = SearchSpace::new(&templates[..count], axes, false, &settings_of);
        let found = space.and_then(|space| match random {
            None => space.grid(),
            Some((count, seed)) => space.random(count, seed),
        });
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn a_grid_has_every_combination_once_and_the_last_values_change_fastest() {
        let axes =
            [("template", ""), ("dropout", "0,0.5"), ("l2", "0.1,1"), ("edge_dropout", "0.3,0.6")];
        let grid = found(&axes, None).unwrap();
        assert_eq!(grid.len(), 16);
        for (i, one) in grid.iter().enumerate() {
            assert!(!grid[..i].contains(one));
            assert!(grid[..i].iter().all(|other| other.compare_strength(one).is_ne()));
        }
        assert_eq!((grid[0].template, grid[8].template), (0, 1));
        let second = json!({"template": "a", "dropout": 0, "edge_dropout": 0.6, "l2": 0.1});
        assert_eq!(json!(grid[1]), second);
        assert_eq!(grid[1].settings.regularization().noise.edge_dropout, Some(0.6));
    }

    #[test]
    fn without_the_default_grid_there_are_the_defaults_and_what_is_given() {
        let found = |axes: &[(&'static str, &str)]| {
            let axes = axes.iter().map(|(option, values)| (*option, values.parse().unwrap()));
            json!(SearchSpace::new(&[], axes, true, &settings_of).unwrap().grid().unwrap())
        };
        assert_eq!(found(&[]), json!([{}]));
        assert_eq!(found(&[("l2", "0.1,1")]), json!([{"l2": 0.1}, {"l2": 1}]));
        let warm = [("edge_dropout", "0"), ("warm_up", "3")];
        assert_eq!(found(&warm), json!([{"edge_dropout": 0, "warm_up": 3}]));
        assert_eq!(found(&[("dropout", "0"), ("warm_up", "3")]), json!([{"dropout": 0}]));
    }

    #[test]
    fn what_needs_noise_is_searched_with_noise_only() {
        let axes = [
            ("dropout", "0,0.5"),
            ("l2", "0.1"),
            ("warm_up", "0,20"),
            ("gradient", "exact,window=2"),
        ];
        let grid = found(&axes, None).unwrap();
        let values =
            |c: &Configuration| ["warm_up", "gradient"].map(|option| c.value(option).clone());
        let noisy = [(0, "exact"), (20, "exact"), (0, "window=2"), (20, "window=2")];
        let noisy = noisy.map(|(warm_up, gradient)| [json!(warm_up), json!(gradient)]);
        assert_eq!(values(&grid[0]), [Value::Null, Value::Null]);
        assert_eq!(grid[1..].iter().map(values).collect::<Vec<_>>(), noisy);
        assert_eq!(grid[3].settings.warm_up(), 0);
        assert_eq!(grid[3].settings.regularization().noise.gradient.to_string(), "window=2");
        assert_eq!(found(&axes, Some((4, 1))).unwrap().len(), 4);
        let unlabeled = [("dropout", "0,0.5"), ("l2", "0.1"), ("unlabeled_weight", "0.1,1")];
        assert_eq!(found(&unlabeled, None).unwrap().len(), 3);
    }

    #[test]
    fn the_default_grid_contains_the_defaults_of_training() {
        let default = settings_of(&[]).unwrap();
        let values = |settings: &TrainSettings| {
            let noise = &settings.regularization().noise;
            [noise.dropout, noise.edge_noise(), settings.l2()]
        };
        let grid = found(&[], None).unwrap();
        let is_default = |c: &&Configuration| values(&c.settings) == values(&default);
        assert_eq!(grid.iter().filter(is_default).count(), 1);
    }

    #[test]
    fn random_configurations_differ_and_follow_from_the_seed() {
        let axes = [("dropout", "0.1:0.6"), ("l2", "0.01:1")];
        let random = |count, seed| found(&axes, Some((count, seed))).unwrap();
        let drawn = random(20, 1);
        assert_eq!(drawn.len(), 20);
        assert_eq!(drawn, random(20, 1));
        assert_ne!(drawn, random(20, 2));
        assert_eq!(drawn[..5], random(5, 1));
        let few = [("dropout", "0,0.3"), ("l2", "0.1,1")];
        assert_eq!(found(&few, Some((10, 1))), found(&few, None));
        assert_eq!(found(&few, Some((3, 1))).unwrap().len(), 3);
    }

    #[test]
    fn errors_name_the_parameter() {
        let many: Vec<String> = (1..60).map(|i| (f64::from(i) / 100.0).to_string()).collect();
        let many = many.join(",");
        for (dropout, l2, random, expected) in [
            ("0.1:1", "0.1", None, "dropout 1; expected a rate of at least 0 and below 1"),
            ("0.1", "0.01:1", None, "L2: a range has infinitely many values; expected single"),
            ("0.1", "0:1", Some(5), "L2: the range 0:1 begins at 0"),
            ("0.1", "-1:1", Some(5), "L2 strength -1; "),
            ("0.1", "1", Some(0), "0 random configurations; expected 1 to 1000"),
            (&many, &many, None, "the grid has more than 1000 configurations"),
        ] {
            let error = found(&[("dropout", dropout), ("l2", l2)], random.map(|count| (count, 1)));
            let error = error.unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = found(&[("warm_up", "0,2.5")], None).unwrap_err();
        assert!(error.starts_with("warm_up '2.5': "), "{error}");
    }
}
