//! Template lines compiled for extraction.

use std::sync::Arc;

use super::ast::Position;
use crate::fingerprint::Fragment;

/// A template line whose terms refer to bound functions.
#[derive(Clone, Debug)]
pub(super) struct CompiledTemplate {
    pub node: bool,
    pub edge: bool,
    pub head: Arc<[u8]>,
    /// Fingerprint of `head`.
    pub head_fingerprint: u64,
    pub terms: Vec<CompiledTerm>,
    /// Whether `|` and `\` are escaped in values.
    pub escape: bool,
    pub conditions: Vec<CompiledCondition>,
    /// The group of lines with the same options.
    pub group: u32,
    /// Which of its value's memos belongs to this template, if any.
    pub memo: Option<u32>,
}

/// A term and the literal text after its value in the attribute name.
#[derive(Clone, Debug)]
pub(super) struct CompiledTerm {
    /// Index of the bound function.
    pub function: usize,
    pub position: Position,
    pub literal: Arc<[u8]>,
    pub literal_fragment: Fragment,
}

/// A condition: whether a bound flag is set at a position.
#[derive(Clone, Debug)]
pub(super) struct CompiledCondition {
    /// Index of the bound function.
    pub function: usize,
    pub position: Position,
    pub negated: bool,
}
