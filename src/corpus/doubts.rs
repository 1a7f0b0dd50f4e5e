//! Lines of columns that are read as tokens, but may be something else: a header row, comments;
//! and cells that tell of other separators than were detected.

use super::lines::InputLine;
use super::other_kind::is_header;
use super::read_report::{ReadReport, Repair};
use crate::error::Place;
use crate::sentence::{Schema, Sentence};

impl Repair {
    /// Labels with blanks or control characters, which are kept.
    pub const ODD_LABEL: Self = Self {
        one: "label has blanks or control characters inside",
        many: "labels have blanks or control characters inside",
        fate: "kept (if they are in columns: are these separated by tabs and blanks?)",
    };

    /// Words with blanks or control characters, which are kept.
    pub const ODD_WORD: Self = Self {
        one: "word has blanks or control characters inside",
        many: "words have blanks or control characters inside",
        fate: "kept",
    };
}

const PLACEHOLDER: Repair = Repair {
    one: "token is the placeholder -X-",
    many: "tokens are the placeholder -X-",
    fate: "kept as words (do these lines separate documents?)",
};

/// Maximum number of different labels of lines that may be comments.
const MAX_LABELS: usize = 16;

/// What is doubted in a file, until all of its labels are known.
#[derive(Debug)]
pub(super) struct Doubts {
    word: Option<usize>,    // the column of words
    blanks: bool,           // words may have blanks
    header: Option<String>, // the label of the first token if it looks like a header row
    first: u64,             // its line
    comments: Option<Comments>,
}

/// Lines at the start of sentences that look like comments.
#[derive(Debug)]
struct Comments {
    line: u64, // of the first
    count: u64,
    labels: Vec<String>, // that no other token has, as far as it is known
}

impl Doubts {
    /// Doubts the lines of a file with these columns, in which words may have `blanks`.
    pub fn new(schema: &Schema, blanks: bool) -> Self {
        let word = schema.position("word").unwrap_or(0);
        Self {
            word: (word < schema.width()).then_some(word),
            blanks,
            header: None,
            first: 0,
            comments: None,
        }
    }

    /// Looks at the first token of the file, which is on `line`: it may be a header row.
    pub fn first_token(&mut self, sentence: &Sentence, line: &InputLine) {
        let cells: Vec<&str> = sentence.cells(0).collect();
        let label = sentence.label(0);
        // Without labels, nothing else tells names from words.
        let is_sure = || cells.iter().skip(1).all(|cell| is_header(&[cells[0], cell]));
        if is_header(&cells) && (label.is_some() || is_sure()) {
            self.first = line.number;
            self.header = Some(label.unwrap_or_default().to_owned());
        }
    }

    /// Looks at the last token of a sentence, which is on `line`.
    pub fn token(&mut self, sentence: &Sentence, line: &InputLine, report: &ReadReport) {
        let t = sentence.len() - 1;
        let label = sentence.label(t).unwrap_or_default();
        let word = self.word.map_or("", |word| sentence.cell(t, word));
        check_token((word, self.blanks), label, line, report);
        if line.text.starts_with("-X-") && word == "-X-" {
            report.warn_at(&PLACEHOLDER, line.file, line.number);
        }
        if line.number != self.first && self.header.as_deref() == Some(label) && !label.is_empty() {
            self.header = None;
        }
        let is_comment = t == 0 && ["# ", "#\t", "##"].iter().any(|s| line.text.starts_with(s));
        match &mut self.comments {
            None if is_comment => {
                self.comments =
                    Some(Comments { line: line.number, count: 1, labels: vec![label.to_owned()] });
            }
            Some(comments) if is_comment => {
                comments.count += 1;
                let is_known = comments.labels.iter().any(|known| known == label);
                if !is_known && comments.labels.len() < MAX_LABELS {
                    comments.labels.push(label.to_owned());
                }
            }
            Some(comments) => comments.labels.retain(|known| known != label),
            None => {}
        }
    }

    /// Warns of what is still doubted at the end of the file.
    pub fn end(&mut self, file: &str, report: &ReadReport) {
        if self.header.take().is_some() {
            let text = "looks like a header row: --header skips it";
            report.warn(Place::line(file, self.first), text);
        }
        let comments = self.comments.take();
        if let Some(comments) = comments.filter(|comments| !comments.labels.is_empty()) {
            let what = match comments.count {
                1 => {
                    "1 line that begins with '#' is read as a token: --comments skips it".to_owned()
                }
                count => format!(
                    "{count} lines that begin with '#' are read as tokens: --comments skips them"
                ),
            };
            report.warn(Place::line(file, comments.line), what);
        }
    }
}

/// Looks for blanks and control characters in the word of a token, where blanks may be allowed, and
/// in its label.
pub(super) fn check_token(
    (word, blanks): (&str, bool),
    label: &str,
    line: &InputLine,
    report: &ReadReport,
) {
    if label.chars().any(|c| c.is_whitespace() || c.is_control()) {
        report.warn_at(&Repair::ODD_LABEL, line.file, line.number);
    }
    let is_odd = |byte| byte < b' ' || byte == 0x7f || byte == b' ' && !blanks;
    if word.bytes().any(is_odd) {
        report.warn_at(&Repair::ODD_WORD, line.file, line.number);
    }
}
