//! The sizes of the parts of a model.

use serde::Serialize;

use super::file::Model;
use super::format::{FIRST_PASS, PREAMBLE};

/// The sizes of the parts of a model file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

impl Model {
    /// Returns the sizes of the parts of the file, in whose sum no byte is missing.
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
}
