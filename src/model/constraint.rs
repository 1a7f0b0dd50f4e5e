//! From a label scheme to a constraint on decoding.

use crate::chain::Constraint;
use crate::label::{LabelSet, Scheme, SchemeConstraint};

/// Returns the constraint that restricts decoding to the legal label sequences of `scheme`; `None`
/// if every sequence is legal.
pub fn decoding_constraint(labels: &LabelSet, scheme: Scheme) -> Option<Constraint> {
    let legal = SchemeConstraint::new(labels, scheme);
    let constraint = || Constraint::new(&legal.allowed, &legal.start, &legal.end);
    legal.is_binding().then(constraint)
}
