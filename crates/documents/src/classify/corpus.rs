//! Documents as features in memory.

use dropchain::error::Place;
use dropchain::train::AttributeCorpus;

use crate::Instance;

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
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns where the documents are that have no features.
    #[must_use]
    pub fn without_features(&self) -> &[Place] {
        &self.empty
    }

    /// Returns the classes in the order of their first documents: their names, their numbers of
    /// documents, and where the first ones are.
    pub fn classes(&self) -> impl Iterator<Item = (&str, u64, &Place)> {
        let classes = self.classes.iter();
        classes.map(|class| (class.name.as_str(), class.documents, &class.first))
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
