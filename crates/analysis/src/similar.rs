//! Attributes with names like a given one.

use dropchain::kernel::template::edit_distance;
use dropchain::model::AttributeKind;
use dropchain::{Model, Result};

/// Returns the names of at most `limit` attributes of a model that may be meant by one that the
/// model does not have: those that contain the text, whatever the case, the shortest first; if
/// there are none, those that differ in the fewest characters, and in at most a third of them.
///
/// # Errors
///
/// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
pub fn similar_attributes(model: &Model, name: &str, limit: usize) -> Result<Vec<String>> {
    let lower = name.to_lowercase();
    let length = name.chars().count();
    let most = 1.max(length / 3);
    let mut found: Vec<(bool, usize, String)> = Vec::new();
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        for i in 0..model.attributes(kind) {
            let candidate = String::from_utf8_lossy(model.attribute_name(kind, i)?);
            let contains = candidate.to_lowercase().contains(&lower);
            let distance = match contains {
                true => candidate.chars().count(),
                false => edit_distance(name, &candidate, most),
            };
            if contains || distance <= most {
                found.push((!contains, distance, candidate.into_owned()));
            }
            // Bounds the memory.
            if found.len() > 1000 + 2 * limit {
                found.sort();
                found.truncate(limit);
            }
        }
    }
    found.sort();
    found.dedup();
    let any_contains = found.first().is_some_and(|(differs, ..)| !differs);
    let found = found.into_iter().filter(|(differs, ..)| !(any_contains && *differs));
    Ok(found.take(limit).map(|(_, _, name)| name).collect())
}
