//! Writing a corpus into a file.

use std::path::Path;
use std::sync::Arc;

use dropchain::corpus::{OutputFormat, Tagged, WriteOptions, Writer};
use dropchain::kernel::atomic_file;
use dropchain::kernel::corpus::with_notes;
use dropchain::sentence::{Schema, Separation};
use dropchain::{Error, Result, Sentence};
use serde_json::json;

/// Replaces a file. `label` is the column or key of the labels in CoNLL-U, if it is not that of the
/// corpus.
///
/// # Errors
///
/// Sentences without words or, unless the format has only columns, without labels; those of the
/// format and of writing.
pub fn write(
    sentences: &[Arc<Sentence>],
    path: &Path,
    format: OutputFormat,
    label: Option<&str>,
) -> Result<()> {
    let mut options = WriteOptions::new(format);
    options.spans = false;
    let schema = sentences.first().map(|sentence| sentence.schema());
    if let Some(joined) = schema.and_then(|schema| schema.joined()) {
        options.joined = joined.names().to_vec();
    }
    let own = schema.and_then(|schema| Some(schema.names()[schema.label()?].as_str()));
    if let Some(label) = label.or(own) {
        options.label = label.to_owned();
    }
    let mut writer = Writer::new(Vec::new(), &path.to_string_lossy(), &options)?;
    let mut is_start = false;
    for (i, sentence) in sentences.iter().enumerate() {
        let (columns, labels) = parts(sentence, format)?;
        let begins = sentence.layout.separation.contains(Separation::MARK);
        if begins && i > 0 && !is_start && format != OutputFormat::Jsonl {
            let boundary = document_start(&columns)?;
            writer.write(&Tagged::new(&boundary, Vec::new()))?;
        }
        is_start = sentence.layout.document_start;
        writer.write(&Tagged::new(&noted(columns, format), labels))?;
    }
    writer.finish()?;
    atomic_file::write(path, &writer.into_inner())
}

/// Returns the other columns, and the labels. A sentence without labels has those of its last
/// column, where all columns are alike.
fn parts(sentence: &Sentence, format: OutputFormat) -> Result<(Sentence, Vec<&str>)> {
    let schema = sentence.schema();
    let place = sentence.place(0);
    if sentence.attributes.is_some() {
        let message = "found features; expected words, which files of this format have";
        return Err(Error::input(place, message));
    }
    if schema.label().is_none() && format != OutputFormat::Conll {
        let message = "found no labels; expected labels, or the format conll";
        return Err(Error::input(place, message));
    }
    let label = schema.label().unwrap_or(schema.width().saturating_sub(1));
    let labels = (0..sentence.len()).map(|t| sentence.cell(t, label)).collect();
    if format == OutputFormat::Conllu {
        // It replaces the column of the labels by itself.
        return Ok((sentence.clone(), labels));
    }
    let is_kept = |&column: &usize| column != label && !schema.is_label(column);
    let kept: Vec<usize> = (0..schema.width()).filter(is_kept).collect();
    let names = kept.iter().map(|&column| schema.names()[column].clone());
    let schema = Arc::new(Schema::new(names.collect(), None)?);
    let mut columns = Sentence::new(schema, sentence.file().clone());
    for t in 0..sentence.len() {
        let cells = kept.iter().map(|&column| sentence.cell(t, column));
        columns.push(cells, sentence.place(t).line)?;
    }
    columns.offsets.clone_from(&sentence.offsets);
    columns.layout = sentence.layout.clone();
    Ok((columns.with_weight(sentence.weight())?, labels))
}

/// Adds what the format has no place for in its rows: weights, and the columns of JSON lines.
fn noted(sentence: Sentence, format: OutputFormat) -> Sentence {
    let schema = sentence.schema();
    let mut notes = Vec::new();
    if format == OutputFormat::Jsonl {
        for (column, name) in schema.names().iter().enumerate() {
            if column != schema.position("word").unwrap_or(0) {
                let cells = (0..sentence.len()).map(|t| sentence.cell(t, column));
                notes.push((name.as_str(), json!(cells.collect::<Vec<_>>())));
            }
        }
    }
    let comments = &sentence.layout.comments;
    let has_weight = comments.iter().any(|c| c.starts_with("# weight"));
    if sentence.weight().to_bits() != 1f64.to_bits() && !has_weight {
        notes.push(("weight", json!(sentence.weight())));
    }
    if notes.is_empty() { sentence } else { with_notes(&sentence, &notes) }
}

/// Returns the boundary before a document, with the columns of its sentences.
fn document_start(like: &Sentence) -> Result<Sentence> {
    let mut boundary = Sentence::new(like.schema().clone(), like.file().clone());
    let width = like.schema().width();
    let cells = (0..width).map(|column| if column == 0 { "-DOCSTART-" } else { "O" });
    boundary.push(cells, 0)?;
    boundary.layout.document_start = true;
    Ok(boundary)
}
