//! What readers changed in their inputs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What readers may change or leave out: `one` or `many` things, and what became of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Repair {
    /// What one of them is, such as `place is no text`.
    pub one: &'static str,
    /// What several are.
    pub many: &'static str,
    /// What became of them.
    pub fate: &'static str,
}

const REPLACED: Repair = Repair {
    one: "place is no text",
    many: "places are no text",
    fate: "U+FFFD stands there",
};

/// Counts what readers changed or left out, as the options allowed. Copies share their counts, so
/// that the one in [`ReadOptions`](super::ReadOptions) shows those of all readers with it.
#[derive(Clone, Debug, Default)]
pub struct ReadReport(Arc<Mutex<Vec<(&'static Repair, u64)>>>);

impl ReadReport {
    /// Counts places of a repair.
    pub fn add(&self, repair: &'static Repair, places: u64) {
        if places == 0 {
            return;
        }
        let mut counts = self.counts();
        match counts.iter_mut().find(|(known, _)| *known == repair) {
            Some((_, count)) => *count += places,
            None => counts.push((repair, places)),
        }
    }

    /// The number of places of a repair.
    pub fn count(&self, repair: &Repair) -> u64 {
        let counts = self.counts();
        let found = counts.iter().find(|(known, _)| *known == repair);
        found.map_or(0, |(_, count)| *count)
    }

    /// Counts places where bytes that are no text became U+FFFD.
    pub fn add_replaced(&self, places: u64) {
        self.add(&REPLACED, places);
    }

    /// The number of places where bytes that are no text became U+FFFD.
    pub fn replaced(&self) -> u64 {
        self.count(&REPLACED)
    }

    /// Sentences that say what was changed, for a user; none if nothing was.
    pub fn notices(&self) -> Vec<String> {
        let notice = |&(repair, count): &(&Repair, u64)| {
            let Repair { one, many, fate } = repair;
            let what = if count == 1 { one } else { many };
            format!("{count} {what}: {fate}")
        };
        self.counts().iter().map(notice).collect()
    }

    fn counts(&self) -> MutexGuard<'_, Vec<(&'static Repair, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_changed_is_said() {
        const DROPPED: Repair = Repair {
            one: "span cuts a token",
            many: "spans cut tokens",
            fate: "left out",
        };
        let report = ReadReport::default();
        report.add_replaced(0);
        assert!(report.notices().is_empty());
        report.clone().add_replaced(2);
        report.add(&DROPPED, 1);
        assert_eq!(
            report.notices(),
            [
                "2 places are no text: U+FFFD stands there",
                "1 span cuts a token: left out"
            ]
        );
        assert_eq!([report.replaced(), report.count(&DROPPED)], [2, 1]);
    }
}
