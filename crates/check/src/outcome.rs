//! All that a check found, as text and as JSON.

use dropchain::label::Span;
use dropchain_analysis::{compare_spans, label_errors};
use dropchain_layout::{
    Paint, at_place, counted, format_table, printable, snippet, without_paint,
    wrap_indented as wrap,
};

use super::{
    CheckReport, FindingKind as Kind, LabelCount, LabelReport, Overlap, Role, Severity, Sizes,
    SuspiciousSentence, Variation,
};

/// Maximum number of labels that are listed.
const LABELS: usize = 20;

/// Maximum number of characters of a label in a table.
const LABEL_WIDTH: usize = 40;

/// What is looked for, in words, with the first and the last of the kinds of findings that it
/// stands for: first of texts, then of labels.
const LOOKED_FOR: [(&str, Kind, Kind); 6] = [
    ("files can be read, and have the same columns", Kind::Unreadable, Kind::OtherColumns),
    (
        "no character is invisible, unusual, or decoded wrongly; line ends are the same",
        Kind::ReplacementCharacter,
        Kind::MixedNormalization,
    ),
    (
        "no cell is empty or has a blank inside, no sentence is longer than 200 tokens",
        Kind::EmptyCell,
        Kind::LongSentence,
    ),
    ("labels are in valid sequences", Kind::IllegalTransition, Kind::NoSpan),
    (
        "no label looks misspelled or partial, none is missing in the training data",
        Kind::SimilarLabels,
        Kind::PartialLooking,
    ),
    ("no long sentence has other labels, too", Kind::ConflictingLabels, Kind::ConflictingLabels),
];

/// The number of them that need no labels.
const OF_TEXTS: usize = 3;

/// Maximum number of differences of a suspicious sentence that are listed.
const DIFFERENCES: usize = 3;

/// All that a check found: the report and, as far as they were asked for, phrases with different
/// labels and sentences with suspicious ones.
#[derive(Debug, serde::Serialize)]
pub struct Outcome<'c> {
    /// The report.
    #[serde(flatten)]
    pub report: CheckReport,
    /// Phrases whose labels differ from place to place, the most suspicious first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inconsistent: Option<Vec<Variation>>,
    /// Sentences whose labels models of the other folds find improbable, the worst first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicious: Option<Vec<SuspiciousSentence<'c>>>,
}

impl Outcome<'_> {
    /// Returns a text of lines of at most `columns`, as far as words allow.
    pub fn text(&self, columns: usize) -> String {
        without_paint(&self.painted_text(columns))
    }

    /// Returns the text with escape sequences for the colors of a terminal, and no others.
    pub fn painted_text(&self, columns: usize) -> String {
        let mut text = format_report(&self.report, columns);
        if let Some(found) = &self.inconsistent {
            text += &format_variations(found, columns);
        }
        if let Some(found) = &self.suspicious {
            text += &format_suspicious(found, &self.report.labels, columns);
        }
        text
    }
}

/// Formats a report, painted.
fn format_report(report: &CheckReport, columns: usize) -> String {
    let roles: Vec<Role> = report.sizes.iter().map(|sizes| sizes.role).collect();
    let mut text = title("Corpora") + &format_sizes(&report.sizes) + "\n";
    if !report.overlaps.is_empty() {
        text.push_str(&title("Overlap"));
        for overlap in &report.overlaps {
            text.push_str(&format_overlap(overlap, report, columns));
        }
        text.push('\n');
    }
    let labels = &report.labels;
    if !labels.labels.is_empty() {
        text.push_str(&title("Labels"));
        text.push_str(&format!("{}\n", labels.read_as));
        text.push_str(&wrap(&printable(&labels.reason), "  ", columns));
        text.push('\n');
        text.push_str(&format_counts("spans of type", &labels.types, &roles));
        text.push_str(&format_counts("label", &labels.labels, &roles));
    }
    text + &format_passed(report, columns) + &format_findings(report, columns)
}

