//! Sentences as rows of columns, as in CoNLL files.

use std::sync::Arc;

use dropchain::corpus::JsonObject;
use dropchain::sentence::Schema;
use dropchain::tag::Header;
use dropchain::{Error, Place, Result, Sentence};
use serde::de::DeserializeOwned;

/// The key of rows of columns.
pub const ROWS: &str = "rows";

/// The key of the names of the columns.
const COLUMNS: &str = "columns";

/// Returns the sentence of an object with `rows`, which is number `place.1` of the inputs
/// `place.0`; `None` if there are no rows.
pub fn rows_sentence(
    object: &JsonObject<'_>,
    header: &Header,
    max_sentence: usize,
    place: (&str, u64),
) -> Result<Option<Sentence>> {
    let error = |message: String| Error::input(Place::line(place.0, place.1), message);
    let rows: Vec<Vec<String>> = value(object, ROWS, "arrays of strings")
        .map_err(error)?
        .unwrap_or_default();
    let names = value(object, COLUMNS, "an array of strings").map_err(error)?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let schema = schema(names, first.len(), header).map_err(|fault| error(fault.to_string()))?;
    let (width, tokens) = (schema.width(), rows.len());
    if tokens > max_sentence {
        return Err(error(format!(
            "the sentence has {tokens} tokens; expected at most {max_sentence} (--max-sentence)"
        )));
    }
    if let Some(t) = rows.iter().position(|row| row.len() != width) {
        let (names, found) = (schema.list(), rows[t].len());
        return Err(error(format!(
            "row {}: expected {width} columns ({names}), found {found}",
            t + 1
        )));
    }
    let mut sentence = Sentence::new(Arc::new(schema), Arc::from(place.0));
    for row in &rows {
        sentence.push(row, place.1)?;
    }
    sentence.layout.record = Some(object.without(&[ROWS, COLUMNS], None));
    Ok(Some(sentence))
}

/// Parses the value of a key, if there is one.
fn value<T: DeserializeOwned>(
    object: &JsonObject<'_>,
    key: &str,
    expected: &str,
) -> Result<Option<T>, String> {
    let value = object
        .get(key)
        .map(|value| serde_json::from_str(value.get()));
    value.transpose().map_err(|fault| {
        let fault = fault.to_string();
        // The place is one in the value alone.
        let fault = fault.split(" at line ").next().unwrap_or_default();
        format!("key {key:?}: expected {expected}; {fault}")
    })
}

/// Returns the schema of rows: of the columns with these names, or of the `width` columns of the
/// training data, where the label may be missing, or of the first ones before it.
fn schema(names: Option<Vec<String>>, width: usize, header: &Header) -> Result<Schema> {
    let columns = &header.columns;
    let before_label = header.columns_before_label().unwrap_or(0);
    let names = match names {
        Some(names) => names,
        None if (1..=before_label).contains(&width) || width == columns.len() && width > 0 => {
            columns[..width].to_vec()
        }
        None => {
            let columns = columns.join(" ");
            return Err(Error::parameter(format!(
                "expected rows of the columns of the training data ({columns}), or the key \
                 {COLUMNS:?} with the names of the columns; found {width} columns"
            )));
        }
    };
    let label = header.label_name();
    let label = names.iter().position(|name| Some(name.as_str()) == label);
    Schema::new(names, label)
}
