//! The parameters of CRFsuite as options of training.

use dropchain::TrainOptions;
use dropchain::optim::{LbfgsOptions, LineSearch};
use dropchain::train::{
    AnyOptions, Boundary, DevUse, Lbfgs, NoiseKind, NoiseOptions, NoiseSharing, Precision, States,
};
use dropchain_online::{
    Arow, Method, PassiveAggressive, PassiveAggressiveType, Perceptron, Sgd, SgdOptions,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::exception;

/// Converts parameters of CRFsuite, by name, and `extensions` beyond them.
///
/// # Errors
///
/// `ValueError` if an algorithm or a value is unknown; `KeyError` if a parameter is missing.
pub fn train_options(
    algorithm: &str,
    parameters: &Bound<'_, PyDict>,
    extensions: &Bound<'_, PyDict>,
) -> PyResult<AnyOptions> {
    let get = Parameters(parameters);
    let observed = |name| {
        Ok::<_, PyErr>(if get.flag(name)? {
            States::All
        } else {
            States::Observed
        })
    };
    let mut options = TrainOptions {
        boundary: Boundary::Off,
        states: Some(observed("feature.possible_states")?),
        transitions: Some(observed("feature.possible_transitions")?),
        min_frequency: Some(get.float("feature.minfreq")?),
        max_iterations: Some(get.count("max_iterations")?),
        recall_bias: Some(0.0),
        dev_use: DevUse::Report,
        ..TrainOptions::new(Lbfgs {
            noise: NoiseOptions {
                edge_dropout: Some(0.0),
                ..NoiseOptions::none()
            },
            ..Lbfgs::l2(0.0)
        })
    };
    let method = match algorithm {
        "lbfgs" => {
            // As liblbfgs: 0 is no limit, nor is the default, and negative strengths are none.
            let is_limit = |&n: &usize| n > 0 && n < i32::MAX as usize;
            options.max_iterations = options.max_iterations.filter(is_limit);
            options.method.l1 = get.float("c1")?.max(0.0);
            options.method.l2 = Some(get.float("c2")?.max(0.0));
            options.method.optimizer = lbfgs(&get)?;
            Method::Lbfgs(Lbfgs::default())
        }
        "l2sgd" => {
            options.method.l2 = Some(get.float("c2")?);
            Method::Sgd(Sgd {
                steps: sgd(&get)?,
                ..Sgd::default()
            })
        }
        "averaged-perceptron" => {
            let epsilon = get.float("epsilon")?;
            Method::Perceptron(Perceptron { epsilon })
        }
        "passive-aggressive" => Method::PassiveAggressive(passive_aggressive(&get)?),
        "arow" => Method::Arow(Arow {
            variance: get.float("variance")?,
            gamma: get.float("gamma")?,
            epsilon: get.float("epsilon")?,
        }),
        _ => {
            let message = format!("found the algorithm {algorithm}; expected one of CRFsuite's");
            return Err(PyValueError::new_err(message));
        }
    };
    extend(&mut options, extensions)?;
    let learner = method.regularized(options.method.clone());
    Ok(options.with_method(learner.map_err(exception)?))
}

fn lbfgs(get: &Parameters<'_, '_>) -> PyResult<LbfgsOptions> {
    let line_search = get.0.get_item("linesearch")?;
    let line_search: String = line_search.map_or_else(|| Ok(String::new()), |l| l.extract())?;
    Ok(LbfgsOptions {
        memory: get.count("num_memories")?,
        line_search: match line_search.as_str() {
            "Backtracking" => LineSearch::Backtracking,
            "StrongBacktracking" => LineSearch::StrongBacktracking,
            _ => LineSearch::StrongWolfe,
        },
        max_line_search: get.count("max_linesearch")?,
        improvement_tolerance: get.float("delta")?,
        period: get.count("period")?,
        gradient_tolerance: get.float("epsilon")?,
        plain: true,
        ..LbfgsOptions::default()
    })
}

fn sgd(get: &Parameters<'_, '_>) -> PyResult<SgdOptions> {
    Ok(SgdOptions {
        eta: get.float("calibration.eta")?,
        rate: get.float("calibration.rate")?,
        samples: get.count("calibration.samples")?,
        candidates: get.count("calibration.candidates")?,
        max_trials: get.count("calibration.max_trials")?,
        period: get.count("period")?,
        delta: get.float("delta")?,
        ..SgdOptions::default()
    })
}

fn passive_aggressive(get: &Parameters<'_, '_>) -> PyResult<PassiveAggressive> {
    Ok(PassiveAggressive {
        variant: match get.int("type")? {
            1 => PassiveAggressiveType::One,
            2 => PassiveAggressiveType::Two,
            _ => PassiveAggressiveType::Zero,
        },
        c: get.float("c")?,
        error_sensitive: get.flag("error_sensitive")?,
        averaging: get.flag("averaging")?,
        epsilon: get.float("epsilon")?,
    })
}

/// Sets options that CRFsuite does not have.
fn extend(options: &mut TrainOptions, extensions: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in extensions {
        let name: String = name.extract()?;
        match name.as_str() {
            "dropout" => options.method.noise.dropout = value.extract()?,
            "edge_dropout" => options.method.noise.edge_dropout = value.extract()?,
            "noise" => options.method.noise.kind = noise(&value.extract::<String>()?)?,
            "masks" => options.method.noise.sharing = masks(&value.extract::<String>()?)?,
            "warm_up" => options.method.warm_up = value.extract()?,
            "unlabeled_weight" => {
                options.method.noise.unlabeled_weight = value.extract()?;
            }
            "seed" => options.seed = value.extract()?,
            "precision" => options.precision = precision(&value.extract::<String>()?)?,
            "plain" => options.method.optimizer.plain = value.extract()?,
            "patience" => {
                options.patience = value.extract()?;
                options.dev_use = DevUse::Choose;
            }
            _ => {
                let message = format!("found the option {name}; it is unknown");
                return Err(PyValueError::new_err(message));
            }
        }
    }
    Ok(())
}

fn masks(name: &str) -> PyResult<NoiseSharing> {
    Ok(match name {
        "weights" => NoiseSharing::Weights,
        "inputs" => NoiseSharing::Inputs,
        _ => {
            return Err(PyValueError::new_err(format!(
                "masks '{name}'; expected weights or inputs"
            )));
        }
    })
}

fn noise(name: &str) -> PyResult<NoiseKind> {
    name.parse().map_err(exception)
}

fn precision(name: &str) -> PyResult<Precision> {
    Ok(match name {
        "single" => Precision::F32,
        "double" => Precision::F64,
        _ => {
            let message = format!("precision '{name}'; expected single or double");
            return Err(PyValueError::new_err(message));
        }
    })
}

/// Parameters by their names in CRFsuite.
struct Parameters<'a, 'py>(&'a Bound<'py, PyDict>);

impl Parameters<'_, '_> {
    fn float(&self, name: &str) -> PyResult<f64> {
        self.0.as_any().get_item(name)?.extract()
    }

    fn int(&self, name: &str) -> PyResult<i64> {
        self.0.as_any().get_item(name)?.extract()
    }

    fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.int(name)? != 0)
    }

    fn count(&self, name: &str) -> PyResult<usize> {
        let value = self.int(name)?;
        usize::try_from(value)
            .map_err(|_| PyValueError::new_err(format!("{name} {value}; expected 0 or more")))
    }
}
