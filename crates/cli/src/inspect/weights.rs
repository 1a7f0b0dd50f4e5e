//! The weights of a model: all of one attribute, or the largest.

use dropchain::model::{AttributeKind, Model};
use dropchain::{Error, Result};
use dropchain_analysis::{TopAttribute, similar_attributes, top_attributes};
use serde_json::{Map, Value, json};

/// Number of names to suggest for an attribute that does not exist.
const SUGGESTED: usize = 10;

/// Describes the weights of an attribute that are not 0: by label, and by pairs of labels.
///
/// # Errors
///
/// The model does not have the attribute.
pub fn of_attribute(model: &Model, attribute: &str) -> Result<Value> {
    let names = model.header().labels.names();
    let k = names.len();
    let weights = |kind, count| {
        let mut weights = vec![0.0; count];
        let is_known = model.add_scores(kind, attribute.as_bytes(), 1.0, k, &mut weights)?;
        let weights = weights.into_iter().enumerate().filter(|(_, w)| *w != 0.0);
        Ok::<_, Error>((is_known, weights))
    };
    let (is_node, nodes) = weights(AttributeKind::Node, k)?;
    let (is_edge, edges) = weights(AttributeKind::Edge, k * k)?;
    if !is_node && !is_edge {
        let similar = similar_attributes(model, attribute, SUGGESTED)?;
        let similar = match &similar[..] {
            [] => "no name is like it".to_owned(),
            similar => format!("similar: {}", similar.join("  ")),
        };
        let message = format!("the model has no attribute '{attribute}'; {similar}");
        return Err(Error::parameter(message));
    }
    let nodes = nodes.map(|(label, weight)| (names[label].clone(), json!(weight)));
    let edges: Vec<Value> = edges.map(|(pair, weight)| edge(names, pair, weight)).collect();
    Ok(json!({"attribute": attribute, "weights": nodes.collect::<Map<_, _>>(), "edges": edges}))
}

/// Describes a weight for a pair of labels, numbered K·from + to.
fn edge(labels: &[String], pair: usize, weight: f64) -> Value {
    let (from, to) = (pair / labels.len(), pair % labels.len());
    json!({"from": labels[from], "to": labels[to], "weight": weight})
}

/// Describes the attributes with the largest absolute weights of each label.
///
/// # Errors
///
/// The file is damaged.
pub fn of_labels(model: &Model, limit: usize) -> Result<Vec<Vec<Value>>> {
    let top = top_attributes(model, AttributeKind::Node, limit, f64::abs)?.into_iter();
    let named = |top: &TopAttribute<'_>| {
        let attribute = String::from_utf8_lossy(top.attribute);
        json!({"weight": top.weight, "attribute": attribute})
    };
    Ok(top.map(|list| list.iter().map(named).collect()).collect())
}

/// Describes the largest absolute weights of pairs of labels.
///
/// # Errors
///
/// The file is damaged.
pub fn of_pairs(model: &Model, limit: usize) -> Result<Vec<Value>> {
    let top = top_attributes(model, AttributeKind::Edge, limit, f64::abs)?;
    let named = |top: &TopAttribute<'_>| {
        let mut value = edge(model.header().labels.names(), top.column, top.weight);
        value["attribute"] = String::from_utf8_lossy(top.attribute).into();
        value
    };
    Ok(top.iter().flatten().map(named).collect())
}
