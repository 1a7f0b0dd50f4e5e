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
        &space.nodes,
        &theta[space.node_range()],
        |place| place,
    )?;
    let stride = space.stride();
    let edges = fill(
        TableBuilder::edges(labels, precision),
        &prepared.alphabets.edges,
        &prepared.edge_classes,
        &space.edges,
        &theta[space.edge_range()],
        |place| place / stride * labels + place % stride,
    )?;
    Ok([nodes, edges])
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
