//! Columns whose values are joined to one label, such as `upos+feats`.
//!
//! The label of a token is the values of n columns with `+` in between. It is split at its first
//! n − 1 `+`, so only the last column may have values with `+`.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The separator of joined values, and of the names of their columns.
pub const JOINT: char = '+';

/// Two or more columns whose values are joined to one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JoinedColumns {
    name: String,
    positions: Vec<usize>, // [n] in the columns of the corpus
    names: Vec<String>,    // [n]
}

impl JoinedColumns {
    /// Joins the columns at `positions` of the columns `all`, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are fewer than two, one does not exist or occurs twice, or a
    /// name is empty or contains `+`.
    pub fn new<S: AsRef<str>>(all: &[S], positions: Vec<usize>) -> Result<Self> {
        let error = |message: String| Err(Error::parameter(message));
        if positions.len() < 2 {
            return error("joined labels need two or more columns".to_owned());
        }
        let mut known = HashSet::with_capacity(positions.len());
        let mut names = Vec::with_capacity(positions.len());
        for &position in &positions {
            let Some(name) = all.get(position).map(AsRef::as_ref) else {
                return error(format!(
                    "column {position} does not exist: there are {} columns",
                    all.len()
                ));
            };
            if name.is_empty() || name.contains(JOINT) {
                return error(format!(
                    "the column '{name}' cannot be joined with others: expected a name without '+'"
                ));
            }
            if !known.insert(position) {
                return error(format!("the column '{name}' is joined with itself"));
            }
            names.push(name.to_owned());
        }
        Ok(Self { name: names.join("+"), positions, names })
    }

    /// The names of the columns with `+` in between: `upos+feats`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns, `[n]`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The positions of the columns in the corpus, `[n]`.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Joins the value of each column, `[n]`, to a label.
    ///
    /// # Errors
    ///
    /// What is wrong with a value: it is empty, or it is not the last and contains `+`.
    pub fn join<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> Result<String, String> {
        let mut label = String::new();
        let last = self.names.len() - 1;
        for (i, (value, name)) in values.into_iter().zip(&self.names).enumerate() {
            if value.is_empty() {
                return Err(format!(
                    "the label is empty in the column '{name}'; expected a value, such as _"
                ));
            }
            if i < last && value.contains(JOINT) {
                return Err(format!(
                    "the value '{value}' of the column '{name}' contains '+'; in labels of joined \
                     columns ({}) only the last column may have such values",
                    self.name
                ));
            }
            if i > 0 {
                label.push(JOINT);
            }
            label.push_str(value);
        }
        Ok(label)
    }

    /// Splits a label into the value of each column, `[n]`; `None` if it is no joined label.
    pub fn split<'a>(&self, label: &'a str) -> Option<Vec<&'a str>> {
        split_label(label, self.names.len())
    }
}

/// Splits a label at its first `parts` − 1 `+`; `None` if it has fewer, or a part is empty.
pub fn split_label(label: &str, parts: usize) -> Option<Vec<&str>> {
    let values: Vec<&str> = label.splitn(parts, JOINT).collect();
    let is_complete = values.len() == parts && values.iter().all(|value| !value.is_empty());
    is_complete.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 4] = ["form", "upos", "feats", "a+b"];

    #[test]
    fn labels_split_at_the_first_joints_into_the_values_of_all_columns() {
        let joined = JoinedColumns::new(&COLUMNS, vec![1, 2]).unwrap();
        assert_eq!(joined.name(), "upos+feats");
        for values in [["NOUN", "Number=Sing"], ["_", "_"], ["X", "+"], ["X", "a+b+"]] {
            let label = joined.join(values).unwrap();
            assert_eq!(joined.split(&label), Some(values.to_vec()), "{label}");
        }
        for label in ["NOUN", "", "+", "NOUN+", "+x"] {
            assert_eq!(joined.split(label), None, "{label}");
        }
        let all = JoinedColumns::new(&COLUMNS, vec![2, 0, 1]).unwrap();
        assert_eq!(all.name(), "feats+form+upos");
        assert_eq!(all.split("a+b+c+d"), Some(vec!["a", "b", "c+d"]));
        assert_eq!(all.split("a+b"), None);
    }

    #[test]
    fn only_the_last_column_may_have_values_with_the_joint() {
        let joined = JoinedColumns::new(&COLUMNS, vec![1, 2]).unwrap();
        let fault = joined.join(["A+B", "c"]).unwrap_err();
        assert!(
            fault.starts_with("the value 'A+B' of the column 'upos' contains '+'; "),
            "{fault}"
        );
        let fault = joined.join(["A", ""]).unwrap_err();
        assert!(fault.starts_with("the label is empty in the column 'feats'; "), "{fault}");
    }

    #[test]
    fn columns_are_two_or_more_that_exist_once_with_names_without_the_joint() {
        let error = |positions: &[usize]| {
            JoinedColumns::new(&COLUMNS, positions.to_vec()).unwrap_err().to_string()
        };
        assert_eq!(error(&[1]), "joined labels need two or more columns");
        assert_eq!(error(&[1, 2, 1]), "the column 'upos' is joined with itself");
        assert_eq!(error(&[1, 4]), "column 4 does not exist: there are 4 columns");
        assert_eq!(
            error(&[1, 3]),
            "the column 'a+b' cannot be joined with others: expected a name without '+'"
        );
    }
}
