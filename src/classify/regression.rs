//! Regression: numbers instead of classes, under feature noise.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::classifier::features;
use super::features::FeatureOptions;
use crate::corpus::Instance;
use crate::error::{Error, Result};
use crate::extract::SparseRows;
use crate::irls::{
    Documents, InputNoise, IrlsOptions, Loss, Problem, Solver, irls_memory, minimize,
};
use crate::memory::MemoryLimit;
use crate::optim::StopReason;

/// The largest value of a feature and the largest target.
const LARGEST: f64 = 1e30;

/// How to train a regression.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionOptions {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// [`Loss::Insensitive`], which makes it support vector regression, or [`Loss::Squared`].
    pub loss: Loss,
    /// The rate at which features are dropped, below 1; 0 for no noise.
    pub dropout: f64,
    /// Strength c of the penalty c·‖w‖².
    pub l2: f64,
    /// The maximum number of iterations.
    pub max_iterations: Option<usize>,
    /// Training stops if the objective fell by less than this fraction in ten iterations.
    pub improvement_tolerance: f64,
    /// Limits the memory of documents and of training.
    pub memory: MemoryLimit,
}

impl Default for RegressionOptions {
    fn default() -> Self {
        Self {
            features: None,
            loss: Loss::Insensitive { epsilon: 0.1 },
            dropout: 0.0,
            l2: 0.1,
            max_iterations: None,
            improvement_tolerance: 1e-7,
            memory: MemoryLimit::default(),
        }
    }
}

/// A linear function of the features of a document: w·x + b.
///
/// Training minimizes Σ E[loss(y, w·x̃ + b)] + c·(‖w‖² + b₀²), or a bound of it, where x̃ is x with
/// features dropped at random and b₀ is the bias minus the mean of the targets y (Chen et al. 2015,
/// section 4.3). It serializes with serde.
///
/// ```
/// use dropchain::classify::{Instance, Regression, RegressionOptions};
///
/// # fn main() -> dropchain::Result<()> {
/// // Or documents of an `InstanceReader`: lines of SVMlight's format begin with a number.
/// let documents = [(1.0, "2.5"), (2.0, "4.5"), (3.0, "6.5"), (4.0, "8.5")]
///     .map(|(x, y)| Instance::from_features([("x", x)]).with_label(y));
/// let options = RegressionOptions { l2: 1e-4, ..RegressionOptions::default() };
/// let regression = Regression::train(documents.map(Ok), &options, None)?;
/// let y = regression.predict(&Instance::from_features([("x", 5.0)]))?;
/// assert!((y - 10.5).abs() < 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    features: Option<FeatureOptions>,
    loss: Loss,
    bias: f64,
    weights: BTreeMap<String, f64>,
}

/// Documents as numbers.
#[derive(Default)]
struct Data {
    names: HashMap<String, u32>,
    rows: SparseRows,
    targets: Vec<f64>, // [N]
}

impl Regression {
    /// Trains on documents whose labels are numbers.
    ///
    /// # Errors
    ///
    /// Those of reading; [`Error::Input`] with the place of the document: its label is no number,
    /// or its features are too large or not of the kind that the options say; memory is exhausted.
    /// [`Error::Parameter`] if there are no documents or an option is out of its range;
    /// [`Error::NotFinite`] if numbers overflow. An interrupt is not an error: the result is the
    /// best so far.
    pub fn train(
        documents: impl IntoIterator<Item = Result<Instance>>,
        options: &RegressionOptions,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Self> {
        options.check()?;
        let mut data = Data::default();
        for document in documents {
            data.push(&document?, options)?;
        }
        let columns = data.names.len();
        let needed = irls_memory(&data.rows, columns) + data.memory();
        let check = options.memory.check(needed as u64, data.memory() as u64);
        check.map_err(|over| {
            Error::parameter(format!(
                "regression on {columns} features: {over}; expected fewer features or a larger \
                 limit"
            ))
        })?;
        if data.targets.is_empty() {
            return Err(Error::parameter("there are no documents to train on"));
        }
        let count = data.targets.len() as f64;
        let mean: f64 = data.targets.iter().map(|y| y / count).sum();
        data.targets.iter_mut().for_each(|y| *y -= mean);
        let w = data.minimize(options, interrupt)?;
        let names = data.names.into_iter();
        let weights = names.map(|(name, column)| (name, w[column as usize]));
        Ok(Self {
            features: options.features,
            loss: options.loss,
            bias: w[columns] + mean,
            weights: weights.filter(|(_, weight)| *weight != 0.0).collect(),
        })
    }

    /// Returns the number for a document; features without a weight are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and was to have features, or the other way round.
    pub fn predict(&self, document: &Instance) -> Result<f64> {
        let features = features(document, self.features.as_ref())?;
        let features = features.iter();
        let parts = features.filter_map(|(name, x)| Some(x * self.weights.get(name)?));
        Ok(self.bias + parts.sum::<f64>())
    }

    /// Returns the weights of features by name.
    #[must_use]
    pub fn weights(&self) -> &BTreeMap<String, f64> {
        &self.weights
    }

    /// Returns the bias.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// Returns the loss that was minimized.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.loss
    }
}

