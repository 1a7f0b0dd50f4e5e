//! From spans of characters to sentences with labels.

use std::ops::Range;
use std::sync::Arc;

use dropchain::corpus::ReadOptions;
use dropchain::kernel::corpus::is_blank;
use dropchain::label::{Scheme, Span, encode};
use dropchain::sentence::{Offsets, Schema, Sentence, TextPosition};
use dropchain::{Error, Place, Result, tokenize};

use super::faults::Faults;
use super::marked_text::{MarkedSpan, MarkedText, MarkedToken};
use super::misaligned::{DROPPED, EXPANDED, Misaligned, SpanOptions};
use super::offset_map::{OffsetMap, unit_name};
use crate::line_break::is_line_break;

/// Splits texts into sentences and tokens, with the labels that their spans give them, in scheme
/// IOB2. A sentence never ends inside a span.
pub(super) struct Aligner {
    options: ReadOptions,
    spans: SpanOptions,
    schema: Arc<Schema>,
    faults: Faults,
}

/// A span in bytes, without blanks at its ends.
struct ByteSpan<'a> {
    bytes: Range<usize>,
    has_gaps: bool,
    span: &'a MarkedSpan,
}

impl Aligner {
    pub fn new(options: ReadOptions, spans: SpanOptions) -> Result<Self> {
        let schema = match options.unlabeled {
            true => Schema::words(),
            false => Schema::new(vec!["word".to_owned(), "label".to_owned()], Some(1))?,
        };
        Ok(Self { options, spans, schema: Arc::new(schema), faults: Faults::default() })
    }

    /// Reports the faults of all texts.
    pub fn finish(&mut self) -> Result<()> {
        self.faults.finish()
    }

