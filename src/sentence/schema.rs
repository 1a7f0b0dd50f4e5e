//! The columns of a corpus, and those whose values are joined to one label, such as `upos+feats`.
//!
//! The label of a token is then the values of n columns with `+` in between. It is split at its
//! first n − 1 `+`, so only the last column may have values with `+`.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Result, ensure};

/// Maximum number of columns that messages list.
const LISTED: usize = 20;

/// The names of columns that hold the predictions of a first pass over the documents.
pub const PREDICTIONS: [&str; 4] =
    ["predicted", "predicted_word", "predicted_phrase", "predicted_part"];

/// Columns of CoNLL-U with a tag, a lemma or a number for each token.
const TAGS: [&str; 6] = ["lemma", "upos", "xpos", "feats", "head", "deprel"];

/// How lines of CoNLL files are read that are not tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRules {
    /// Lines that begin with `#` are comments.
    pub comments: bool,
    /// The first line of a file is a row with the names of the columns.
    pub header: bool,
}

/// The columns of a corpus: their names, in file order, and the label column.
///
/// Schemas are equal if their columns are, however the lines of the files are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    names: Vec<String>,
    label: Option<usize>,
    derived: usize, // the last columns, which the input does not have
    joined: Option<Arc<JoinedColumns>>, // what the label column before these joins
    lines: LineRules,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        let columns = |schema: &Self| (schema.label, schema.derived);
        columns(self) == columns(other) && self.names == other.names && self.joined == other.joined
    }
}

impl Eq for Schema {}

impl Schema {
    /// A schema with these column names and the position of the label column, if any.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Parameter`] if a name is empty or occurs twice, or `label` is out of range.
    pub fn new(names: Vec<String>, label: Option<usize>) -> Result<Self> {
        let mut known = HashSet::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            ensure(!name.is_empty(), || format!("column {i} has an empty name"))?;
            ensure(known.insert(name), || format!("two columns have the name '{name}'"))?;
        }
        if let Some(label) = label {
            let columns = names.len();
            ensure(label < columns, || {
                format!("label column {label} does not exist: there are {columns} columns")
            })?;
        }
        Ok(Self { names, label, ..Self::default() })
    }

    /// The schema of raw text: the single column `word`, without labels.
    pub fn words() -> Self {
        Self { names: vec!["word".to_owned()], ..Self::default() }
    }

    /// Returns the schema with labels that join columns of the input. They are a further column,
    /// which has the name of all of these, such as `upos+feats`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Parameter`] if the columns cannot be joined ([`JoinedColumns::new`]), or a
    /// column has the name already.
    pub fn with_joined_label(&self, positions: Vec<usize>) -> Result<Self> {
        let joined = JoinedColumns::new(self.input_names(), positions)?;
        let label = self.names.len();
        let names = self.names.iter().cloned().chain([joined.name().to_owned()]);
        Ok(Self { joined: Some(Arc::new(joined)), ..Self::new(names.collect(), Some(label))? })
    }

    /// Returns the schema of a corpus whose labels are the values of a key in one of its columns.
    /// They are a further column with the name of the key.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Parameter`] if the name is empty or a column has it already.
    pub fn with_label_key(names: Vec<String>, key: &str) -> Result<Self> {
        let label = names.len();
        let names = names.into_iter().chain([key.to_owned()]);
        Ok(Self { derived: 1, ..Self::new(names.collect(), Some(label))? })
    }

    /// Returns the schema of a corpus whose lines are read so.
    #[must_use]
    pub fn with_line_rules(self, lines: LineRules) -> Self {
        Self { lines, ..self }
    }

    /// How the lines of the corpus are read.
    pub fn line_rules(&self) -> LineRules {
        self.lines
    }

    /// The key whose values are the labels, if no column has them.
    pub fn label_key(&self) -> Option<&str> {
        let label = self.label.filter(|_| self.joined.is_none())?;
        (label >= self.input_names().len()).then(|| self.names[label].as_str())
    }

    /// Returns the schema with more columns, which are not in the input.
    ///
    /// # Errors
    ///
    /// A column has one of the names already.
    pub fn with_derived(&self, names: &[&str]) -> Result<Self> {
        let own = self.names.iter().map(String::as_str);
        let all = own.chain(names.iter().copied()).map(str::to_owned);
        let derived = self.derived + names.len();
        let names = Self::new(all.collect(), self.label)?.names;
        Ok(Self { names, derived, ..self.clone() })
    }

    /// Returns the names of the columns that the input has.
    pub fn input_names(&self) -> &[String] {
        let added = self.derived + usize::from(self.joined.is_some());
        &self.names[..self.names.len() - added]
    }

    /// The columns that the labels join, if they join several. The label column is then not in the
    /// input.
    pub fn joined(&self) -> Option<&JoinedColumns> {
        self.joined.as_deref()
    }

    /// Whether the labels are, or join, those of a column.
    pub fn is_label(&self, column: usize) -> bool {
        let is_part = |joined: &JoinedColumns| joined.positions().contains(&column);
        self.label == Some(column) || self.joined().is_some_and(is_part)
    }

    /// Column names in file order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Lists the column names for messages, without most of them if there are very many.
    pub fn list(&self) -> String {
        list_names(&self.names)
    }

    /// Number of columns C.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Position of the label column.
    pub fn label(&self) -> Option<usize> {
        self.label
    }

    /// Whether the labels are no spans by their column: it is one of CoNLL-U that tags every token,
    /// or they join columns.
    pub fn has_tags(&self) -> bool {
        let is_tag = |label: usize| TAGS.contains(&self.names[label].as_str());
        self.joined.is_some() || self.label_key().is_none() && self.label.is_some_and(is_tag)
    }

    /// Position of the column `name`.
    ///
    /// `word` and `form` are synonyms, so that templates work with both CoNLL and CoNLL-U.
    pub fn position(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.names.iter().position(|n| n == name);
        find(name).or_else(|| match name {
            "word" => find("form"),
            "form" => find("word"),
            _ => None,
        })
    }
}

