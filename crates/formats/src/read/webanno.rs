//! Parsing TSV 3 of WebAnno and INCEpTION
//! (<https://webanno.github.io/webanno/releases/3.6.11/docs/user-guide.html#sect_webannotsv>): a
//! token per line, with a column for each feature that the header names.
//!
//! ```text
//! #FORMAT=WebAnno TSV 3.3
//! #T_SP=webanno.custom.Name|value
//!
//! #Text=Ann Lee left
//! 1-1  0-3   Ann   PER[1]
//! 1-2  4-7   Lee   PER[1]
//! 1-3  8-12  left  _
//! ```
//!
//! `_` is no annotation, `*` one without a value; `|` is between several of a token, `[n]` marks
//! those of several tokens, and a line `1-2.1` annotates a part of the token above.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use dropchain::corpus::{FileKind, InputLine, LineReader, ReadFormat, ReadOptions, SentenceParser};
use dropchain::{Error, Place, Result, Sentence, kernel::corpus::is_blank, label::Scheme};

use super::alignment::Aligner;
use super::marked_text::{MarkedSpan, MarkedText, MarkedToken};
use super::offset_map::OffsetMap;
use super::span_options::{SpanOffsets, SpanOptions};

/// How the first line begins.
const FIRST_LINE: &str = "#FORMAT=WebAnno TSV 3";

/// The cells before those of features: the token's number, its offsets, and itself.
const TOKEN_CELLS: usize = 3;

/// Layers that annotate tokens, so that their values are tags.
const TAG_LAYERS: [&str; 4] = ["POS", "Lemma", "Stem", "MorphologicalFeatures"];

/// TSV 3 of WebAnno and INCEpTION. The label of the options is the name of a feature, of its layer,
/// or both with `|` in between; only a file with several needs it.
#[derive(Clone, Debug)]
pub struct WebAnno {
    /// How spans are read.
    pub spans: SpanOptions,
    /// Only files with the first line of this format are, others are what their names say.
    pub by_first_line: bool,
}

impl ReadFormat for WebAnno {
    fn looks_at_files(&self) -> bool {
        self.by_first_line
    }

    fn reads(&self, lines: &mut LineReader) -> Result<bool> {
        Ok(!self.by_first_line || is_webanno(lines)?)
    }

    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>> {
        Ok(Box::new(WebAnnoParser {
            options: options.clone(),
            // Those of the file need not be known, since it has the tokens.
            spans: SpanOptions { offsets: Some(SpanOffsets::Chars), ..self.spans.clone() },
            features: Vec::new(),
            reading: None,
            pending: Pending::default(),
        }))
    }
}

/// Whether a file, of which nothing has been read, has the first line of this format.
pub(crate) fn is_webanno(lines: &mut LineReader) -> Result<bool> {
    let first = lines.available()?.into_iter().next();
    Ok(first.is_some_and(|line| FileKind::of_lines("", &[line]) == FileKind::WEBANNO))
}

/// A feature, which has a column.
#[derive(Debug)]
struct Feature {
    layer: String,
    name: String,
    is_of_spans: bool,
}

/// The chosen feature: its cell, the label of annotations without a value, and what aligns them.
struct Reading {
    cell: usize,
    unnamed: String,
    aligner: Aligner,
}

struct WebAnnoParser {
    options: ReadOptions,
    spans: SpanOptions,
    features: Vec<Feature>,
    reading: Option<Reading>, // once the header has ended
    pending: Pending,
}

/// The sentence that is being read.
#[derive(Default)]
struct Pending {
    text: String,
    chars: u64, // of the text
    tokens: Vec<MarkedToken>,
    last: Range<u64>, // the last token in the file, in UTF-16 units
    last_byte: usize, // where it begins in the text
    spans: Vec<MarkedSpan>,
    numbered: HashMap<u64, usize>, // the spans with a number
}

impl Feature {
    /// The layer without its package.
    fn short_layer(&self) -> &str {
        self.layer.rsplit('.').next().unwrap_or_default()
    }

    /// Whether this is the feature, or one of the layer, with a name.
    fn is(&self, name: &str) -> bool {
        match name.split_once('|') {
            Some((layer, feature)) => self.name == feature && self.is(layer),
            None => [&self.name, &self.layer, self.short_layer()].contains(&name),
        }
    }
}

impl WebAnnoParser {
    /// Reads a line of the header, such as `#T_SP=webanno.custom.Name|value|other`.
    fn header(&mut self, line: &str) {
        let is_of_spans = line.starts_with("#T_SP=");
        let is_known = is_of_spans || line.starts_with("#T_CH=") || line.starts_with("#T_RL=");
        let names = line.trim_end().split_once('=').filter(|_| is_known && self.reading.is_none());
        let Some((_, names)) = names else { return };
        let (layer, names) = names.split_once('|').unwrap_or((names, ""));
        let names = names.split('|').map(|name| (layer.to_owned(), name.to_owned()));
        self.features.extend(names.map(|(layer, name)| Feature { layer, name, is_of_spans }));
    }

