//! From spans of characters to sentences with labels.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use dropchain::corpus::{ReadOptions, Repair};
use dropchain::kernel::{corpus::is_blank, template::quote_start};
use dropchain::label::{Scheme, Span, encode};
use dropchain::sentence::{Offsets, Schema, Sentence, SourceFile, TextPosition};
use dropchain::{Error, Place, Result, tokenize};

use super::marked_text::{Faults, MarkedSpan, MarkedText, MarkedToken};
use super::offset_map::OffsetMap;
use super::span_options::{
    DROPPED, EXPANDED, Misaligned, OVERLAPPING, Overlaps, SpanOffsets, SpanOptions,
};
use crate::is_line_break;

/// What repairs spans that cut tokens.
const WHOLE: &str = "expected spans of whole tokens (`misaligned` expand extends those that cut \
                     tokens, `misaligned` drop leaves them out)";

/// What repairs spans that overlap.
const DISJOINT: &str = "expected spans that do not overlap (`overlaps` longest keeps the longest \
                        of them, `overlaps` first the one that is listed first)";

/// What may repair spans after a line end.
const CRLF: &str = "the text has line ends CRLF: if the tool counts them as one character, \
                    `offsets` lines finds the spans";

/// Spans that cut tokens after a line end.
const AFTER_CRLF: Repair = Repair {
    one: "span cuts a token after a line end CRLF",
    many: "spans cut tokens after line ends CRLF",
    fate: "as they are (if the tool counts CRLF as one character: `offsets` lines)",
};

/// Spans that are annotated twice.
const DUPLICATES: Repair = Repair {
    one: "span is there twice with one label",
    many: "spans are there twice with one label",
    fate: "read once",
};

/// Splits texts into sentences and tokens, with the labels that their spans give them. A sentence
/// never ends inside a span.
pub(super) struct Aligner {
    pub options: ReadOptions,
    spans: SpanOptions,
    /// The scheme of the labels: IOB2 unless they are tags.
    pub scheme: Scheme,
    schema: Arc<Schema>,
    found: Option<SpanOffsets>, // what offsets count, if it was found
    /// The faults of all texts.
    pub faults: Faults,
}

/// A span in bytes, without blanks at its ends, and the tokens that it touches.
struct PlacedSpan<'a> {
    bytes: Range<usize>,
    tokens: Range<usize>,
    span: &'a MarkedSpan,
}

impl Aligner {
    /// Aligns spans whose labels become the column with this name.
    pub fn new(options: ReadOptions, spans: SpanOptions, label: &str) -> Result<Self> {
        let schema = match options.unlabeled {
            true => Schema::words(),
            false => Schema::new(vec!["word".to_owned(), label.to_owned()], Some(1))?,
        };
        Ok(Self {
            options,
            spans,
            scheme: Scheme::Iob2,
            schema: Arc::new(schema),
            found: None,
            faults: Faults::default(),
        })
    }

    /// Returns the sentences of a text from `file`.
    pub fn sentences(&mut self, marked: &MarkedText, file: &SourceFile) -> Result<Vec<Sentence>> {
        let text = &*marked.text;
        let map = OffsetMap::new(text, self.offsets(marked, file));
        let (tokens, mut ends) = match &marked.tokens {
            Some(given) => {
                let fault = |message| Error::input(Place::line(&**file, marked.line), message);
                let tokens = given_tokens(text, given, &map).map_err(fault)?;
                let ends = given_ends(given).unwrap_or_else(|| self.ends(text, &tokens));
                (tokens, ends)
            }
            None => self.tokenize(text),
        };
        let mut placed: Vec<PlacedSpan> = Vec::with_capacity(marked.spans.len());
        for span in &marked.spans {
            let bytes = located(span, text, &map).map_err(|message| {
                let MarkedSpan { start, end, label, place, .. } = span;
                Error::input(place.clone(), format!("the span {start}–{end} ({label}) {message}"))
            })?;
            let first = tokens.partition_point(|token| token.bytes.end <= bytes.start);
            let end = tokens.partition_point(|token| token.bytes.start < bytes.end);
            let span = PlacedSpan { bytes, tokens: first..end.max(first), span };
            if self.keeps(&span, text, &tokens, &map) {
                placed.push(span);
            }
        }
        let spans = self.disjoint(placed, text);
        ends.retain(|&end| {
            let before = spans.partition_point(|span| span.start < end);
            before == 0 || spans[before - 1].end <= end
        });
        let labels = encode(&spans, tokens.len(), &self.scheme.into());
        self.build(marked, file, &tokens, &labels, &ends)
    }