    /// Returns the sentences of a text from `file`.
    pub fn sentences(&mut self, marked: &MarkedText, file: &Arc<str>) -> Result<Vec<Sentence>> {
        let text = &*marked.text;
        let map = OffsetMap::new(text, self.spans.offsets);
        let (tokens, mut ends) = match &marked.tokens {
            Some(given) => {
                let place = Place::line(&**file, marked.line);
                let tokens = given_tokens(text, given, &map)
                    .map_err(|message| Error::input(place, message))?;
                let ends = given_ends(given).unwrap_or_else(|| self.ends(text, &tokens));
                (tokens, ends)
            }
            None => self.tokenize(text),
        };
        let mut spans: Vec<ByteSpan> = Vec::with_capacity(marked.spans.len());
        for span in &marked.spans {
            spans.push(self.byte_span(span, text, &map)?);
        }
        spans.sort_by_key(|span| (span.bytes.start, span.bytes.end));
        let spans = self.token_spans(&spans, text, &tokens);
        ends.retain(|&end| {
            let before = spans.partition_point(|span| span.start < end);
            before == 0 || spans[before - 1].end <= end
        });
        let labels = encode(&spans, tokens.len(), &Scheme::Iob2.into());
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

    /// Converts a span to bytes and removes blanks at its ends.
    fn byte_span<'a>(
        &self,
        span: &'a MarkedSpan,
        text: &str,
        map: &OffsetMap<'_>,
    ) -> Result<ByteSpan<'a>> {
        let error = |message: String| {
            let MarkedSpan { start, end, label, .. } = span;
            let message = format!("the span {start}–{end} ({label}) {message}");
            Err(Error::input(span.place.clone(), message))
        };
        if span.label.is_empty() {
            return error("has no label".to_owned());
        }
        if span.start >= span.end {
            return error("is empty or reversed; expected an end after the start".to_owned());
        }
        let (start, end) = match (map.byte(span.start), map.byte(span.end)) {
            (Ok(start), Ok(end)) => (start, end),
            (Err(message), _) | (_, Err(message)) => return error(message),
        };
        let found = &text[start..end];
        if let Some(expected) = &span.text
            && !found.split_whitespace().eq(expected.split_whitespace())
        {
            return error(format!(
                "has the text '{}', but there is '{}' (offsets count {}; `offsets` changes that)",
                shortened(expected),
                shortened(found),
                unit_name(self.spans.offsets)
            ));
        }
        let start = end - found.trim_start().len();
        let end = start + found.trim().len();
        Ok(ByteSpan {
            bytes: start..end,
            has_gaps: span.gaps.iter().any(|gap| !is_blank_gap(*gap, text, map)),
            span,
        })
    }

    /// Returns the tokens of spans, which are sorted. Spans without are left out.
    fn token_spans<'a>(
        &mut self,
        spans: &[ByteSpan<'a>],
        text: &str,
        tokens: &[Offsets],
    ) -> Vec<Span<'a>> {
        let mut found: Vec<Span<'a>> = Vec::with_capacity(spans.len());
        let mut before: Option<&ByteSpan<'a>> = None;
        for span in spans {
            if let Some(before) = before
                && span.bytes.start < before.bytes.end
            {
                let [a, b] = [before, span].map(|span| described(span, text));
                let place = span.span.place.clone();
                let message = format!("{a} and {b} overlap; expected spans that do not");
                self.faults.add(place, message, false);
                continue;
            }
            before = Some(span);
            let first = tokens.partition_point(|token| token.bytes.end <= span.bytes.start);
            let last = tokens.partition_point(|token| token.bytes.start < span.bytes.end);
            let is_whole = first < last
                && tokens[first].bytes.start == span.bytes.start
                && tokens[last - 1].bytes.end == span.bytes.end
                && !span.has_gaps;
            if !is_whole && !self.keeps(span, text, tokens.get(first..last).unwrap_or_default()) {
                continue;
            }
            if let Some(other) = found.last().filter(|other| other.end > first) {
                let message = format!(
                    "{}, extended to whole tokens, overlaps the span before it ({})",
                    described(span, text),
                    other.kind
                );
                self.faults.add(span.span.place.clone(), message, false);
                continue;
            }
            found.push(Span { start: first, end: last, kind: &span.span.label });
        }
        found
    }

    /// Decides on a span that does not have whole tokens, but touches some. Returns whether it is
    /// kept, with all of them.
    fn keeps(&mut self, span: &ByteSpan<'_>, text: &str, touched: &[Offsets]) -> bool {
        match self.spans.misaligned {
            Misaligned::Expand if !touched.is_empty() => {
                self.options.report.add(&EXPANDED, 1);
                true
            }
            Misaligned::Expand | Misaligned::Drop => {
                self.options.report.add(&DROPPED, 1);
                false
            }
            Misaligned::Error => {
                let cut = touched.iter().find(|token| {
                    let is_inside = |byte| token.bytes.start < byte && byte < token.bytes.end;
                    is_inside(span.bytes.start) || is_inside(span.bytes.end)
                });
                let fault = match cut {
                    _ if span.has_gaps => "is discontinuous".to_owned(),
                    Some(token) => {
                        format!("cuts the token '{}'", shortened(&text[token.bytes.clone()]))
                    }
                    None if touched.is_empty() => "has no token".to_owned(),
                    None => "goes beyond its tokens".to_owned(),
                };
                let message = format!("{} {fault}", described(span, text));
                self.faults.add(span.span.place.clone(), message, true);
                false
            }
        }
    }

    /// Builds the sentences of a text.
    fn build(
        &self,
        marked: &MarkedText,
        file: &Arc<str>,
        tokens: &[Offsets],
        labels: &[String],
        ends: &[usize],
    ) -> Result<Vec<Sentence>> {
        let text = &marked.text;
        let (mut line, mut byte) = (marked.line, 0);
        let mut sentences = Vec::with_capacity(ends.len());
        let mut first = 0;
        for &end in ends {
            let mut sentence = Sentence::new(self.schema.clone(), file.clone());
            for (token, label) in tokens[first..end].iter().zip(&labels[first..end]) {
                if marked.is_file {
                    let passed = text[byte..token.bytes.start].bytes();
                    line += passed.filter(|&b| b == b'\n').count() as u64;
                    byte = token.bytes.start;
                }
                let word = &text[token.bytes.clone()];
                match self.options.unlabeled {
                    true => sentence.push([word], line)?,
                    false => sentence.push([word, label], line)?,
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
        goes_on = !is_empty;
        start = end;
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
fn described(span: &ByteSpan<'_>, text: &str) -> String {
    let MarkedSpan { start, end, label, .. } = span.span;
    let covered = shortened(&text[span.bytes.clone()]);
    format!("the span '{covered}' ({label}, {start}–{end})")
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    const LENGTH: usize = 40;
    match text.char_indices().nth(LENGTH) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