    /// Chooses the feature that is read; errors are located at `line`, the first of a token.
    fn choose(&self, line: &InputLine) -> Result<Reading> {
        let (options, spans) = (self.options.clone(), self.spans.clone());
        if options.unlabeled {
            let aligner = Aligner::new(options, spans, "")?;
            return Ok(Reading { cell: 0, unnamed: String::new(), aligner });
        }
        let label = options.label.as_deref();
        let of_spans = || self.features.iter().enumerate().filter(|(_, f)| f.is_of_spans);
        let mut chosen = of_spans().filter(|(_, f)| label.is_none_or(|label| f.is(label)));
        let (Some((i, feature)), None) = (chosen.next(), chosen.next()) else {
            let names = of_spans().map(|(_, f)| format!("{}|{}", f.short_layer(), f.name));
            let names = names.collect::<Vec<_>>().join(", ");
            return Err(line.error(match (label, &*names) {
                (_, "") => "the header names no feature of spans (#T_SP=…)".to_owned(),
                (None, _) => format!("expected `label` with one of the features {names}"),
                (Some(label), _) => {
                    format!("no single feature is '{label}'; expected `label` with one of {names}")
                }
            }));
        };
        let unnamed = feature.short_layer().to_owned();
        let name = label.unwrap_or(if feature.name.is_empty() { &unnamed } else { &feature.name });
        let mut aligner = Aligner::new(options.clone(), spans, name)?;
        if TAG_LAYERS.contains(&&*unnamed) {
            aligner.scheme = Scheme::Plain;
        }
        Ok(Reading { cell: TOKEN_CELLS + i, unnamed, aligner })
    }

    /// Reads the line of a token, or of a part of the last one.
    fn token(&mut self, line: &InputLine) -> Result<()> {
        if self.reading.is_none() {
            self.reading = Some(self.choose(line)?);
        }
        let cells: Vec<&str> = line.text.split('\t').collect();
        let width = TOKEN_CELLS + self.features.len();
        let id = cells[0].split_once('-').filter(|_| cells.len() >= width);
        let range = cells.get(1).and_then(|cell| cell.split_once('-'));
        let range = range.and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok()?)));
        let (Some((_, number)), Some((start, end))) = (id, range) else {
            return Err(line.error(format!(
                "expected {width} cells with tabs in between: the number of the token, such as \
                 1-1, its offsets, such as 0-3, the token, and the features of the header"
            )));
        };
        let part = match number.contains('.') {
            false => Some(self.pending.push(cells[2], (start, end), line.number)),
            true => self.pending.part((start, end)),
        };
        let fault = "expected the offsets of a part of the token above";
        let part = part.ok_or_else(|| line.error(fault))?;
        if let Some(Reading { cell: cell @ 1.., unnamed, .. }) = &self.reading {
            self.pending.annotate(cells[*cell], part, unnamed, line);
        }
        Ok(())
    }

    /// Ends the sentence.
    fn end_sentence(&mut self, lines: &str, ready: &mut VecDeque<Sentence>) -> Result<()> {
        let Pending { text, tokens, spans, .. } = std::mem::take(&mut self.pending);
        let (Some(first), Some(reading)) = (tokens.first(), &mut self.reading) else {
            return Ok(());
        };
        let marked = MarkedText {
            text: text.into(),
            line: first.line,
            spans,
            tokens: Some(tokens),
            ..MarkedText::default()
        };
        ready.extend(reading.aligner.sentences(&marked, &lines.into())?);
        Ok(())
    }
}

impl Pending {
    /// Adds a token; returns its place in the text.
    fn push(&mut self, word: &str, (start, end): (u64, u64), line: u64) -> (u64, u64) {
        if start > self.last.end && !self.tokens.is_empty() {
            self.text.push(' ');
            self.chars += 1;
        }
        self.last = start..end;
        self.last_byte = self.text.len();
        let start = self.chars;
        self.text.push_str(word);
        self.chars += word.chars().count() as u64;
        let starts_sentence = Some(self.tokens.is_empty());
        self.tokens.push(MarkedToken { start, end: self.chars, line, starts_sentence });
        (start, self.chars)
    }