    /// Splits a text into tokens. Also returns the ends of sentences, which do not go beyond a line
    /// or, if these are hard, a paragraph.
    fn tokenize(&self, text: &str) -> (Vec<Offsets>, Vec<usize>) {
        let (mut tokens, mut ends) = (Vec::new(), Vec::new());
        let max = self.options.limits.max_sentence.max(1);
        for part in parts(text, self.options.text.paragraphs) {
            let start = part.start;
            for sentence in tokenize::sentences(&text[part]) {
                let first = tokens.len();
                let bytes = sentence.into_iter().map(|token| token.bytes);
                tokens.extend(bytes.map(|bytes| start + bytes.start..start + bytes.end));
                ends.extend((first + max..tokens.len()).step_by(max));
                ends.push(tokens.len());
            }
        }
        (tokenize::offsets(text, tokens), ends)
    }

    /// Returns the ends of the sentences of a text in its tokens, which are not those of raw text.
    fn ends(&self, text: &str, tokens: &[Offsets]) -> Vec<usize> {
        let (own, ends) = self.tokenize(text);
        let ends = ends.into_iter().map(|end| {
            let byte = own[end - 1].bytes.end;
            tokens.partition_point(|token| token.bytes.start < byte)
        });
        let mut ends: Vec<usize> = ends.chain([tokens.len()]).collect();
        ends.dedup();
        ends
    }

    /// Returns what the offsets of a text count: if that is not given, characters or, where the
    /// texts of its spans are not there, the first unit with which all of them are.
    fn offsets(&mut self, marked: &MarkedText, file: &str) -> SpanOffsets {
        if let Some(given) = self.spans.offsets {
            return given;
        }
        if marked.spans.iter().all(|span| span.text.is_none()) {
            return self.found.unwrap_or(SpanOffsets::Chars);
        }
        let fit = |unit: &SpanOffsets| {
            let map = OffsetMap::new(&marked.text, *unit);
            marked.spans.iter().all(|span| located(span, &marked.text, &map).is_ok())
        };
        match SpanOffsets::ALL.into_iter().find(fit) {
            None | Some(SpanOffsets::Chars) => SpanOffsets::Chars,
            Some(unit) => {
                self.options.report.warn_at(unit.found(), file, marked.line);
                *self.found.insert(unit)
            }
        }
    }

    /// Decides on a span that does not have whole tokens. Returns whether it is kept, with all
    /// tokens that it touches.
    fn keeps(
        &mut self,
        placed: &PlacedSpan<'_>,
        text: &str,
        tokens: &[Offsets],
        map: &OffsetMap<'_>,
    ) -> bool {
        let PlacedSpan { bytes, span, .. } = placed;
        let touched = &tokens[placed.tokens.clone()];
        let is_whole = touched.first().is_some_and(|token| token.bytes.start == bytes.start)
            && touched.last().is_some_and(|token| token.bytes.end == bytes.end);
        let has_gaps = span.gaps.iter().any(|gap| !is_blank_gap(*gap, text, map));
        if is_whole && !has_gaps {
            return true;
        }
        let may_differ = self.spans.offsets.is_none() && map.unit == SpanOffsets::Chars;
        let is_after_crlf = may_differ && !has_gaps && text[..bytes.end].contains("\r\n");
        let report = &self.options.report;
        if is_after_crlf && self.spans.misaligned != Misaligned::Error {
            report.warn_at(&AFTER_CRLF, &span.place.file, span.place.line);
        }
        match self.spans.misaligned {
            Misaligned::Expand if !touched.is_empty() => report.add(&EXPANDED, 1),
            Misaligned::Expand | Misaligned::Drop => {
                report.add(&DROPPED, 1);
                return false;
            }
            Misaligned::Error => {
                let cut = touched.iter().map(|token| token.bytes.clone()).find(|token| {
                    let is_inside = |byte| token.start < byte && byte < token.end;
                    is_inside(bytes.start) || is_inside(bytes.end)
                });
                let fault = match cut {
                    _ if has_gaps => "is discontinuous".to_owned(),
                    Some(token) => format!("cuts the token '{}'", quote_start(&text[token])),
                    None if touched.is_empty() => "has no token".to_owned(),
                    None => "goes beyond its tokens".to_owned(),
                };
                let message = format!("{} {fault}", described(placed, text));
                self.faults.add(span.place.clone(), message, WHOLE);
                if is_after_crlf {
                    self.faults.hint(CRLF);
                }
            }
        }
        !touched.is_empty()
    }

