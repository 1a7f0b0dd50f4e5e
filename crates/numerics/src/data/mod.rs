//! The data of training as numbers: the sparse design matrix X, with a row for each token and a
//! column for each attribute (or for each class of attributes that always occur together, see
//! [`Classes`]), and the labels of the sentences. Training sees nothing else of the text.

pub(crate) mod dataset;
mod matrix;

pub use dataset::{Allowed, AllowedLabels, ColumnCount, Dataset, Target};
pub use matrix::{Classes, SparseRows, numbered};
