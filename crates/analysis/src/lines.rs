//! The contribution of each template line to a model.

use dropchain::model::AttributeKind;
use dropchain::{Model, Result, Template};
use serde::Serialize;

/// Statistics of the attributes of a template line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LineStatistics {
    /// Number of attributes that have weights.
    pub attributes: usize,
    /// Number of weights that are not 0.
    pub weights: usize,
    /// Sum of the absolute values of the weights.
    pub absolute: f64,
    /// Sum of the squares of the weights.
    pub squares: f64,
    /// Their size in the model file, with names and slots, in bytes.
    pub bytes: f64,
}

/// The size of an attribute of a table in the model file, in bytes.
struct Costs {
    /// Bytes of each attribute: its share of slots and ends of names; in dense tables, its weights.
    attribute: f64,
    /// Bytes of each weight, in sparse tables.
    weight: f64,
    /// Bytes in the file for each byte of a name: less than 1 if names are compressed.
    name_byte: f64,
}

impl LineStatistics {
    /// Returns what each template line contributes to a model, in the order of
    /// [`Template::attribute_lines`], and last the attributes of no line: all of them without a
    /// template.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
    pub fn of(model: &Model) -> Result<Vec<Self>> {
        let template = model.header().template.as_ref();
        let lines = template.map(Template::attribute_lines);
        let count = lines.as_ref().map_or(0, |lines| lines.lines().len());
        let mut statistics = vec![Self::default(); count + 1];
        let costs =
            [Costs::of(model, AttributeKind::Node)?, Costs::of(model, AttributeKind::Edge)?];
        let mut add = |kind: AttributeKind, name: &[u8], weights: &mut dyn Iterator<Item = f64>| {
            let lines = lines.as_ref();
            let line = lines.and_then(|lines| lines.find(kind == AttributeKind::Edge, name));
            let line = &mut statistics[line.unwrap_or(count)];
            let before = line.weights;
            for weight in weights {
                line.weights += 1;
                line.absolute += weight.abs();
                line.squares += weight * weight;
            }
            line.attributes += 1;
            let costs = &costs[kind as usize];
            line.bytes += costs.name_byte * name.len() as f64 + costs.attribute;
            line.bytes += costs.weight * (line.weights - before) as f64;
        };
        for attribute in model.node_weights() {
            let (name, weights) = attribute?;
            add(AttributeKind::Node, name, &mut weights.iter().map(|w| w.1));
        }
        for attribute in model.edge_weights() {
            let (name, weights) = attribute?;
            add(AttributeKind::Edge, name, &mut weights.iter().map(|w| w.1));
        }
        Ok(statistics)
    }
}

impl Costs {
    /// Returns what the attributes of a table take in the file.
    fn of(model: &Model, kind: AttributeKind) -> Result<Self> {
        let header = model.header();
        let info = &header.tables[kind as usize];
        let sizes = model.sizes();
        let table = [sizes.nodes, sizes.edges][kind as usize];
        let [attributes, weights] = [info.attributes, info.weights].map(|n| n.max(1) as f64);
        let weights_of_attribute = if info.dense { table.weights } else { 0 };
        Ok(Self {
            attribute: (table.slots + table.ends + weights_of_attribute) as f64 / attributes,
            weight: (table.weights - weights_of_attribute) as f64 / weights,
            name_byte: table.names as f64 / model.table(kind).length_of_names()?.max(1) as f64,
        })
    }
}
