//! All weights of one attribute.

use std::fmt::Write as _;

use dropchain::model::{AttributeKind, Model};
use dropchain::{Error, Result};
use dropchain_analysis::similar_attributes;
use serde_json::{Map, Value, json};

/// Number of names to suggest for an attribute that does not exist.
const SUGGESTED: usize = 10;

/// The weights of an attribute that are not 0.
pub struct AttributeWeights<'a> {
    name: &'a str,
    nodes: Vec<(&'a str, f64)>,
    edges: Vec<([&'a str; 2], f64)>,
}

impl<'a> AttributeWeights<'a> {
    /// Finds an attribute.
    ///
    /// # Errors
    ///
    /// The model does not have it.
    pub fn find(model: &'a Model, name: &'a str) -> Result<Self> {
        let labels = &model.header().labels;
        let names: Vec<&str> = labels.names().iter().map(String::as_str).collect();
        let k = names.len();
        let mut nodes = vec![0.0; k];
        let mut edges = vec![0.0; k * k];
        let is_known = [
            model.add_scores(AttributeKind::Node, name.as_bytes(), 1.0, k, &mut nodes)?,
            model.add_scores(AttributeKind::Edge, name.as_bytes(), 1.0, k, &mut edges)?,
        ];
        if is_known == [false; 2] {
            let similar = similar_attributes(model, name, SUGGESTED)?;
            let similar = match &similar[..] {
                [] => "no name is like it".to_owned(),
                similar => format!("similar: {}", similar.join("  ")),
            };
            let message = format!("the model has no attribute '{name}'; {similar}");
            return Err(Error::parameter(message));
        }
        let nodes = names
            .iter()
            .copied()
            .zip(nodes)
            .filter(|(_, weight)| *weight != 0.0);
        let edges = edges
            .into_iter()
            .enumerate()
            .filter(|(_, weight)| *weight != 0.0);
        Ok(Self {
            name,
            nodes: nodes.collect(),
            edges: edges
                .map(|(i, w)| ([names[i / k], names[i % k]], w))
                .collect(),
        })
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.name);
        // Writing to a string cannot fail.
        for (label, weight) in &self.nodes {
            let _ = writeln!(text, "{weight:10.4}  {label}");
        }
        for ([from, to], weight) in &self.edges {
            let _ = writeln!(text, "{weight:10.4}  {from} → {to}");
        }
        text
    }

    pub fn json(&self) -> Value {
        let nodes = self.nodes.iter();
        let nodes: Map<String, Value> = nodes
            .map(|(label, weight)| ((*label).to_owned(), json!(weight)))
            .collect();
        let edges = self.edges.iter();
        let edges: Vec<Value> = edges
            .map(|([from, to], weight)| json!({"from": from, "to": to, "weight": weight}))
            .collect();
        json!({"attribute": self.name, "weights": nodes, "edges": edges})
    }
}
