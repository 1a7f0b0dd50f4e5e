//! The attributes of a sentence, and the gradient with respect to their weights.
//!
//! # Active features, collapsed by co-occurrence (section 4.1)
//!
//! Attributes that fire once in the sentence, at the same token, have the same expectations up to
//! the factor of their values. So they are collapsed into one *feature* of value 1, and each
//! derives its own gradient from that of the feature. This is exact; in the paper it reduces the
//! number of active features per token from 20 to less than 5. Any other attribute is a feature of
//! its own.

/// The attributes of the tokens of a sentence. Empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features<'a> {
    /// Node attributes, which combine with one label. Boundary weights are attributes of the first
    /// or last token.
    pub node: AttributeRows<'a>,
    /// Edge attributes, which combine with two labels, without the bare transition. Those of the
    /// first token are ignored.
    pub edge: AttributeRows<'a>,
    /// The column of the node attribute "start of the sentence"; the next one is its end.
    pub boundary: u32,
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
    /// Gradient of node attributes, a row `[S]` for each.
    pub nodes: FeatureRows,
    /// Gradient of edge attributes, a matrix `[K][S]` for each.
    pub edges: FeatureRows,
}

/// Derivatives with respect to the weights of some attributes, as many of each.
#[derive(Clone, Debug, Default)]
pub struct FeatureRows {
    pub(super) columns: Vec<u32>,
    /// The derivatives, row by row.
    pub rows: Vec<f64>,
}

impl FeatureGradient {
    /// Removes all rows.
    pub fn clear(&mut self) {
        for derivatives in [&mut self.nodes, &mut self.edges] {
            derivatives.columns.clear();
            derivatives.rows.clear();
        }
    }
}

impl FeatureRows {
    /// Appends the derivatives of an attribute.
    pub fn push(&mut self, column: u32, row: &[f64]) {
        self.columns.push(column);
        self.rows.extend_from_slice(row);
    }

    /// Iterates over the attributes and their derivatives.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let width = self.rows.len() / self.columns.len().max(1);
        self.columns.iter().copied().zip(self.rows.chunks_exact(width.max(1)))
    }
}

/// The number of active attributes over a set of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActiveCounts {
    /// Number of tokens.
    pub tokens: u64,
    /// Number of distinct attributes per sentence, summed over sentences.
    pub attributes: u64,
    /// The same after collapsing: the number of features whose expectations are computed.
    pub collapsed: u64,
}

impl ActiveCounts {
    /// Adds a sentence of `tokens` tokens. O(n log n) for n entries.
    ///
    /// # Panics
    ///
    /// If `features` has rows, but not one for each token.
    pub fn add(&mut self, features: Features<'_>, tokens: usize) {
        let mut active = ActiveFeatures::default();
        for (rows, first) in [(features.node, 0), (features.edge, 1)] {
            active.set(rows, first, tokens, true);
            self.attributes += active.columns.len() as u64;
            self.collapsed += active.count as u64;
        }
        self.tokens += tokens as u64;
    }
}

/// The active node or edge features of a sentence; a reusable workspace.
#[derive(Clone, Debug, Default)]
pub struct ActiveFeatures {
    /// Distinct attributes in ascending order, `[J]`.
    pub columns: Vec<u32>,
    /// For each attribute, its feature and its value relative to that, `[J]`.
    pub members: Vec<(usize, f64)>,
    /// Number of features.
    pub count: usize,
    entries: Vec<(usize, usize, f64)>, // token, feature, value
    ends: Vec<usize>,                  // [T] end of each token's entries
    sorted: Vec<(u32, usize, f64)>,    // attribute, token, value
    collapsed: Vec<Option<usize>>,     // [T] feature of the attributes that fire only there
}

impl ActiveFeatures {
    /// Sets the features from the attributes of the tokens `first..tokens`. O(n log n) for n
    /// entries.
    pub fn set(&mut self, rows: AttributeRows<'_>, first: usize, tokens: usize, collapse: bool) {
        self.columns.clear();
        self.members.clear();
        self.entries.clear();
        self.sorted.clear();
        self.count = 0;
        self.collapsed.clear();
        self.collapsed.resize(tokens, None);
        for t in first..tokens {
            let entries = rows.row(t).iter();
            self.sorted.extend(entries.map(|&(column, value)| (column, t, value)));
        }
        self.sorted.sort_unstable_by_key(|&(column, t, _)| (column, t));
        for occurrences in self.sorted.chunk_by(|x, y| x.0 == y.0) {
            let member = match occurrences {
                &[(_, t, value)] if collapse => {
                    let feature = *self.collapsed[t].get_or_insert_with(|| {
                        self.entries.push((t, self.count, 1.0));
                        self.count += 1;
                        self.count - 1
                    });
                    (feature, value)
                }
                _ => {
                    let feature = self.count;
                    let entries = occurrences.iter();
                    self.entries.extend(entries.map(|&(_, t, value)| (t, feature, value)));
                    self.count += 1;
                    (feature, 1.0)
                }
            };
            self.columns.push(occurrences[0].0);
            self.members.push(member);
        }
        self.entries.sort_unstable_by_key(|&(t, feature, _)| (t, feature));
        self.ends.clear();
        let mut end = 0;
        for t in 0..tokens {
            end += self.entries[end..].partition_point(|entry| entry.0 == t);
            self.ends.push(end);
        }
    }

    /// Iterates over the features of a token and their values.
    pub fn at(&self, t: usize) -> impl Iterator<Item = (usize, f64)> {
        let start = if t == 0 { 0 } else { self.ends[t - 1] };
        self.entries[start..self.ends[t]].iter().map(|&(_, feature, value)| (feature, value))
    }
}
