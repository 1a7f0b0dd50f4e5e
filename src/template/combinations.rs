//! The attributes of a template line at a token: all combinations of the values of its terms.

use std::ops::Range;

use super::attribute::Attribute;
use super::compiled::{CompiledTemplate, CompiledTerm};
use super::extractor::AttributeSink;
use super::workspace::Workspace;

impl CompiledTerm {
    /// Returns the indices of the values at token `t`.
    #[inline(always)]
    fn values(&self, t: usize, ws: &Workspace) -> Range<u32> {
        ws.cell_value_range(ws.cell_index(self.function, self.position.resolve(t, ws.tokens)))
    }
}

impl CompiledTemplate {
    /// Passes the attributes of token `t` to `sink`.
    #[inline(always)]
    pub(super) fn extract(
        &self,
        t: usize,
        ws: &Workspace,
        combination: &mut Vec<u32>,
        sink: &mut impl AttributeSink,
    ) {
        let edge = self.edge && t > 0;
        if !(self.node || edge) || !(self.conditions.is_empty() || self.applies(t, ws)) {
            return;
        }
        let mut emit = |attribute: &Attribute<'_>, value: f64| {
            if self.node {
                sink.node(attribute, value);
            }
            if edge {
                sink.edge(attribute, value);
            }
        };
        let mut emit = |values: &[u32], weight: f64| {
            emit(&Attribute::from_template(self, values, ws), weight);
        };
        for_each_combination(&self.terms, t, ws, combination, &mut emit);
    }

    /// Returns whether all conditions hold at token `t`.
    fn applies(&self, t: usize, ws: &Workspace) -> bool {
        self.conditions.iter().all(|condition| {
            let position = condition.position.resolve(t, ws.tokens);
            ws.values_at(condition.function, position).is_empty() == condition.negated
        })
    }
}

/// Passes every combination of values of `terms` at token `t`, with the product of their weights,
/// to `emit`. `scratch` is empty before and after.
#[inline(always)]
fn for_each_combination(
    terms: &[CompiledTerm],
    t: usize,
    ws: &Workspace,
    scratch: &mut Vec<u32>,
    emit: &mut impl FnMut(&[u32], f64),
) {
    match terms {
        [term] => {
            for value in term.values(t, ws) {
                emit(&[value], ws.value(value).weight);
            }
        }
        [first, second] => {
            let seconds = second.values(t, ws);
            for a in first.values(t, ws) {
                for b in seconds.clone() {
                    emit(&[a, b], ws.value(a).weight * ws.value(b).weight);
                }
            }
        }
        [first, second, third] => {
            let (seconds, thirds) = (second.values(t, ws), third.values(t, ws));
            for a in first.values(t, ws) {
                for b in seconds.clone() {
                    let weight = ws.value(a).weight * ws.value(b).weight;
                    for c in thirds.clone() {
                        emit(&[a, b, c], weight * ws.value(c).weight);
                    }
                }
            }
        }
        terms => {
            let values = scratch;
            Expansion {
                t,
                ws,
                values,
                emit,
            }
            .expand(terms, 1.0);
        }
    }
}

/// The enumeration of all combinations of values for a template with many terms.
struct Expansion<'a, F> {
    t: usize,
    ws: &'a Workspace,
    /// The values of the terms so far.
    values: &'a mut Vec<u32>,
    emit: &'a mut F,
}

impl<F: FnMut(&[u32], f64)> Expansion<'_, F> {
    /// Emits all combinations for the remaining `terms`; `weight` is the product of the weights so
    /// far.
    fn expand(&mut self, terms: &[CompiledTerm], weight: f64) {
        let Some((term, rest)) = terms.split_first() else {
            (self.emit)(self.values, weight);
            return;
        };
        for value in term.values(self.t, self.ws) {
            self.values.push(value);
            self.expand(rest, weight * self.ws.value(value).weight);
            self.values.pop();
        }
    }
}
