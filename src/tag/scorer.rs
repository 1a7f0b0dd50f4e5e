//! Label scores of a sentence: X·Θ for its attributes.
//!
//! Most of the time goes into cache misses, first on the slots of the attribute tables and then on
//! the weights. So the attributes of a sentence are collected first, and each step (prefetch slots,
//! probe them, prefetch weights, sum) then runs over many of them, which lets the misses overlap.
//!
//! Sums over bundles of attributes are memoized ([`BundleSums`]). New ones are computed like the
//! scores of tokens, before these.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::BitOr;

use super::bundle_sums::BundleSums;
use crate::chain::{LabelMask, Scores};
use crate::error::Result;
use crate::extract::TokenSink;
use crate::ids::LabelId;
use crate::interrupt::{Interrupt, STEP};
use crate::model::{AttributeKind, AttributeTable, Model, WeightRows};
use crate::template::{Attribute, AttributeSink, BundleKey, BundleSink};

/// The memo of an attribute that the model does not have. 0 means not looked up yet.
const ABSENT: u64 = 1;

/// Added to the byte offset of an attribute's row to encode its memo.
const PRESENT: u64 = 2;

/// Number of attributes whose weights are prefetched together.
const PREFETCH_WINDOW: usize = 128;

/// Entries of the memo cache for attributes that have no memo cell of their own (256 KiB per kind).
const CACHED_MEMOS: usize = 1 << 14;

/// Maximum number of labels with which attributes are summed in bundles. With more, the sums take
/// more memory than the rows of weights that are read only once for them.
const MAX_BUNDLED_LABELS: usize = 64;

/// Maximum length of a sentence that is summed in bundles, since it may have as many sums.
const MAX_BUNDLED_TOKENS: usize = 1000;

/// The scores of a sentence: sums of the weights of its attributes, times their values. Those of
/// label pairs, first and last labels are in [`Tagger::transitions`](super::Tagger::transitions).
#[derive(Debug, Default)]
pub struct SentenceScores {
    /// Scores of labels, `[T][stride]`.
    pub nodes: Vec<f64>,
    /// Scores of label pairs, `[T][K][stride]`, empty if there are none; −∞ for pairs that a
    /// condition forbids.
    pub edges: Vec<f64>,
    /// The labels that a condition allows, if there is one.
    pub mask: Option<LabelMask>,
}

impl SentenceScores {
    /// Returns the scores for inference.
    pub fn scores(&self) -> Scores<'_> {
        Scores { node: &self.nodes, edge: (!self.edges.is_empty()).then_some(&self.edges) }
    }

    /// Sets all to 0, and their numbers, unless it is interrupted.
    pub(super) fn reset(&mut self, nodes: usize, edges: usize, interrupt: &Interrupt) {
        for (scores, length) in [(&mut self.nodes, nodes), (&mut self.edges, edges)] {
            scores.clear();
            interrupt.resize(scores, length);
        }
        self.mask = None;
    }

    /// Returns whether token `t` may have label `b`.
    pub(super) fn allows(&self, t: usize, b: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.allows(t, LabelId(b as u16)))
    }
}

/// Buffers of a [`Scorer`], reused from sentence to sentence.
#[derive(Debug, Default)]
pub(super) struct ScoringBuffers {
    batches: [AttributeBatch; 2], // by attribute kind
    bundled: AttributeBatch,      // in place of tokens, the bundles whose sums are new
    in_bundle: bool,
    sums: BundleSums,
    rows: Vec<(usize, f64)>, // byte offset of each row of weights, and its factor
}

/// The attributes of one kind of a sentence.
#[derive(Debug, Default)]
struct AttributeBatch {
    attributes: Vec<(u64, f64)>,   // memo and value
    ends: Vec<usize>,              // [T] end of each token in `attributes`
    unresolved: Vec<(usize, u64)>, // index in `attributes` and key, where the memo is unknown
    cache: Vec<(u64, u64)>,        // [CACHED_MEMOS] keys and memos, direct-mapped
}

impl ScoringBuffers {
    /// Clears the buffers for the next sentence, retaining cached look-ups.
    pub fn clear(&mut self) {
        for batch in self.batches.iter_mut().chain([&mut self.bundled]) {
            batch.attributes.clear();
            batch.ends.clear();
            batch.unresolved.clear();
        }
        self.in_bundle = false;
        self.sums.clear();
    }