    /// Returns spans that do not overlap, in their order in the text: each once, and of those that
    /// do the ones that the options say.
    fn disjoint<'a>(&mut self, mut placed: Vec<PlacedSpan<'a>>, text: &str) -> Vec<Span<'a>> {
        let mut seen = HashSet::new();
        for PlacedSpan { span, .. } in placed
            .extract_if(.., |placed| !seen.insert((placed.bytes.clone(), &*placed.span.label)))
        {
            self.options.report.add_at(&DUPLICATES, &span.place.file, span.place.line);
        }
        match self.spans.overlaps {
            Overlaps::Error => self.list_overlaps(&mut placed, text),
            Overlaps::Longest => placed.sort_by_key(|span| Reverse(span.bytes.len())),
            Overlaps::First => {}
        }
        let mut kept: BTreeMap<usize, Span<'a>> = BTreeMap::new(); // by their starts
        let mut left_out = 0;
        for PlacedSpan { tokens: Range { start, end }, span, .. } in placed {
            match kept.range(..end).next_back() {
                Some((_, other)) if start < other.end => left_out += 1,
                _ => _ = kept.insert(start, Span { start, end, kind: &span.label }),
            }
        }
        if self.spans.overlaps != Overlaps::Error {
            self.options.report.add(&OVERLAPPING, left_out);
        }
        kept.into_values().collect()
    }

    /// Lists each span that overlaps one before it.
    fn list_overlaps(&mut self, placed: &mut [PlacedSpan<'_>], text: &str) {
        placed.sort_by_key(|span| (span.tokens.start, span.bytes.start, span.bytes.end));
        let mut furthest: Option<&PlacedSpan<'_>> = None;
        for span in placed.iter() {
            if let Some(before) = furthest.filter(|before| span.tokens.start < before.tokens.end) {
                let [a, b] = [before, span].map(|span| described(span, text));
                let is_apart = span.bytes.start >= before.bytes.end;
                let extended = if is_apart { ", extended to whole tokens," } else { "" };
                let message = format!("{a} and {b}{extended} overlap");
                self.faults.add(span.span.place.clone(), message, DISJOINT);
            }
            if furthest.is_none_or(|before| before.tokens.end < span.tokens.end) {
                furthest = Some(span);
            }
        }
    }

    /// Builds the sentences of a text.
    fn build(
        &self,
        marked: &MarkedText,
        file: &SourceFile,
        tokens: &[Offsets],
        labels: &[String],
        ends: &[usize],
    ) -> Result<Vec<Sentence>> {
        let text = &marked.text;
        let (mut line, mut byte, mut first) = (marked.line, 0, 0);
        let mut sentences: Vec<Sentence> = Vec::with_capacity(ends.len());
        for &end in ends {
            let mut sentence = Sentence::new(self.schema.clone(), file.clone());
            for t in first..end {
                let Range { start, end } = tokens[t].bytes;
                if let Some(given) = &marked.tokens {
                    line = given[t].line;
                } else if marked.is_file {
                    line += text[byte..start].matches('\n').count() as u64;
                    byte = start;
                }
                match self.options.unlabeled {
                    true => sentence.push([&text[start..end]], line)?,
                    false => sentence.push([&text[start..end], &labels[t]], line)?,
                }
                self.options.check_length(&sentence)?;
            }
            sentence.shrink_to_fit();
            sentence.offsets = tokens[first..end].to_vec();
            sentence.layout.source = Some(text.clone());
            sentence.layout.source_start = marked.is_file.then(TextPosition::default);
            sentence.layout.record.clone_from(&marked.record);
            first = end;
            if !sentence.is_empty() {
                sentences.push(sentence);
            }
        }
        if let Some(last) = sentences.last_mut() {
            last.layout.ends_source = true;
        }
        Ok(sentences)
    }
}

