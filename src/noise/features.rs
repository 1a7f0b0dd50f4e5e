//! The attributes of a sentence, and the gradient with respect to their weights.

/// The attributes of the tokens of a sentence. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features<'a> {
    /// Node attributes, which combine with one label. Boundary weights are attributes of the first
    /// or last token.
    pub node: AttributeRows<'a>,
    /// Edge attributes, which combine with two labels, without the bare transition. Those of the
    /// first token are ignored.
    pub edge: AttributeRows<'a>,
}

/// A sparse matrix in CSR form: the attributes of each token.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttributeRows<'a> {
    /// The end of each token's entries, `[T]`; may be empty if there are no entries.
    pub ends: &'a [usize],
    /// Attribute and value, in token order.
    pub entries: &'a [(u32, f64)],
}

impl<'a> AttributeRows<'a> {
    /// Returns the entries of a token.
    pub(super) fn row(&self, t: usize) -> &'a [(u32, f64)] {
        if self.ends.is_empty() {
            return &[];
        }
        let start = if t == 0 { 0 } else { self.ends[t - 1] };
        &self.entries[start..self.ends[t]]
    }
}

/// The gradient of weight·R, through the scores, with respect to the weights of a sentence's
/// features.
///
/// The part through the variances is in [`Derivatives`](super::Derivatives), as with any engine,
/// and the gradient of transition weights is in
/// [`ChainDerivatives::scores`](super::ChainDerivatives::scores).
#[derive(Clone, Debug, Default)]
pub struct FeatureGradient {
    pub(super) stride: usize,
    pub(super) labels: usize,
    pub(super) node_columns: Vec<u32>, // [J]
    pub(super) node: Vec<f64>,         // [J][S]
    pub(super) edge_columns: Vec<u32>, // [E]
    pub(super) edge: Vec<f64>,         // [E][K][S]
}

impl FeatureGradient {
    /// Iterates over the node attributes of the sentence in ascending order, each with a row
    /// `[S]`.
    pub fn node(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let rows = self.node.chunks_exact(self.stride.max(1));
        self.node_columns.iter().copied().zip(rows)
    }

    /// Iterates over the edge attributes of the sentence in ascending order, each with a matrix
    /// `[K][S]`.
    pub fn edge(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let matrices = self.edge.chunks_exact((self.labels * self.stride).max(1));
        self.edge_columns.iter().copied().zip(matrices)
    }
}