    /// Returns the place in the text of a part of the last token, if it is one.
    fn part(&self, (start, end): (u64, u64)) -> Option<(u64, u64)> {
        let (token, word) = (self.tokens.last()?, &self.text[self.last_byte..]);
        let map = OffsetMap::new(word, SpanOffsets::Utf16);
        let place = |offset: u64| {
            let byte = map.byte(offset.checked_sub(self.last.start)?).ok()?;
            Some(token.start + word[..byte].chars().count() as u64)
        };
        Some((place(start)?, place(end)?))
    }

    /// Adds the annotations in a cell of what is at this place in the text.
    fn annotate(&mut self, cell: &str, place: (u64, u64), unnamed: &str, line: &InputLine) {
        for (value, number) in annotations(cell) {
            let known = number.and_then(|number| self.numbered.get(&number));
            if let Some(span) = known.and_then(|&i| self.spans.get_mut(i)) {
                span.end = place.1;
                continue;
            }
            self.numbered.extend(number.map(|number| (number, self.spans.len())));
            let label = if value == "*" { unnamed.to_owned() } else { value };
            let line = Place::line(&**line.file, line.number);
            self.spans.push(MarkedSpan::new(place, label, line));
        }
    }
}

/// The values of a cell, each with the number of its span, if it has one.
fn annotations(cell: &str) -> Vec<(String, Option<u64>)> {
    if cell.is_empty() || cell == "_" {
        return Vec::new();
    }
    let mut found = Vec::new();
    let (mut value, mut number) = (String::new(), None);
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.extend(chars.next()),
            '|' => found.push((std::mem::take(&mut value), number.take())),
            '[' => {
                let digits: String = chars.by_ref().take_while(|&c| c != ']').collect();
                number = digits.parse().ok();
            }
            c => value.push(c),
        }
    }
    found.push((value, number));
    found
}

impl SentenceParser for WebAnnoParser {
    fn begin(&mut self, lines: &mut LineReader) -> Result<()> {
        if !is_webanno(lines)? {
            let message = format!("expected WebAnno's TSV 3, whose first line is {FIRST_LINE}.…");
            return Err(Error::input(Place::line(&**lines.file(), 1), message));
        }
        Ok(())
    }

    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if is_blank(line.text) {
            self.end_sentence(line.file, ready)
        } else if line.text.starts_with('#') {
            self.header(line.text);
            Ok(())
        } else {
            self.token(line)
        }
    }

    fn end(&mut self, lines: &LineReader, ready: &mut VecDeque<Sentence>) -> Result<()> {
        self.end_sentence(lines.file(), ready)?;
        self.reading.as_mut().map_or(Ok(()), |reading| reading.aligner.faults.finish())
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        self.pending = Pending::default();
        lines.skip_sentence()
    }
}

#[cfg(test)]
mod tests {
    use dropchain::corpus::Reader;

    use super::*;
    use crate::{InputFormat, Overlaps};

    /// The words with their labels of a file with this header and these tokens, whose cells have
    /// blanks in between, or the error.
    fn read(header: &str, tokens: &str, label: Option<&str>, overlaps: Overlaps) -> String {
        let tokens = tokens.replace(' ', "\t");
        let text = format!("{FIRST_LINE}.3\n{header}\n\n\n#Text=x\n{tokens}");
        let spans = SpanOptions { overlaps, ..SpanOptions::default() };
        let options = ReadOptions { label: label.map(str::to_owned), ..ReadOptions::default() };
        let options = InputFormat::WebAnno.apply(spans, options);
        let reader = Reader::from_read(Box::new(std::io::Cursor::new(text)), "x", &options);
        let read: Result<Vec<Sentence>> = reader.collect();
        let line = |s: &Sentence| {
            let cells = (0..s.len()).map(|t| s.cells(t).collect::<Vec<_>>().join("/"));
            cells.collect::<Vec<_>>().join(" ")
        };
        match read {
            Ok(read) => read.iter().map(line).collect::<Vec<_>>().join(" | "),
            Err(error) => error.to_string(),
        }
    }

    const NAMES: &str = "#T_SP=webanno.custom.Name|value";
    const LAYERS: &str =
        "#T_SP=a.pos.POS|PosValue\n#T_SP=a.Name|id|value\n#T_RL=a.Rel|kind|BT_a.POS";

