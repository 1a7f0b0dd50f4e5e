//! Documents as features in memory.

use dropchain::error::Place;
use dropchain::train::AttributeCorpus;

use crate::Instance;

/// Number of places that a notice lists.
const LISTED: usize = 3;

/// Documents as features in memory, 4 bytes for each feature of a document, 12 if any value is not
/// 1.
#[derive(Clone, Debug, Default)]
pub struct InstanceCorpus {
    pub(super) attributes: AttributeCorpus,
    /// The classes, in the order of their first documents.
    pub classes: Vec<ClassCount>,
    pub(super) empty: Vec<Place>, // documents without features
}

/// A class in a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassCount {
    /// Its name.
    pub name: String,
    /// The number of its documents.
    pub documents: u64,
    /// Where the first one is.
    pub first: Place,
}

impl InstanceCorpus {
    /// Says which documents have no features, if any.
    pub fn notice_of_empty(&self) -> Option<String> {
        let documents = match self.empty.len() {
            0 => return None,
            1 => "1 document has".to_owned(),
            n => format!("{n} documents have"),
        };
        let listed = self.empty.iter().take(LISTED).map(Place::to_string);
        let listed: Vec<String> = listed.collect();
        let has_more = self.empty.len() > LISTED;
        let more = if has_more { ", …" } else { "" };
        let listed = listed.join(", ");
        Some(format!("{documents} no features: {listed}{more}"))
    }

    /// Says which classes occur in development documents alone.
    pub fn notices_of_unseen<'c>(&'c self, dev: &'c Self) -> impl Iterator<Item = String> + 'c {
        let known = |class: &ClassCount| self.classes.iter().any(|own| own.name == class.name);
        let unseen = dev.classes.iter().filter(move |class| !known(class));
        unseen.map(|class| {
            let (name, first, count) = (&class.name, &class.first, class.documents);
            format!(
                "{first}: the class '{name}' does not occur in the training data; its {count} \
                 development {} count as errors",
                documents(count)
            )
        })
    }

    /// Says which classes are smaller than the number of folds.
    pub fn notices_of_folds(&self, folds: u32) -> impl Iterator<Item = String> {
        let small = move |class: &&ClassCount| class.documents < u64::from(folds);
        self.classes.iter().filter(small).map(move |class| {
            let (name, first, count) = (&class.name, &class.first, class.documents);
            let never = match count {
                1 => ", and it is never trained where it is scored",
                _ => "",
            };
            let documents = documents(count);
            format!(
                "{first}: the class '{name}' has {count} {documents}; with {folds} folds, some \
                 have none of it{never}"
            )
        })
    }

    /// Counts the class of a document.
    pub(super) fn count(&mut self, document: &Instance) {
        let Some(label) = &document.label else { return };
        match self.classes.iter_mut().find(|class| class.name == *label) {
            Some(class) => class.documents += 1,
            None => self.classes.push(ClassCount {
                name: label.clone(),
                documents: 1,
                first: document.place(),
            }),
        }
    }
}

fn documents(count: u64) -> &'static str {
    match count {
        1 => "document",
        _ => "documents",
    }
}