    /// Clears everything, for use with another model.
    pub fn reset(&mut self) {
        self.clear();
        for batch in self.batches.iter_mut().chain([&mut self.bundled]) {
            batch.cache.clear();
        }
        self.sums.reset();
    }
}

impl AttributeBatch {
    /// Adds an attribute whose memo is looked up later, together with others.
    #[inline]
    fn push_key(&mut self, key: u64, value: f64) {
        self.unresolved.push((self.attributes.len(), key));
        self.attributes.push((0, value));
    }

    /// Returns the memo of a key, 0 if it is not in the cache.
    #[inline]
    fn cached(&self, key: u64) -> u64 {
        match self.cache.get(key as usize % CACHED_MEMOS) {
            Some(&(cached, memo)) if cached == key => memo,
            _ => 0,
        }
    }

    /// Looks up the attributes that were added by key: in the cache, then in the model.
    fn resolve(&mut self, table: AttributeTable<'_>, weights: &WeightRows<'_>) -> Result<()> {
        if self.unresolved.is_empty() {
            return Ok(());
        }
        self.cache.resize(CACHED_MEMOS, (0, 0));
        let Self { attributes, unresolved, cache, .. } = self;
        // Without a branch on what the cache has, so that its cache misses overlap.
        let mut misses = 0;
        for i in 0..unresolved.len() {
            let (attribute, key) = unresolved[i];
            let (cached, memo) = cache[key as usize % CACHED_MEMOS];
            let memo = if cached == key { memo } else { 0 };
            attributes[attribute].0 = memo;
            unresolved[misses] = (attribute, key);
            misses += usize::from(memo == 0);
        }
        unresolved.truncate(misses);
        let mut prefetched = 0;
        for (i, &(attribute, key)) in unresolved.iter().enumerate() {
            prefetch_through(&mut prefetched, i + 1, unresolved, |&(_, key)| {
                table.prefetch_slot(key)
            });
            let memo = match table.find(key)? {
                None => ABSENT,
                Some(location) => weights.locate(location)? as u64 + PRESENT,
            };
            attributes[attribute].0 = memo;
            cache[key as usize % CACHED_MEMOS] = (key, memo);
        }
        Ok(())
    }

    /// Adds the weights of all attributes to `scores`, `[T][width]` in lines of `stride`.
    fn add_weights(
        &mut self,
        table: AttributeTable<'_>,
        rows: &mut Vec<(usize, f64)>,
        [stride, width]: [usize; 2],
        scores: &mut [f64],
        interrupt: &Interrupt,
    ) -> Result<()> {
        if self.attributes.is_empty() {
            return Ok(());
        }
        let weights = table.rows();
        self.resolve(table, &weights)?;
        rows.clear();
        let mut start = 0;
        for end in &mut self.ends {
            let attributes = &self.attributes[start..*end];
            let present = attributes.iter().filter(|(memo, _)| *memo >= PRESENT);
            rows.extend(present.map(|&(memo, value)| ((memo - PRESENT) as usize, value)));
            start = std::mem::replace(end, rows.len());
        }
        let (mut start, mut prefetched) = (0, 0);
        let (most, are_short) = ((STEP / width).max(1), width < STEP / PREFETCH_WINDOW);
        for (&end, scores) in self.ends.iter().zip(scores.chunks_exact_mut(width)) {
            // In parts, if a token has very many; the sums are the same.
            while start < end {
                interrupt.check()?;
                let part = start..end.min(start + most);
                start = part.end;
                if are_short {
                    prefetch_through(&mut prefetched, start, rows, |&(row, _)| {
                        weights.prefetch(row)
                    });
                }
                weights.add(&rows[part], stride, scores)?;
            }
        }
        Ok(())
    }
}

/// Prefetches `items` window by window until `prefetched`, the number of items done, reaches `end`.
///
/// `prefetch` is an ordinary load that returns what it read, so that no unsafe code is needed; the
/// loads are independent, so the processor overlaps them.
#[inline(always)]
fn prefetch_through<T>(
    prefetched: &mut usize,
    end: usize,
    items: &[T],
    prefetch: impl Fn(&T) -> u8,
) {
    while *prefetched < end {
        let window = &items[*prefetched..items.len().min(*prefetched + PREFETCH_WINDOW)];
        black_box(window.iter().map(&prefetch).fold(0, BitOr::bitor));
        *prefetched += PREFETCH_WINDOW;
    }
}

