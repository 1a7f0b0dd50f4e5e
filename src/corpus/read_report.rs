//! What readers changed in their inputs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what readers changed or left out, as the options allowed. Copies share their counts, so
/// that the one in [`ReadOptions`](super::ReadOptions) shows those of all readers with it.
#[derive(Clone, Debug, Default)]
pub struct ReadReport(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    replaced: AtomicU64,
    expanded: AtomicU64,
    dropped: AtomicU64,
    rejected: AtomicU64,
    alternatives: AtomicU64,
}

impl ReadReport {
    /// The number of places where bytes that are no text became U+FFFD.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.0.replaced.load(Ordering::Relaxed)
    }

    /// The number of annotated spans that were extended to whole tokens.
    #[must_use]
    pub fn expanded(&self) -> u64 {
        self.0.expanded.load(Ordering::Relaxed)
    }

    /// The number of annotated spans that were left out, since they cut tokens.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// The number of texts that were left out, since they are not annotated, or their annotators
    /// rejected or skipped them.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.0.rejected.load(Ordering::Relaxed)
    }

    /// The number of texts with several annotations, of which the first was read.
    #[must_use]
    pub fn alternatives(&self) -> u64 {
        self.0.alternatives.load(Ordering::Relaxed)
    }

    /// Sentences that say what was changed, for a user; none if nothing was.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let plural = |n: u64, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let counts = [
            (
                self.replaced(),
                "place is no text",
                "places are no text",
                "U+FFFD stands there",
            ),
            (
                self.expanded(),
                "span cuts a token",
                "spans cut tokens",
                "extended to whole tokens",
            ),
            (
                self.dropped(),
                "span cuts a token",
                "spans cut tokens",
                "left out",
            ),
            (
                self.rejected(),
                "text is not annotated, or was rejected or skipped",
                "texts are not annotated, or were rejected or skipped",
                "left out",
            ),
            (
                self.alternatives(),
                "text has several annotations",
                "texts have several annotations",
                "the first of each is read",
            ),
        ];
        let found = counts.into_iter().filter(|(n, ..)| *n > 0);
        found
            .map(|(n, one, many, fate)| format!("{}: {fate}", plural(n, one, many)))
            .collect()
    }

    /// Counts places that are no text and were replaced.
    pub fn add_replaced(&self, places: u64) {
        self.0.replaced.fetch_add(places, Ordering::Relaxed);
    }

    pub(super) fn add_expanded(&self) {
        self.0.expanded.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_dropped(&self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_rejected(&self) {
        self.0.rejected.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_alternatives(&self) {
        self.0.alternatives.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_changed_is_said() {
        let report = ReadReport::default();
        assert!(report.notices().is_empty());
        report.clone().add_replaced(2);
        report.add_dropped();
        assert_eq!(
            report.notices(),
            [
                "2 places are no text: U+FFFD stands there",
                "1 span cuts a token: left out"
            ]
        );
    }
}
