//! The attributes of a sentence that the model knows, with their names.

use dropchain::kernel::extract::TokenSink;
use dropchain::kernel::memory::input_over_limit;
use dropchain::model::{AttributeKind, Model};
use dropchain::sentence::Attributes;
use dropchain::template::{Attribute, AttributeSink};
use dropchain::{MemoryLimit, Place, Result, Tagger};

/// Size in bytes up to which memory is allocated without looking at what is available.
pub(super) const SMALL: u64 = 256 << 20;

/// Memory in bytes that an attribute takes besides its name.
const ATTRIBUTE: u64 = 12;

/// Collects the attributes of a sentence.
pub(super) struct Collector<'a> {
    model: &'a Model,
    pub attributes: Attributes,
    name: Vec<u8>,
    memory: u64,
    limit: MemoryLimit,
    /// Memory at which the limit is checked next.
    next_check: u64,
    place: Place,
    result: Result<()>, // the first error of the current token
}

impl<'a> Collector<'a> {
    /// Creates a collector of the attributes of a model for the sentence at `place`.
    pub fn new(tagger: &'a Tagger, place: Place) -> Self {
        let limit = tagger.memory_limit();
        Self {
            model: tagger.model(),
            attributes: Attributes::default(),
            name: Vec::new(),
            memory: 0,
            next_check: match limit {
                MemoryLimit::Available => SMALL,
                MemoryLimit::Bytes(bytes) => bytes.min(SMALL),
            },
            limit,
            place,
            result: Ok(()),
        }
    }

    fn push(&mut self, kind: AttributeKind, attribute: &Attribute<'_>, value: f64) {
        self.name.clear();
        attribute.write(&mut self.name);
        let known = self.model.table(kind).find(self.model.key(&self.name));
        if let Ok(Some(_)) = known {
            let name = String::from_utf8_lossy(&self.name);
            match kind {
                AttributeKind::Node => self.attributes.push(&name, value),
                AttributeKind::Edge => self.attributes.push_edge(&name, value),
            }
            self.memory += name.len() as u64 + ATTRIBUTE;
        }
        self.result = known.map(|_| ());
    }

    fn check_memory(&mut self) -> Result<()> {
        let error = |limit: u64| {
            let what = "the attributes of the sentence, with their names, take";
            input_over_limit(self.place.clone(), what, limit, "a shorter sentence")
        };
        if self.attributes.is_full() {
            return Err(error(u32::MAX.into()));
        }
        if self.memory <= self.next_check {
            return Ok(());
        }
        // Vectors double when they grow.
        self.limit.check(2 * self.memory, self.memory).map_err(|over| error(over.limit))?;
        self.next_check = 2 * self.memory;
        Ok(())
    }
}

impl AttributeSink for Collector<'_> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        if self.result.is_ok() {
            self.push(AttributeKind::Node, attribute, value);
        }
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        // No edge leads into the first token.
        if self.result.is_ok() && !self.attributes.is_empty() {
            self.push(AttributeKind::Edge, attribute, value);
        }
    }
}

impl TokenSink for Collector<'_> {
    fn end_token(&mut self, _t: usize) -> Result<()> {
        self.attributes.end_token();
        std::mem::replace(&mut self.result, Ok(()))?;
        self.check_memory()
    }
}