/// Formats what was looked for and found fine.
fn format_passed(report: &CheckReport, columns: usize) -> String {
    let has = |first: &_, last: &_| {
        report.findings.iter().any(|found| (*first..=*last).contains(&found.kind))
    };
    let count = if report.labels.labels.is_empty() { OF_TEXTS } else { LOOKED_FOR.len() };
    let passed = LOOKED_FOR[..count].iter().filter(|(_, first, last)| !has(first, last));
    let lines =
        passed.map(|(fine, ..)| wrap(&format!("{} {fine}", Paint::Good.on("✔")), "", columns));
    match lines.collect::<String>() {
        lines if lines.is_empty() => lines,
        lines => title("Looked for, and fine") + &lines + "\n",
    }
}

/// Returns the line above a section.
fn title(name: &str) -> String {
    Paint::Title.on(name) + "\n"
}

fn format_overlap(overlap: &Overlap, report: &CheckReport, columns: usize) -> String {
    let Overlap { role, other, sentences, long } = overlap;
    if *sentences == 0 {
        let mark = Paint::Good.on("✔");
        return format!("{mark} no sentence of {role} is in {other}\n");
    }
    let all = report.sizes.iter().find(|sizes| sizes.role == *role);
    let share = percent(*sentences, all.map_or(0, |sizes| sizes.sentences));
    let mark = Paint::Warning.on("⚠");
    let text = format!(
        "{mark} sentences of {role} that are in {other}, too: {sentences} ({share}), {long} of \
         them with 5 tokens or more"
    );
    wrap(&text, "", columns)
}

fn format_sizes(all: &[Sizes]) -> String {
    let optional = |count: Option<u64>| count.map_or("–".to_owned(), |count| count.to_string());
    let share = |count: Option<u64>, of: Option<u64>| match (count, of) {
        (Some(count), Some(of)) => percent(count, of),
        _ => "–".to_owned(),
    };
    type Cell<'a> = &'a dyn Fn(&Sizes) -> String;
    let rows: [(&str, Cell<'_>); 10] = [
        ("", &|sizes| sizes.role.to_string()),
        ("files", &|sizes| sizes.files.to_string()),
        ("sentences", &|sizes| sizes.sentences.to_string()),
        ("tokens", &|sizes| sizes.tokens.to_string()),
        ("different words", &|sizes| sizes.words.to_string()),
        ("documents (marked)", &|sizes| optional(sizes.documents)),
        ("tokens of the longest sentence", &|sizes| sizes.longest.to_string()),
        ("spans", &|sizes| optional(sizes.spans)),
        ("tokens with unknown words", &|sizes| share(sizes.unknown_tokens, Some(sizes.tokens))),
        ("spans unseen in train", &|sizes| share(sizes.unseen_spans, sizes.spans)),
    ];
    let rows = rows.into_iter().map(|(name, cell)| {
        let cells = all.iter().map(cell);
        [name.to_owned()].into_iter().chain(cells).collect::<Vec<_>>()
    });
    let rows = rows.filter(|row| row[1..].iter().any(|cell| cell != "–"));
    format_table(rows)
}

fn percent(count: u64, of: u64) -> String {
    match of {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", 100.0 * count as f64 / of as f64),
    }
}

/// Formats how often labels or types occur, with an empty line after them.
fn format_counts(name: &str, counts: &[LabelCount], roles: &[Role]) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let label = |label: &str| match printable(label) {
        label if label.chars().count() <= LABEL_WIDTH => label,
        label => label.chars().take(LABEL_WIDTH - 1).chain(['…']).collect(),
    };
    let header = [name.to_owned()].into_iter();
    let header: Vec<String> = header.chain(roles.iter().map(Role::to_string)).collect();
    let rows = counts.iter().take(LABELS).map(|count| {
        let cells = roles.iter().map(|&role| count.of(role).to_string());
        [label(&count.label)].into_iter().chain(cells).collect()
    });
    let mut text = format_table([header].into_iter().chain(rows));
    let rest = counts.len().saturating_sub(LABELS);
    if rest > 0 {
        text.push_str(&format!("… and {rest} more (--json has all)\n"));
    }
    text.push('\n');
    text
}

