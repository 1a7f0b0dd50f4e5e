//! The attributes of a model with the largest weights.

use dropchain::Result;
use dropchain::ids::LabelId;
use dropchain::model::{AttributeKind, Model};

/// Number of items by which a [`TopList`] may exceed its limit before it is truncated.
const SLACK: usize = 1 << 16;

/// The attributes with the largest absolute weights.
pub struct TopAttributes {
    /// Weight and name, per label.
    pub nodes: Vec<Vec<(f64, String)>>,
    pub edges: Vec<EdgeWeight>,
}

/// The weight of an edge attribute for a pair of labels.
pub struct EdgeWeight {
    pub weight: f64,
    pub from: LabelId,
    pub to: LabelId,
    pub name: String,
}

impl TopAttributes {
    /// Finds the top attributes of each label, and the top edge attributes over all label pairs.
    pub fn find(model: &Model, limit: usize) -> Result<Self> {
        let k = model.header().labels.len();
        let name = |kind, i| -> Result<String> {
            let name = model.attribute_name(kind, i)?;
            Ok(String::from_utf8_lossy(name).into_owned())
        };
        let mut nodes: Vec<TopList<usize>> = (0..k).map(|_| TopList::new(limit)).collect();
        scan_weights(model, AttributeKind::Node, k, &mut |i, weights| {
            for (list, &weight) in nodes.iter_mut().zip(weights) {
                list.push(weight, i);
                list.shrink();
            }
        })?;
        let mut edges = TopList::new(limit);
        scan_weights(model, AttributeKind::Edge, k, &mut |i, weights| {
            for (pair, &weight) in weights.iter().enumerate() {
                edges.push(weight, (pair, i));
            }
            edges.shrink();
        })?;
        let named_nodes = |list: TopList<usize>| -> Result<Vec<_>> {
            let items = list.into_sorted().into_iter();
            items
                .map(|(weight, i)| Ok((weight, name(AttributeKind::Node, i)?)))
                .collect()
        };
        let named_edge = |(weight, (pair, i)): (f64, (usize, usize))| {
            Ok(EdgeWeight {
                weight,
                from: LabelId((pair / k) as u16),
                to: LabelId((pair % k) as u16),
                name: name(AttributeKind::Edge, i)?,
            })
        };
        Ok(Self {
            nodes: nodes.into_iter().map(named_nodes).collect::<Result<_>>()?,
            edges: edges
                .into_sorted()
                .into_iter()
                .map(named_edge)
                .collect::<Result<_>>()?,
        })
    }
}

/// Calls `visit` with the index and the weights of every attribute: `[K]` for node attributes,
/// `[K·K]` for edge attributes.
fn scan_weights(
    model: &Model,
    kind: AttributeKind,
    k: usize,
    visit: &mut dyn FnMut(usize, &[f64]),
) -> Result<()> {
    let width = match kind {
        AttributeKind::Node => k,
        AttributeKind::Edge => k * k,
    };
    let mut weights = vec![0.0; width];
    for i in 0..model.attributes(kind) {
        weights.fill(0.0);
        let name = model.attribute_name(kind, i)?;
        model.add_scores(kind, name, 1.0, k, &mut weights)?;
        visit(i, &weights);
    }
    Ok(())
}

/// Collects the items with the largest absolute weights.
struct TopList<T> {
    limit: usize,
    items: Vec<(f64, T)>,
}

impl<T> TopList<T> {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            items: Vec::new(),
        }
    }

    /// Adds an item, unless its weight is 0.
    fn push(&mut self, weight: f64, item: T) {
        if weight != 0.0 {
            self.items.push((weight, item));
        }
    }

    /// Bounds the memory use: truncates a list that exceeds its limit by more than [`SLACK`].
    fn shrink(&mut self) {
        if self.items.len() > self.limit.saturating_add(SLACK) {
            self.truncate();
        }
    }

    /// Returns the items within the limit, by descending weight.
    fn into_sorted(mut self) -> Vec<(f64, T)> {
        self.truncate();
        self.items
    }

    fn truncate(&mut self) {
        self.items
            .sort_by(|(x, _), (y, _)| y.abs().total_cmp(&x.abs()));
        self.items.truncate(self.limit);
        self.items.sort_by(|(x, _), (y, _)| y.total_cmp(x));
    }
}
