//! From the attributes of tokens to the scores of their labels.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::BitOr;

use crate::error::Result;
use crate::extract::TokenSink;
use crate::model::{AttributeKind, Location, Model, Rows};
use crate::simd::{self, Kernel};
use crate::template::{Attribute, AttributeSink};

/// The memo of an attribute that the model does not have. That of one that it has is [`KNOWN`] and the
/// place of its row, or its location where there are no rows; where the two are no 64-bit number the
/// model is damaged, and it does not matter.
const UNKNOWN: u64 = 1;

const KNOWN: u64 = 2;

/// Attributes whose weights are waited for together.
const WINDOW: usize = 128;

/// Attributes of a kind, of those that have no memo of their own, whose memos are kept from sentence
/// to sentence: as many as fit the cache of a processor.
const RECENT: usize = 1 << 14;

/// What is reused from sentence to sentence.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    kinds: [Gathered; 2],
    rows: Vec<(usize, f64)>, // where weights stand, and what they are multiplied by
    name: Vec<u8>,
}

/// The attributes of one kind.
#[derive(Debug, Default)]
struct Gathered {
    wanted: Vec<(u64, f64)>,    // memo and value
    ends: Vec<usize>,           // [T] end of each token in `wanted`
    missing: Vec<(usize, u64)>, // number in `wanted` and key of those whose memo is not known
    recent: Vec<(u64, u64)>,    // [RECENT] keys and memos, each where the key's low bits say
}

impl Scratch {
    /// Forgets the last sentence.
    pub fn clear(&mut self) {
        for gathered in &mut self.kinds {
            gathered.wanted.clear();
            gathered.ends.clear();
            gathered.missing.clear();
        }
    }

    /// Forgets what the model has.
    pub fn forget(&mut self) {
        self.clear();
        for gathered in &mut self.kinds {
            gathered.recent.clear();
        }
    }
}

impl Gathered {
    /// Adds an attribute by its key.
    #[inline]
    fn push_key(&mut self, key: u64, value: f64) {
        if self.recent.is_empty() {
            self.recent.resize(RECENT, (0, 0));
        }
        let (known, memo) = self.recent[key as usize % RECENT];
        if known != key || memo == 0 {
            self.missing.push((self.wanted.len(), key));
        }
        self.wanted.push((memo, value));
    }

    /// Looks up the attributes whose memos are missing.
    fn find_missing(
        &mut self,
        kind: AttributeKind,
        model: &Model,
        table: Option<&Rows<'_>>,
    ) -> Result<()> {
        touch_all(&self.missing, |&(_, key)| model.touch_slot(kind, key));
        for &(i, key) in &self.missing {
            let memo = memo(model.find(kind, key)?, table)?;
            self.wanted[i].0 = memo;
            self.recent[key as usize % RECENT] = (key, memo);
        }
        Ok(())
    }

    /// Adds up rows of a table, [K] each, to scores, `[T][stride]`.
    fn add_rows(
        &mut self,
        table: &Rows<'_>,
        rows: &mut Vec<(usize, f64)>,
        stride: usize,
        scores: &mut [f64],
    ) -> Result<()> {
        rows.clear();
        let mut start = 0;
        for end in &mut self.ends {
            let wanted = &self.wanted[start..*end];
            let known = wanted.iter().filter(|(memo, _)| *memo >= KNOWN);
            rows.extend(known.map(|&(memo, value)| ((memo - KNOWN) as usize, value)));
            start = std::mem::replace(end, rows.len());
        }
        let (mut start, mut touched) = (0, 0);
        for (&end, scores) in self.ends.iter().zip(scores.chunks_exact_mut(stride)) {
            touch_ahead(&mut touched, end, rows, |&(place, _)| table.touch(place));
            table.add(&rows[start..end], scores)?;
            start = end;
        }
        Ok(())
    }

    /// Adds up the weights of any table to scores, `[T][width]` in lines of `stride`.
    fn add_each(
        &self,
        (kind, model): (AttributeKind, &Model),
        (stride, width): (usize, usize),
        scores: &mut [f64],
    ) -> Result<()> {
        let (mut start, mut touched) = (0, 0);
        for (&end, scores) in self.ends.iter().zip(scores.chunks_exact_mut(width)) {
            touch_ahead(&mut touched, end, &self.wanted, |&(memo, _)| {
                location(memo).map_or(0, |at| model.touch_weights(kind, at))
            });
            simd::dispatch(Sum {
                kind,
                model,
                wanted: &self.wanted[start..end],
                stride,
                scores,
            })?;
            start = end;
        }
        Ok(())
    }
}

