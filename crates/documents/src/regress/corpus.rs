//! Documents as numbers.

use hashbrown::HashMap;

use super::options::RegressionOptions;
use super::record::RegressionLoss;
use crate::Instance;
use crate::features::features;
use dropchain::error::{Error, Result};
use dropchain::extract::SparseRows;
use dropchain::memory::input_over_limit;

/// The largest value of a feature and the largest number to be predicted.
const LARGEST: f64 = 1e30;

/// Documents with the numbers to be predicted: the values of D features of N documents.
#[derive(Clone, Debug, Default)]
pub struct RegressionCorpus {
    numbers: HashMap<String, u32>, // of features
    pub(super) rows: SparseRows,   // [N][D]
    pub(super) targets: Vec<f64>,  // [N]
}

impl RegressionCorpus {
    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the number of features.
    #[must_use]
    pub fn features(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the names of the features, by number.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = vec![""; self.numbers.len()];
        for (name, &number) in &self.numbers {
            names[number as usize] = name;
        }
        names
    }

    /// Adds a document, whose label is the number.
    pub(super) fn push(&mut self, document: &Instance, options: &RegressionOptions) -> Result<()> {
        let fault = |message: String| Error::input(document.place(), message);
        let label = document.label.as_deref().unwrap_or_default();
        let target = label.trim().parse().ok();
        let target = target.filter(|y: &f64| y.abs() <= LARGEST).ok_or_else(|| {
            fault(format!(
                "found '{label}'; expected a number of at most {LARGEST:e} to predict"
            ))
        })?;
        if options.loss == RegressionLoss::Poisson && target < 0.0 {
            return Err(fault(format!(
                "found {label}; expected a number that is not negative, for the poisson loss"
            )));
        }
        let mut row = Vec::new();
        for &(ref name, value) in features(document, options.features.as_ref())?.iter() {
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(fault(format!(
                    "the feature {name} has the value {value}; expected a number of at most \
                     {LARGEST:e}"
                )));
            }
            let next = u32::try_from(self.numbers.len());
            let next = next.map_err(|_| fault("there are more than 2³² features".to_owned()))?;
            let column = *self.numbers.entry_ref(name.as_str()).or_insert(next);
            row.push((column, value));
        }
        self.rows.push_row(&mut row);
        self.targets.push(target);
        let limit = options.memory.bytes(0);
        if self.memory() as u64 > limit {
            let what = "the documents up to here need";
            return Err(input_over_limit(
                document.place(),
                what,
                limit,
                "fewer documents",
            ));
        }
        Ok(())
    }

    /// Returns some of the documents, with all features.
    pub(super) fn subset(&self, documents: &[usize]) -> (SparseRows, Vec<f64>) {
        let mut rows = SparseRows::default();
        let mut row = Vec::new();
        for &n in documents {
            row.extend(self.rows.entries(n));
            rows.push_row(&mut row);
            row.clear();
        }
        (rows, documents.iter().map(|&n| self.targets[n]).collect())
    }

    /// Returns the memory usage in bytes; names are estimated.
    pub(super) fn memory(&self) -> usize {
        self.rows.memory() + 8 * self.targets.capacity() + 64 * self.numbers.capacity()
    }
}
