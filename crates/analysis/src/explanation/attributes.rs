//! The attributes of a sentence that the model knows, with their names.

use std::ops::RangeInclusive;

use dropchain::error::Place;
use dropchain::extract::TokenSink;
use dropchain::memory::{MemoryLimit, input_over_limit};
use dropchain::model::{AttributeKind, Model, WeightLocation};
use dropchain::template::{Attribute, AttributeSink};
use dropchain::{Error, Result};

use crate::SMALL;

/// The attributes of a sentence that the model knows, of nodes and edges.
#[derive(Debug, Default)]
pub(super) struct SentenceAttributes([AttributeList; 2]);

#[derive(Debug, Default)]
struct AttributeList {
    names: Vec<u8>,
    attributes: Vec<KnownAttribute>,
    ends: Vec<usize>, // [T] end of each token in `attributes`
}

/// An attribute of a token that the model knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownAttribute {
    name: [usize; 2], // its start and end in `names`
    pub value: f64,
    pub location: WeightLocation,
}

impl SentenceAttributes {
    /// Iterates over the attributes of token `t`, with their names.
    pub fn of(
        &self,
        kind: AttributeKind,
        t: usize,
    ) -> impl Iterator<Item = (&[u8], KnownAttribute)> {
        let list = &self.0[kind as usize];
        let start = t.checked_sub(1).map_or(0, |before| list.ends[before]);
        let attributes = list.attributes[start..list.ends[t]].iter();
        attributes.map(|&attribute| (&list.names[attribute.name[0]..attribute.name[1]], attribute))
    }

    /// Returns the number of attributes of the tokens of a range.
    pub fn count(&self, tokens: &RangeInclusive<usize>) -> usize {
        let counts = self.0.iter().map(|list| {
            let before = tokens.start().checked_sub(1).map_or(0, |t| list.ends[t]);
            list.ends[*tokens.end()] - before
        });
        counts.sum()
    }

    fn memory(&self) -> u64 {
        let lists = self.0.iter();
        let bytes = lists.map(|list| {
            list.names.capacity()
                + list.attributes.capacity() * size_of::<KnownAttribute>()
                + list.ends.capacity() * size_of::<usize>()
        });
        bytes.sum::<usize>() as u64
    }
}

/// Collects the attributes of a sentence.
pub(super) struct Collector<'a> {
    model: &'a Model,
    attributes: SentenceAttributes,
    limit: MemoryLimit,
    /// Memory at which the limit is checked next.
    next_check: u64,
    place: Place,
    result: Result<()>, // the first error of the current token
}

impl<'a> Collector<'a> {
    /// Creates a collector of the attributes of `model` for the sentence at `place`.
    pub fn new(model: &'a Model, limit: MemoryLimit, place: Place) -> Self {
        Self {
            model,
            attributes: SentenceAttributes::default(),
            next_check: match limit {
                MemoryLimit::Available => SMALL,
                MemoryLimit::Bytes(bytes) => bytes.min(SMALL),
            },
            limit,
            place,
            result: Ok(()),
        }
    }

    /// Returns what was collected.
    pub fn finish(self) -> SentenceAttributes {
        self.attributes
    }

    fn push(&mut self, kind: AttributeKind, attribute: &Attribute<'_>, value: f64) -> Result<()> {
        let list = &mut self.attributes.0[kind as usize];
        let start = list.names.len();
        attribute.write(&mut list.names);
        let key = self.model.key(&list.names[start..]);
        match self.model.table(kind).find(key)? {
            Some(location) => list.attributes.push(KnownAttribute {
                name: [start, list.names.len()],
                value,
                location,
            }),
            None => list.names.truncate(start),
        }
        Ok(())
    }

    fn check_memory(&mut self) -> Result<()> {
        let memory = self.attributes.memory();
        if memory <= self.next_check {
            return Ok(());
        }
        self.next_check = 2 * memory;
        self.limit.check(memory, memory).map_err(|over| {
            let what = "the attributes of the sentence, with their names, take";
            input_over_limit(self.place.clone(), what, over.limit, "a shorter sentence")
        })
    }
}

impl AttributeSink for Collector<'_> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        if self.result.is_ok() {
            self.result = self.push(AttributeKind::Node, attribute, value);
        }
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        // No edge leads into the first token.
        let is_first = self.attributes.0[AttributeKind::Edge as usize].ends.is_empty();
        if !is_first && self.result.is_ok() {
            self.result = self.push(AttributeKind::Edge, attribute, value);
        }
    }
}

impl TokenSink for Collector<'_> {
    fn end_token(&mut self, _t: usize) -> Result<()> {
        for list in &mut self.attributes.0 {
            list.ends.push(list.attributes.len());
        }
        std::mem::replace(&mut self.result, Ok::<(), Error>(()))?;
        self.check_memory()
    }
}
