//! The columns of the training corpus.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::corpus::columns::first_of_last;
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

/// Which columns of the training corpus those of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnFit {
    /// Columns with these names, which its header row has, in any order.
    ByName(Vec<String>),
    /// All columns, in their order.
    All,
    /// All but the labels, which were the last ones.
    Unlabeled,
    /// The first columns, or these and the labels: those with these names.
    Fewer(Vec<String>),
    /// Columns of another number.
    Other,
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
        first_of_last(&self.label_positions(), self.names.len())
    }

    /// Finds out which columns a file has whose tokens have `width` cells, or its header row names:
    /// by these names if the corpus had all of them, else by place. If the file is `labeled`, its
    /// labels are the last columns.
    pub fn fit(&self, header: Option<&[&str]>, width: usize, labeled: bool) -> ColumnFit {
        let is_own = |name: &&str| self.names.iter().any(|own| own == name);
        if let Some(names) = header.filter(|names| names.iter().all(is_own)) {
            return ColumnFit::ByName(names.iter().map(|&name| name.to_owned()).collect());
        }
        let Some(label) = self.before_label().filter(|_| width != self.names.len()) else {
            return if width == self.names.len() { ColumnFit::All } else { ColumnFit::Other };
        };
        let labels = if labeled { &self.names[label..] } else { &[] };
        match width.checked_sub(labels.len()) {
            Some(known) if known == label && !labeled => ColumnFit::Unlabeled,
            Some(known) if (1..label).contains(&known) => {
                ColumnFit::Fewer([&self.names[..known], labels].concat())
            }
            _ => ColumnFit::Other,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_by_name_then_by_place() {
        use ColumnFit::{All, ByName, Fewer, Other, Unlabeled};
        let list = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let columns = |label| {
            CorpusColumns::of(&Schema::new(list("word pos chunk ner"), Some(label)).unwrap())
        };
        for (label, header, width, labeled, expected) in [
            (3, "", 4, false, All),
            (3, "", 4, true, All),
            (3, "", 3, false, Unlabeled),
            (3, "", 2, false, Fewer(list("word pos"))),
            (3, "", 1, false, Fewer(list("word"))),
            // The last column has the labels.
            (3, "", 3, true, Fewer(list("word pos ner"))),
            (3, "", 2, true, Fewer(list("word ner"))),
            (3, "", 1, true, Other),
            (3, "", 5, false, Other),
            (3, "", 0, false, Other),
            // Labels between the columns.
            (1, "", 3, false, Other),
            (1, "", 4, false, All),
            // A header row whose names are those of the corpus, and one with others.
            (3, "pos word", 2, false, ByName(list("pos word"))),
            (3, "ner pos chunk word", 4, true, ByName(list("ner pos chunk word"))),
            (3, "form upos chunk ner", 4, true, All),
            (3, "form upos", 2, false, Fewer(list("word pos"))),
        ] {
            let names: Vec<&str> = header.split(' ').collect();
            let names = Some(&*names).filter(|_| !header.is_empty());
            let found = columns(label).fit(names, width, labeled);
            assert_eq!(found, expected, "{label} {header} {width} {labeled}");
        }
    }
}
