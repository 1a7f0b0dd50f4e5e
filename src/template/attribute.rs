//! Attributes of a token: the combinations of the values of the terms of compiled template lines,
//! represented by the parts of their names.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use super::ast::Position;
use super::pattern_parser::MAX_MACROS;
use super::syntax::escape_value;
use super::workspace::Workspace;
use crate::fingerprint::{self, Fingerprinter, Fragment, append};

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

/// An attribute of a token. Its name is assembled on request only.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a>(AttributeForm<'a>);

#[derive(Clone, Copy, Debug)]
enum AttributeForm<'a> {
    Named(&'a [u8], Fingerprinter),
    /// A template with one value, by index, for each of its terms.
    Template(&'a CompiledTemplate, &'a [u32], &'a Workspace),
}

impl<'a> Attribute<'a> {
    /// Creates an attribute from its name.
    pub fn named(name: &'a [u8], fingerprinter: Fingerprinter) -> Self {
        Self(AttributeForm::Named(name, fingerprinter))
    }

    /// Returns the 64-bit key of the attribute, a function of its name and the fingerprinter.
    #[inline]
    pub fn key(&self) -> u64 {
        let fingerprint = match self.0 {
            AttributeForm::Named(name, fingerprinter) => fingerprinter.fingerprint(name),
            AttributeForm::Template(template, values, ws) => {
                let terms = template.terms.iter().zip(values);
                terms.fold(template.head_fingerprint, |fingerprint, (term, &value)| {
                    let value = ws.values.get(value);
                    let fragment = if template.escape && value.needs_escape {
                        ws.values.escaped_fragment(*value)
                    } else {
                        value.fragment
                    };
                    let fingerprint = append(fingerprint, fragment);
                    if term.literal.is_empty() {
                        fingerprint
                    } else {
                        append(fingerprint, term.literal_fragment)
                    }
                })
            }
        };
        fingerprint::key(fingerprint)
    }

    /// Returns a cell, initially 0, in which a sink can memoize the result of its lookup of the
    /// attribute. It lives as long as the workspace memoizes the word. Only attributes that
    /// depend on a single word have a memo.
    #[inline]
    pub fn memo(&self) -> Option<&'a Cell<u64>> {
        match self.0 {
            AttributeForm::Template(CompiledTemplate { memo, .. }, &[value], ws) => {
                memo.map(|index| ws.values.memo(*ws.values.get(value), index))
            }
            _ => None,
        }
    }

    /// Appends the name to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.for_each_part(&mut |part| {
            out.extend_from_slice(part);
            true
        });
    }

    /// Returns whether the attribute has this name.
    pub fn has_name(&self, name: &[u8]) -> bool {
        let mut rest = Some(name);
        self.for_each_part(&mut |part| {
            rest = rest.and_then(|rest| rest.strip_prefix(part));
            rest.is_some()
        });
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// Calls `visit` with each part of the name until it returns `false`. Returns whether all
    /// parts were visited.
    #[inline]
    fn for_each_part(&self, visit: &mut impl FnMut(&[u8]) -> bool) -> bool {
        match self.0 {
            AttributeForm::Named(name, _) => visit(name),
            AttributeForm::Template(template, values, ws) => {
                let mut terms = template.terms.iter().zip(values);
                visit(&template.head)
                    && terms.all(|(term, &value)| {
                        let value = ws.values.get(value);
                        let text = ws.values.text(*value).as_bytes();
                        let proceed = if template.escape && value.needs_escape {
                            escape_value(text, visit)
                        } else {
                            visit(text)
                        };
                        proceed && (term.literal.is_empty() || visit(&term.literal))
                    })
            }
        }
    }
}

/// Receives the attributes of a token, in the order of the template lines.
///
/// A line in dropchain's own language produces an attribute at most once per token, and no other
/// line produces the same one. Lines of CRF++ and Wapiti files may produce the same attribute
/// repeatedly; its values then add up.
pub trait AttributeSink {
    /// Receives an attribute that is crossed with the label.
    fn node(&mut self, attribute: &Attribute<'_>, value: f64);
    /// Receives an attribute that is crossed with the label pair. The first token has none.
    fn edge(&mut self, attribute: &Attribute<'_>, value: f64);
}

impl CompiledTerm {
    /// Returns the indices of the values at token `t`.
    #[inline(always)]
    fn values(&self, t: usize, ws: &Workspace) -> Range<u32> {
        ws.values.cell_range(ws.cell_index(self.function, self.position.resolve(t, ws.tokens)))
    }
}

impl CompiledTemplate {
    /// Passes the attributes of token `t`, one for every combination of values of the terms, to
    /// `sink`.
    #[inline(always)]
    pub(super) fn extract(&self, t: usize, ws: &Workspace, sink: &mut impl AttributeSink) {
        let edge = self.edge && t > 0;
        if !(self.node || edge) || !(self.conditions.is_empty() || self.applies(t, ws)) {
            return;
        }
        let mut emit = |values: &[u32], weight: f64| {
            let attribute = Attribute(AttributeForm::Template(self, values, ws));
            if self.node {
                sink.node(&attribute, weight);
            }
            if edge {
                sink.edge(&attribute, weight);
            }
        };
        match &self.terms[..] {
            [term] => {
                for value in term.values(t, ws) {
                    emit(&[value], ws.values.get(value).weight);
                }
            }
            [first, second] => {
                let seconds = second.values(t, ws);
                for a in first.values(t, ws) {
                    for b in seconds.clone() {
                        emit(&[a, b], ws.values.get(a).weight * ws.values.get(b).weight);
                    }
                }
            }
            [first, second, third] => {
                let (seconds, thirds) = (second.values(t, ws), third.values(t, ws));
                for a in first.values(t, ws) {
                    for b in seconds.clone() {
                        let weight = ws.values.get(a).weight * ws.values.get(b).weight;
                        for c in thirds.clone() {
                            emit(&[a, b, c], weight * ws.values.get(c).weight);
                        }
                    }
                }
            }
            terms => {
                expand(terms, t, ws, &mut [0; MAX_MACROS][..terms.len()], 1.0, &mut emit);
            }
        }
    }

    /// Returns whether all conditions hold at token `t`.
    fn applies(&self, t: usize, ws: &Workspace) -> bool {
        self.conditions.iter().all(|condition| {
            let position = condition.position.resolve(t, ws.tokens);
            ws.values_at(condition.function, position).is_empty() == condition.negated
        })
    }
}

/// Emits all combinations of values of the remaining `terms`, given those of the terms so far, with
/// which `values` begins, and the product of their weights.
fn expand(
    terms: &[CompiledTerm],
    t: usize,
    ws: &Workspace,
    values: &mut [u32],
    weight: f64,
    emit: &mut impl FnMut(&[u32], f64),
) {
    let Some((term, rest)) = terms.split_first() else {
        emit(values, weight);
        return;
    };
    let i = values.len() - terms.len();
    for value in term.values(t, ws) {
        values[i] = value;
        expand(rest, t, ws, values, weight * ws.values.get(value).weight, emit);
    }
}
