//! Column names, and selecting columns by name or index.

use std::borrow::Cow;

use super::lines::InputLine;
use crate::csv::csv_cells;
use crate::error::{Error, Result};
use crate::sentence::{JOINT, Schema, list_names};

/// The ten columns of CoNLL-U, in file order.
pub const CONLLU_COLUMNS: [&str; 10] =
    ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];

/// The first cell of a line of CoNLL that starts a new document.
pub const DOCUMENT_START: &str = "-DOCSTART-";

/// Position of the column `misc` of CoNLL-U.
pub(super) const MISC: usize = 9;

/// The label of a document boundary that has none of its own.
pub(super) const OUTSIDE: &str = "O";

/// Splits a line into cells: at single tabs if it has one, else at runs of blanks.
pub fn split_cells(line: &str) -> Vec<&str> {
    if line.contains('\t') { line.split('\t').collect() } else { split_blanks(line).collect() }
}

/// Splits a row into cells: at the separator of CSV if there is one, else at tabs or blanks.
pub(super) fn row_cells(line: &str, separator: Option<char>) -> Vec<Cow<'_, str>> {
    match separator {
        Some(separator) => csv_cells(line, separator),
        None => split_cells(line).into_iter().map(Cow::Borrowed).collect(),
    }
}

/// Splits a line at runs of blanks. White space beyond ASCII is part of a cell.
pub(super) fn split_blanks(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t']).filter(|cell| !cell.is_empty())
}

/// The index of the column `name`: a column name, else an index, from 0 or, if negative, from the
/// end.
pub(super) fn find_column<S: AsRef<str>>(names: &[S], name: &str) -> Option<usize> {
    names.iter().position(|n| n.as_ref() == name).or_else(|| {
        let index: isize = name.parse().ok()?;
        let start = if index < 0 { names.len() } else { 0 };
        start.checked_add_signed(index).filter(|&position| position < names.len())
    })
}

/// The error at `line` for a label column `name` that is not among `names`.
pub(super) fn no_label_column(line: &InputLine, name: &str, names: &[impl AsRef<str>]) -> Error {
    let names = list_names(names);
    line.error(format!("no column '{name}' to take labels from; the columns are {names}"))
}

/// The columns that `label` names: one, else several with `+` in between, whose values are joined.
/// None if it names no column.
///
/// # Errors
///
/// What is wrong with the names, if there are several.
pub(super) fn find_labels<S: AsRef<str>>(
    names: &[S],
    label: &str,
) -> Result<Option<Vec<usize>>, String> {
    if let Some(column) = find_column(names, label) {
        return Ok(Some(vec![column]));
    }
    let mut columns = Vec::new();
    for name in label.split(JOINT).filter(|_| label.contains(JOINT)) {
        if name.is_empty() {
            return Err(format!(
                "the label '{label}' has an empty column name; expected names of columns with '+' \
                 in between, such as upos+feats"
            ));
        }
        let column = find_column(names, name).ok_or_else(|| {
            let names = list_names(names);
            format!(
                "no column '{name}' to take labels from (of '{label}'); the columns are {names}"
            )
        })?;
        if columns.contains(&column) {
            return Err(format!(
                "the label '{label}' has the column '{}' twice; expected different columns",
                names[column].as_ref()
            ));
        }
        columns.push(column);
    }
    Ok((!columns.is_empty()).then_some(columns))
}

/// The first of some columns if they are the last of `width` columns, in any order.
pub fn first_of_last(columns: &[usize], width: usize) -> Option<usize> {
    let first = *columns.iter().min()?;
    (first + columns.len() == width).then_some(first)
}

/// The schema of a corpus with labels in one column or, joined, in several.
///
/// # Errors
///
/// The errors of [`Schema::new`]; the columns cannot be joined.
pub(super) fn labeled_schema(names: Vec<String>, labels: &[usize]) -> Result<Schema> {
    match labels {
        [label] => Schema::new(names, Some(*label)),
        labels => Schema::new(names, None)?.with_joined_label(labels.to_vec()),
    }
}

/// The error for labels that would be partial and joined.
pub(super) const JOINED_PARTIAL: &str =
    "labels that join columns cannot be partial or forced; expected a single label column";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_by_name_then_by_index_from_either_end() {
        let names = ["word", "2", "pos", "label"];
        assert_eq!(find_column(&names, "pos"), Some(2));
        assert_eq!(find_column(&names, "2"), Some(1));
        assert_eq!(find_column(&names, "0"), Some(0));
        assert_eq!(find_column(&names, "-1"), Some(3));
        assert_eq!(find_column(&names, "-4"), Some(0));
        assert_eq!(find_column(&names, "-5"), None);
        assert_eq!(find_column(&names, "4"), None);
        assert_eq!(find_column(&names, "-9223372036854775808"), None);
        assert_eq!(find_column(&names, "ner"), None);
    }
    #[test]
    fn joined_columns_exist_and_differ_and_a_column_of_that_name_wins() {
        let names = ["word", "pos", "feats", "pos+feats"];
        let find = |label: &str| find_labels(&names, label);
        assert_eq!(find("pos+feats"), Ok(Some(vec![3])));
        assert_eq!(find("feats+pos"), Ok(Some(vec![2, 1])));
        assert_eq!(find("2+1"), Ok(Some(vec![2, 1])));
        assert_eq!(find("ner"), Ok(None));
        let empty = "has an empty column name; expected names of columns with '+' in between, such \
                     as upos+feats";
        for label in ["pos+", "+pos", "pos++feats", "+"] {
            assert_eq!(find(label), Err(format!("the label '{label}' {empty}")));
        }
        for label in ["pos+pos", "pos+1"] {
            let fault = format!(
                "the label '{label}' has the column 'pos' twice; expected different columns"
            );
            assert_eq!(find(label), Err(fault));
        }
        assert_eq!(
            find("pos+ner"),
            Err("no column 'ner' to take labels from (of 'pos+ner'); the columns are \
                 word pos feats pos+feats"
                .to_owned())
        );
    }

    #[test]
    fn labels_can_be_the_last_columns() {
        assert_eq!(first_of_last(&[2], 3), Some(2));
        assert_eq!(first_of_last(&[1], 3), None);
        assert_eq!(first_of_last(&[2, 1], 3), Some(1));
        assert_eq!(first_of_last(&[0, 2], 3), None);
    }
}
