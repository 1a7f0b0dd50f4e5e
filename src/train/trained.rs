//! The result of training.

use super::events::End;
use crate::model::Model;

/// A model and the result of training it.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// The result of training. If the model has two passes, of the second.
    pub end: End,
    /// Whether the model is only the first of two passes, because training ended before the second
    /// had a result. It tags like a model that was trained without the lines of the template that
    /// read predictions.
    pub is_first_pass: bool,
}