/// Lists names for messages, without most of them if there are very many.
pub fn list_names<S: AsRef<str>>(names: &[S]) -> String {
    let listed: Vec<&str> = names.iter().take(LISTED).map(AsRef::as_ref).collect();
    let rest = names.len() - listed.len();
    match rest {
        0 => listed.join(" "),
        _ => format!("{} … and {rest} more", listed.join(" ")),
    }
}

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
    /// [`crate::Error::Parameter`] if there are fewer than two, one does not exist or occurs twice,
    /// or a name is empty or contains `+`.
    pub fn new<S: AsRef<str>>(all: &[S], positions: Vec<usize>) -> Result<Self> {
        ensure(positions.len() >= 2, || "joined labels need two or more columns".to_owned())?;
        let mut known = HashSet::with_capacity(positions.len());
        let mut names = Vec::with_capacity(positions.len());
        for &position in &positions {
            let columns = all.len();
            ensure(position < columns, || {
                format!("column {position} does not exist: there are {columns} columns")
            })?;
            let name = all[position].as_ref();
            ensure(!name.is_empty() && !name.contains(JOINT), || {
                let expected = "expected a name without '+'";
                format!("the column '{name}' cannot be joined with others: {expected}")
            })?;
            ensure(known.insert(position), || {
                format!("the column '{name}' is joined with itself")
            })?;
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
        let values: Vec<&str> = values.into_iter().take(self.names.len()).collect();
        let last = self.names.len() - 1;
        for (i, (value, name)) in values.iter().zip(&self.names).enumerate() {
            if value.is_empty() {
                let expected = "expected a value, such as _";
                return Err(format!("the label is empty in the column '{name}'; {expected}"));
            }
            if i < last && value.contains(JOINT) {
                let fault = format!("the value '{value}' of the column '{name}' contains '+'");
                let rule = "only the last column may have such values";
                return Err(format!("{fault}; in labels of joined columns ({}) {rule}", self.name));
            }
        }
        Ok(values.join("+"))
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

    #[test]
    fn word_and_form_name_the_same_column() {
        let s = Schema::new(vec!["id".into(), "form".into()], None).unwrap();
        assert_eq!(s.position("word"), Some(1));
        assert!(Schema::new(vec!["a".into(), "a".into()], None).is_err());
        assert!(Schema::new(vec!["a".into()], Some(1)).is_err());
    }

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