/// Reads what `touch` does of each of them; the processor waits for many at once.
#[inline(always)]
fn touch_all<T>(all: &[T], touch: impl Fn(&T) -> u8) {
    black_box(all.iter().map(touch).fold(0, BitOr::bitor));
}

/// Touches windows of `all` until those before `end` are among them.
#[inline(always)]
fn touch_ahead<T>(touched: &mut usize, end: usize, all: &[T], touch: impl Fn(&T) -> u8) {
    while *touched < end {
        let window = &all[*touched..all.len().min(*touched + WINDOW)];
        touch_all(window, &touch);
        *touched += WINDOW;
    }
}

/// The location that a memo stands for where there are no rows.
#[inline(always)]
fn location(memo: u64) -> Option<Location> {
    (memo >= KNOWN).then(|| Location::from_number(memo - KNOWN))
}

/// The memo of an attribute with this location, in a table of rows or in another.
#[inline(always)]
fn memo(found: Option<Location>, table: Option<&Rows<'_>>) -> Result<u64> {
    Ok(match (found, table) {
        (None, _) => UNKNOWN,
        (Some(location), Some(table)) => table.place(location)? as u64 + KNOWN,
        (Some(location), None) => location.to_number().wrapping_add(KNOWN),
    })
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
    #[inline(always)]
    fn take(&mut self, kind: AttributeKind, attribute: &Attribute<'_>, value: f64) {
        match attribute.memo().map_or(0, Cell::get) {
            0 => self.look_up(kind, attribute, value),
            UNKNOWN => {}
            memo => self.scratch.kinds[kind as usize].wanted.push((memo, value)),
        }
    }

    /// Takes an attribute by its key, or by its memo where it has one, which is then set.
    #[inline(never)]
    fn look_up(&mut self, kind: AttributeKind, attribute: &Attribute<'_>, value: f64) {
        let key = match self.model.fingerprinter() {
            Some(_) => attribute.key(),
            None => {
                let name = &mut self.scratch.name;
                name.clear();
                attribute.write(name);
                self.model.key(kind, name)
            }
        };
        let gathered = &mut self.scratch.kinds[kind as usize];
        match attribute.memo() {
            None => gathered.push_key(key, value),
            Some(cell) => {
                let table = self.model.rows(kind);
                let found = self.model.find(kind, key);
                match found.and_then(|found| memo(found, table.as_ref())) {
                    Ok(memo) => {
                        cell.set(memo);
                        gathered.wanted.push((memo, value));
                    }
                    Err(fault) => self.fault = Err(fault),
                }
            }
        }
    }

    /// Adds the weights of all attributes to the scores of their tokens, nodes `[T][stride]` and edges
    /// `[T][width]`, in the order in which they came.
    pub fn finish(self, nodes: &mut [f64], edges: &mut [f64]) -> Result<()> {
        self.fault?;
        let Scratch { kinds, rows, .. } = self.scratch;
        for (kind, scores, width) in [
            (AttributeKind::Node, nodes, self.stride),
            (AttributeKind::Edge, edges, self.width),
        ] {
            let gathered = &mut kinds[kind as usize];
            let table = self.model.rows(kind);
            gathered.find_missing(kind, self.model, table.as_ref())?;
            match table {
                _ if gathered.wanted.is_empty() => {}
                Some(table) => gathered.add_rows(&table, rows, self.stride, scores)?,
                None => gathered.add_each((kind, self.model), (self.stride, width), scores)?,
            }
        }
        Ok(())
    }
}

impl AttributeSink for Scorer<'_> {
    #[inline(always)]
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.take(AttributeKind::Node, attribute, value);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        // There is no edge into the first token.
        let first = self.scratch.kinds[AttributeKind::Edge as usize]
            .ends
            .is_empty();
        if !first && self.width > 0 {
            self.take(AttributeKind::Edge, attribute, value);
        }
    }
}

impl TokenSink for Scorer<'_> {
    fn end_token(&mut self, _t: usize) -> Result<()> {
        for gathered in &mut self.scratch.kinds {
            gathered.ends.push(gathered.wanted.len());
        }
        std::mem::replace(&mut self.fault, Ok(()))
    }
}

/// Sums up the weights of a token's attributes, in their order.
struct Sum<'a> {
    kind: AttributeKind,
    model: &'a Model,
    wanted: &'a [(u64, f64)],
    stride: usize,
    scores: &'a mut [f64],
}

impl Kernel for Sum<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        // No closure: it would not be compiled for wide vectors.
        for &(memo, value) in self.wanted {
            let Some(location) = location(memo) else {
                continue;
            };
            let weights = self.model.weights_at(self.kind, location)?;
            if !weights.add_to(value, self.stride, self.scores) {
                return Err(self.model.misplaced());
            }
        }
        Ok(())
    }
}
