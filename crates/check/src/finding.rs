//! Findings in a corpus: kinds of problems, counted, with examples.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use dropchain::Place;

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Training or evaluation would refuse the input.
    Error,
    /// Most likely a mistake, which costs accuracy or makes scores misleading.
    Warning,
    /// Good to know.
    Notice,
}

dropchain::named!(Severity, "severity":
    Error = "error",
    Warning = "warning",
    Notice = "notice",
);

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $severity:ident $title:literal,)*) => {
        /// A kind of problem. The order is that of reports: by severity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $kind,)*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its severity.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$kind => Severity::$severity,)*
                }
            }

            /// What is counted, in plural: `lines that are not UTF-8`.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$kind => $title,)*
                }
            }
        }
    };
}

kinds! {
    /// The input ends in an error: damaged compression, a device that fails.
    Unreadable Error "inputs that cannot be read to their end",
    /// A line is not UTF-8.
    InvalidUtf8 Error "lines that are not UTF-8",
    /// A sentence breaks the rules of its format.
    Malformed Error "sentences that cannot be read",
    /// A file has no sentence.
    NoSentences Error "files without a sentence",
    /// A file has no labels.
    NoLabels Error "files without labels",
    /// A file has other columns than the first one of its role.
    OtherColumns Error "files with other columns than the first",
    /// There are more labels than can be trained.
    TooManyLabels Error "labels beyond the number that can be trained",
    /// Partial labels allow no legal sequence.
    ImpossibleLabels Error "sentences whose partial labels allow no legal sequence",

    /// Development or test data have other columns than the training data.
    OtherRoleColumns Warning "roles with other columns than the training data",
    /// U+FFFD, which stands where an earlier conversion failed.
    ReplacementCharacter Warning "lines with U+FFFD, left by a failed conversion",
    /// UTF-8 that was read as Latin-1 and written again (`Ã©`).
    Mojibake Warning "lines that were decoded wrongly before (Ã© for é)",
    /// Control characters.
    ControlCharacter Warning "lines with control characters",
    /// White space beyond ASCII, such as the no-break space.
    OddSpace Warning "lines with no-break or other unusual spaces",
    /// Characters of no width, such as U+200B, and marks of direction.
    InvisibleCharacter Warning "lines with invisible characters",
    /// Some lines end in CRLF, others in LF.
    MixedLineEndings Warning "files with both LF and CRLF",
    /// The same character is composed in some words and decomposed in others.
    MixedNormalization Warning "decomposed words (NFD) among composed ones (NFC)",
    /// A cell is empty.
    EmptyCell Warning "tokens with an empty cell",
    /// A word contains a blank.
    BlankInWord Warning "words with a blank inside",
    /// A label contains white space.
    BlankInLabel Warning "labels with a blank inside (columns separated by tabs and blanks?)",
    /// A sentence is very long.
    LongSentence Warning "sentences of more than 200 tokens",
    /// Reading took something for what it most likely is not, or decided what no option says.
    DoubtfulReading Warning "doubtful ways of reading a file",
    /// A label may not follow the one before it.
    IllegalTransition Warning "labels in invalid sequences",
    /// A label of no scheme, where most labels belong to one.
    StrayLabel Warning "labels that belong to no scheme, unlike the others",
    /// No token is in a span, though the labels could encode some: all are `O`.
    NoSpan Warning "corpora without any span",
    /// Labels that differ in case or punctuation only.
    SimilarLabels Warning "labels that differ in case or punctuation only",
    /// A label of development or test data that training data do not have.
    UnseenLabel Warning "labels that the training data do not have",
    /// Labels that look partial but are read as they are.
    PartialLooking Warning "labels that look partial (--partial-labels reads them so)",
    /// The same words with different labels.
    ConflictingLabels Warning "sentences that occur with other labels, too",
    /// A sentence of development or test data that is in the training data.
    SharedSentence Warning "sentences of dev or test data that are in train or dev",

    /// A file begins with a byte order mark.
    ByteOrderMark Notice "files that begin with a byte order mark",
    /// All lines end in CRLF.
    Crlf Notice "files with line ends of Windows (CRLF)",
    /// Zero-width joiners and non-joiners, which Persian, Indic scripts and emoji need.
    Joiner Notice "lines with zero-width joiners",
    /// Decomposed characters only.
    Decomposed Notice "decomposed words (NFD)",
    /// A column has the same cell everywhere.
    ConstantColumn Notice "columns with the same cell everywhere",
    /// A label occurs once.
    RareLabel Notice "labels that occur once in the training data",
    /// A sentence occurs more than once in data of one role.
    RepeatedSentence Notice "sentences that repeat one before",
}

