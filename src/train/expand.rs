//! From class parameters to the weights of single attributes.
//!
//! A member of a class of m attributes with parameter φ has the weight θ = φ/√m.

use super::training_set::TrainingSet;
use crate::error::Result;
use crate::extract::{Alphabet, Classes};
use crate::ids::AttributeId;
use crate::model::{Precision, TableBuilder};
use crate::score::Targets;

/// Builds the tables of node and edge weights.
///
/// # Errors
///
/// A weight is too large for the precision.
pub(super) fn tables(
    set: &TrainingSet,
    theta: &[f64],
    precision: Precision,
) -> Result<[TableBuilder; 2]> {
    let space = set.space();
    let labels = space.labels();
    let nodes = fill(
        TableBuilder::nodes(labels, precision),
        &set.alphabets.nodes,
        &set.node_classes,
        &space.nodes.targets,
        space.nodes.weights(theta),
        |place| place,
    )?;
    let stride = space.stride();
    let edges = fill(
        TableBuilder::edges(labels, precision),
        &set.alphabets.edges,
        &set.edge_classes,
        &space.edges.targets,
        space.edges.weights(theta),
        |place| place / stride * labels + place % stride,
    )?;
    Ok([nodes, edges])
}

/// Sets class parameters to 0 if the weights of the members have an absolute value below
/// `threshold`. Returns the number of nonzero weights before and after.
pub(super) fn prune(set: &TrainingSet, theta: &mut [f64], threshold: f64) -> [usize; 2] {
    let space = set.space();
    let mut count = [0; 2];
    for (classes, block) in [
        (&set.node_classes, &space.nodes),
        (&set.edge_classes, &space.edges),
    ] {
        let (targets, weights) = (&block.targets, block.weights_mut(theta));
        for class in 0..classes.len() as u32 {
            let members = classes.size(class);
            let share = 1.0 / f64::from(members).sqrt();
            targets.for_each(class as usize, |_, index| {
                let weight = &mut weights[index];
                count[0] += members as usize * usize::from(*weight != 0.0);
                if (*weight * share).abs() < threshold {
                    *weight = 0.0;
                }
                count[1] += members as usize * usize::from(*weight != 0.0);
            });
        }
    }
    count
}

/// Adds a row for every attribute. `column` maps the place of a weight in the padded score block to
/// its column in the table.
fn fill(
    mut table: TableBuilder,
    alphabet: &Alphabet,
    classes: &Classes,
    targets: &Targets,
    weights: &[f64],
    column: impl Fn(usize) -> usize,
) -> Result<TableBuilder> {
    let mut row = Vec::new();
    for id in 0..alphabet.len() as u32 {
        let class = classes.class(id);
        let share = 1.0 / f64::from(classes.size(class)).sqrt();
        row.clear();
        targets.for_each(class as usize, |place, index| {
            row.push((column(place) as u32, weights[index] * share));
        });
        table.push(alphabet.name(AttributeId(id)), row.drain(..))?;
    }
    Ok(table)
}
