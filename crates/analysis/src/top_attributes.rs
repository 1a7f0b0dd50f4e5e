//! The attributes of a model with the largest weights.

use dropchain::Result;
use dropchain::kernel::ids::LabelId;
use dropchain::model::{AttributeKind, Model};

use crate::Highest;

/// A weight of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopAttribute<'m> {
    /// The weight.
    pub weight: f64,
    /// The number of the label, or that of a pair, K·from + to.
    pub column: usize,
    /// The name of the attribute.
    pub attribute: &'m [u8],
}

/// Returns the weights whose values are the largest and above 0, by descending weight, such as
/// those of the largest absolute values: of attributes of tokens `limit` for each label, `[K]`; of
/// attributes of pairs of tokens `limit` over all pairs of labels, `[1]`.
///
/// # Errors
///
/// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
pub fn top_attributes(
    model: &Model,
    kind: AttributeKind,
    limit: usize,
    value: fn(f64) -> f64,
) -> Result<Vec<Vec<TopAttribute<'_>>>> {
    let k = model.header().labels.len();
    let lists = if kind == AttributeKind::Node { k } else { 1 };
    let mut highest: Vec<_> = (0..lists).map(|_| Highest::new(limit)).collect();
    let mut add = |i: usize, attribute, weights: &mut dyn Iterator<Item = (usize, f64)>| {
        for (column, weight) in weights.filter(|(_, weight)| value(*weight) > 0.0) {
            let item = TopAttribute { weight, column, attribute };
            highest[column % lists].add(value(weight), (i as u64, column), item);
        }
    };
    match kind {
        AttributeKind::Node => {
            for (i, item) in model.node_weights().enumerate() {
                let (name, weights) = item?;
                add(i, name, &mut weights.iter().map(|(label, w)| (label.index(), *w)));
            }
        }
        AttributeKind::Edge => {
            for (i, item) in model.edge_weights().enumerate() {
                let (name, weights) = item?;
                let pair = |[from, to]: [LabelId; 2]| k * from.index() + to.index();
                add(i, name, &mut weights.iter().map(|(labels, w)| (pair(*labels), *w)));
            }
        }
    }
    let sorted = highest.into_iter().map(|highest| {
        let ranked = highest.into_ranked().into_iter();
        let mut list: Vec<TopAttribute<'_>> = ranked.map(|(_, item)| item).collect();
        list.sort_by(|x, y| y.weight.total_cmp(&x.weight));
        list
    });
    Ok(sorted.collect())
}
