//! The errors of an evaluation, in their sentences.

use std::collections::BTreeMap;
use std::ops::Range;

use clap::Args;
use dropchain::Sentence;
use dropchain::eval::Evaluation;
use dropchain::kernel::sentence::list_names;
use dropchain::label::{Labeling, Span};
use dropchain_analysis::{ErrorKind, SpanError, compare_spans, label_errors};
use dropchain_options::named;
use serde::Serialize;

use dropchain_layout::{Paint, at_place, printable, snippet, wrap_indented};

use crate::columns;

/// Filter of the listed errors.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Errors")]
pub struct ErrorArguments {
    /// Also list the errors in their sentences, by kind, with file and line
    #[arg(long, conflicts_with = "damage")]
    errors: bool,
    /// Maximum number of errors of each kind to list; all are counted
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(requires = "errors", hide_short_help = true)]
    max_errors: u32,
    /// Only errors of these kinds, separated by commas
    #[arg(long, value_name = "KIND", value_parser = named::<ErrorKind>(), value_delimiter = ',')]
    #[arg(requires = "errors", hide_short_help = true)]
    error_kind: Vec<ErrorKind>,
    /// Only errors with these gold or predicted types, or labels, separated by commas
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    #[arg(requires = "errors", hide_short_help = true)]
    error_type: Vec<String>,
}

impl ErrorArguments {
    /// Returns the list of errors of gold labels and predictions read so, if errors are to be
    /// listed.
    pub fn list(&self, labelings: [Labeling; 2]) -> Option<ErrorList> {
        self.errors.then(|| ErrorList {
            labelings,
            filter: self.clone(),
            counts: BTreeMap::new(),
            listed: Vec::new(),
        })
    }
}

/// Errors: how many of each kind, and the first ones.
#[derive(Serialize)]
pub struct ErrorList {
    #[serde(skip)]
    labelings: [Labeling; 2], // of gold labels and predictions
    #[serde(skip)]
    filter: ErrorArguments,
    counts: BTreeMap<ErrorKind, usize>,
    listed: Vec<ListedError>,
}

#[derive(Serialize)]
struct ListedError {
    kind: ErrorKind,
    file: String,
    line: Option<u64>,
    gold: Option<ListedSpan>,
    predicted: Option<ListedSpan>,
    tokens: Vec<String>,
}

#[derive(Serialize)]
struct ListedSpan {
    token_start: usize,
    token_end: usize,
    r#type: String,
    text: String,
}

impl ListedSpan {
    fn tokens(&self) -> Range<usize> {
        self.token_start..self.token_end
    }
}

impl ErrorList {
    /// Adds the errors of a sentence: of spans, or of labels that encode none.
    pub fn add(&mut self, sentence: &Sentence, gold: &[&str], predicted: &[&str]) {
        let [own, other] = self.labelings.clone();
        let errors = match own.scheme.has_spans() {
            true => compare_spans(&own.spans(gold), &other.spans(predicted)),
            false => label_errors(gold, predicted),
        };
        errors.iter().for_each(|error| self.add_error(sentence, error));
    }