impl RegressionOptions {
    fn check(&self) -> Result<()> {
        if !matches!(self.loss, Loss::Insensitive { .. } | Loss::Squared) {
            return Err(Error::parameter(format!(
                "the {} loss is for classes; expected insensitive or squared",
                self.loss.name()
            )));
        }
        self.loss.check()?;
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(Error::parameter(format!(
                "dropout {}; expected a rate of at least 0 and below 1",
                self.dropout
            )));
        }
        for (name, number) in [
            ("L2 strength", self.l2),
            ("improvement tolerance", self.improvement_tolerance),
        ] {
            if !(number.is_finite() && number >= 0.0) {
                return Err(Error::parameter(format!(
                    "{name} {number}; expected a finite number that is not negative"
                )));
            }
        }
        Ok(())
    }
}

impl Data {
    fn push(&mut self, document: &Instance, options: &RegressionOptions) -> Result<()> {
        let fault = |message: String| Error::input(document.place(), message);
        let label = document.label.as_deref().unwrap_or_default();
        let target = label.parse().ok();
        let target = target.filter(|y: &f64| y.abs() <= LARGEST).ok_or_else(|| {
            fault(format!(
                "found the label '{label}'; expected a number of at most {LARGEST:e}"
            ))
        })?;
        let mut row = Vec::new();
        for &(ref name, value) in features(document, options.features.as_ref())?.iter() {
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(fault(format!(
                    "the feature {name} has the value {value}; expected a number of at most \
                     {LARGEST:e}"
                )));
            }
            let next = self.names.len() as u32;
            let column = *self.names.entry_ref(name.as_str()).or_insert(next);
            row.push((column, value));
        }
        self.rows.push_row(&mut row);
        self.targets.push(target);
        let limit = options.memory.bytes(0);
        if self.memory() as u64 > limit {
            return Err(fault(format!(
                "the documents up to here need more memory than the limit of {limit} bytes; \
                 expected fewer documents"
            )));
        }
        Ok(())
    }

    /// Returns the memory usage in bytes; names are estimated.
    fn memory(&self) -> usize {
        self.rows.memory() + 8 * self.targets.capacity() + 64 * self.names.capacity()
    }

    fn minimize(
        &self,
        options: &RegressionOptions,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Vec<f64>> {
        let documents = Documents {
            rows: &self.rows,
            scales: &vec![1.0; self.names.len()],
            bias: 1.0,
            targets: &self.targets,
            weights: &vec![1.0; self.targets.len()],
        };
        let noise = match options.dropout {
            0.0 => InputNoise::None,
            rate => InputNoise::Proportional(rate / (1.0 - rate)),
        };
        let problem = Problem::new(documents, options.loss, noise, options.l2);
        let irls = IrlsOptions {
            max_iterations: options.max_iterations,
            improvement_tolerance: options.improvement_tolerance,
            period: 10,
            gradient_tolerance: 1e-9,
            solver: Solver::Auto,
        };
        let start = vec![0.0; problem.dimension()];
        let outcome = minimize(&problem, start, &irls, interrupt, &mut |_| {
            ControlFlow::Continue(())
        });
        if outcome.stop_reason == StopReason::NonFinite {
            let message = "the objective is not finite; expected smaller features and targets";
            return Err(Error::NotFinite(message.to_owned()));
        }
        Ok(outcome.w)
    }
}