/// An example of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Where it is.
    pub place: Place,
    /// Details of the finding; empty if the kind says it all.
    pub text: String,
}

impl Serialize for Example {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Place { file, line, column } = &self.place;
        let mut example = serializer.serialize_struct("Example", 4)?;
        example.serialize_field("file", file)?;
        example.serialize_field("line", &Some(line).filter(|&&line| line > 0))?;
        example.serialize_field("column", &Some(column).filter(|&&column| column > 0))?;
        example.serialize_field("text", &self.text)?;
        example.end()
    }
}

/// All problems of a kind.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// Its severity.
    pub severity: Severity,
    /// The number of problems.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// Collects findings: counts all problems and keeps the first ones of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub limit: usize, // examples of each kind
    by_kind: BTreeMap<FindingKind, Finding>,
}

impl Findings {
    /// Keeps up to `limit` examples of each kind.
    pub fn new(limit: usize) -> Self {
        Self { limit, by_kind: BTreeMap::new() }
    }

    /// Counts problems of a kind; returns its examples.
    fn count(&mut self, kind: FindingKind, count: u64) -> &mut Vec<Example> {
        let none = Finding { kind, severity: kind.severity(), count: 0, examples: Vec::new() };
        let finding = self.by_kind.entry(kind).or_insert(none);
        finding.count += count;
        &mut finding.examples
    }

    /// Adds a problem; `text` is called if it becomes an example.
    pub fn add(&mut self, kind: FindingKind, place: Place, text: impl FnOnce() -> String) {
        let limit = self.limit;
        let examples = self.count(kind, 1);
        if examples.len() < limit {
            examples.push(Example { place, text: text() });
        }
    }

    /// Adds the findings of `other`.
    pub fn append(&mut self, other: Self) {
        let limit = self.limit;
        for mut finding in other.finish() {
            let examples = self.count(finding.kind, finding.count);
            examples.append(&mut finding.examples);
            examples.truncate(limit);
        }
    }

    /// Returns the findings in the order of their kinds.
    pub fn finish(self) -> Vec<Finding> {
        self.by_kind.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_by_severity_and_have_titles_of_their_own() {
        let severities: Vec<Severity> = FindingKind::ALL.iter().map(|k| k.severity()).collect();
        assert!(severities.is_sorted());
        let titles: std::collections::HashSet<_> =
            FindingKind::ALL.iter().map(|kind| kind.title()).collect();
        assert_eq!(titles.len(), FindingKind::ALL.len());
    }

    #[test]
    fn all_problems_are_counted_and_the_first_kept() {
        let mut findings = Findings::new(2);
        for line in 1..=5 {
            findings.add(FindingKind::EmptyCell, Place::line("x", line), String::new);
        }
        findings.add(FindingKind::InvalidUtf8, Place::line("x", 9), String::new);
        let findings = findings.finish();
        assert_eq!(findings[0].kind, FindingKind::InvalidUtf8);
        assert_eq!((findings[1].count, findings[1].examples.len()), (5, 2));
        assert_eq!(findings[1].examples[1].place, Place::line("x", 2));
    }
}
