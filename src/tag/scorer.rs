//! From the attributes of tokens to the scores of their labels.

use std::cell::Cell;
use std::hint::black_box;

use crate::error::Result;
use crate::extract::TokenSink;
use crate::model::{Kind, Location, Model, Weights};
use crate::template::{Attribute, Sink};
use crate::wide::{self, Kernel};

/// The memo of an attribute that the model does not have. That of one that it has is its location
/// and [`KNOWN`]; where the two are no 64-bit number the model is damaged, and it does not matter.
const UNKNOWN: u64 = 1;

const KNOWN: u64 = 2;

/// Attributes whose weights are waited for together.
const WINDOW: usize = 32;

/// What is reused from sentence to sentence.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    wanted: Vec<Wanted>,
    ends: Vec<usize>,     // [T] end of each token in `wanted`
    slots: Vec<[u64; 2]>, // where the search for each begins
    name: Vec<u8>,
}

impl Scratch {
    /// Forgets the last sentence.
    pub fn clear(&mut self) {
        self.wanted.clear();
        self.ends.clear();
        self.slots.clear();
    }
}

/// An attribute of the sentence.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    kind: Kind,
    value: f64,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    At(Location),
    Key(u64),
    Unknown,
}

/// Adds up the weights of attributes.
///
/// What takes time is waiting for memory: first for slots, then for weights. So the attributes of a
/// sentence are gathered, and then each step is done for many of them, which the processor overlaps.
pub(super) struct Scorer<'a> {
    pub model: &'a Model,
    pub scratch: &'a mut Scratch,
    pub stride: usize,
    /// Length of a token's edge scores.
    pub width: usize,
    pub fault: Result<()>,
}

impl Scorer<'_> {
    #[inline]
    fn take(&mut self, kind: Kind, attribute: &Attribute<'_>, value: f64) {
        // There is no edge into the first token.
        if kind == Kind::Edge && (self.scratch.ends.is_empty() || self.width == 0) {
            return;
        }
        let memo = attribute.memo();
        let place = match memo.map_or(0, Cell::get) {
            UNKNOWN => return,
            0 => None,
            number => Some(Location::from_number(number.wrapping_sub(KNOWN))),
        };
        let place = match place {
            Some(location) => Ok(Some(Place::At(location))),
            None => self.look_up(kind, attribute),
        };
        match place {
            Ok(Some(place)) => self.scratch.wanted.push(Wanted { kind, value, place }),
            Ok(None) => {}
            Err(fault) => self.fault = Err(fault),
        }
    }

    /// The key of an attribute, or its location where it has a memo, which is then set.
    fn look_up(&mut self, kind: Kind, attribute: &Attribute<'_>) -> Result<Option<Place>> {
        let key = match self.model.base() {
            Some(_) => attribute.key(),
            None => {
                let name = &mut self.scratch.name;
                name.clear();
                attribute.write(name);
                self.model.key(kind, name)
            }
        };
        let Some(memo) = attribute.memo() else {
            return Ok(Some(Place::Key(key)));
        };
        let slot = self.model.first_slot(kind, key)?;
        let location = self.model.find(kind, key, slot)?;
        memo.set(location.map_or(UNKNOWN, |l| l.to_number().wrapping_add(KNOWN)));
        Ok(location.map(Place::At))
    }

    /// Adds the weights of all attributes to the scores of their tokens, nodes `[T][stride]` and edges
    /// `[T][width]`, in the order in which they came.
    pub fn finish(self, nodes: &mut [f64], edges: &mut [f64]) -> Result<()> {
        self.fault?;
        let Scratch {
            wanted,
            ends,
            slots,
            ..
        } = self.scratch;
        for wanted in &*wanted {
            slots.push(match wanted.place {
                Place::Key(key) => self.model.first_slot(wanted.kind, key)?,
                _ => [0; 2],
            });
        }
        for (wanted, &slot) in wanted.iter_mut().zip(&*slots) {
            if let Place::Key(key) = wanted.place {
                let found = self.model.find(wanted.kind, key, slot)?;
                wanted.place = found.map_or(Place::Unknown, Place::At);
            }
        }
        let mut start = 0;
        for (t, &end) in ends.iter().enumerate() {
            for attributes in wanted[start..end].chunks(WINDOW) {
                let mut window = [(Kind::Node, 0.0, Weights::default()); WINDOW];
                let mut length = 0;
                for wanted in attributes {
                    if let Place::At(location) = wanted.place {
                        let weights = self.model.weights_at(wanted.kind, location)?;
                        // Read, so that the rest is on its way from memory.
                        black_box(weights.sample());
                        window[length] = (wanted.kind, wanted.value, weights);
                        length += 1;
                    }
                }
                let all = wide::run(Sum {
                    window: &window[..length],
                    stride: self.stride,
                    node: &mut nodes[t * self.stride..][..self.stride],
                    edge: &mut edges[t * self.width..][..self.width],
                });
                if !all {
                    return Err(self.model.misplaced());
                }
            }
            start = end;
        }
        Ok(())
    }
}

impl Sink for Scorer<'_> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.take(Kind::Node, attribute, value);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.take(Kind::Edge, attribute, value);
    }
}

impl TokenSink for Scorer<'_> {
    fn end_token(&mut self, _t: usize) -> Result<()> {
        self.scratch.ends.push(self.scratch.wanted.len());
        std::mem::replace(&mut self.fault, Ok(()))
    }
}

/// Sums up the weights of a token's attributes, in their order; `false` if some belong to no label.
struct Sum<'a> {
    window: &'a [(Kind, f64, Weights<'a>)],
    stride: usize,
    node: &'a mut [f64],
    edge: &'a mut [f64],
}

impl Kernel for Sum<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut all = true;
        // No closure: it would not be compiled for wide vectors.
        for (kind, value, weights) in self.window {
            let scores = match kind {
                Kind::Node => &mut *self.node,
                Kind::Edge => &mut *self.edge,
            };
            all &= weights.add_to(*value, self.stride, scores);
        }
        all
    }
}
