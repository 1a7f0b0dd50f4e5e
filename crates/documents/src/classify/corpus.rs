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
    pub(super) classes: Vec<ClassCount>,
    pub(super) empty: Vec<Place>,
}

/// A class in a corpus.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClassCount {
    pub name: String,
    pub documents: u64,
    pub first: Place,
}

impl InstanceCorpus {
    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns where the documents are that have no features.
    pub fn without_features(&self) -> &[Place] {
        &self.empty
    }

    /// Returns the classes in the order of their first documents: their names, their numbers of
    /// documents, and where the first ones are.
    pub fn classes(&self) -> impl Iterator<Item = (&str, u64, &Place)> {
        let classes = self.classes.iter();
        classes.map(|class| (class.name.as_str(), class.documents, &class.first))
    }

    /// Says which documents have no features, if any.
    pub fn notice_of_empty(&self) -> Option<String> {
        let documents = match self.empty.len() {
            0 => return None,
            1 => "1 document has".to_owned(),
            n => format!("{n} documents have"),
        };
        let listed: Vec<String> = self
            .empty
            .iter()
            .take(LISTED)
            .map(Place::to_string)
            .collect();
        let more = if self.empty.len() > LISTED {
            ", …"
        } else {
            ""
        };
        let listed = listed.join(", ");
        Some(format!("{documents} no features: {listed}{more}"))
    }

    /// Says which classes occur in development documents alone.
    pub fn notices_of_unseen<'c>(&'c self, dev: &'c Self) -> impl Iterator<Item = String> + 'c {
        let known = |name: &str| self.classes().any(|(known, ..)| known == name);
        let unseen = dev.classes().filter(move |(name, ..)| !known(name));
        unseen.map(|(name, count, first)| {
            format!(
                "{first}: the class '{name}' does not occur in the training data; its {count} \
                 development {} count as errors",
                documents(count)
            )
        })
    }

    /// Says which classes are smaller than the number of folds.
    pub fn notices_of_folds(&self, folds: u32) -> impl Iterator<Item = String> {
        let small = self
            .classes()
            .filter(move |(_, count, _)| *count < u64::from(folds));
        small.map(move |(name, count, first)| {
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