fn format_findings(report: &CheckReport, columns: usize) -> String {
    let mut text = title("Problems");
    if report.findings.is_empty() {
        return text + &Paint::Good.on("✔") + " No problems found\n";
    }
    let counts = Severity::ALL.into_iter().filter_map(|severity| {
        let count = report.kinds(severity);
        (count > 0).then(|| counted(count, "kind") + " of " + severity.name())
    });
    text.push_str(&format!("{}\n", counts.collect::<Vec<_>>().join(", ")));
    for finding in &report.findings {
        let title = finding.kind.title();
        let line = format!("{}: {title}: {}", heading(finding.severity), finding.count);
        text.push('\n');
        text.push_str(&wrap(&line, "", columns));
        for example in &finding.examples {
            let [place, there] = [&example.place.to_string(), &example.text].map(|s| printable(s));
            text.push_str(&at_place(&place, &there, "  ", columns));
        }
        let rest = finding.count - finding.examples.len() as u64;
        if rest > 0 && !finding.examples.is_empty() {
            text.push_str(&format!("  … and {rest} more\n"));
        }
    }
    text
}

/// Returns a severity with its mark.
fn heading(severity: Severity) -> String {
    let (mark, paint) = match severity {
        Severity::Error => ('✘', Paint::Bad),
        Severity::Warning => ('⚠', Paint::Warning),
        Severity::Notice => ('ℹ', Paint::Notice),
    };
    paint.on(&format!("{mark} {}", severity.name()))
}

/// Formats phrases whose labels differ.
fn format_variations(variations: &[Variation], columns: usize) -> String {
    let mut text = "\n".to_owned() + &title("Phrases with different labels");
    text.push_str("the most suspicious first\n");
    for (i, variation) in variations.iter().enumerate() {
        let context = if variation.same_context { " (next to the same words)" } else { "" };
        let line = format!("{}. {}{context}", i + 1, printable(&variation.phrase));
        text.push_str(&wrap(&line, "", columns));
        for label in &variation.labels {
            let places = printable(&label.places.join(" "));
            let line = format!("{} {} times: {places}", printable(&label.label), label.count);
            text.push_str(&wrap(&line, "   ", columns));
        }
    }
    if variations.is_empty() { text + "none\n" } else { text }
}

/// Formats suspicious sentences.
fn format_suspicious(
    found: &[SuspiciousSentence<'_>],
    labels: &LabelReport,
    columns: usize,
) -> String {
    let note = "probabilities are those of models that did not see the sentence; the worst token \
                is in brackets";
    let mut text = "\n".to_owned() + &title("Suspicious annotation") + &wrap(note, "", columns);
    for (i, found) in found.iter().enumerate() {
        text += &format!("\n{}. ", i + 1);
        text += &format_sentence(found, labels, columns);
    }
    if found.is_empty() { text + "none\n" } else { text }
}

fn format_sentence(found: &SuspiciousSentence<'_>, labels: &LabelReport, columns: usize) -> String {
    let SuspiciousSentence { token: t, tokens: words, labels: gold, .. } = found;
    let mut text = printable(&found.place().to_string()) + "\n";
    let mut add = |line: &str| text += &wrap(line, "   ", columns);
    if !words.is_empty() {
        add(&snippet(words, (*t, t + 1), |_| Some(Paint::Warning)));
    }
    let [own, predicted] = [gold[*t], &found.predicted[*t]].map(printable);
    let [p, q] = [&found.probabilities, &found.predicted_probabilities].map(|p| probability(p[*t]));
    add(&format!("is {own} (p = {p}), predicted {predicted} (p = {q})"));
    let labeling = &labels.labeling;
    let differences = match labels.spans {
        true => compare_spans(&labeling.spans(gold), &labeling.spans(&found.predicted)),
        false => label_errors(gold, &found.predicted),
    };
    if labels.spans || differences.len() > 1 {
        for difference in differences.iter().take(DIFFERENCES) {
            let spans = [&difference.gold, &difference.predicted];
            let [gold, predicted] = spans.map(|span| span_text(span, words));
            add(&format!("annotated {gold}, predicted {predicted}"));
        }
        let rest = differences.len().saturating_sub(DIFFERENCES);
        if rest > 0 {
            text += &format!("   … and {rest} more differences\n");
        }
    }
    text
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
