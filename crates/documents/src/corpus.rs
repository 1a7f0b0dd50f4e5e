//! Documents in memory: the values of their features, with their classes.

use std::borrow::Cow;
use std::sync::Arc;

use dropchain::kernel::extract::{Alphabet, SparseRows};
use dropchain::kernel::fingerprint::Fingerprinter;
use dropchain::kernel::memory::input_over_limit;
use dropchain::template::Attribute;
use dropchain::{Error, Place, Result};

use crate::options::DocumentOptions;
use crate::{FeatureOptions, Instance, InstanceContent};

/// Number of places that a notice lists.
const LISTED: usize = 3;

/// Number of characters of a class that a message shows.
const LONGEST_NAME: usize = 40;

/// The largest value of a feature.
const LARGEST: f64 = 1e30;

/// Documents with D features, 4 bytes for each feature of a document, 12 if any value is not 1.
#[derive(Clone, Debug, Default)]
pub struct DocumentCorpus {
    pub(crate) names: Arc<Alphabet>,      // of features
    pub(crate) rows: SparseRows,          // [N][D]
    pub(crate) targets: Vec<Option<u32>>, // [N] numbers of classes
    pub(crate) weights: Vec<f64>,         // [N]
    /// The classes, in the order of their first documents.
    pub classes: Vec<ClassCount>,
    empty: Vec<Place>, // documents without features
}

/// A class in a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassCount {
    /// Name of the class.
    pub name: String,
    /// The number of its documents.
    pub documents: u64,
    /// Where the first one is.
    pub first: Place,
}

impl DocumentCorpus {
    /// Returns the number of documents.
    pub fn documents(&self) -> usize {
        self.targets.len()
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.names.len()
    }

    /// Adds documents to train on with these options, such as those of an
    /// [`InstanceReader`](crate::InstanceReader). Documents without a label are for the noise term
    /// alone.
    ///
    /// # Errors
    ///
    /// The errors of reading; [`Error::Input`] with the place of the document: it is a text and
    /// should have features, or the other way round; a value is too large; memory is exhausted.
    pub fn add(
        &mut self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        options: &DocumentOptions,
    ) -> Result<()> {
        for document in documents {
            let document = document?;
            let target = document.label.as_ref().map(|label| self.count(label, document.place()));
            let features = features(&document, options.features.as_ref())?;
            let at = |error: Error| Error::input(document.place(), error.to_string());
            self.push(&features, target, 1.0).map_err(at)?;
            if features.iter().all(|(_, value)| *value == 0.0) {
                self.empty.push(document.place());
            }
            let limit = options.memory.bytes(0);
            if self.memory() as u64 > limit {
                let what = "the documents up to here need";
                return Err(input_over_limit(document.place(), what, limit, "fewer documents"));
            }
        }
        Ok(())
    }

    /// Adds a document with its features, of class number `class`, and a weight. Classes are
    /// numbered from 0; `None` is for the noise term alone.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if a value is too large.
    pub fn add_row(
        &mut self,
        features: &[(String, f64)],
        class: Option<usize>,
        weight: f64,
    ) -> Result<()> {
        if let Some(number) = class {
            while self.classes.len() <= number {
                let (name, first) = (self.classes.len().to_string(), Place::file("X"));
                self.classes.push(ClassCount { name, documents: 0, first });
            }
            self.classes[number].documents += 1;
        }
        self.push(features, class.map(|number| number as u32), weight)
    }

