//! What a model consists of: sizes, and what each template line contributes.

use super::file::Model;
use super::format::{AttributeKind, FIRST_PASS, PREAMBLE};
use crate::error::Result;

/// The sizes of the parts of a model file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSizes {
    /// Preamble and header: labels, label weights, template with its files, provenance.
    pub header: usize,
    /// Checksums.
    pub checksums: usize,
    /// The table of node attributes.
    pub nodes: TableSizes,
    /// The table of edge attributes.
    pub edges: TableSizes,
    /// The model of the first pass; 0 if there is none.
    pub first_pass: usize,
}

/// The sizes of the parts of a table in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSizes {
    /// The hash table, where attributes are looked up.
    pub slots: usize,
    /// Weights.
    pub weights: usize,
    /// The names of attributes.
    pub names: usize,
    /// The lengths of names.
    pub ends: usize,
}

/// What the attributes of a template line amount to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineStatistics {
    /// Number of attributes that have weights.
    pub attributes: usize,
    /// Number of weights that are not 0.
    pub weights: usize,
    /// Sum of the absolute values of the weights.
    pub absolute: f64,
    /// Sum of the squares of the weights.
    pub squares: f64,
    /// What they take in the file, with names and slots, in bytes.
    pub bytes: f64,
}

/// What the attributes of a table take in the file in bytes.
struct Costs {
    /// Of each attribute: its share of slots and ends of names; in dense tables, its weights.
    attribute: f64,
    /// Of each weight, in sparse tables.
    weight: f64,
    /// Of each byte of a name: less than 1 if names are compressed.
    name_byte: f64,
}

impl Model {
    /// Returns the sizes of the parts of the file, in whose sum no byte is missing.
    #[must_use]
    pub fn sizes(&self) -> ModelSizes {
        let length = |section: usize| self.sections()[section].len();
        let table = |first: usize| TableSizes {
            slots: length(first),
            weights: length(first + 1),
            ends: length(first + 2),
            names: length(first + 3),
        };
        ModelSizes {
            header: PREAMBLE + length(0),
            checksums: length(1),
            nodes: table(2),
            edges: table(6),
            first_pass: length(FIRST_PASS),
        }
    }

    /// Returns what each template line contributes to the model, in the order of
    /// [`Template::attribute_lines`](crate::Template::attribute_lines), and last the attributes of
    /// no line: all of them without a template.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if the file is damaged.
    pub fn line_statistics(&self) -> Result<Vec<LineStatistics>> {
        let template = self.header().template.as_ref();
        let lines = template.map(crate::template::Template::attribute_lines);
        let count = lines.as_ref().map_or(0, |lines| lines.lines().len());
        let mut statistics = vec![LineStatistics::default(); count + 1];
        let [nodes, edges] =
            [AttributeKind::Node, AttributeKind::Edge].map(|kind| self.costs(kind));
        let costs = [nodes?, edges?];
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
        for attribute in self.node_weights() {
            let (name, weights) = attribute?;
            add(AttributeKind::Node, name, &mut weights.iter().map(|w| w.1));
        }
        for attribute in self.edge_weights() {
            let (name, weights) = attribute?;
            add(AttributeKind::Edge, name, &mut weights.iter().map(|w| w.1));
        }
        Ok(statistics)
    }

    /// Returns what the attributes of a table take in the file.
    fn costs(&self, kind: AttributeKind) -> Result<Costs> {
        let header = self.header();
        let info = &header.tables[kind as usize];
        let sizes = self.sizes();
        let table = [sizes.nodes, sizes.edges][kind as usize];
        let [attributes, weights] = [info.attributes, info.weights].map(|n| n.max(1) as f64);
        let scales = info.attributes as usize * header.precision.scale_bytes();
        let weights_of_attribute = if info.dense { table.weights } else { scales };
        Ok(Costs {
            attribute: (table.slots + table.ends + weights_of_attribute) as f64 / attributes,
            weight: (table.weights - weights_of_attribute) as f64 / weights,
            name_byte: table.names as f64 / self.length_of_names(kind)?.max(1) as f64,
        })
    }
}
