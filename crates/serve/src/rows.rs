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
    let rows: Vec<Vec<String>> = value(object, ROWS)
        .and_then(|rows| rows.ok_or_else(|| "expected an array".to_owned()))
        .map_err(|fault| error(format!("key {ROWS:?}: expected arrays of strings; {fault}")))?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let names: Option<Vec<String>> = value(object, COLUMNS).map_err(|fault| {
        error(format!(
            "key {COLUMNS:?}: expected an array of strings; {fault}"
        ))
    })?;
    let schema = match names {
        Some(names) => named_schema(names, header),
        None => model_schema(first.len(), header),
    };
    let schema = schema.map_err(|fault| error(fault.to_string()))?;
    let width = schema.width();
    let mut sentence = Sentence::new(Arc::new(schema), Arc::from(place.0));
    if rows.len() > max_sentence {
        return Err(error(format!(
            "the sentence has {} tokens; expected at most {max_sentence} (--max-sentence)",
            rows.len()
        )));
    }
    for (t, row) in rows.iter().enumerate() {
        if row.len() != width {
            return Err(error(format!(
                "row {}: expected {width} columns ({}), found {}",
                t + 1,
                sentence.schema().list(),
                row.len()
            )));
        }
        sentence.push(row, place.1)?;
    }
    sentence.layout.record = Some(object.without(&[ROWS, COLUMNS], None));
    Ok(Some(sentence))
}

/// Parses the value of a key, if there is one.
fn value<T: DeserializeOwned>(object: &JsonObject<'_>, key: &str) -> Result<Option<T>, String> {
    let value = object
        .get(key)
        .map(|value| serde_json::from_str(value.get()));
    value.transpose().map_err(|fault: serde_json::Error| {
        let text = fault.to_string();
        text.split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned()
    })
}

/// The schema of columns with names. That of the labels of the training data is the label column.
fn named_schema(names: Vec<String>, header: &Header) -> Result<Schema> {
    let label = header.label_name();
    let label = names.iter().position(|name| Some(name.as_str()) == label);
    Schema::new(names, label)
}

/// The schema of `width` columns: those of the training data, without the labels if these are the
/// last, or only the first ones of them.
fn model_schema(width: usize, header: &Header) -> Result<Schema> {
    let columns = &header.columns;
    let label = header.label_column.map(|label| label as usize);
    if width == columns.len() && width > 0 {
        return Schema::new(columns.clone(), label);
    }
    let is_prefix = header
        .columns_before_label()
        .is_some_and(|first| width <= first);
    if is_prefix && width > 0 {
        return Schema::new(columns[..width].to_vec(), None);
    }
    Err(Error::parameter(format!(
        "expected rows of the columns of the training data ({}), or the key {COLUMNS:?} with the \
         names of the columns; found {width} columns",
        columns.join(" ")
    )))
}
