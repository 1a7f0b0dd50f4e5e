//! Column names, and selecting columns by name or index.

use super::lines::InputLine;
use crate::error::Error;
use crate::sentence::list_names;

/// The ten columns of CoNLL-U, in file order.
pub const CONLLU_COLUMNS: [&str; 10] = [
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
];

/// The label of a document boundary that has none of its own.
pub(super) const OUTSIDE: &str = "O";

/// The index of the column `name`: a column name, else an index, from 0 or, if negative, from the
/// end.
pub(super) fn find_column<S: AsRef<str>>(names: &[S], name: &str) -> Option<usize> {
    let by_name = names.iter().position(|n| n.as_ref() == name);
    by_name.or_else(|| {
        let index: i64 = name.parse().ok()?;
        let width = i64::try_from(names.len()).ok()?;
        let position = if index < 0 {
            width.checked_add(index)?
        } else {
            index
        };
        let position = usize::try_from(position).ok()?;
        (position < names.len()).then_some(position)
    })
}

/// The error at `line` for a label column `name` that is not among `names`.
pub(super) fn no_label_column(line: &InputLine, name: &str, names: &[impl AsRef<str>]) -> Error {
    line.error(format!(
        "no column '{name}' to take labels from; the columns are {}",
        list_names(names)
    ))
}

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
}
