//! The weights of a model: all of one attribute, or the largest.

use dropchain::model::{AttributeKind, Model};
use dropchain::{Error, Result};
use dropchain_analysis::{Highest, similar_attributes};
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

/// The attributes with the largest absolute weights, by descending weight.
pub struct TopAttributes {
    pub nodes: Vec<Vec<Value>>, // [label]
    pub edges: Vec<Value>,      // over all pairs of labels
}

impl TopAttributes {
    /// Finds the top attributes of each label, and the top edge attributes.
    pub fn find(model: &Model, limit: usize) -> Result<Self> {
        let labels = model.header().labels.names();
        let named = |kind, mut weight: Value, i| -> Result<Value> {
            weight["attribute"] = String::from_utf8_lossy(model.attribute_name(kind, i)?).into();
            Ok(weight)
        };
        let nodes = strongest(model, AttributeKind::Node, limit, labels.len())?.into_iter();
        let nodes = nodes.map(|list| {
            let list = list.into_iter();
            list.map(|(weight, (i, _))| named(AttributeKind::Node, json!({"weight": weight}), i))
                .collect()
        });
        let edges = strongest(model, AttributeKind::Edge, limit, 1)?.into_iter().flatten();
        let edges = edges
            .map(|(weight, (i, pair))| named(AttributeKind::Edge, edge(labels, pair, weight), i));
        Ok(Self { nodes: nodes.collect::<Result<_>>()?, edges: edges.collect::<Result<_>>()? })
    }
}

/// Weights, each with its attribute and its column.
type Strongest = Vec<(f64, (usize, usize))>;

/// Returns the largest absolute weights, by descending weight, in lists: column c is in list
/// c modulo their number.
fn strongest(
    model: &Model,
    kind: AttributeKind,
    limit: usize,
    lists: usize,
) -> Result<Vec<Strongest>> {
    let k = model.header().labels.len();
    let width = match kind {
        AttributeKind::Node => k,
        AttributeKind::Edge => k * k,
    };
    let mut highest: Vec<_> = (0..lists).map(|_| Highest::new(limit)).collect();
    let mut weights = vec![0.0; width];
    for i in 0..model.attributes(kind) {
        weights.fill(0.0);
        let name = model.attribute_name(kind, i)?;
        model.add_scores(kind, name, 1.0, k, &mut weights)?;
        for (column, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            let item = (weight, (i, column));
            highest[column % lists].add(f64::abs(weight), (i as u64, column), item);
        }
    }
    let sorted = highest.into_iter().map(|highest| {
        let mut list: Strongest = highest.into_ranked().into_iter().map(|(_, item)| item).collect();
        list.sort_by(|(x, _), (y, _)| y.total_cmp(x));
        list
    });
    Ok(sorted.collect())
}
