//! From parameters to a model: each attribute gets its own weights back.

use crate::error::Result;
use crate::extract::{Alphabet, Classes};
use crate::ids::AttributeId;
use crate::model::{Precision, TableBuilder};
use crate::score::{ParameterSpace, Targets};

use super::prepare::Prepared;

/// The tables of node and edge weights. A member of a class of m attributes with parameter φ gets
/// θ = φ/√m.
///
/// # Errors
///
/// A weight that is too large for its precision.
pub(super) fn tables(
    prepared: &Prepared,
    space: &ParameterSpace,
    theta: &[f64],
    precision: Precision,
) -> Result<[TableBuilder; 2]> {
    let labels = space.labels();
    let nodes = fill(
        TableBuilder::nodes(labels, precision),
        &prepared.alphabets.nodes,
        &prepared.node_classes,
        &space.nodes.targets,
        space.nodes.weights(theta),
        |place| place,
    )?;
    let stride = space.stride();
    let edges = fill(
        TableBuilder::edges(labels, precision),
        &prepared.alphabets.edges,
        &prepared.edge_classes,
        &space.edges.targets,
        space.edges.weights(theta),
        |place| place / stride * labels + place % stride,
    )?;
    Ok([nodes, edges])
}

/// Sets to 0 the parameters of attributes whose weights are nearer to 0 than `least`. Returns how
/// many weights that are not 0 there were and are.
pub(super) fn prune(
    prepared: &Prepared,
    space: &ParameterSpace,
    theta: &mut [f64],
    least: f64,
) -> [usize; 2] {
    let mut count = [0; 2];
    for (classes, block) in [
        (&prepared.node_classes, &space.nodes),
        (&prepared.edge_classes, &space.edges),
    ] {
        let (targets, weights) = (&block.targets, block.weights_mut(theta));
        for class in 0..classes.len() as u32 {
            let members = classes.size(class);
            let share = 1.0 / f64::from(members).sqrt();
            targets.for_each(class as usize, |_, index| {
                let weight = &mut weights[index];
                count[0] += members as usize * usize::from(*weight != 0.0);
                if (*weight * share).abs() < least {
                    *weight = 0.0;
                }
                count[1] += members as usize * usize::from(*weight != 0.0);
            });
        }
    }
    count
}

fn fill(
    mut table: TableBuilder,
    alphabet: &Alphabet,
    classes: &Classes,
    targets: &Targets,
    weights: &[f64],
    place_in_table: impl Fn(usize) -> usize,
) -> Result<TableBuilder> {
    let mut row = Vec::new();
    for id in 0..alphabet.len() as u32 {
        let class = classes.class(id);
        let share = 1.0 / f64::from(classes.size(class)).sqrt();
        row.clear();
        targets.for_each(class as usize, |place, index| {
            row.push((place_in_table(place) as u32, weights[index] * share));
        });
        table.push(alphabet.name(AttributeId(id)), row.drain(..))?;
    }
    Ok(table)
}
