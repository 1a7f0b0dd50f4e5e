//! Attributes that are left out at random, to see how a tagger takes it.
//!
//! Source: Chen, Zhu, Chen and Zhang, "Dropout training for support vector machines", AAAI 2014,
//! section 6.4.

use crate::error::{Error, Result};
use crate::extract::TokenSink;
use crate::random::{nth, uniform};
use crate::sentence::Sentence;
use crate::template::{Attribute, AttributeSink};

/// Which attributes are left out: each with the same probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deletion {
    rate: f64,
    seed: u64,
}

/// Passes on the attributes of a sentence that are not left out.
pub(super) struct Remaining<'s, S> {
    sink: &'s mut S,
    rate: f64,
    seed: u64,  // of the sentence
    count: u64, // of attributes so far
}

impl Deletion {
    /// Leaves out attributes with probability `rate`, from 0 to 1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the rate is not in this range.
    pub fn new(rate: f64, seed: u64) -> Result<Self> {
        if !(0.0..=1.0).contains(&rate) {
            let message = format!("attributes left out at rate {rate}; expected 0 to 1");
            return Err(Error::parameter(message));
        }
        Ok(Self { rate, seed })
    }

    /// Returns the sink of the attributes of a sentence that remain.
    pub fn of<'s, S>(self, sentence: &Sentence, sink: &'s mut S) -> Remaining<'s, S> {
        Remaining {
            sink,
            rate: self.rate,
            seed: sentence_seed(self.seed, sentence),
            count: 0,
        }
    }
}

/// Returns the seed of a sentence, by its file and its line.
pub(super) fn sentence_seed(seed: u64, sentence: &Sentence) -> u64 {
    let file = sentence.file().bytes();
    let seed = file.fold(seed, |seed, byte| nth(seed, u64::from(byte)));
    nth(seed, sentence.first_line().unwrap_or(0))
}

impl<S> Remaining<'_, S> {
    fn is_next_kept(&mut self) -> bool {
        self.count += 1;
        uniform(self.seed, self.count) > self.rate
    }
}

impl<S: AttributeSink> AttributeSink for Remaining<'_, S> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        if self.is_next_kept() {
            self.sink.node(attribute, value);
        }
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        if self.is_next_kept() {
            self.sink.edge(attribute, value);
        }
    }
}

impl<S: TokenSink> TokenSink for Remaining<'_, S> {
    fn end_token(&mut self, t: usize) -> Result<()> {
        self.sink.end_token(t)
    }
}
