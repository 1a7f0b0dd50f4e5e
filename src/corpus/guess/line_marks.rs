//! What tells that lines are no columns of tokens, or which ones.

use std::collections::HashSet;

use super::file_kind::FileKind;
use crate::corpus::columns::{CONLLU_COLUMNS, DOCUMENT_START, split_blanks, split_cells};
use crate::corpus::conllu::TokenId;
use crate::corpus::lines::{MAX_PEEKED, is_blank};

/// Separators of a word and its tags in tokens such as `Oslo|NNP|I-LOC`.
const TAG_SEPARATORS: [char; 3] = ['|', '/', '_'];

/// Number of tokens with equally many tags that are taken for them.
const TAGGED_TOKENS: usize = 3;

/// Minimum number of words, one per line, or of lines that are broken.
const MIN_LINES: usize = 4;

/// Maximum number of characters of a line that is a word, on average.
const MEAN_WORD: usize = 12;

/// What sentences of running text end with.
const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', '”', '。', '！', '？'];

/// The kind that the first line alone tells.
pub(super) fn kind_of_first_line(line: &str) -> Option<FileKind> {
    let starts = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_digits = after_digits.len() < line.len();
    let is_plus =
        starts(&["# global.columns"]) && split_blanks(line).count() != 3 + CONLLU_COLUMNS.len();
    let is_pubtator =
        has_digits && ["|t|", "|a|"].iter().any(|mark| after_digits.starts_with(mark));
    let kinds = [
        (line.contains('\r'), FileKind::CARRIAGE_RETURNS),
        (starts(&["<?xml", "<!DOCTYPE", "<html", "<HTML"]), FileKind::XML),
        (starts(&["#FORMAT=WebAnno TSV"]), FileKind::WEBANNO),
        (is_plus, FileKind::CONLLU_PLUS),
        (is_pubtator, FileKind::PUBTATOR),
        (is_brat(line), FileKind::BRAT),
    ];
    kinds.into_iter().find_map(|(is_kind, kind)| is_kind.then_some(kind))
}

/// Returns whether a line is a span of BRAT's format: `T1`, a tab, `PER 0 7`, a tab, the text.
fn is_brat(line: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match split_cells(line)[..] {
        [id, place, _] => {
            let place: Vec<&str> = place.split([' ', ';']).collect();
            id.strip_prefix('T').is_some_and(is_number)
                && place.len() >= 3
                && place[1..].iter().all(|text| is_number(text))
        }
        _ => false,
    }
}

/// Returns the kind of JSON, by the keys of the first object, of a file that begins with these
/// lines, the first of which is not blank.
pub(super) fn json_kind(lines: &[&str]) -> Option<FileKind> {
    let (first, second) = (lines[0], lines.get(1).copied().unwrap_or_default());
    if !is_json(first, second) {
        return None;
    }
    // A long line is cut.
    let are_lines =
        first.starts_with('{') && (first.ends_with('}') || first.len() + 4 > MAX_PEEKED);
    let object: String = match are_lines {
        true => first.split_whitespace().collect(),
        false => lines.iter().flat_map(|line| line.split_whitespace()).collect(),
    };
    let has = |keys: &[&str], values: &[&str]| {
        let is_value = |rest: &str| values.iter().any(|value| rest.starts_with(value));
        keys.iter().any(|key| {
            let key = format!("\"{key}\":");
            object.match_indices(&key).any(|(i, key)| is_value(&object[i + key.len()..]))
        })
    };
    let has_text = has(&["text"], &["\""]) || has(&["data"], &["{"]);
    let kind = if has(&["tokens"], &["[\"", "[]"]) || has(&["attributes"], &["["]) {
        FileKind::JSON_TOKENS
    } else if has_text
        && (has(&["spans", "entities", "annotations", "result"], &["[", "null"])
            || has(&["label", "labels"], &["[[", "[{", "[]"]))
    {
        FileKind::JSON_SPANS
    } else if has_text && has(&["label", "labels", "class"], &[""]) {
        FileKind::JSON_CLASSES
    } else {
        FileKind::JSON
    };
    Some(match kind {
        kind if !are_lines => kind,
        FileKind::Other(what, advice) if has_text && kind != FileKind::JSON_TOKENS => {
            FileKind::JsonTexts(what, advice)
        }
        _ => FileKind::Jsonl,
    })
}

/// Returns whether JSON begins with these two lines, such as an object, or training data of spaCy.
fn is_json(first: &str, second: &str) -> bool {
    let starts = |line: &str, values: &[&str]| values.iter().any(|value| line.starts_with(value));
    let is_value = second == "{" || starts(second, &["{\"", "[\"", "[["]) || second.contains("\":");
    matches!(first, "[" | "{") && is_value
        || starts(first, &["[{\"", "[[\"", "TRAIN_DATA"])
        || first.starts_with('[') && first.contains("\"entities\"")
        || first.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'))
            && first.contains("\":")
}

