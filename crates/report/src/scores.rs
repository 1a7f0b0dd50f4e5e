//! The section on scores: overall and by type.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain::eval::Counts;

use crate::evaluated::{Analysis, Evaluated, SystemAnalysis};
use crate::views::{Cell, Section, Table, Tile, count, count_of, heads, or_empty, percent, system};

/// Maximum number of types or labels in a table.
const MAX_TYPES: usize = 150;

/// Number of gold spans or labels from which on a type may be called the worst.
const MIN_SUPPORT: u64 = 20;

pub fn scores(all: &Evaluated, analysis: &Analysis) -> Section {
    let mut section = Section::new("scores", "Scores");
    section.text(size_of(analysis) + ".");
    section.table(overall(all, analysis));
    let another = Some("another system").filter(|_| all.systems.len() > 1);
    for system in &all.systems {
        if let Some(warning) = &system.warning_of_noise {
            section.warning_of_noise(&system.name, warning, another);
        }
    }
    let (types, left_off) = types(analysis);
    section.heading(format!("By {}", types.head[0]));
    section.table(types);
    if left_off > 0 {
        section.note(format!("{left_off} rarer ones are not shown."));
    }
    section
}

/// Describes how much gold data there are.
pub fn size_of(analysis: &Analysis) -> String {
    let first = &analysis.systems[0].evaluation;
    let mut parts =
        vec![count_of(first.sentences(), "sentence"), count_of(first.tokens(), "token")];
    parts.extend(analysis.has_spans.then(|| count_of(first.spans().gold, "span")));
    parts.join(", ")
}

fn overall(all: &Evaluated, analysis: &Analysis) -> Table {
    let head = match analysis.has_spans {
        true => "system, precision, recall, F1, accuracy",
        false => "system, accuracy",
    };
    let mut head = heads(head);
    let metric = if analysis.has_spans { "F1" } else { "accuracy" };
    let has_training = all.systems.iter().any(|system| system.training.is_some());
    head.extend(has_training.then(|| format!("{metric} on training data")));
    let mut table = Table::named("Scores, in percent", head);
    for (i, (system, counts)) in all.systems.iter().zip(&analysis.systems).enumerate() {
        let evaluation = &counts.evaluation;
        let spans = [evaluation.precision(), evaluation.recall(), evaluation.f1()];
        let spans = spans.into_iter().filter(|_| analysis.has_spans);
        let scores = spans.chain([evaluation.accuracy()]).map(percent);
        let training = or_empty(system.training, |training| percent(training.value));
        let training = has_training.then_some(training);
        let name = [self::system(i), system.name.clone()].into_iter();
        table.row(name.chain(scores).chain(training));
    }
    table
}

/// Returns the correct and other counts by type, or by label if these encode no spans.
pub fn counts_of(counts: &SystemAnalysis, has_spans: bool) -> Vec<(&str, Counts)> {
    match has_spans {
        true => counts.evaluation.types().collect(),
        false => counts.evaluation.labels(),
    }
}

/// Returns the type or label of a system with the lowest F1, among several that are not rare.
pub fn worst_type(analysis: &Analysis, system: usize) -> Option<Tile> {
    let has_spans = analysis.has_spans;
    let (thing, things) = match has_spans {
        true => ("type", "gold spans"),
        false => ("label", "gold tokens"),
    };
    let counts = counts_of(&analysis.systems[system], has_spans);
    let frequent = counts.into_iter().filter(|(_, c)| c.gold >= MIN_SUPPORT);
    let mut frequent: Vec<(&str, Counts)> = frequent.collect();
    frequent.sort_by(|(_, a), (_, b)| a.metrics().f1.total_cmp(&b.metrics().f1));
    let [(name, counts), _, ..] = frequent.as_slice() else {
        return None;
    };
    let metrics = counts.metrics();
    Some(Tile {
        name: format!("Worst {thing} of {MIN_SUPPORT} {things} or more"),
        value: format!("{} {}", name_of(name), percent(metrics.f1)),
        note: format!(
            "F1; precision {}, recall {}, {} {things}",
            percent(metrics.precision),
            percent(metrics.recall),
            count(counts.gold)
        ),
    })
}

/// Returns the scores by type or label, and how many are left off.
fn types(analysis: &Analysis) -> (Table, usize) {
    let systems = analysis.systems.len();
    let mut types: BTreeMap<&str, Vec<Counts>> = BTreeMap::new();
    for (i, system) in analysis.systems.iter().enumerate() {
        for (name, counts) in counts_of(system, analysis.has_spans) {
            types.entry(name).or_insert_with(|| vec![Counts::default(); systems])[i] = counts;
        }
    }
    let support = |counts: &[Counts]| counts.iter().map(|c| c.gold).max().unwrap_or(0);
    let mut types: Vec<(&str, Vec<Counts>)> = types.into_iter().collect();
    types.sort_by_key(|(_, counts)| Reverse(support(counts)));
    let left_off = types.len().saturating_sub(MAX_TYPES);
    types.truncate(MAX_TYPES);
    let thing = if analysis.has_spans { "type" } else { "label" };
    let mut head = vec![thing.to_owned(), "support".to_owned()];
    for i in 0..systems {
        let prefix = if systems > 1 { system(i) + ": " } else { String::new() };
        head.extend(["precision", "recall", "F1"].map(|name| format!("{prefix}{name}")));
    }
    let caption = "Precision, recall and F1 in percent; support is the number in gold";
    let mut table = Table::new(caption, head);
    for (name, counts) in types {
        let row = table.row([name_of(name), count(support(&counts))]);
        for counts in counts {
            let metrics = counts.metrics();
            let f1 = percent(metrics.f1);
            let others = [metrics.precision, metrics.recall].map(percent);
            row.cells.extend(others.map(|score| Cell::new(score, "", "")));
            row.cells.push(Cell::new(f1.as_str(), "bar", f1.as_str()));
        }
    }
    (table, left_off)
}

/// Returns a type as it is shown.
pub fn name_of(name: &str) -> String {
    match name {
        "" => "(no type)".to_owned(),
        name => name.to_owned(),
    }
}
