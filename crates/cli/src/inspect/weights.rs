//! The weights of a model: all of one attribute, or the largest.

use std::fmt::Write as _;

use dropchain::model::{AttributeKind, Model};
use dropchain::{Error, Result};
use dropchain_analysis::{Highest, similar_attributes};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Number of names to suggest for an attribute that does not exist.
const SUGGESTED: usize = 10;

/// The weight of an attribute for a label.
#[derive(Serialize)]
pub struct NodeWeight {
    pub attribute: String,
    pub weight: f64,
}

/// The weight of an edge attribute for a pair of labels.
#[derive(Serialize)]
pub struct EdgeWeight {
    pub from: String,
    pub to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>, // unless all are of one
    pub weight: f64,
}

/// The weights of an attribute that are not 0.
#[derive(Serialize)]
pub struct AttributeWeights<'a> {
    attribute: &'a str,
    /// By the name of the label.
    weights: Map<String, Value>,
    edges: Vec<EdgeWeight>,
}

impl<'a> AttributeWeights<'a> {
    /// Finds an attribute.
    ///
    /// # Errors
    ///
    /// The model does not have it.
    pub fn find(model: &Model, attribute: &'a str) -> Result<Self> {
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
        let edge = |(pair, weight)| EdgeWeight::new(names, pair, None, weight);
        Ok(Self {
            attribute,
            weights: nodes.map(|(i, weight)| (names[i].clone(), json!(weight))).collect(),
            edges: edges.map(edge).collect(),
        })
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.attribute);
        // Writing to a string cannot fail.
        for (label, weight) in &self.weights {
            let weight = weight.as_f64().unwrap_or_default();
            let _ = writeln!(text, "{weight:10.4}  {label}");
        }
        for EdgeWeight { from, to, weight, .. } in &self.edges {
            let _ = writeln!(text, "{weight:10.4}  {from} → {to}");
        }
        text
    }
}

impl EdgeWeight {
    /// Creates the weight for a pair of labels, numbered K·from + to.
    fn new(labels: &[String], pair: usize, attribute: Option<String>, weight: f64) -> Self {
        let [from, to] = [pair / labels.len(), pair % labels.len()].map(|i| labels[i].clone());
        Self { from, to, attribute, weight }
    }
}

/// The attributes with the largest absolute weights, by descending weight.
pub struct TopAttributes {
    pub nodes: Vec<Vec<NodeWeight>>, // [label]
    pub edges: Vec<EdgeWeight>,      // over all pairs of labels
}

impl TopAttributes {
    /// Finds the top attributes of each label, and the top edge attributes.
    pub fn find(model: &Model, limit: usize) -> Result<Self> {
        let labels = model.header().labels.names();
        let name = |kind, i| -> Result<String> {
            let name = model.attribute_name(kind, i)?;
            Ok(String::from_utf8_lossy(name).into_owned())
        };
        let nodes = strongest(model, AttributeKind::Node, limit, labels.len())?;
        let nodes = nodes.into_iter().map(|list| {
            let named = list.into_iter().map(|(weight, (i, _))| {
                let attribute = name(AttributeKind::Node, i)?;
                Ok(NodeWeight { attribute, weight })
            });
            named.collect()
        });
        let nodes = nodes.collect::<Result<_>>()?;
        let edges = strongest(model, AttributeKind::Edge, limit, 1)?.into_iter();
        let edges = edges.flatten().map(|(weight, (i, pair))| {
            let attribute = Some(name(AttributeKind::Edge, i)?);
            Ok(EdgeWeight::new(labels, pair, attribute, weight))
        });
        let edges = edges.collect::<Result<_>>()?;
        Ok(Self { nodes, edges })
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
