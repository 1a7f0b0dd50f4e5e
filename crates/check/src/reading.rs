//! Reading files to their end, whatever is wrong with them.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex, PoisonError};

use super::finding::{FindingKind, Findings};
use super::scan::{LineScan, ScannedInput};
use super::sentences::Role;
use dropchain::corpus::{ReadOptions, ReadReport, Reader, Repair, TextOptions};
use dropchain::kernel::corpus::{decoded, open_stream};
use dropchain::sentence::{Schema, Sentence};
use dropchain::{Error, Place, Result, kernel::memory::input_over_limit, label::SchemeDetector};

/// Memory in bytes that the tables about a token take at most: of words, phrases and occurrences.
const TABLES_PER_TOKEN: u64 = 100;

/// How to check a corpus.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// How to read files: as for training.
    pub read: ReadOptions,
    /// How labels are read: a detector that has seen none.
    pub labels: SchemeDetector,
    /// The number of examples of each kind of problem that are kept.
    pub examples: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { read: ReadOptions::default(), labels: SchemeDetector::new(), examples: 5 }
    }
}

/// Reads files one after the other.
pub(super) struct FileReading {
    options: ReadOptions,
    pub findings: Findings,
    held: u64,                                 // memory of the sentences
    schemas: Vec<(Role, Arc<Schema>, String)>, // of the first file of each role
}

impl FileReading {
    pub fn new(options: &ReadOptions, findings: Findings) -> Self {
        Self { options: options.clone(), findings, held: 0, schemas: Vec::new() }
    }

    /// Reads a file, and adds its sentences to those of its role.
    ///
    /// # Errors
    ///
    /// The file cannot be opened; the sentences exceed the memory limit.
    pub fn read(&mut self, role: Role, file: &OsStr, sentences: &mut Vec<Sentence>) -> Result<()> {
        let name = file.to_string_lossy().into_owned();
        let findings = Findings::new(self.findings.limit);
        let scan = LineScan::new(&name, findings, self.options.text.lossy);
        let scan = Arc::new(Mutex::new(scan));
        let (stream, _) = open_stream(file)?;
        let stream = decoded(stream, &self.options).map_err(|error| Error::io(file, error))?;
        let memory = self.options.limits.memory.bytes(self.held);
        let stream = ScannedInput::new(stream, Arc::clone(&scan), memory);
        let options = ReadOptions {
            text: TextOptions { encoding: None, ..self.options.text }, // decoded already
            report: ReadReport::default(),
            ..self.options.clone()
        };
        let mut reader = Reader::from_read(Box::new(stream), &name, &options);
        let (mut has_errors, mut count) = (false, 0);
        while let Some(sentence) = reader.next_or_error() {
            let sentence = match sentence {
                Ok(sentence) => sentence,
                Err(error) => {
                    has_errors = true;
                    add_error(&mut self.findings, &name, error);
                    continue;
                }
            };
            count += u64::from(!sentence.layout.document_start);
            if count == 1 {
                self.check_columns(role, &sentence);
            }
            self.held += sentence.memory() as u64 + TABLES_PER_TOKEN * sentence.len() as u64;
            if self.held > memory {
                let what = "checking the sentences up to here needs";
                return Err(input_over_limit(sentence.place(0), what, memory, "less text"));
            }
            sentences.push(sentence);
        }
        drop(reader);
        // What is looked for in all sentences, with each place.
        let known = [Repair::ODD_LABEL, Repair::ODD_WORD];
        for (place, text) in options.report.warnings_but(&known) {
            (self.findings).add(FindingKind::DoubtfulReading, place, || text);
        }
        if let Some(scan) = Arc::into_inner(scan) {
            let scan = scan.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.findings.append(scan.finish());
        }
        if count == 0 && !has_errors {
            self.findings.add(FindingKind::NoSentences, Place::file(name), String::new);
        }
        Ok(())
    }

    /// Compares the columns of a file, by its first sentence, with those of earlier files.
    fn check_columns(&mut self, role: Role, sentence: &Sentence) {
        let schema = sentence.schema();
        if schema.label().is_none() {
            let text = || format!("the columns are: {}", schema.list());
            (self.findings).add(FindingKind::NoLabels, sentence.place(0), text);
        }
        let (kind, first) = match self.schemas.iter().find(|(of, ..)| *of == role) {
            Some(first) => (FindingKind::OtherColumns, Some(first)),
            None => (FindingKind::OtherRoleColumns, self.schemas.first()),
        };
        if let Some((_, other, file)) = first.filter(|(_, other, _)| other != schema) {
            let text = || format!("{}; in {file}: {}", schema.list(), other.list());
            self.findings.add(kind, sentence.place(0), text);
        }
        self.schemas.push((role, Arc::clone(schema), sentence.file().to_string()));
    }
}

/// Adds an error of reading.
fn add_error(findings: &mut Findings, file: &str, error: Error) {
    let unreadable = |text| (FindingKind::Unreadable, Place::file(file), text);
    let (kind, place, text) = match error {
        Error::Input { place, message } => (FindingKind::Malformed, place, message),
        Error::Io { source, .. } => unreadable(source.to_string()),
        other => unreadable(other.to_string()),
    };
    findings.add(kind, place, || text);
}
