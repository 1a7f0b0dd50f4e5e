//! All that a check found, as text and as JSON.

use dropchain::Template;
use dropchain::corpus::Corpus;
use dropchain::train::TrainOptions;
use dropchain_layout::without_paint;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::report_text::{format_report, format_variations};
use super::suspicious_text::{SuspiciousRecord, format_suspicious};
use super::{CheckReport, SuspiciousSentence, Variation};

/// All that a check found: the report and, as far as they were asked for, phrases with different
/// labels and sentences with suspicious ones.
#[derive(Debug)]
pub struct Outcome {
    /// The report.
    pub report: CheckReport,
    /// Phrases whose labels differ from place to place, the most suspicious first.
    pub inconsistent: Option<Vec<Variation>>,
    /// Sentences whose labels models of the other folds find improbable, the worst first.
    pub suspicious: Option<Vec<SuspiciousSentence>>,
    /// The training data, which the numbers of sentences refer to.
    pub corpus: Corpus,
}

impl Outcome {
    /// Returns a text of lines of at most `columns`, as far as words allow.
    pub fn text(&self, columns: usize) -> String {
        without_paint(&self.painted_text(columns))
    }

    /// Returns the text with escape sequences for the colors of a terminal, and no others.
    pub fn painted_text(&self, columns: usize) -> String {
        let mut text = format_report(&self.report, columns);
        if let Some(found) = &self.inconsistent {
            text.push_str(&format_variations(found, columns));
        }
        if let Some(found) = &self.suspicious {
            let labels = &self.report.labels;
            text.push_str(&format_suspicious(found, &self.corpus, labels, columns));
        }
        text
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CheckReport { sizes, overlaps, labels, findings } = &self.report;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sizes", sizes)?;
        map.serialize_entry("overlaps", overlaps)?;
        map.serialize_entry("labels", labels)?;
        map.serialize_entry("findings", findings)?;
        if let Some(found) = &self.inconsistent {
            map.serialize_entry("inconsistent", found)?;
        }
        if let Some(found) = &self.suspicious {
            let record = |found| SuspiciousRecord::new(found, &self.corpus);
            let records: Vec<_> = found.iter().map(record).collect();
            map.serialize_entry("suspicious", &records)?;
        }
        map.end()
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
}