    fn push(&mut self, features: &[(String, f64)], class: Option<u32>, weight: f64) -> Result<()> {
        let mut row = Vec::with_capacity(features.len());
        let names = Arc::make_mut(&mut self.names);
        for &(ref name, value) in features {
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(Error::parameter(format!(
                    "the feature {name} has the value {value}; expected a number of at most \
                     {LARGEST:e}"
                )));
            }
            let feature = Attribute::named(name.as_bytes(), Fingerprinter::default());
            row.push((names.intern(&feature)?.0, value));
        }
        self.rows.push_row(&mut row);
        self.targets.push(class);
        self.weights.push(weight);
        Ok(())
    }

    /// Counts the class of a document, and returns its number.
    fn count(&mut self, label: &str, first: Place) -> u32 {
        let found = self.classes.iter().position(|class| class.name == label);
        let number = found.unwrap_or(self.classes.len());
        if found.is_none() {
            self.classes.push(ClassCount { name: label.to_owned(), documents: 0, first });
        }
        self.classes[number].documents += 1;
        number as u32
    }

    /// Returns the documents with these numbers, which may be missing features and classes of the
    /// others, with all features and classes.
    pub(crate) fn subset(&self, documents: &[usize]) -> Self {
        let mut rows = SparseRows::default();
        let mut row = Vec::new();
        for &n in documents {
            row.clear();
            row.extend(self.rows.entries(n));
            rows.push_row(&mut row);
        }
        let targets = documents.iter().map(|&n| self.targets[n]).collect();
        let weights = documents.iter().map(|&n| self.weights[n]).collect();
        let (names, classes) = (Arc::clone(&self.names), self.classes.clone());
        Self { names, rows, targets, weights, classes, empty: Vec::new() }
    }

    /// Returns the documents without features that occur in fewer than `count` of them.
    pub(crate) fn without_rare(&self, count: usize) -> Cow<'_, Self> {
        if count <= 1 {
            return Cow::Borrowed(self);
        }
        let mut occurrences = vec![0; self.features()];
        for n in 0..self.rows.len() {
            self.rows.entries(n).for_each(|(j, _)| occurrences[j as usize] += 1);
        }
        let mut names = Alphabet::clone(&self.names);
        let numbers = names.retain(|feature| occurrences[feature.index()] >= count);
        let rows = self.rows.map_columns(|column| numbers[column as usize], |_, value| value);
        Cow::Owned(Self { names: Arc::new(names), rows, ..self.clone() })
    }

    /// Returns the memory usage in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.rows.memory() + 16 * self.targets.capacity() + self.names.memory()
    }

    /// Checks that there are two classes, and that they are no texts: one of them occurs twice.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the place of the first document if all are of one class, or three or
    /// more each of its own; [`Error::Parameter`] if there are no documents.
    pub fn check_classes(&self) -> Result<()> {
        match &self.classes[..] {
            [] => Err(Error::parameter("there are no documents to train on")),
            [class] => Err(Error::input(
                class.first.clone(),
                format!("all documents are of the class '{}'; expected two classes", class.name),
            )),
            [class, _, _, ..] if self.classes.iter().all(|class| class.documents == 1) => {
                let (place, count) = (class.first.clone(), self.classes.len());
                let message = format!(
                    "all {count} documents are of different classes, such as '{}'; expected \
                     classes of several documents (is the class where the text should be?)",
                    class.name.chars().take(LONGEST_NAME).collect::<String>().escape_debug()
                );
                Err(Error::input(place, message))
            }
            _ => Ok(()),
        }
    }

    /// Says which documents have no features, if any.
    pub fn notice_of_empty(&self) -> Option<String> {
        let documents = match self.empty.len() {
            0 => return None,
            1 => "1 document has".to_owned(),
            n => format!("{n} documents have"),
        };
        let listed: Vec<String> = self.empty.iter().take(LISTED).map(Place::to_string).collect();
        let more = if self.empty.len() > LISTED { ", …" } else { "" };
        Some(format!("{documents} no features: {}{more}", listed.join(", ")))
    }

    /// Says which classes occur in development documents alone.
    pub fn notices_of_unseen<'c>(&'c self, dev: &'c Self) -> impl Iterator<Item = String> + 'c {
        let known = |class: &ClassCount| self.classes.iter().any(|own| own.name == class.name);
        let unseen = dev.classes.iter().filter(move |class| !known(class));
        unseen.map(|ClassCount { name, documents, first }| {
            let noun = if *documents == 1 { "document" } else { "documents" };
            format!(
                "{first}: the class '{name}' does not occur in the training data; its {documents} \
                 development {noun} count as errors"
            )
        })
    }

    /// Says which classes are smaller than the number of folds.
    pub fn notices_of_folds(&self, folds: usize) -> impl Iterator<Item = String> {
        let small = move |class: &&ClassCount| class.documents < folds as u64;
        self.classes.iter().filter(small).map(move |ClassCount { name, documents, first }| {
            let (noun, never) = match documents {
                1 => ("document", ", and it is never trained where it is scored"),
                _ => ("documents", ""),
            };
            format!(
                "{first}: the class '{name}' has {documents} {noun}; with {folds} folds, some have \
                 none of it{never}"
            )
        })
    }
}

/// Returns the features of a document with their values: those of its text, if there are options,
/// or its own.
///
/// # Errors
///
/// [`Error::Input`] if the document is of the other kind.
pub(crate) fn features<'d>(
    document: &'d Instance,
    options: Option<&FeatureOptions>,
) -> Result<Cow<'d, [(String, f64)]>> {
    let (found, expected) = match (&document.content, options) {
        (InstanceContent::Text(text), Some(options)) => return Ok(options.extract(text).into()),
        (InstanceContent::Features(features), None) => return Ok(features.into()),
        (InstanceContent::Text(_), None) => ("a text", "features"),
        (InstanceContent::Features(_), Some(_)) => ("features", "a text"),
    };
    let message = format!("found {found}; expected {expected}, as the model was trained on");
    Err(Error::input(document.place(), message))
}
