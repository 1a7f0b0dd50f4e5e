//! The section on scores: overall and by type.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain::eval::Counts;

use crate::evaluated::{Analysis, Evaluated, SystemAnalysis};
use crate::significance::Significance;
use crate::views::{
    Cell, Rank, Section, Table, Tile, count, count_of, heads, name_of, or_empty, percent,
};

/// Maximum number of types or labels in a table.
const MAX_TYPES: usize = 150;

/// Number of gold spans or labels from which on a type may be called the worst.
const MIN_SUPPORT: u64 = 20;

/// Shows the scores of systems, overall and by type.
pub fn scores(all: &Evaluated, analysis: &Analysis, significance: &Significance) -> Section {
    let mut section = Section::new("scores", "Scores");
    let table = overall(all, analysis, significance);
    let has_ties = table.rows.iter().any(|row| row.rank == Rank::Tied);
    section.table(table);
    if has_ties {
        section.note("≈: not told apart from ★ (paired bootstrap, p > 0.05).");
    }
    let (types, left_off) = types(analysis, &all.names());
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

fn overall(all: &Evaluated, analysis: &Analysis, significance: &Significance) -> Table {
    let mut head = heads(match analysis.has_spans {
        true => "system, F1, 95% interval, precision, recall, accuracy",
        false => "system, accuracy, 95% interval",
    });
    let has_training = all.systems.iter().any(|system| system.training.is_some());
    head.extend(has_training.then(|| format!("{} on training data", analysis.metric())));
    let (mut table, best) = (Table::new("Scores, in percent", head), analysis.best());
    for (i, (system, counts)) in all.systems.iter().zip(&analysis.systems).enumerate() {
        let evaluation = &counts.evaluation;
        let interval = significance.intervals.get(i);
        let interval = or_empty(interval, |ends| ends.map(percent).join(" – "));
        let others = [evaluation.precision(), evaluation.recall(), evaluation.accuracy()];
        let others = others.into_iter().filter(|_| analysis.has_spans).map(percent);
        let training = or_empty(system.training, |training| percent(training.value));
        let cells = [system.name.clone(), percent(analysis.score(i)), interval].into_iter();
        let row = table.row(cells.chain(others).chain(has_training.then_some(training)));
        if all.systems.len() > 1 {
            row.rank = significance.rank(i, best);
        }
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
fn types(analysis: &Analysis, names: &[&str]) -> (Table, usize) {
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
    head.extend(names.iter().flat_map(|_| heads("precision, recall, F1")));
    let caption = "Precision, recall and F1 in percent; support is the number in gold";
    let mut table = Table::new(caption, head);
    if names.len() > 1 {
        table.groups.push((String::new(), 2));
        table.groups.extend(names.iter().map(|&name| (name.to_owned(), 3)));
    }
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
