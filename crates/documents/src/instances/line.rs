//! Documents on lines.

use std::sync::Arc;

use super::instance::{
    Instance, InstanceContent, InstanceFormat, InstanceReadOptions, checked_label,
};
use super::{json, svmlight};
use dropchain::corpus::{InputLine, LineReader, is_blank};
use dropchain::error::Result;

/// Reads the next document. Blank lines are skipped, but not among lines of text alone, where each
/// is a document.
pub(super) fn read(
    lines: &mut LineReader,
    format: InstanceFormat,
    options: &InstanceReadOptions,
) -> Result<Option<Instance>> {
    while let Some(line) = lines.next_line()? {
        if format != InstanceFormat::Text && is_blank(line.text) {
            continue;
        }
        let (label, content) = match format {
            InstanceFormat::Jsonl => json::parse(&line, options)?,
            InstanceFormat::Svmlight => match svmlight::parse(&line, options)? {
                Some(document) => document,
                None => continue, // a comment
            },
            InstanceFormat::Text => {
                let label = checked_label(None, options, |message| line.error(message))?;
                (label, InstanceContent::Text(line.text.to_owned()))
            }
            _ => labeled(&line, options)?,
        };
        return Ok(Some(Instance {
            label,
            content,
            file: Arc::clone(line.file),
            line: line.number,
        }));
    }
    Ok(None)
}

/// Parses a class, a tab, and a text.
fn labeled(
    line: &InputLine<'_>,
    options: &InstanceReadOptions,
) -> Result<(Option<String>, InstanceContent)> {
    let Some((label, text)) = line.text.split_once('\t') else {
        return Err(line.error("found no tab; expected a class, a tab, and the text"));
    };
    let label = checked_label(Some(label.trim()), options, |message| line.error(message))?;
    Ok((label, InstanceContent::Text(text.to_owned())))
}
