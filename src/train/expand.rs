//! From class parameters to the weights of single attributes.
//!
//! A member of a class of m attributes with parameter φ has the weight θ = φ/√m.

use crate::error::Result;
use crate::extract::{Alphabet, Alphabets, Classes};
use crate::ids::AttributeId;
use crate::model::{Precision, TableBuilder};
use crate::score::{FeatureBlock, ParameterSpace};

/// The parameters of classes, and the attributes in them.
pub(super) struct ClassWeights<'a> {
    pub space: &'a ParameterSpace,
    pub alphabets: &'a Alphabets,
    pub node_classes: &'a Classes,
    pub edge_classes: &'a Classes,
}

impl ClassWeights<'_> {
    /// Builds the tables of node and edge weights.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision.
    pub fn tables(&self, theta: &[f64], precision: Precision) -> Result<[TableBuilder; 2]> {
        let (labels, stride) = (self.space.labels(), self.space.stride());
        let mut nodes = TableBuilder::nodes(labels, precision);
        let names = &self.alphabets.nodes;
        fill(
            &mut nodes,
            names,
            self.node_classes,
            &self.space.nodes,
            theta,
            |position| position,
        )?;
        let mut edges = TableBuilder::edges(labels, precision);
        let names = &self.alphabets.edges;
        let column = |position| position / stride * labels + position % stride;
        fill(
            &mut edges,
            names,
            self.edge_classes,
            &self.space.edges,
            theta,
            column,
        )?;
        Ok([nodes, edges])
    }

    /// Sets class parameters to 0 if the weights of the members have an absolute value below
    /// `threshold`. Returns the number of nonzero weights before and after.
    pub fn prune(&self, theta: &mut [f64], threshold: f64) -> [usize; 2] {
        let mut count = [0; 2];
        for (classes, block) in [
            (self.node_classes, &self.space.nodes),
            (self.edge_classes, &self.space.edges),
        ] {
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
}

/// Adds a row for every attribute. `column` maps the position of a weight in the padded scores to
/// its column in the table.
fn fill(
    table: &mut TableBuilder,
    names: &Alphabet,
    classes: &Classes,
    block: &FeatureBlock,
    theta: &[f64],
    column: impl Fn(usize) -> usize,
) -> Result<()> {
    let weights = block.weights(theta);
    let mut row = Vec::new();
    for id in 0..names.len() as u32 {
        let class = classes.class(id);
        let scale = 1.0 / f64::from(classes.size(class)).sqrt();
        row.clear();
        block.targets.for_each(class as usize, |position, index| {
            row.push((column(position) as u32, weights[index] * scale));
        });
        table.push(names.name(AttributeId(id)), row.drain(..))?;
    }
    Ok(())
}
