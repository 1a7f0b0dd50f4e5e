//! Attributes that are left out at random, to see how a tagger takes it.
//!
//! Source: Chen, Zhu, Chen and Zhang, "Dropout training for support vector machines", AAAI 2014,
//! section 6.4.

use dropchain::kernel::random::{nth, uniform};
use dropchain::kernel::tag::AttributeFilter;
use dropchain::sentence::Sentence;
use dropchain::template::Attribute;
use dropchain::{Error, Result};

/// Leaves out each attribute of each token with the same probability; of two passes, in both
/// ([`Tagger::with_attribute_filter`](dropchain::Tagger::with_attribute_filter)).
///
/// The choice of what is left out depends on the seed, on the file and on the line of the sentence
/// alone; a higher rate includes what a lower one leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Deletion {
    rate: f64,
    seed: u64,
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
}

impl AttributeFilter for Deletion {
    fn of(&self, sentence: &Sentence) -> Box<dyn FnMut(&Attribute<'_>) -> bool> {
        let (rate, seed) = (self.rate, sentence_seed(self.seed, sentence));
        let mut count = 0;
        Box::new(move |_| {
            count += 1;
            uniform(seed, count) > rate
        })
    }
}

/// Returns the seed of a sentence, by its file and its line.
pub(super) fn sentence_seed(seed: u64, sentence: &Sentence) -> u64 {
    let file = sentence.file().bytes();
    let seed = file.fold(seed, |seed, byte| nth(seed, u64::from(byte)));
    nth(seed, sentence.first_line().unwrap_or(0))
}
