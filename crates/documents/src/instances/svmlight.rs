//! Ready-made features in the format of SVMlight and LIBSVM.

use super::instance::{InstanceContent, InstanceReadOptions, checked_label};
use dropchain::corpus::InputLine;
use dropchain::error::Result;

/// Parses a line; `None` if it is a comment. A feature is named by its index. `qid:N` is ignored.
pub(super) fn parse(
    line: &InputLine<'_>,
    options: &InstanceReadOptions,
) -> Result<Option<(Option<String>, InstanceContent)>> {
    let text = line.text.split('#').next().unwrap_or_default();
    let mut fields = text.split_ascii_whitespace();
    let Some(label) = fields.next() else {
        return Ok(None);
    };
    if label.contains(':') {
        return Err(line.error(format!("found '{label}' first; expected the class")));
    }
    let label = checked_label(Some(label), options, |message| line.error(message))?;
    let mut features = Vec::new();
    let mut last = 0;
    for field in fields {
        let Some((index, value)) = field.split_once(':') else {
            return Err(line.error(format!("found '{field}'; expected index:value")));
        };
        if index == "qid" {
            continue;
        }
        let number = index.parse().ok().filter(|&number: &u64| number > 0);
        let Some(number) = number else {
            return Err(line.error(format!("found the index '{index}'; expected 1 or more")));
        };
        if number <= last {
            return Err(line.error(format!(
                "the index {number} follows {last}; expected ascending indices"
            )));
        }
        last = number;
        let Some(parsed) = value.parse().ok().filter(|value: &f64| value.is_finite()) else {
            return Err(line.error(format!(
                "the feature {number} has the value '{value}'; expected a finite number"
            )));
        };
        features.push((number.to_string(), parsed));
    }
    Ok(Some((label, InstanceContent::Features(features))))
}
