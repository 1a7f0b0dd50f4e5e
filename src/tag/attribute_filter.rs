//! Attributes that a tagger does not see.

use std::fmt;

use crate::error::Result;
use crate::extract::TokenSink;
use crate::sentence::Sentence;
use crate::template::{Attribute, AttributeSink};

/// Decides which attributes of sentences a tagger sees
/// ([`Tagger::with_attribute_filter`](super::Tagger::with_attribute_filter)).
pub trait AttributeFilter: fmt::Debug + Send + Sync {
    /// Returns the function that is called with every attribute of a sentence, in their order, and
    /// returns whether the tagger sees it.
    fn of(&self, sentence: &Sentence) -> Box<dyn FnMut(&Attribute<'_>) -> bool>;
}

/// Passes on the attributes of a sentence that a filter keeps.
pub(super) struct Filtered<'s, S> {
    pub sink: &'s mut S,
    pub keeps: Box<dyn FnMut(&Attribute<'_>) -> bool>,
}

impl<S: AttributeSink> AttributeSink for Filtered<'_, S> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        if (self.keeps)(attribute) {
            self.sink.node(attribute, value);
        }
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        if (self.keeps)(attribute) {
            self.sink.edge(attribute, value);
        }
    }
}

impl<S: TokenSink> TokenSink for Filtered<'_, S> {
    fn end_token(&mut self, t: usize) -> Result<()> {
        self.sink.end_token(t)
    }
}