    fn add_error(&mut self, sentence: &Sentence, error: &SpanError<'_>) {
        let spans = || error.gold.iter().chain(&error.predicted);
        let ErrorArguments { error_kind: kinds, error_type: types, .. } = &self.filter; // or all
        let is_type = |span: &Span<'_>| types.iter().any(|name| name == span.kind);
        if !(kinds.is_empty() || kinds.contains(&error.kind))
            || !(types.is_empty() || spans().any(is_type))
        {
            return;
        }
        let count = self.counts.entry(error.kind).or_default();
        *count += 1;
        if *count > self.filter.max_errors as usize {
            return;
        }
        let words = words(sentence);
        let span = |span: &Option<Span<'_>>| {
            span.as_ref().map(|span| ListedSpan {
                token_start: span.start,
                token_end: span.end,
                r#type: span.kind.to_owned(),
                text: words[span.start..span.end].join(" "),
            })
        };
        let place = sentence.place(error.start());
        self.listed.push(ListedError {
            kind: error.kind,
            file: place.file,
            line: Some(place.line).filter(|&line| line > 0),
            gold: span(&error.gold),
            predicted: span(&error.predicted),
            tokens: words.iter().map(|&word| word.to_owned()).collect(),
        });
    }

    /// Returns a warning if types to list are neither in the gold labels nor in the
    /// predictions.
    pub fn unknown_type(&self, evaluation: &Evaluation) -> Option<String> {
        let known: Vec<String> = match evaluation.has_spans() {
            true => evaluation.types().map(|(name, _)| name.to_owned()).collect(),
            false => evaluation.labels().into_iter().map(|(name, _)| name.to_owned()).collect(),
        };
        let mut unknown = self.filter.error_type.clone();
        unknown.retain(|name| !known.contains(name));
        let have = match list_names(&known) {
            known if known.is_empty() => String::new(),
            known => format!(", which have {known}"),
        };
        (!unknown.is_empty()).then(|| {
            let unknown = unknown.join(",");
            format!(
                "warning: --error-type {unknown}: neither in the gold labels nor in the \
                 predictions{have}"
            )
        })
    }

    /// Formats the errors by kind, painted.
    pub fn format(&self) -> String {
        let encodes_spans = self.labelings[0].scheme.has_spans();
        let total: usize = self.counts.values().sum();
        let mut text = format!("errors: {total}\n");
        for kind in ErrorKind::ALL {
            let Some(count) = self.counts.get(&kind) else { continue };
            let name = match (kind, encodes_spans) {
                (ErrorKind::WrongType, false) => "wrong label".to_owned(),
                _ => kind.words(),
            };
            let name = paint(kind).mark(&name);
            text.push_str(&format!("\n{name}: {count}\n"));
            for error in self.listed.iter().filter(|error| error.kind == kind) {
                text.push_str(&error.format());
            }
            let rest = count.saturating_sub(self.filter.max_errors as usize);
            if rest > 0 {
                text.push_str(&format!("  … and {rest} more (--max-errors)\n"));
            }
        }
        text
    }
}

impl ListedError {
    /// Formats the place, what was annotated and predicted, and the sentence around it.
    fn format(&self) -> String {
        let place = match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        };
        let what = match (&self.gold, &self.predicted) {
            (Some(gold), Some(predicted)) if gold.tokens() == predicted.tokens() => {
                let [gold, predicted] = [&gold.r#type, &predicted.r#type];
                format!("gold {gold}, predicted {predicted}")
            }
            (gold, predicted) => {
                let describe = |span: &Option<ListedSpan>| match span {
                    Some(span) => format!("{} '{}'", span.r#type, span.text),
                    None => "nothing".to_owned(),
                };
                format!("gold {}, predicted {}", describe(gold), describe(predicted))
            }
        };
        let spans = || self.gold.iter().chain(&self.predicted);
        let start = spans().map(|span| span.token_start).min().unwrap_or(0);
        let end = spans().map(|span| span.token_end).max().unwrap_or(0);
        let words: Vec<&str> = self.tokens.iter().map(String::as_str).collect();
        let [is_gold, is_predicted] = [&self.gold, &self.predicted]
            .map(|span| move |t| span.as_ref().is_some_and(|span| span.tokens().contains(&t)));
        let snippet = snippet(&words, (start, end), |t| match (is_gold(t), is_predicted(t)) {
            (true, true) => Some(paint(ErrorKind::WrongType)),
            (true, false) => Some(paint(ErrorKind::Missed)),
            (false, true) => Some(paint(ErrorKind::Spurious)),
            (false, false) => None,
        });
        let columns = columns();
        at_place(&printable(&place), &printable(&what), "  ", columns)
            + &wrap_indented(&snippet, "      ", columns)
    }
}

/// Returns the paint of a kind of errors, also of tokens that a span lacks or should not have.
fn paint(kind: ErrorKind) -> Paint {
    match kind {
        ErrorKind::Missed => Paint::Warning,
        ErrorKind::Spurious => Paint::Bad,
        ErrorKind::WrongType | ErrorKind::WrongBoundary | ErrorKind::WrongTypeAndBoundary => {
            Paint::Notice
        }
    }
}

/// Returns the words of a sentence; `_` for ready-made attributes.
fn words(sentence: &Sentence) -> Vec<&str> {
    let words = sentence.words().filter(|_| sentence.attributes.is_none());
    words.map_or_else(|| vec!["_"; sentence.len()], Iterator::collect)
}
