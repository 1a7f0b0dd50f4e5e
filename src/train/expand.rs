//! From class parameters to the weights of single attributes.
//!
//! A member of a class of m attributes with parameter φ has the weight θ = φ/√m. If φ is still
//! where training started, √m·θ0, it has exactly the weight θ0, without the rounding of the way
//! there and back.

use super::origin::Origin;
use crate::error::Result;
use crate::extract::{Alphabet, Alphabets, Classes};
use crate::model::{AttributeKind, Precision, TableBuilder};
use crate::score::{FeatureBlock, ParameterSpace};

/// The parameters of classes, and the attributes in them.
pub(super) struct ClassWeights<'a> {
    pub space: &'a ParameterSpace,
    pub classes: &'a [Classes; 2], // of node and of edge attributes
    /// Where training started, unless at 0.
    pub origin: Option<&'a Origin>,
}

impl ClassWeights<'_> {
    /// Builds the tables of the weights of node and edge attributes with these names.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision.
    pub fn tables(
        &self,
        names: Alphabets,
        theta: &[f64],
        precision: Precision,
    ) -> Result<[TableBuilder; 2]> {
        let Alphabets { nodes, edges } = names;
        let (labels, stride) = (self.space.labels(), self.space.stride());
        let [node_block, edge_block] = self.space.blocks();
        // The position of a weight in the padded scores, to its column in the table.
        let column = |position| position / stride * labels + position % stride;
        let table = TableBuilder::new(AttributeKind::Node, labels, precision);
        let nodes = self.fill(table, (nodes, &self.classes[0], node_block), theta, |p| p)?;
        let table = TableBuilder::new(AttributeKind::Edge, labels, precision);
        let edges = self.fill(table, (edges, &self.classes[1], edge_block), theta, column)?;
        Ok([nodes, edges])
    }

    /// Adds a row for every attribute to an empty table.
    fn fill(
        &self,
        table: TableBuilder,
        (names, classes, block): (Alphabet, &Classes, &FeatureBlock),
        theta: &[f64],
        column: impl Fn(usize) -> usize,
    ) -> Result<TableBuilder> {
        let parameters = block.weights(theta);
        let initial = self.origin.map(|origin| origin.initial(block)); // θ0, unless all are 0
        table.with_names(names.names, |id, row| {
            let class = classes.class(id as u32);
            let factor = 1.0 / f64::from(classes.size(class)).sqrt();
            let class = class as usize;
            block.targets.for_each(class, |position, index| {
                let parameter = parameters[index];
                let is_initial = |initial: &f64| parameter == initial * block.scale[class];
                let unchanged = initial.map(|initial| initial[index]).filter(is_initial);
                let weight = unchanged.unwrap_or(parameter * factor);
                row.push((column(position) as u32, weight));
            });
        })
    }

    /// Sets class parameters to 0 if the weights of the members have an absolute value below
    /// `threshold`. Returns the number of nonzero weights before and after.
    pub fn prune(&self, theta: &mut [f64], threshold: f64) -> [usize; 2] {
        let mut count = [0; 2];
        for (classes, block) in self.classes.iter().zip(self.space.blocks()) {
            let weights = block.weights_mut(theta);
            for class in 0..classes.len() as u32 {
                let members = classes.size(class);
                let scale = 1.0 / f64::from(members).sqrt();
                block.targets.for_each(class as usize, |_, index| {
                    let weight = &mut weights[index];
                    count[0] += members as usize * usize::from(*weight != 0.0);
                    if (*weight * scale).abs() < threshold {
                        *weight = 0.0;
                    }
                    count[1] += members as usize * usize::from(*weight != 0.0);
                });
            }
        }
        count
    }

    /// Sets class parameters so that the weights of the members have a precision. Those of weights
    /// that are too large for it stay.
    pub fn round(&self, theta: &mut [f64], precision: Precision) {
        for (classes, block) in self.classes.iter().zip(self.space.blocks()) {
            let weights = block.weights_mut(theta);
            for class in 0..classes.len() as u32 {
                let factor = f64::from(classes.size(class)).sqrt();
                for weight in &mut weights[block.targets.range(class as usize)] {
                    let rounded = precision.round(*weight / factor) * factor;
                    if rounded.is_finite() {
                        *weight = rounded;
                    }
                }
            }
        }
    }
}
