//! From a label scheme to a constraint on decoding.

use crate::chain::Constraint;
use crate::label::{LabelSet, Labeling, SchemeConstraint};

/// Returns the constraint that restricts decoding to the legal label sequences; `None`
/// if every sequence is legal.
pub fn decoding_constraint(labels: &LabelSet, labeling: &Labeling) -> Option<Constraint> {
    let legal = SchemeConstraint::new(labels, labeling);
    let constraint = || Constraint::new(&legal.allowed, &legal.start, &legal.end);
    (labeling.strict && legal.is_binding()).then(constraint)
}