/// Returns the bytes of a span without blanks at its ends, or what is wrong with it.
fn located(
    span: &MarkedSpan,
    text: &str,
    map: &OffsetMap<'_>,
) -> std::result::Result<Range<usize>, String> {
    if span.label.is_empty() {
        return Err("has no label".to_owned());
    }
    if span.start >= span.end {
        return Err("is empty or reversed; expected an end after the start".to_owned());
    }
    let (start, end) = (map.byte(span.start)?, map.byte(span.end)?);
    let found = &text[start..end];
    match &span.text {
        Some(expected) if !found.split_whitespace().eq(expected.split_whitespace()) => {
            let [expected, found] = [expected, found].map(quote_start);
            let unit = map.unit.words();
            Err(format!(
                "has the text '{expected}', but there is '{found}' (offsets count {unit}; is it \
                 the text that was annotated?)"
            ))
        }
        _ => {
            let start = end - found.trim_start().len();
            Ok(start..start + found.trim().len())
        }
    }
}

/// Whether two fragments of a span are only apart because a line ends between them, say.
fn is_blank_gap((start, end): (u64, u64), text: &str, map: &OffsetMap<'_>) -> bool {
    let is_blank = |gap: &str| gap.chars().all(|c| c.is_whitespace() || is_line_break(c));
    match (map.byte(start), map.byte(end)) {
        (Ok(start), Ok(end)) => text.get(start..end).is_some_and(is_blank),
        _ => false,
    }
}

/// The parts of a text that sentences do not go beyond: its lines, or its paragraphs.
fn parts(text: &str, paragraphs: bool) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut start, mut goes_on) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_empty = is_blank(line);
        match parts.last_mut() {
            _ if is_empty => {}
            Some(part) if paragraphs && goes_on => part.end = end,
            _ => parts.push(start..end),
        }
        start = end;
        goes_on = !is_empty;
    }
    parts
}

/// Returns the ends of sentences if the tokens of an annotation say where they begin.
fn given_ends(tokens: &[MarkedToken]) -> Option<Vec<usize>> {
    let is_known = tokens.iter().any(|token| token.starts_sentence.is_some());
    let starts = |&i: &usize| tokens[i].starts_sentence == Some(true);
    let ends = (1..tokens.len()).filter(starts).chain([tokens.len()]);
    is_known.then(|| ends.collect())
}

/// Converts the tokens of an annotation, which must be in order, or says what is wrong with them.
fn given_tokens(
    text: &str,
    tokens: &[MarkedToken],
    map: &OffsetMap<'_>,
) -> std::result::Result<Vec<Offsets>, String> {
    let mut found: Vec<Range<usize>> = Vec::with_capacity(tokens.len());
    for &MarkedToken { start, end, .. } in tokens {
        let token = |message: &str| format!("the token {start}–{end} {message}");
        let bytes = match (map.byte(start), map.byte(end)) {
            (Ok(first), Ok(last)) if first < last => first..last,
            (Ok(_), Ok(_)) => return Err(token("is empty or reversed")),
            (Err(message), _) | (_, Err(message)) => return Err(token(&message)),
        };
        if found.last().is_some_and(|before| bytes.start < before.end) {
            return Err(token("begins before the end of the token before it"));
        }
        found.push(bytes);
    }
    Ok(tokenize::offsets(text, found))
}

/// Describes a span in a message.
fn described(span: &PlacedSpan<'_>, text: &str) -> String {
    let MarkedSpan { start, end, label, .. } = span.span;
    let covered = quote_start(&text[span.bytes.clone()]);
    format!("the span '{covered}' ({label}, {start}–{end})")
}
