//! The findings of a check as text.

use dropchain_layout::{Paint, at_place, format_table, printable, wrap_indented as wrap};

use super::{
    CheckReport, Finding, FindingKind, LabelCount, Overlap, Role, Severity, Sizes, Variation,
};

/// Maximum number of labels that are listed.
const LABELS: usize = 20;

/// Maximum number of characters of a label in a table.
const LABEL_WIDTH: usize = 40;

/// What is looked for, in words, with the first and the last of the kinds of findings that it
/// stands for: first of texts, then of labels.
const LOOKED_FOR: [(&str, FindingKind, FindingKind); 6] = {
    use FindingKind as Kind;
    [
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
        ("no sentence has other labels, too", Kind::ConflictingLabels, Kind::ConflictingLabels),
    ]
};

/// The number of them that need no labels.
const OF_TEXTS: usize = 3;

/// Formats a report, painted.
pub(super) fn format_report(report: &CheckReport, columns: usize) -> String {
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
    text + &format_passed(report, columns) + &format_findings(&report.findings, columns)
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
pub(super) fn title(name: &str) -> String {
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
    let text = format!(
        "{} sentences of {role} that are in {other}, too: {sentences} ({share}), {long} of them \
         with 5 tokens or more",
        Paint::Warning.on("⚠")
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
    let label = |label: &str| {
        let label = printable(label);
        match label.chars().count() > LABEL_WIDTH {
            true => label.chars().take(LABEL_WIDTH - 1).chain(['…']).collect(),
            false => label,
        }
    };
    let header = [name.to_owned()].into_iter();
    let header: Vec<String> = header.chain(roles.iter().map(Role::to_string)).collect();
    let rows = counts.iter().take(LABELS).map(|count| {
        let cells = roles.iter().map(|&role| count.of(role).to_string());
        [label(&count.label)].into_iter().chain(cells).collect()
    });
    let mut text = format_table([header].into_iter().chain(rows));
    if counts.len() > LABELS {
        let rest = counts.len() - LABELS;
        text.push_str(&format!("… and {rest} more (--json has all)\n"));
    }
    text.push('\n');
    text
}

fn format_findings(findings: &[Finding], columns: usize) -> String {
    let mut text = title("Problems");
    if findings.is_empty() {
        return text + &Paint::Good.on("✔") + " No problems found\n";
    }
    let severities = [Severity::Error, Severity::Warning, Severity::Notice].into_iter();
    let counts = severities.filter_map(|severity| {
        let count = findings.iter().filter(|f| f.severity == severity).count();
        let kinds = if count == 1 { "kind" } else { "kinds" };
        (count > 0).then(|| format!("{count} {kinds} of {}", severity.name()))
    });
    text.push_str(&format!("{}\n", counts.collect::<Vec<_>>().join(", ")));
    for finding in findings {
        let title = finding.kind.title();
        let line = format!("{}: {title}: {}", heading(finding.severity), finding.count);
        text.push('\n');
        text.push_str(&wrap(&line, "", columns));
        for example in &finding.examples {
            let place = printable(&example.place.to_string());
            let text_there = printable(&example.text);
            text.push_str(&at_place(&place, &text_there, "  ", columns));
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
pub(super) fn format_variations(variations: &[Variation], columns: usize) -> String {
    let mut text = "\n".to_owned() + &title("Phrases with different labels");
    text.push_str("the most suspicious first\n");
    for (i, variation) in variations.iter().enumerate() {
        let context = match variation.same_context {
            true => " (next to the same words)",
            false => "",
        };
        let phrase = printable(&variation.phrase);
        let line = format!("{}. {phrase}{context}", i + 1);
        text.push_str(&wrap(&line, "", columns));
        for label in &variation.labels {
            let places = printable(&label.places.join(" "));
            let line = format!("{} {} times: {places}", printable(&label.label), label.count);
            text.push_str(&wrap(&line, "   ", columns));
        }
    }
    if variations.is_empty() {
        text.push_str("none\n");
    }
    text
}