/// Lines with content that is neither a comment nor a boundary of documents, and their cells.
pub(super) struct Rows<'a> {
    lines: Vec<&'a str>,
    cells: Vec<Vec<&'a str>>,
    has_tabs: bool,
}

impl<'a> Rows<'a> {
    pub fn new(lines: &'a [String]) -> Self {
        let is_row = |line: &&str| {
            !is_blank(line) && !line.starts_with('#') && !line.starts_with(DOCUMENT_START)
        };
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(is_row).collect();
        let cells: Vec<Vec<&str>> = lines.iter().map(|line| split_cells(line)).collect();
        let has_tabs = lines.iter().any(|line| line.contains('\t'));
        Self { lines, cells, has_tabs }
    }

    /// Returns whether all rows fit.
    fn all(&self, fits: impl Fn(&[&str]) -> bool) -> bool {
        !self.cells.is_empty() && self.cells.iter().all(|cells| fits(cells))
    }

    /// Returns whether nearly all rows fit, the first among them: some may be damaged.
    fn nearly_all(&self, fits: impl Fn(&[&str]) -> bool) -> bool {
        let count = self.cells.iter().filter(|cells| fits(cells)).count();
        self.cells.first().is_some_and(|cells| fits(cells)) && 10 * count >= 9 * self.cells.len()
    }

    /// CoNLL-U: ten cells, the first of which is an id, the seventh a number, the last has keys.
    pub fn conllu(&self) -> Option<FileKind> {
        let is_empty = |cell: &str| cell == "_";
        let is_row = |cells: &[&str]| {
            cells.len() == CONLLU_COLUMNS.len()
                && TokenId::parse(cells[0]).is_some()
                && (is_empty(cells[6]) || cells[6].parse::<u32>().is_ok())
                && (is_empty(cells[9]) || cells[9].contains('='))
        };
        self.nearly_all(is_row).then_some(match self.has_tabs {
            true => FileKind::Conllu,
            false => FileKind::CONLLU_BLANKS,
        })
    }

    /// Lines of a class and numbered values, `+1 3:0.5 7:1`.
    pub fn svmlight(&self) -> Option<FileKind> {
        let is_value = |cell: &&str| {
            let parts = cell.split_once(':');
            parts.is_some_and(|(key, value)| {
                (key == "qid" || key.parse::<u64>().is_ok()) && value.parse::<f64>().is_ok()
            })
        };
        let is_row = |cells: &[&str]| {
            cells.len() > 1 && cells[0].parse::<f64>().is_ok() && cells[1..].iter().all(is_value)
        };
        self.all(is_row).then_some(FileKind::SVMLIGHT)
    }

    /// CRFsuite's attributes, `B-PER w=Mira pos=NNP`, separated by tabs or, wrongly, by blanks.
    pub fn crfsuite(&self) -> Option<FileKind> {
        let is_attribute = |cell: &&str| cell.find('=').is_some_and(|i| i > 0) || cell.is_empty();
        let is_row = |cells: &[&str]| {
            cells.len() > 2 && !is_attribute(&cells[0]) && cells[1..].iter().all(is_attribute)
        };
        self.nearly_all(is_row).then_some(match self.has_tabs {
            true => FileKind::Crfsuite,
            false => FileKind::CRFSUITE_BLANKS,
        })
    }

    /// Running text with marks, `<START:person> Mira <END> left`.
    pub fn opennlp(&self) -> Option<FileKind> {
        let has_marks = |line: &&str| {
            (line.contains("<START:") || line.contains("<START>")) && line.contains("<END>")
        };
        self.lines.iter().any(has_marks).then_some(FileKind::OPENNLP)
    }

    /// Running text with marks, `[PER Mira] left [LOC Oslo]`, as `tag` writes it for people.
    pub fn inline(&self) -> Option<FileKind> {
        let marks = self.lines.iter().flat_map(|line| line.split('[').skip(1));
        let marks = marks.filter_map(|mark| mark.split_once(']')?.0.split_once(' '));
        let types: Vec<&str> = marks.map(|(kind, _)| kind).collect();
        let is_name = |kind: &&str| kind.len() > 1 && kind.starts_with(char::is_alphabetic);
        let is_upper = |kind: &&str| !kind.contains(char::is_lowercase);
        let distinct: HashSet<&&str> = types.iter().collect();
        let are_types = types.iter().all(is_name)
            && (types.iter().all(is_upper) || distinct.len() < types.len());
        (!types.is_empty() && are_types && !self.has_tabs).then_some(FileKind::INLINE)
    }

