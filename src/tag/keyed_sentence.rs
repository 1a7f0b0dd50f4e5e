//! Sentences of ready-made attributes, as a tagger looks them up.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};
use crate::model::AttributeKind;

/// A sentence of ready-made attributes for one tagger: names are hashed as they come and not
/// stored, so that it takes 16 bytes per attribute and tagging it needs no names.
///
/// [`Tagger::tag`](super::Tagger::tag) and all of its relatives accept it in place of a
/// [`Sentence`](crate::Sentence). Making it is cheap; looking the attributes up, which is not,
/// is part of tagging, so a program can make sentences in one thread and tag them in many.
///
/// ```no_run
/// # use dropchain::{Result, Tagger};
/// # fn main() -> Result<()> {
/// let tagger = Tagger::open("ner.model")?; // trained on ready-made attributes
/// let mut sentence = tagger.keyed_sentence()?;
/// for word in ["Ada", "left"] {
///     sentence.attribute(&format!("word={word}"), 1.0)?;
///     sentence.attribute("length", word.len() as f64)?;
///     sentence.end_token();
/// }
/// let tagging = tagger.tag(&sentence)?;
/// println!("{:?}", tagger.label_names(&tagging.labels));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct KeyedSentence {
    tagger: Arc<()>, // its identity
    fingerprinter: Fingerprinter,
    entries: [Vec<(u64, f64)>; 2], // nodes, edges: key and value
    ends: [Vec<usize>; 2],         // [T] end of each token in `entries`
}

impl KeyedSentence {
    /// Creates an empty sentence for the tagger with this identity and the fingerprinter of its
    /// model.
    pub(super) fn new(tagger: Arc<()>, fingerprinter: Fingerprinter) -> Self {
        Self { tagger, fingerprinter, entries: Default::default(), ends: Default::default() }
    }

    /// Adds an attribute to the current token. The weights of attributes with the same name are
    /// summed.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the value is infinite or not a number.
    #[inline]
    pub fn attribute(&mut self, name: &str, value: f64) -> Result<()> {
        self.push(AttributeKind::Node, name, value)
    }

    /// Adds an attribute to the pair of the previous and the current token. It has no effect at the
    /// first token.
    ///
    /// # Errors
    ///
    /// Same as [`attribute`](Self::attribute).
    pub fn edge_attribute(&mut self, name: &str, value: f64) -> Result<()> {
        self.push(AttributeKind::Edge, name, value)
    }

    /// Ends the current token.
    pub fn end_token(&mut self) {
        for (ends, entries) in self.ends.iter_mut().zip(&self.entries) {
            ends.push(entries.len());
        }
    }

    /// Removes all tokens, and the attributes of the current one.
    pub fn clear(&mut self) {
        self.entries.iter_mut().for_each(Vec::clear);
        self.ends.iter_mut().for_each(Vec::clear);
    }

    /// Returns the number of tokens T.
    pub fn len(&self) -> usize {
        self.ends[0].len()
    }

    /// Returns whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the sentence was made for the tagger with this identity.
    pub(super) fn is_for(&self, tagger: &Arc<()>) -> bool {
        Arc::ptr_eq(&self.tagger, tagger)
    }

    /// Returns the attributes of token `t`: keys and values.
    pub(super) fn token(&self, kind: AttributeKind, t: usize) -> &[(u64, f64)] {
        let ends = &self.ends[kind as usize];
        let start = t.checked_sub(1).map_or(0, |previous| ends[previous]);
        &self.entries[kind as usize][start..ends[t]]
    }

    #[inline]
    fn push(&mut self, kind: AttributeKind, name: &str, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::parameter(format!(
                "attribute '{name}' of token {} has the value {value}; expected a finite number",
                self.len()
            )));
        }
        let key = key(self.fingerprinter.fingerprint(name.as_bytes()));
        self.entries[kind as usize].push((key, value));
        Ok(())
    }
}
