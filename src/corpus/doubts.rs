//! Lines of columns that are read as tokens, but may be something else: comments;
//! and cells that tell of other separators than were detected.

use super::lines::InputLine;
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

/// The beginnings of comments.
const COMMENTS: [&str; 3] = ["# ", "#\t", "##"];

/// Maximum number of different labels of doubted lines.
const MAX_LABELS: usize = 16;

/// What is doubted in a file, until all of its labels are known: lines that may be comments are
/// most likely no tokens if no other token has their labels.
#[derive(Debug)]
pub(super) struct Doubts {
    word: Option<usize>, // the column of words
    blanks: bool,        // words may have blanks
    comments: Option<Comments>,
}

/// Lines that may be comments.
#[derive(Debug)]
struct Comments {
    line: u64, // the first one
    count: u64,
    labels: Vec<String>, // theirs, which no other token has, as far as it is known
}

impl Doubts {
    /// Doubts the lines of a file with these columns, in which words may have `blanks`.
    pub fn new(schema: &Schema, blanks: bool) -> Self {
        let word = Some(schema.position("word").unwrap_or(0));
        let word = word.filter(|&word| word < schema.width());
        Self { word, blanks, comments: None }
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
        if t == 0 && COMMENTS.iter().any(|start| line.text.starts_with(start)) {
            let first = Comments { line: line.number, count: 0, labels: Vec::new() };
            let Comments { count, labels, .. } = self.comments.get_or_insert(first);
            *count += 1;
            if labels.len() < MAX_LABELS && !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        } else if let Some(comments) = &mut self.comments {
            comments.labels.retain(|known| known != label);
        }
    }

    /// Warns of what is still doubted at the end of the file.
    pub fn end(&mut self, file: &str, report: &ReadReport) {
        let comments = self.comments.take().filter(|comments| !comments.labels.is_empty());
        let Some(Comments { line, count, .. }) = comments else { return };
        let what = match count {
            1 => "1 line that begins with '#' is read as a token: `comments` skips it".to_owned(),
            _ => format!(
                "{count} lines that begin with '#' are read as tokens: `comments` skips them"
            ),
        };
        report.warn(Place::line(file, line), what);
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
