//! Checking a corpus before training: what is in it, and what is wrong with it.
//!
//! [`Check::read`] reads files to their end, whatever is wrong with them. [`Check::report`] has
//! sizes, labels, the label scheme with the reason for it, and [findings](Finding) of all kinds,
//! with their places. [`variations`] finds phrases whose labels differ from place to place, and
//! [`suspicious`] sentences whose labels models trained on the rest of the corpus find improbable;
//! [`suspicious_by`] predictions of such models.
//!
//! ```no_run
//! use dropchain_check::{Check, Role, Severity};
//!
//! # fn main() -> dropchain::Result<()> {
//! let files = [(Role::Train, "train.conll"), (Role::Test, "test.conll")];
//! let report = Check::read(&files, Default::default())?.report();
//! for finding in report.findings.iter().filter(|f| f.severity == Severity::Error) {
//!     println!("{}: {}", finding.kind.title(), finding.count);
//! }
//! # Ok(())
//! # }
//! ```

mod cells;
mod characters;
mod duplicates;
mod finding;
mod labels;
mod outcome;
mod reading;
mod scan;
mod sentences;
mod sizes;
mod suspicious;
#[cfg(test)]
mod tests;
mod variation;

use std::ffi::OsStr;

use dropchain::kernel::corpus::{check_sources, files_of};
use dropchain::{Result, Template, corpus::Corpus, sentence::Sentence, train::TrainOptions};
pub use duplicates::Overlap;
use finding::Findings;
pub use finding::{Example, Finding, FindingKind, Severity};
pub use labels::{LabelCount, LabelReport, SchemeFit};
pub use outcome::Outcome;
pub use reading::CheckOptions;
use reading::FileReading;
pub use sentences::Role;
use sentences::Sentences;
use sizes::Known;
pub use sizes::Sizes;
pub use suspicious::{SuspicionOptions, SuspiciousSentence, suspicious, suspicious_by};
pub use variation::{Variation, VariationLabel, variations};

/// A corpus that is checked: its sentences, as far as they can be read, and what was found while
/// reading.
#[derive(Debug)]
pub struct Check {
    sentences: Sentences,
    files: [usize; 3],
    findings: Findings,
    options: CheckOptions,
}

/// Contents and problems of a corpus.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CheckReport {
    /// Sizes of the data of each role that has files.
    pub sizes: Vec<Sizes>,
    /// How the data of these roles overlap.
    pub overlaps: Vec<Overlap>,
    /// The labels.
    pub labels: LabelReport,
    /// Findings, errors first.
    pub findings: Vec<Finding>,
}

impl Check {
    /// Reads files; `-` is standard input.
    ///
    /// # Errors
    ///
    /// A file does not exist or cannot be opened; the sentences exceed the memory limit. All other
    /// problems are [findings](CheckReport::findings).
    pub fn read<S: AsRef<OsStr>>(files: &[(Role, S)], options: CheckOptions) -> Result<Self> {
        let sources: Vec<&OsStr> = files.iter().map(|(_, file)| file.as_ref()).collect();
        check_sources(&sources)?;
        let mut reading = FileReading::new(&options.read, Findings::new(options.examples));
        let mut sentences = Sentences::new();
        let mut counts = [0; 3];
        for (role, file) in files {
            counts[*role as usize] += 1;
            let of_role = sentences.entry(*role).or_default();
            for file in files_of(file.as_ref(), &options.read)? {
                reading.read(*role, &file, of_role)?;
            }
        }
        Ok(Self { sentences, files: counts, findings: reading.findings, options })
    }

    /// Takes sentences that are in memory.
    pub fn of_corpora(corpora: Vec<(Role, Corpus)>, options: CheckOptions) -> Self {
        let mut sentences = Sentences::new();
        for (role, corpus) in corpora {
            sentences.entry(role).or_default().extend(corpus.into_sentences());
        }
        Self { sentences, files: [0; 3], findings: Findings::new(options.examples), options }
    }

    /// The sentences of a role that can be read, document boundaries included.
    pub fn sentences(&self, role: Role) -> &[Sentence] {
        self.sentences.get(&role).map_or(&[], Vec::as_slice)
    }

    /// Takes the sentences of a role.
    pub fn take_corpus(&mut self, role: Role) -> Corpus {
        self.sentences.remove(&role).unwrap_or_default().into()
    }

    /// Looks at the corpus.
    pub fn report(&self) -> CheckReport {
        let mut findings = self.findings.clone();
        let labels = LabelReport::new(&self.sentences, &self.options, &mut findings);
        cells::check(&self.sentences, &mut findings);
        let overlaps = duplicates::find(&self.sentences, &mut findings);
        let mut known = Known::default();
        let sizes = self.sentences.iter().map(|(&role, sentences)| {
            let files = self.files[role as usize];
            Sizes::new(role, files, sentences, &labels, &mut known)
        });
        CheckReport { sizes: sizes.collect(), overlaps, findings: findings.finish(), labels }
    }
}

impl CheckReport {
    /// Returns the shipped template for models that look for suspicious sentences
    /// ([`Template::shipped_for`]).
    pub fn default_template(&self, corpus: &Corpus) -> Option<&'static str> {
        Template::shipped_for(corpus.sentences(), self.labels.spans)
    }

    /// Returns how these models are trained: labels are read as in the whole corpus, whatever those
    /// of a part of it look like.
    pub fn train_options(&self) -> TrainOptions {
        let mut options = TrainOptions::default();
        options.labels.read_like(self.labels.scheme);
        options
    }

    /// The number of kinds of findings of a severity.
    pub fn kinds(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}
