//! The columns of the training corpus.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::label::LabelSet;
use crate::sentence::{JoinedColumns, LineRules, Schema};

/// Where the labels of the training corpus were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum LabelSource {
    /// In no column: sentences came with their labels, or the model was not trained on a corpus.
    #[default]
    Other,
    /// In a column, by its number.
    Column(u32),
    /// In several columns, whose values they join.
    Joined(JoinedColumns),
    /// In the values of a key in the column `misc` of CoNLL-U.
    Key(String),
}

/// The columns of the training corpus, and how its lines were read that are not tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusColumns {
    /// Names, in file order.
    pub names: Vec<String>,
    /// Where the labels were.
    pub label: LabelSource,
    /// How lines were read that are not tokens.
    pub lines: LineRules,
}

impl CorpusColumns {
    /// Returns the columns of a schema.
    pub fn of(schema: &Schema) -> Self {
        let label = match (schema.joined(), schema.label_key(), schema.label()) {
            (Some(joined), ..) => LabelSource::Joined(joined.clone()),
            (_, Some(key), _) => LabelSource::Key(key.to_owned()),
            (.., Some(column)) => LabelSource::Column(column as u32),
            _ => LabelSource::Other,
        };
        Self { names: schema.input_names().to_vec(), label, lines: schema.line_rules() }
    }

    /// Returns the columns that the labels join, if they join several.
    pub fn joined(&self) -> Option<&JoinedColumns> {
        match &self.label {
            LabelSource::Joined(joined) => Some(joined),
            _ => None,
        }
    }

    /// Returns the names of the columns that the labels join; none if they are of a single column.
    pub fn joined_names(&self) -> &[String] {
        self.joined().map_or(&[], JoinedColumns::names)
    }

    /// Returns the name of the column, or the key, that held the labels; if they join several
    /// columns, such as `upos+feats`.
    pub fn label_name(&self) -> Option<&str> {
        match &self.label {
            LabelSource::Other => None,
            LabelSource::Column(column) => self.names.get(*column as usize).map(String::as_str),
            LabelSource::Joined(joined) => Some(joined.name()),
            LabelSource::Key(key) => Some(key),
        }
    }

    /// Returns whether column `i` has labels or a part of them.
    pub fn is_label(&self, i: usize) -> bool {
        self.label_positions().contains(&i)
    }

    /// Returns the number of the first columns that a file without labels has, if the labels were
    /// in the last ones.
    pub fn before_label(&self) -> Option<usize> {
        let positions = self.label_positions();
        let first = *positions.iter().min()?;
        (first + positions.len() == self.names.len()).then_some(first)
    }

    /// Returns the label of a token with these cells of the corpus, if there are enough.
    pub fn label_of<'a>(&self, cells: &[&'a str]) -> Option<Cow<'a, str>> {
        let parts = self.label_positions().into_iter();
        let parts: Vec<&str> = parts.map(|part| cells.get(part).copied()).collect::<Option<_>>()?;
        match self.joined() {
            Some(joined) => joined.join(parts).ok().map(Cow::Owned),
            None => parts.first().map(|&cell| Cow::Borrowed(cell)),
        }
    }

    fn label_positions(&self) -> Vec<usize> {
        match &self.label {
            LabelSource::Column(column) => vec![*column as usize],
            LabelSource::Joined(joined) => joined.positions().to_vec(),
            LabelSource::Other | LabelSource::Key(_) => Vec::new(),
        }
    }

    /// Checks that the labels are those of their columns.
    pub(super) fn validate(&self, labels: &LabelSet) -> Result<(), String> {
        let joined = match &self.label {
            LabelSource::Column(column) if *column as usize >= self.names.len() => {
                return Err("the label column does not exist".to_owned());
            }
            LabelSource::Joined(joined) => joined,
            _ => return Ok(()),
        };
        let again = JoinedColumns::new(&self.names, joined.positions().to_vec());
        if again.map_err(|e| e.to_string())? != *joined {
            return Err("the columns that the labels join do not exist".to_owned());
        }
        match labels.names().iter().find(|label| joined.split(label).is_none()) {
            None => Ok(()),
            Some(label) => Err(format!(
                "the label '{}' does not consist of values of {} columns ({})",
                label.escape_debug(),
                joined.names().len(),
                joined.name()
            )),
        }
    }
}