/// Collects the attributes of a sentence and sums their weights.
pub(super) struct Scorer<'a> {
    model: &'a Model,
    buffers: &'a mut ScoringBuffers,
    stride: usize,
    width: usize, // length of a token's edge scores, 0 without edge attributes
    interrupt: &'a Interrupt,
}

impl<'a> Scorer<'a> {
    /// Creates a scorer of a sentence, whose tokens have `stride` node scores and `width` edge
    /// scores.
    pub fn new(
        model: &'a Model,
        buffers: &'a mut ScoringBuffers,
        [stride, width]: [usize; 2],
        interrupt: &'a Interrupt,
    ) -> Self {
        buffers.clear();
        Self { model, buffers, stride, width, interrupt }
    }

    /// Returns whether a sentence of `tokens` tokens is passed in bundles. The order of summation,
    /// and so the bits, depend on it.
    pub fn takes_bundles(&self, tokens: usize) -> bool {
        self.stride <= MAX_BUNDLED_LABELS && tokens <= MAX_BUNDLED_TOKENS
    }

    /// Returns the batch that an attribute belongs to.
    #[inline(always)]
    fn batch(&mut self, kind: AttributeKind) -> &mut AttributeBatch {
        match self.buffers.in_bundle {
            true => &mut self.buffers.bundled,
            false => &mut self.buffers.batches[kind as usize],
        }
    }

    #[inline(always)]
    fn push(&mut self, kind: AttributeKind, attribute: &Attribute<'_>, value: f64) {
        match attribute.memo().map_or(0, Cell::get) {
            0 => self.push_unknown(kind, attribute, value),
            ABSENT => {}
            memo => self.batch(kind).attributes.push((memo, value)),
        }
    }

    /// Adds an attribute whose memo cell, if it has one, is empty. The cell is filled when the
    /// attribute comes up again and the cache has its memo.
    #[inline(never)]
    fn push_unknown(&mut self, kind: AttributeKind, attribute: &Attribute<'_>, value: f64) {
        let key = attribute.key();
        let batch = self.batch(kind);
        let Some(cell) = attribute.memo() else { return batch.push_key(key, value) };
        match batch.cached(key) {
            0 => batch.push_key(key, value),
            memo => {
                cell.set(memo);
                if memo != ABSENT {
                    batch.attributes.push((memo, value));
                }
            }
        }
    }

    /// Adds the weights of all attributes, in the order in which they were added, to the scores of
    /// their tokens.
    pub fn finish(self, scores: &mut SentenceScores) -> Result<()> {
        let SentenceScores { nodes, edges, .. } = scores;
        let interrupt = self.interrupt;
        let ScoringBuffers { batches, rows, bundled, sums, .. } = self.buffers;
        let node = [self.stride; 2];
        let table = self.model.table(AttributeKind::Node);
        bundled.add_weights(table, rows, node, sums.new_scores(), interrupt)?;
        sums.add_to(nodes);
        let [of_nodes, of_edges] = batches;
        of_nodes.add_weights(table, rows, node, nodes, interrupt)?;
        let table = self.model.table(AttributeKind::Edge);
        of_edges.add_weights(table, rows, [self.stride, self.width], edges, interrupt)
    }
}

impl AttributeSink for Scorer<'_> {
    #[inline(always)]
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.push(AttributeKind::Node, attribute, value);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        // No edge leads into the first token.
        let batch = &self.buffers.batches[AttributeKind::Edge as usize];
        if !batch.ends.is_empty() && self.width > 0 {
            self.push(AttributeKind::Edge, attribute, value);
        }
    }
}

impl BundleSink for Scorer<'_> {
    fn start_sentence(&mut self, generation: u64, keys: &[BundleKey]) {
        self.buffers.sums.start_sentence(generation, self.stride, keys);
    }

    #[inline(always)]
    fn start_bundle(&mut self, index: usize, key: BundleKey) -> bool {
        let is_new = self.buffers.sums.insert(index, key);
        self.buffers.in_bundle = is_new;
        is_new
    }

    fn end_bundle(&mut self) {
        let bundled = &mut self.buffers.bundled;
        bundled.ends.push(bundled.attributes.len());
        self.buffers.in_bundle = false;
    }
}

impl TokenSink for Scorer<'_> {
    fn end_token(&mut self, _t: usize) -> Result<()> {
        self.interrupt.check()?;
        for batch in &mut self.buffers.batches {
            batch.ends.push(batch.attributes.len());
        }
        Ok(())
    }
}
