//! What readers changed in their inputs, and what they decided about them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Place;

/// A kind of change that readers make, for a message: `one` or `many` things, and their fate.
#[derive(Debug, PartialEq, Eq)]
pub struct Repair {
    /// One changed thing, such as `place is no text`.
    pub one: &'static str,
    /// Several changed things, such as `places are no text`.
    pub many: &'static str,
    /// Their fate, such as `left out`.
    pub fate: &'static str,
}

impl Repair {
    /// Places where bytes that are no text became U+FFFD.
    pub const REPLACED: Self =
        Self { one: "place is no text", many: "places are no text", fate: "U+FFFD stands there" };
}

/// Something that was changed or decided.
#[derive(Debug)]
struct Entry {
    what: What,
    count: u64,
    first: Option<Place>, // without one, it was changed as an option allows
    is_warning: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    /// Things that are counted.
    Counted(&'static Repair),
    /// Something else, which is said once of each place.
    Said(String, Place),
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
            self.count_from(What::Counted(repair), places, || None, false);
        }
    }

    /// Counts a line with a repair. The notice names the first one.
    pub fn add_at(&self, repair: &'static Repair, file: &str, line: u64) {
        self.count_from(What::Counted(repair), 1, || Some(Place::line(file, line)), false);
    }

    /// Counts a line with something that is kept, but most likely is a mistake.
    pub fn warn_at(&self, kept: &'static Repair, file: &str, line: u64) {
        self.count_from(What::Counted(kept), 1, || Some(Place::line(file, line)), true);
    }

    /// Adds what was decided about a place, once.
    pub fn say(&self, place: Place, text: impl Into<String>) {
        self.count_from(What::Said(text.into(), place.clone()), 1, || Some(place), false);
    }

    /// Adds a warning, once: what is there is read, but most likely means something else.
    pub fn warn(&self, place: Place, text: impl Into<String>) {
        self.count_from(What::Said(text.into(), place.clone()), 1, || Some(place), true);
    }

    /// Counts places; `first` tells where the first one is, which is asked only of that one.
    fn count_from(
        &self,
        what: What,
        places: u64,
        first: impl FnOnce() -> Option<Place>,
        is_warning: bool,
    ) {
        let mut entries = self.entries();
        match entries.iter_mut().find(|entry| entry.what == what) {
            Some(entry) => entry.count += places,
            None => entries.push(Entry { what, count: places, first: first(), is_warning }),
        }
    }

    /// The number of places of a repair.
    pub fn count(&self, repair: &'static Repair) -> u64 {
        let what = What::Counted(repair);
        self.entries().iter().find(|entry| entry.what == what).map_or(0, |entry| entry.count)
    }

    /// Sentences that say what was changed and decided, for a user; none if nothing was.
    pub fn notices(&self) -> Vec<String> {
        self.notices_of(|_| true)
    }

    /// The notices of what was changed as an option allows, such as text that was replaced: what is
    /// said even by who is to be quiet.
    pub fn losses(&self) -> Vec<String> {
        self.notices_of(|entry| entry.first.is_none())
    }

    /// The notices that a program which prints nothing should hand on: all but those of lines that
    /// were read as an option says.
    pub fn unexpected(&self) -> Vec<String> {
        self.notices_of(|entry| entry.is_warning || entry.first.is_none())
    }

    fn notices_of(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<String> {
        self.entries().iter().filter(|entry| wanted(entry)).map(Entry::notice).collect()
    }

    /// The warnings but some: the first place of each, and what is there.
    pub fn warnings_but(&self, known: &[Repair]) -> Vec<(Place, String)> {
        let entries = self.entries();
        let is_known = |entry: &Entry| match &entry.what {
            What::Counted(repair) => known.contains(repair),
            What::Said(..) => false,
        };
        let warnings = entries.iter().filter(|entry| entry.is_warning && !is_known(entry));
        warnings.filter_map(|entry| Some((entry.first.clone()?, entry.text()))).collect()
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// What was changed or decided.
    fn text(&self) -> String {
        match &self.what {
            What::Counted(Repair { one, many, fate }) => {
                let what = if self.count == 1 { one } else { many };
                format!("{} {what}: {fate}", self.count)
            }
            What::Said(text, _) => text.clone(),
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
        report.add(&Repair::REPLACED, 0);
        assert!(report.notices().is_empty());
        report.clone().add(&Repair::REPLACED, 2);
        report.add(&DROPPED, 1);
        assert_eq!(
            report.notices(),
            ["2 places are no text: U+FFFD stands there", "1 span cuts a token: left out"]
        );
        assert_eq!([report.count(&Repair::REPLACED), report.count(&DROPPED)], [2, 1]);
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
