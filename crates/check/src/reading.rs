//! Reading files to their end, whatever is wrong with them.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex, PoisonError};

use super::finding::{FindingKind, Findings};
use super::role::Role;
use super::scan::{LineScan, ScannedInput};
use dropchain::corpus::{ReadOptions, ReadReport, Reader, Repair, TextOptions};
use dropchain::kernel::corpus::{decoded, open_stream};
use dropchain::kernel::memory::input_over_limit;
use dropchain::label::SchemeDetector;
use dropchain::sentence::{Schema, Sentence};
use dropchain::{Error, Place, Result};

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
        let limit = self.findings.limit();
        let scan = Arc::new(Mutex::new(LineScan::new(
            &name,
            Findings::new(limit),
            self.options.text.lossy,
        )));
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
        let (mut errors, mut has_errors, mut count) = (Findings::new(limit), false, 0);
        while let Some(sentence) = reader.next_or_error() {
            let sentence = match sentence {
                Ok(sentence) => sentence,
                Err(error) => {
                    has_errors = true;
                    add_error(&mut errors, &name, error);
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
        let scan = Arc::into_inner(scan).map(Mutex::into_inner);
        let scan = scan.map(|scan| scan.unwrap_or_else(PoisonError::into_inner));
        if let Some(scan) = scan {
            self.findings.append(scan.finish());
        }
        self.findings.append(errors);
        if count == 0 && !has_errors {
            let place = Place::file(name);
            self.findings.add(FindingKind::NoSentences, place, String::new);
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
        let first = self.schemas.iter().find(|(of, ..)| *of == role);
        let (kind, first) = match (first, self.schemas.first()) {
            (Some(first), _) => (FindingKind::OtherColumns, Some(first)),
            (None, first) => (FindingKind::OtherRoleColumns, first),
        };
        if let Some((_, other, file)) = first.filter(|(_, other, _)| other != schema) {
            let text = || format!("{}; in {file}: {}", schema.list(), other.list());
            self.findings.add(kind, sentence.place(0), text);
        }
        let file = sentence.file().to_string();
        self.schemas.push((role, Arc::clone(schema), file));
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