    /// Tokens with tags, `Oslo|NNP|I-LOC`, nearly all with equally many: some word may be the
    /// separator.
    pub fn tagged(&self) -> Option<FileKind> {
        TAG_SEPARATORS.into_iter().find_map(|separator| {
            let parts = |cell: &str| match cell.split(separator).all(|part| !part.is_empty()) {
                true => cell.split(separator).count(),
                false => 0,
            };
            let cells = || self.cells.iter().flatten();
            let count = parts(self.cells.first()?.first()?);
            let enough = TAGGED_TOKENS - usize::from(separator == '|' && count >= 3);
            let is_long = self.lines.len() >= enough || self.cells[0].len() >= enough;
            let (all, equal) =
                (cells().count(), cells().filter(|cell| parts(cell) == count).count());
            let are_tagged = count >= 2
                && is_long
                && all >= enough
                && 10 * equal >= 9 * all
                && cells().all(|cell| cell.contains(separator));
            are_tagged.then_some(FileKind::Tagged(separator, count))
        })
    }

    /// Rows with a text in one of their cells.
    pub fn documents(cells: &[Vec<String>]) -> Option<FileKind> {
        let width = cells.first().map_or(0, Vec::len);
        let is_text = |column: usize| {
            let words = cells.iter().skip(1).filter_map(|row| row.get(column));
            let words: Vec<usize> = words.map(|cell| split_blanks(cell).count()).collect();
            let total: usize = words.iter().sum();
            total >= 3 * words.len().max(1) && words.iter().any(|&count| count != words[0])
        };
        (width > 1 && cells.len() > 2 && (0..width).any(is_text)).then_some(FileKind::Documents)
    }

    /// Lines of different lengths, separated by blanks: running text, or features with the label
    /// last, of which there are few.
    pub fn ragged(&self) -> Option<FileKind> {
        let widths = || self.cells.iter().map(Vec::len);
        let (least, most) = (widths().min()?, widths().max()?);
        let is_sentence = |line: &&str| {
            let end = line.trim_end().strip_suffix(SENTENCE_ENDS);
            end.is_some_and(|rest| rest.ends_with(char::is_alphanumeric))
        };
        let sentences = self.lines.iter().filter(|line| is_sentence(line)).count();
        let lasts: HashSet<&str> = self.cells.iter().filter_map(|c| c.last().copied()).collect();
        let (lines, distinct) = (self.lines.len(), lasts.len());
        let mean = widths().sum::<usize>() / lines;
        let is_ragged = least < most && !self.has_tabs;
        let is_text = 3 * sentences >= lines || lines > 2 && 3 * distinct > 2 * lines && mean > 3;
        if !self.has_tabs && (is_ragged || most == 1 || sentences == lines) && is_text {
            return Some(FileKind::Prose);
        }
        let equal = |width| widths().filter(|&other| other == width).count();
        let are_features = is_ragged && least > 1 && lines > 2 && 3 * distinct <= 2 * lines;
        let none_prevails = || widths().all(|width| 4 * equal(width) < 3 * lines);
        (are_features && none_prevails()).then_some(FileKind::FeatureLines(least, most))
    }
}

/// Returns whether lines are words, one on each, with blank lines between sentences: text has
/// blanks. So that lists of words and the lines of scripts without blanks are text, there must be
/// a sentence of several words that ends, or a word that is only punctuation.
pub(super) fn are_words(lines: &[String]) -> bool {
    let words: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let content = || words.iter().filter(|word| !word.is_empty());
    let count = content().count();
    let characters: usize = content().map(|word| word.chars().count()).sum();
    let is_punctuation = |word: &str| word.chars().all(|c| !c.is_alphanumeric() && c != '#');
    let has_punctuation = content().any(|word| is_punctuation(word));
    let sentences = words.split(|word| word.is_empty());
    let sentences = sentences.filter(|sentence| !sentence.is_empty()).count();
    let ends = words.len() > count && count >= 2 * sentences;
    let has_spaced_script = content().all(|word| word.chars().all(|c| c < '\u{e00}'));
    count >= MIN_LINES
        && characters <= MEAN_WORD * count
        && content().all(|word| !word.contains(char::is_whitespace))
        && (has_punctuation || ends && has_spaced_script)
}

impl FileKind {
    /// Returns whether most lines of a text end inside a sentence and the next one goes on: it
    /// begins in lower case, or with a word that had no room in lines of this length.
    pub fn has_hard_breaks(lines: &[String]) -> bool {
        const LONGEST: usize = 100;
        let ends_inside = |line: &str| line.ends_with(|c: char| c.is_alphanumeric() || c == ',');
        let width = |text: &str| text.chars().count();
        let longest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
        let goes_on = |before: &str, line: &str| {
            let word = line.split_whitespace().next().unwrap_or_default();
            word.starts_with(char::is_lowercase) || width(before) + 1 + width(word) > longest
        };
        let pairs = lines.windows(2).filter(|pair| pair.iter().all(|line| !line.trim().is_empty()));
        let pairs: Vec<bool> = pairs
            .map(|pair| {
                let before = pair[0].trim_end();
                width(before) > LONGEST / 2 && ends_inside(before) && goes_on(before, &pair[1])
            })
            .collect();
        let broken = pairs.iter().filter(|&&broken| broken).count();
        broken >= MIN_LINES - 1 && 2 * broken > pairs.len() && longest <= LONGEST
    }
}