    #[test]
    fn spans_are_numbered_stacked_or_of_single_tokens() {
        for (tokens, expected) in [
            (
                "1-1 0-3 Ann PER[1] \n1-2 4-7 Lee PER[1] \n1-3 7-8 . _ \n\n2-1 9-12 Bob PER",
                "Ann/B-PER Lee/I-PER ./O | Bob/B-PER",
            ),
            ("1-1 0-3 Ann A[1]\n1-2 4-7 Lee A[2]\n1-3 8-9 B A", "Ann/B-A Lee/B-A B/B-A"),
            // Without a value; escapes; characters beyond 16 bits.
            ("1-1 0-3 Ann *[4]\n1-2 4-7 Lee *[4]\n1-3 8-9 B *", "Ann/B-Name Lee/I-Name B/B-Name"),
            ("1-1 0-2 😀 a\\|b\\_c\\[1\\]\n1-2 3-4 x _", "😀/B-a|b_c[1] x/O"),
            // The same span twice.
            ("1-1 0-3 Ann PER[1]|PER[2]\n1-2 4-7 Lee PER[1]|PER[2]", "Ann/B-PER Lee/I-PER"),
            // All of a token as its part.
            ("1-1 5-7 😀 _\n1-1.1 5-7 😀 X\n1-2 8-9 b _", "😀/B-X b/O"),
        ] {
            assert_eq!(read(NAMES, tokens, None, Overlaps::Error), expected, "{tokens}");
        }
    }

    #[test]
    fn spans_that_overlap_or_cut_tokens_are_listed() {
        let stacked = "1-1 0-3 New LOC[1]\n1-2 4-8 York LOC[1]|PER[2]\n1-3 9-12 Lee PER[2]|LAST\n\n\
                       2-1 13-16 Ann A|B";
        let fault = |line, a, b| format!("x:{line}: the span {a} and the span {b} overlap");
        let error = read(NAMES, stacked, None, Overlaps::Error);
        for expected in [
            fault(7, "'New York' (LOC, 0–8)", "'York Lee' (PER, 4–12)"),
            fault(8, "'York Lee' (PER, 4–12)", "'Lee' (LAST, 9–12)"),
            fault(10, "'Ann' (A, 0–3)", "'Ann' (B, 0–3)"),
            "`overlaps` longest".to_owned(),
        ] {
            assert!(error.contains(&expected), "{error}");
        }
        let first = "New/B-LOC York/I-LOC Lee/B-LAST | Ann/B-A";
        assert_eq!(read(NAMES, stacked, None, Overlaps::First), first);
        let longest = "New/B-LOC York/I-LOC Lee/B-LAST | Ann/B-A";
        assert_eq!(read(NAMES, stacked, None, Overlaps::Longest), longest);
        let part = "1-1 0-7 Oslobus _\n1-1.1 0-4 Oslo LOC";
        let error = read(NAMES, part, None, Overlaps::Error);
        assert!(error.starts_with("x:7: the span 'Oslo' (LOC, 0–4) cuts the token"), "{error}");
    }

    #[test]
    fn a_feature_of_several_is_chosen_by_its_name_its_layer_or_both() {
        let tokens = "1-1 0-3 Ann NOUN 7 PER _ _\n1-2 4-8 left VERB _ _ _ _";
        for (label, expected) in [
            (Some("value"), "Ann/B-PER left/O"),
            (Some("Name|id"), "Ann/B-7 left/O"),
            (Some("a.pos.POS"), "Ann/NOUN left/VERB"),
            (Some("POS"), "Ann/NOUN left/VERB"),
            (
                Some("Name"),
                "x:8: no single feature is 'Name'; expected `label` with one of POS|PosValue, \
                 Name|id, Name|value",
            ),
            (
                None,
                "x:8: expected `label` with one of the features POS|PosValue, Name|id, Name|value",
            ),
        ] {
            assert_eq!(read(LAYERS, tokens, label, Overlaps::Error), expected, "{label:?}");
        }
        let relations = "#T_RL=a.Rel|kind|BT_a.POS";
        let error = "x:6: the header names no feature of spans (#T_SP=…)";
        assert_eq!(read(relations, "1-1 0-3 Ann _ _", None, Overlaps::Error), error);
        // A layer without features.
        assert_eq!(read("#T_SP=a.Noun|", "1-1 0-3 Ann *", None, Overlaps::Error), "Ann/B-Noun");
    }

    #[test]
    fn what_is_none_is_an_error_with_its_line() {
        for tokens in ["1-1 0-3 Ann", "1 0-3 Ann _", "1-1 0 Ann _", "1-1 a-3 Ann _"] {
            let error = read(NAMES, tokens, None, Overlaps::Error);
            assert!(error.starts_with("x:6: expected 4 cells with tabs in between"), "{error}");
        }
        for part in
            ["1-1.1 0-3 Ann X", "1-1 3-6 Ann _\n1-1.1 2-4 n X", "1-1 3-6 Ann _\n1-1.1 4-9 n X"]
        {
            let error = read(NAMES, part, None, Overlaps::Error);
            assert!(
                error.ends_with("expected the offsets of a part of the token above"),
                "{error}"
            );
        }
    }
}
