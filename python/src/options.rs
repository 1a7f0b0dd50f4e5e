//! Training options by name.

use dropchain::label::{PlainLabels, Scheme};
use dropchain::optim::LineSearch;
use dropchain::train::{
    AnyOptions, Boundary, DevUse, Lbfgs, NoiseSharing, Order, Precision, States, TrainOptions,
};
use dropchain_online::{
    Arow, Method, PassiveAggressive, PassiveAggressiveType, Perceptron, Sgd, SgdOptions, StepRule,
    WarmStarted,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::error::exception;

/// The options of all algorithms.
const COMMON: [&str; 30] = [
    "algorithm",
    "boundary",
    "caseless",
    "collapse",
    "dev_use",
    "discover",
    "dropout",
    "edge_dropout",
    "gradient",
    "l1",
    "l2",
    "masks",
    "max_iterations",
    "min_count",
    "min_frequency",
    "noise",
    "order",
    "patience",
    "plain_labels",
    "precision",
    "prune",
    "recall_bias",
    "samples",
    "scheme",
    "seed",
    "states",
    "transitions",
    "unlabeled_weight",
    "warm_start",
    "warm_up",
];

/// The options of some algorithms only, with these algorithms.
const SPECIAL: [(&str, &[&str]); 19] = [
    ("epsilon", &["lbfgs", "ap", "pa", "arow"]),
    ("delta", &["lbfgs", "sgd"]),
    ("period", &["lbfgs", "sgd"]),
    ("lbfgs_memory", &["lbfgs"]),
    ("line_search", &["lbfgs"]),
    ("max_line_search", &["lbfgs"]),
    ("plain", &["lbfgs"]),
    ("step", &["sgd"]),
    ("eta", &["sgd"]),
    ("calibration_rate", &["sgd"]),
    ("calibration_samples", &["sgd"]),
    ("calibration_candidates", &["sgd"]),
    ("calibration_trials", &["sgd"]),
    ("pa_type", &["pa"]),
    ("pa_c", &["pa"]),
    ("error_sensitive", &["pa"]),
    ("averaging", &["pa"]),
    ("variance", &["arow"]),
    ("gamma", &["arow"]),
];

/// Options by name, as Python code gives them.
struct Named<'a, 'py>(&'a Bound<'py, PyDict>);

/// Sets the options that are given; the others are those of `base`.
///
/// # Errors
///
/// `TypeError` for an unknown option or a value of another type; `ValueError` for a value that an
/// option does not have, or an option of another algorithm.
pub fn train_options(named: &Bound<'_, PyDict>, base: TrainOptions) -> PyResult<AnyOptions> {
    let named = Named(named);
    named.check_names()?;
    let mut options = base;
    let method = named.method()?;
    named.check_algorithm(method.name())?;
    options.method.noise.dropout = method.default_dropout();
    named.set_model(&mut options)?;
    named.set_noise(&mut options)?;
    named.set_lbfgs(&mut options.method, &method)?;
    named.number("l1", &mut options.method.l1)?;
    options.method.l2 = named.optional_number("l2", options.method.l2)?;
    options.max_iterations = named.optional_count("max_iterations", options.max_iterations)?;
    named.count("patience", &mut options.patience)?;
    named.flag("collapse", &mut options.collapse)?;
    let uses = [("choose", DevUse::Choose), ("report", DevUse::Report)];
    options.dev_use = named.choice("dev_use", uses)?.unwrap_or(options.dev_use);
    options.min_frequency = named.optional_number("min_frequency", options.min_frequency)?;
    let is_warm = named.choice("warm_start", [("online", true), ("off", false)])?;
    let method = match (is_warm, method) {
        (Some(true), Method::Lbfgs(lbfgs)) => Method::WarmStarted(WarmStarted { lbfgs }),
        (Some(true), other) => {
            return Err(PyValueError::new_err(format!(
                "algorithm {} with an online warm start; expected warm_start 'off'",
                other.name()
            )));
        }
        (_, method) => method,
    };
    let learner = method.regularized(options.method.clone());
    Ok(options.with_method(learner.map_err(exception)?))
}

impl<'py> Named<'_, 'py> {
    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.get_item(name)
    }

    /// Returns the value of an option unless it is missing or None.
    fn given(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.get(name)?.filter(|value| !value.is_none()))
    }

    fn check_names(&self) -> PyResult<()> {
        for name in self.0.keys() {
            let name: String = name.extract()?;
            let is_special = SPECIAL.iter().any(|(special, _)| *special == name);
            if !is_special && !COMMON.contains(&name.as_str()) {
                return Err(PyTypeError::new_err(format!("unknown option '{name}'")));
            }
        }
        Ok(())
    }

    /// Rejects options of other algorithms.
    fn check_algorithm(&self, algorithm: &str) -> PyResult<()> {
        for (name, algorithms) in SPECIAL {
            if self.given(name)?.is_some() && !algorithms.contains(&algorithm) {
                return Err(PyValueError::new_err(format!(
                    "{name} has no meaning for algorithm '{algorithm}'; expected algorithm {}",
                    algorithms.join(" or ")
                )));
            }
        }
        Ok(())
    }

    fn method(&self) -> PyResult<Method> {
        let name = self.choice("algorithm", Method::NAMES.map(|name| (name, name)))?;
        Ok(match name.unwrap_or("lbfgs") {
            "sgd" => Method::Sgd(Sgd {
                steps: self.sgd()?,
                ..Sgd::default()
            }),
            "ap" => {
                let mut options = Perceptron::default();
                self.number("epsilon", &mut options.epsilon)?;
                Method::Perceptron(options)
            }
            "pa" => Method::PassiveAggressive(self.passive_aggressive()?),
            "arow" => {
                let mut options = Arow::default();
                self.number("variance", &mut options.variance)?;
                self.number("gamma", &mut options.gamma)?;
                self.number("epsilon", &mut options.epsilon)?;
                Method::Arow(options)
            }
            _ => Method::Lbfgs(Lbfgs::default()),
        })
    }

    fn sgd(&self) -> PyResult<SgdOptions> {
        let mut options = SgdOptions::default();
        let steps = [
            ("decreasing", StepRule::Decreasing),
            ("adagrad", StepRule::Adagrad),
            ("curvature", StepRule::Curvature),
        ];
        options.step = self.choice("step", steps)?.unwrap_or(options.step);
        self.number("eta", &mut options.eta)?;
        self.number("calibration_rate", &mut options.rate)?;
        self.count("calibration_samples", &mut options.samples)?;
        self.count("calibration_candidates", &mut options.candidates)?;
        self.count("calibration_trials", &mut options.max_trials)?;
        self.count("period", &mut options.period)?;
        self.number("delta", &mut options.delta)?;
        Ok(options)
    }

    fn passive_aggressive(&self) -> PyResult<PassiveAggressive> {
        let mut options = PassiveAggressive::default();
        let mut variant = 1;
        self.count("pa_type", &mut variant)?;
        options.variant = match variant {
            0 => PassiveAggressiveType::Zero,
            1 => PassiveAggressiveType::One,
            2 => PassiveAggressiveType::Two,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "pa_type {variant}; expected 0, 1 or 2"
                )));
            }
        };
        self.number("pa_c", &mut options.c)?;
        self.flag("error_sensitive", &mut options.error_sensitive)?;
        self.flag("averaging", &mut options.averaging)?;
        self.number("epsilon", &mut options.epsilon)?;
        Ok(options)
    }

    /// Sets the structure of the model and how it is stored.
    fn set_model(&self, options: &mut TrainOptions) -> PyResult<()> {
        let schemes = Scheme::ALL.map(|scheme| (scheme.name(), scheme));
        options.scheme = self.choice("scheme", schemes)?.unwrap_or(options.scheme);
        let plain = PlainLabels::ALL.map(|plain| (plain.name(), plain));
        if let Some(plain) = self.choice("plain_labels", plain)? {
            options.plain_labels = plain;
        }
        if let Some(order) = self.given("order")? {
            options.order = match order.extract::<i64>() {
                Ok(0) => Order::Zero,
                Ok(1) => Order::One,
                _ => return Err(unexpected("order", &order, "0 or 1")),
            };
        }
        let mut boundary = options.boundary == Boundary::On;
        self.flag("boundary", &mut boundary)?;
        options.boundary = match boundary {
            true => Boundary::On,
            false => Boundary::Off,
        };
        let states = [("all", States::All), ("observed", States::Observed)];
        options.states = self.choice("states", states)?.or(options.states);
        options.transitions = self.choice("transitions", states)?.or(options.transitions);
        if let Some(count) = self.optional_count("min_count", None)? {
            options.min_count = u32::try_from(count).unwrap_or(u32::MAX);
        }
        let precisions = [
            ("f32", Precision::F32),
            ("f64", Precision::F64),
            ("f16", Precision::F16),
            ("i8", Precision::I8),
        ];
        let precision = self.choice("precision", precisions)?;
        options.precision = precision.unwrap_or(options.precision);
        self.number("prune", &mut options.prune)?;
        options.recall_bias = self.optional_number("recall_bias", options.recall_bias)?;
        Ok(())
    }

    fn set_noise(&self, options: &mut TrainOptions) -> PyResult<()> {
        let noise = &mut options.method.noise;
        if let Some(kind) = self.text("noise")? {
            noise.kind = kind.parse().map_err(exception)?;
        }
        let masks = [
            ("weights", NoiseSharing::Weights),
            ("inputs", NoiseSharing::Inputs),
        ];
        noise.sharing = self.choice("masks", masks)?.unwrap_or(noise.sharing);
        self.number("dropout", &mut noise.dropout)?;
        noise.edge_dropout = self.optional_number("edge_dropout", noise.edge_dropout)?;
        if let Some(engine) = self.text("gradient")? {
            noise.gradient = engine.parse().map_err(exception)?;
        }
        if let Some(count) = self.optional_count("samples", None)? {
            noise.samples = u32::try_from(count).unwrap_or(u32::MAX);
        }
        self.number("unlabeled_weight", &mut noise.unlabeled_weight)?;
        let warm_up = options.method.warm_up;
        options.method.warm_up = self.optional_count("warm_up", warm_up)?;
        let mut seed = 0;
        if self.given("seed")?.is_some() {
            self.count("seed", &mut seed)?;
            options.seed = seed as u64;
        }
        self.number("caseless", &mut options.caseless)?;
        self.flag("discover", &mut options.discover)
    }

    fn set_lbfgs(&self, options: &mut Lbfgs, method: &Method) -> PyResult<()> {
        let searches = [
            ("strong-wolfe", LineSearch::StrongWolfe),
            ("backtracking", LineSearch::Backtracking),
            ("strong-backtracking", LineSearch::StrongBacktracking),
        ];
        let is_lbfgs = method.name() == Lbfgs::NAME;
        let lbfgs = &mut options.optimizer;
        self.count("lbfgs_memory", &mut lbfgs.memory)?;
        let search = self.choice("line_search", searches)?;
        lbfgs.line_search = search.unwrap_or(lbfgs.line_search);
        self.count("max_line_search", &mut lbfgs.max_line_search)?;
        self.flag("plain", &mut lbfgs.plain)?;
        if is_lbfgs {
            self.number("epsilon", &mut lbfgs.gradient_tolerance)?;
            self.number("delta", &mut lbfgs.improvement_tolerance)?;
            self.count("period", &mut lbfgs.period)?;
        }
        Ok(())
    }

    fn text(&self, name: &str) -> PyResult<Option<String>> {
        let Some(value) = self.given(name)? else {
            return Ok(None);
        };
        match value.cast::<PyString>() {
            Ok(text) => Ok(Some(text.to_cow()?.into_owned())),
            Err(_) => Err(unexpected(name, &value, "a string")),
        }
    }

    fn choice<T, const N: usize>(
        &self,
        name: &str,
        choices: [(&'static str, T); N],
    ) -> PyResult<Option<T>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let names = choices.each_ref().map(|(choice, _)| *choice);
        let found = choices.into_iter().find(|(choice, _)| *choice == text);
        match found {
            Some((_, value)) => Ok(Some(value)),
            None => Err(PyValueError::new_err(format!(
                "{name} '{text}'; expected one of {}",
                names.join(", ")
            ))),
        }
    }

    fn optional_number(&self, name: &str, default: Option<f64>) -> PyResult<Option<f64>> {
        let Some(value) = self.given(name)? else {
            return Ok(default);
        };
        match value.extract::<f64>() {
            Ok(number) if !value.is_instance_of::<PyBool>() => Ok(Some(number)),
            _ => Err(unexpected(name, &value, "a number")),
        }
    }

    fn number(&self, name: &str, target: &mut f64) -> PyResult<()> {
        *target = self.optional_number(name, None)?.unwrap_or(*target);
        Ok(())
    }

    fn optional_count(&self, name: &str, default: Option<usize>) -> PyResult<Option<usize>> {
        let Some(value) = self.given(name)? else {
            return Ok(default);
        };
        let expected = "an integer that is not negative";
        if value.is_instance_of::<PyBool>() || !value.hasattr("__index__")? {
            return Err(unexpected(name, &value, expected));
        }
        match value.extract::<usize>() {
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(PyValueError::new_err(format!(
                "{name} {value}; expected {expected}"
            ))),
        }
    }

    fn count(&self, name: &str, target: &mut usize) -> PyResult<()> {
        *target = self.optional_count(name, None)?.unwrap_or(*target);
        Ok(())
    }

    fn flag(&self, name: &str, target: &mut bool) -> PyResult<()> {
        let Some(value) = self.given(name)? else {
            return Ok(());
        };
        match value.extract::<bool>() {
            Ok(flag) => *target = flag,
            Err(_) => return Err(unexpected(name, &value, "True or False")),
        }
        Ok(())
    }
}

/// The `TypeError` for a value of the wrong type.
fn unexpected(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let error = crate::items::found(value, name, expected);
    PyTypeError::new_err(error.value(value.py()).to_string())
}
