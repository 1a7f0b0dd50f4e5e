//! Suspicious annotation, as text and as JSON.

use dropchain::Corpus;
use dropchain::label::Span;
use dropchain_analysis::{SpanError, compare_spans, label_errors};
use dropchain_layout::{Paint, printable, snippet, wrap_indented as wrap};
use serde::Serialize;

use super::report_text::title;
use super::{LabelReport, SuspiciousSentence};

/// Maximum number of differences of a sentence that are listed.
const DIFFERENCES: usize = 3;

/// A suspicious sentence as JSON, with the place of its worst token.
#[derive(Serialize)]
pub(super) struct SuspiciousRecord<'a> {
    file: &'a str,
    line: u64,
    sentence: usize,
    suspicion: f64,
    log_probability: f64, // null if it is not finite
    predicted_log_probability: f64,
    token: usize,
    tokens: Vec<&'a str>,
    labels: Vec<&'a str>,
    predicted: &'a [String],
    probabilities: &'a [f64],
    predicted_probabilities: &'a [f64],
}

impl<'a> SuspiciousRecord<'a> {
    pub fn new(found: &'a SuspiciousSentence, corpus: &'a Corpus) -> Self {
        let sentence = &corpus.sentences()[found.sentence];
        Self {
            file: sentence.file(),
            line: found.place(corpus).line,
            sentence: found.sentence,
            suspicion: found.suspicion,
            log_probability: found.log_probability,
            predicted_log_probability: found.predicted_log_probability,
            token: found.token,
            tokens: sentence.words().into_iter().flatten().collect(),
            labels: sentence.labels().unwrap_or_default(),
            predicted: &found.predicted,
            probabilities: &found.probabilities,
            predicted_probabilities: &found.predicted_probabilities,
        }
    }
}

/// Formats suspicious sentences.
pub(super) fn format_suspicious(
    found: &[SuspiciousSentence],
    corpus: &Corpus,
    labels: &LabelReport,
    columns: usize,
) -> String {
    let mut text = "\n".to_owned() + &title("Suspicious annotation");
    text.push_str(&wrap(
        "probabilities are those of models that did not see the sentence; the worst token is in \
         brackets",
        "",
        columns,
    ));
    for (i, found) in found.iter().enumerate() {
        text.push('\n');
        text.push_str(&format_sentence(i + 1, found, (corpus, labels), columns));
    }
    if found.is_empty() {
        text.push_str("none\n");
    }
    text
}

fn format_sentence(
    number: usize,
    found: &SuspiciousSentence,
    (corpus, labels): (&Corpus, &LabelReport),
    columns: usize,
) -> String {
    let sentence = &corpus.sentences()[found.sentence];
    let words: Vec<&str> = sentence.words().into_iter().flatten().collect();
    let gold = sentence.labels().unwrap_or_default();
    let t = found.token;
    let place = printable(&found.place(corpus).to_string());
    let mut text = format!("{number}. {place}\n");
    let wrap = |text: &str| wrap(text, "   ", columns);
    if !words.is_empty() {
        text.push_str(&wrap(&snippet(&words, (t, t + 1), |_| Some(Paint::Warning))));
    }
    text.push_str(&wrap(&format!(
        "is {} (p = {}), predicted {} (p = {})",
        printable(gold[t]),
        probability(found.probabilities[t]),
        printable(&found.predicted[t]),
        probability(found.predicted_probabilities[t])
    )));
    let labeling = &labels.labeling;
    let differences = match labels.spans {
        true => compare_spans(&labeling.spans(&gold), &labeling.spans(&found.predicted)),
        false => label_errors(&gold, &found.predicted),
    };
    if labels.spans || differences.len() > 1 {
        for difference in differences.iter().take(DIFFERENCES) {
            text.push_str(&wrap(&describe(difference, &words)));
        }
        let rest = differences.len().saturating_sub(DIFFERENCES);
        if rest > 0 {
            text.push_str(&format!("   … and {rest} more differences\n"));
        }
    }
    text
}

fn describe(difference: &SpanError<'_>, words: &[&str]) -> String {
    let [gold, predicted] =
        [&difference.gold, &difference.predicted].map(|span| span_text(span, words));
    format!("annotated {gold}, predicted {predicted}")
}

/// Returns a span as text: its type and its words.
fn span_text(span: &Option<Span<'_>>, words: &[&str]) -> String {
    match span {
        None => "nothing".to_owned(),
        Some(span) => {
            let words = words.get(span.start..span.end).unwrap_or_default();
            printable(&format!("{} '{}'", span.kind, words.join(" ")))
        }
    }
}

fn probability(p: f64) -> String {
    match p {
        0.0 => "0".to_owned(),
        _ if p.is_nan() => "unknown".to_owned(),
        _ if p < 0.001 => format!("{p:.0e}"),
        _ => format!("{p:.3}"),
    }
}
