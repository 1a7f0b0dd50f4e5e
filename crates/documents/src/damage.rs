//! Documents that lose words at random, to see how a classifier takes it.
//!
//! Source: Chen, Zhu, Chen and Zhang, "Dropout training for support vector machines", AAAI 2014,
//! section 6.4.

use crate::features::{Tokens, words_of};
use crate::{Instance, InstanceContent};
use dropchain::random::{nth, uniform};

impl Instance {
    /// Returns the document without some of its words, or of its features: each is left out with
    /// probability `rate`. What is left out depends on `seed` and on the number of the document
    /// alone, and with a higher rate includes what a lower one leaves out.
    #[must_use]
    pub fn damaged(self, rate: f64, tokens: Tokens, seed: u64, number: u64) -> Self {
        let seed = nth(seed, number);
        let mut position = 0;
        let mut is_kept = || {
            position += 1;
            uniform(seed, position) > rate
        };
        let content = match self.content {
            InstanceContent::Text(text) => {
                let words = words_of(&text, tokens);
                let kept: Vec<&str> = words.into_iter().filter(|_| is_kept()).collect();
                InstanceContent::Text(kept.join(" "))
            }
            InstanceContent::Features(mut features) => {
                features.retain(|_| is_kept());
                InstanceContent::Features(features)
            }
        };
        Self { content, ..self }
    }
}
