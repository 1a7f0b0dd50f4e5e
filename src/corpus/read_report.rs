//! What readers changed in their inputs, and what they decided about them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Place;

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

const REPLACED: Repair =
    Repair { one: "place is no text", many: "places are no text", fate: "U+FFFD stands there" };

/// Something that was changed or decided.
#[derive(Debug)]
struct Entry {
    what: What,
    first: Option<Place>,
    is_warning: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    /// Things that are counted.
    Counted(&'static Repair, u64),
    /// Something else, which is said once.
    Text(String),
}

/// Collects what readers changed or left out, as the options allowed, and what they decided about
/// an input that does not say it. Copies share their entries, so that the one in
/// [`ReadOptions`](super::ReadOptions) has those of all readers with it.
#[derive(Clone, Debug, Default)]
pub struct ReadReport(Arc<Mutex<Vec<Entry>>>);

impl ReadReport {
    /// Counts places of a repair.
    pub fn add(&self, repair: &'static Repair, places: u64) {
        if places > 0 {
            self.count_from(repair, places, false, || None);
        }
    }

    /// Counts a line with a repair. The notice names the first one.
    pub fn add_at(&self, repair: &'static Repair, file: &str, line: u64) {
        self.count_from(repair, 1, false, || Some(Place::line(file, line)));
    }

    /// Counts a line with something that is kept, but most likely is a mistake.
    pub fn warn_at(&self, kept: &'static Repair, file: &str, line: u64) {
        self.count_from(kept, 1, true, || Some(Place::line(file, line)));
    }

    fn count_from(
        &self,
        repair: &'static Repair,
        places: u64,
        is_warning: bool,
        first: impl FnOnce() -> Option<Place>,
    ) {
        let mut entries = self.entries();
        let count = entries.iter_mut().find_map(|entry| match &mut entry.what {
            What::Counted(known, count) if *known == repair => Some(count),
            _ => None,
        });
        if let Some(count) = count {
            *count += places;
            return;
        }
        entries.push(Entry { what: What::Counted(repair, places), first: first(), is_warning });
    }

    /// Adds a warning, once: what is there is read, but most likely means something else.
    pub fn warn(&self, place: Place, text: impl Into<String>) {
        let (what, first) = (What::Text(text.into()), Some(place));
        let mut entries = self.entries();
        let is_known = |entry: &Entry| entry.what == what && entry.first == first;
        if !entries.iter().any(is_known) {
            let is_warning = true;
            entries.push(Entry { what, first, is_warning });
        }
    }

    /// The number of places of a repair.
    pub fn count(&self, repair: &Repair) -> u64 {
        let counted = |entry: &Entry| match entry.what {
            What::Counted(known, count) if known == repair => Some(count),
            _ => None,
        };
        self.entries().iter().find_map(counted).unwrap_or(0)
    }

    /// Counts places where bytes that are no text became U+FFFD.
    pub fn add_replaced(&self, places: u64) {
        self.add(&REPLACED, places);
    }

    /// The number of places where bytes that are no text became U+FFFD.
    pub fn replaced(&self) -> u64 {
        self.count(&REPLACED)
    }

    /// Sentences that say what was changed and decided, for a user; none if nothing was.
    pub fn notices(&self) -> Vec<String> {
        self.entries().iter().map(Entry::notice).collect()
    }

    /// The warnings but some: the first place of each, and what is there.
    pub fn warnings_but(&self, known: &[Repair]) -> Vec<(Place, String)> {
        let entries = self.entries();
        let is_known = |entry: &Entry| match entry.what {
            What::Counted(repair, _) => known.contains(repair),
            What::Text(_) => false,
        };
        let warnings = entries.iter().filter(|entry| entry.is_warning && !is_known(entry));
        let warning = |entry: &Entry| Some((entry.first.clone()?, entry.text()));
        warnings.filter_map(warning).collect()
    }

    /// The notices of what was changed as an option allows, such as text that was replaced: what is
    /// said even by who is to be quiet.
    pub fn losses(&self) -> Vec<String> {
        let entries = self.entries();
        let losses = entries.iter().filter(|entry| entry.first.is_none());
        losses.map(Entry::notice).collect()
    }

    /// The notices that a program which prints nothing should hand on: all but those of lines that
    /// were read as an option says.
    pub fn unexpected(&self) -> Vec<String> {
        let entries = self.entries();
        let unexpected = |entry: &&Entry| entry.is_warning || entry.first.is_none();
        entries.iter().filter(unexpected).map(Entry::notice).collect()
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// What was changed or decided.
    fn text(&self) -> String {
        match &self.what {
            What::Counted(Repair { one, many, fate }, count) => {
                let what = if *count == 1 { one } else { many };
                format!("{count} {what}: {fate}")
            }
            What::Text(text) => text.clone(),
        }
    }

    /// What was changed or decided, with the first place.
    fn notice(&self) -> String {
        let text = self.text();
        let warning = if self.is_warning { "warning: " } else { "" };
        match &self.first {
            Some(place) => format!("{warning}{place}: {text}"),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DROPPED: Repair =
        Repair { one: "span cuts a token", many: "spans cut tokens", fate: "left out" };

    #[test]
    fn only_what_was_changed_is_said() {
        let report = ReadReport::default();
        report.add_replaced(0);
        assert!(report.notices().is_empty());
        report.clone().add_replaced(2);
        report.add(&DROPPED, 1);
        assert_eq!(
            report.notices(),
            ["2 places are no text: U+FFFD stands there", "1 span cuts a token: left out"]
        );
        assert_eq!([report.replaced(), report.count(&DROPPED)], [2, 1]);
    }

    #[test]
    fn the_first_place_is_named_and_a_warning_is_given_once() {
        let report = ReadReport::default();
        for line in [3, 5] {
            report.add_at(&DROPPED, "x", line);
            report.warn(Place::line("x", 1), "looks odd");
        }
        let notices = ["x:3: 2 spans cut tokens: left out", "warning: x:1: looks odd"];
        assert_eq!(report.notices(), notices);
        assert_eq!(
            report.warnings_but(&[DROPPED]),
            [(Place::line("x", 1), "looks odd".to_owned())]
        );
    }
}
