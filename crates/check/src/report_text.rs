//! What a check found, as text.

use dropchain_layout::{at_place, format_table, printable, wrap_indented as wrap};

use super::{CheckReport, Finding, LabelCount, Overlap, Role, Severity, Sizes, Variation};

/// Maximum number of labels that are listed.
const LABELS: usize = 20;

/// Maximum number of characters of a label in a table.
const LABEL_WIDTH: usize = 40;

/// Formats a report.
pub(super) fn format_report(report: &CheckReport, columns: usize) -> String {
    let roles: Vec<Role> = report.sizes.iter().map(|sizes| sizes.role).collect();
    let mut text = format_sizes(&report.sizes);
    text.push('\n');
    for overlap in &report.overlaps {
        let all = report.sizes.iter().find(|sizes| sizes.role == overlap.role);
        let all = all.map_or(0, |sizes| sizes.sentences);
        let Overlap {
            role,
            other,
            sentences,
            long,
        } = overlap;
        text.push_str(&match sentences {
            0 => format!("no sentence of {role} is in {other}\n"),
            _ => wrap(
                &format!(
                    "sentences of {role} that are in {other}, too: {sentences} ({}), {long} of \
                     them with 5 tokens or more",
                    percent(*sentences, all)
                ),
                "",
                columns,
            ),
        });
    }
    if !report.overlaps.is_empty() {
        text.push('\n');
    }
    let labels = &report.labels;
    if !labels.labels.is_empty() {
        text.push_str(&format!("labels: {}\n", labels.read_as));
        text.push_str(&wrap(&printable(&labels.reason), "  ", columns));
        text.push('\n');
        text.push_str(&format_counts("spans of type", &labels.types, &roles));
        text.push_str(&format_counts("label", &labels.labels, &roles));
    }
    text.push_str(&format_findings(&report.findings, columns));
    text
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
        ("tokens of the longest sentence", &|sizes| {
            sizes.longest.to_string()
        }),
        ("spans", &|sizes| optional(sizes.spans)),
        ("tokens with unknown words", &|sizes| {
            share(sizes.unknown_tokens, Some(sizes.tokens))
        }),
        ("spans unseen in train", &|sizes| {
            share(sizes.unseen_spans, sizes.spans)
        }),
    ];
    let rows = rows.into_iter().map(|(name, cell)| {
        let cells = all.iter().map(cell);
        [name.to_owned()]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()
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
    if findings.is_empty() {
        return "no problems found\n".to_owned();
    }
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let mut text = format!(
        "kinds of errors: {}, of warnings: {}, of notices: {}\n",
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Notice)
    );
    for finding in findings {
        let title = finding.kind.title();
        let line = format!("{}: {title}: {}", finding.severity.name(), finding.count);
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

/// Formats phrases whose labels differ.
pub(super) fn format_variations(variations: &[Variation], columns: usize) -> String {
    let mut text = "\nphrases with different labels, the most suspicious first\n".to_owned();
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
            let line = format!(
                "{} {} times: {places}",
                printable(&label.label),
                label.count
            );
            text.push_str(&wrap(&line, "   ", columns));
        }
    }
    if variations.is_empty() {
        text.push_str("none\n");
    }
    text
}
