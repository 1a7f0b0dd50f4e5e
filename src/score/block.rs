//! The weights of one design matrix.

use std::ops::Range;

use super::targets::Targets;

/// The weights of one design matrix: node attributes or edge attributes.
///
/// A column of the matrix is a class of m attributes with identical columns (see
/// [`Classes`](crate::extract::Classes)); they share one parameter φ = √m·θ, which contributes √m·φ
/// to a score.
#[derive(Clone, Debug)]
pub struct FeatureBlock {
    /// The scores that each column has weights for.
    pub targets: Targets,
    /// √m of each column, `[columns]`.
    pub scale: Vec<f64>,
    /// The position of the weights in θ.
    pub range: Range<usize>,
}

impl FeatureBlock {
    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.targets.columns()
    }

    /// Returns whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns() == 0
    }

    /// Returns the length of a token's row of scores: S for nodes, K·S for edges.
    #[must_use]
    pub fn width(&self) -> usize {
        self.targets.width()
    }

    /// Returns the length of a token's row of scores, or 0 if the block has no columns.
    #[must_use]
    pub fn used_width(&self) -> usize {
        if self.is_empty() { 0 } else { self.width() }
    }

    /// Returns the slice of this block in an array over all parameters.
    #[must_use]
    pub fn weights<'a, T>(&self, theta: &'a [T]) -> &'a [T] {
        &theta[self.range.clone()]
    }

    /// Like [`weights`](Self::weights), but mutable.
    pub fn weights_mut<'a, T>(&self, gradient: &'a mut [T]) -> &'a mut [T] {
        &mut gradient[self.range.clone()]
    }
}
