//! Errors by kind and by the types involved.

use std::collections::BTreeMap;

use dropchain::label::Span;

use super::errors::{ErrorKind, SpanError};

/// Counts errors by kind, gold type and predicted type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    kinds: [u64; ErrorKind::ALL.len()],
    /// Number of errors by the gold type, `None` where nothing should have been predicted, and the
    /// predicted type, `None` where the gold span was missed. If both are the same, the boundaries
    /// were wrong.
    pub types: BTreeMap<(Option<String>, Option<String>), u64>,
}

impl ErrorCounts {
    /// Counts an error.
    pub fn add(&mut self, error: &SpanError<'_>) {
        self.kinds[error.kind as usize] += 1;
        let name = |span: &Option<Span<'_>>| span.as_ref().map(|span| span.kind.to_owned());
        let types = (name(&error.gold), name(&error.predicted));
        *self.types.entry(types).or_default() += 1;
    }

    /// Number of errors of a kind.
    pub fn count(&self, kind: ErrorKind) -> u64 {
        self.kinds[kind as usize]
    }

    /// Number of errors.
    pub fn total(&self) -> u64 {
        self.kinds.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span_errors;

    #[test]
    fn errors_are_counted_by_kind_and_by_types() {
        let mut counts = ErrorCounts::default();
        for (gold, predicted) in [
            (["B-X", "O", "B-Y"], ["B-Y", "O", "O"]),
            (["B-X", "I-X", "O"], ["O", "B-X", "B-X"]),
            (["B-X", "O", "O"], ["B-Y", "O", "O"]),
        ] {
            let errors = span_errors(&gold, &predicted);
            errors.iter().for_each(|error| counts.add(error));
        }
        let kinds = ErrorKind::ALL.map(|kind| counts.count(kind));
        assert_eq!(kinds, [1, 1, 2, 1, 0]);
        assert_eq!(counts.total(), 5);
        let types: Vec<_> = (counts.types.iter())
            .map(|((gold, predicted), &count)| (gold.as_deref(), predicted.as_deref(), count))
            .collect();
        assert_eq!(
            types,
            [
                (None, Some("X"), 1),
                (Some("X"), Some("X"), 1),
                (Some("X"), Some("Y"), 2),
                (Some("Y"), None, 1),
            ]
        );
    }
}
