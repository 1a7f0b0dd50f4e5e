//! The sections on scores: overall and by type, and confusions.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain::Result;
use dropchain::eval::Counts;
use dropchain_analysis::ErrorKind;

use crate::evaluated::{Analysis, Evaluated, SystemAnalysis};
use crate::views::{Cell, Section, Table, count, count_of, heads, letter, percent, with_letters};

/// Maximum number of types or labels in a table.
const MAX_TYPES: usize = 150;

/// Maximum number of types or labels in a matrix.
const MAX_MATRIX: usize = 20;

/// Bootstrap samples for the difference of two systems, and their seed.
const SAMPLES: u32 = 2000;
const SEED: u64 = 1;

/// The type of what is no span.
const NONE: &str = "(none)";

pub fn scores(all: &Evaluated, analysis: &Analysis) -> Result<Section> {
    let mut section = Section::new("scores", "Scores");
    let first = &analysis.systems[0].evaluation;
    section.text(format!(
        "{}, {}.",
        count_of(first.sentences(), "sentence"),
        count_of(first.tokens(), "token")
    ));
    section.legend(&all.names());
    section.table(overall(all, analysis));
    if analysis.systems.len() == 2 && first.sentences() > 0 {
        section.text(difference(analysis)?);
    }
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
    Ok(section)
}

fn overall(all: &Evaluated, analysis: &Analysis) -> Table {
    let head = match analysis.has_spans {
        true => "system, precision, recall, F1, accuracy",
        false => "system, accuracy",
    };
    let mut table = Table::named("Scores, in percent", heads(head));
    for (name, counts) in all.names().into_iter().zip(&analysis.systems) {
        let evaluation = &counts.evaluation;
        let spans = [evaluation.precision(), evaluation.recall(), evaluation.f1()];
        let spans = spans.into_iter().filter(|_| analysis.has_spans);
        let scores = spans.chain([evaluation.accuracy()]).map(percent);
        table.row([name.to_owned()].into_iter().chain(scores));
    }
    table
}

/// Describes the difference of two systems, and whether it is significant.
fn difference(analysis: &Analysis) -> Result<String> {
    let report = analysis.bootstrap.run(SAMPLES, SEED)?;
    let (name, difference) = match report.f1 {
        Some(f1) => ("F1", f1),
        None => ("accuracy", report.accuracy),
    };
    Ok(format!(
        "{name} of B minus that of A: {:+.2} points, 95 % CI [{:+.2}, {:+.2}]; p = {:.4} \
         (two-sided, paired bootstrap with {SAMPLES} samples).",
        100.0 * difference.difference,
        100.0 * difference.interval[0],
        100.0 * difference.interval[1],
        difference.p_value
    ))
}

/// Returns the correct and other counts by type, or by label if these encode no spans.
fn counts_of(counts: &SystemAnalysis, has_spans: bool) -> Vec<(&str, Counts)> {
    match has_spans {
        true => counts.evaluation.types().collect(),
        false => counts.evaluation.labels(),
    }
}

/// Returns the scores by type or label, and how many are left off.
fn types(analysis: &Analysis) -> (Table, usize) {
    let systems = analysis.systems.len();
    let mut types: BTreeMap<&str, Vec<Counts>> = BTreeMap::new();
    for (i, system) in analysis.systems.iter().enumerate() {
        for (name, counts) in counts_of(system, analysis.has_spans) {
            types
                .entry(name)
                .or_insert_with(|| vec![Counts::default(); systems])[i] = counts;
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
        let prefix = if systems > 1 {
            letter(i) + ": "
        } else {
            String::new()
        };
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
            row.cells
                .extend(others.map(|score| Cell::new(score, "", "")));
            row.cells.push(Cell::new(f1.as_str(), "bar", f1.as_str()));
        }
    }
    (table, left_off)
}

pub fn confusions(all: &Evaluated, analysis: &Analysis) -> Section {
    let mut section = Section::new("confusions", "Confusions");
    if analysis.has_spans {
        section.table(kinds(analysis));
    }
    section.text("Rows are gold, columns predicted; shades are shares of the row.");
    if analysis.has_spans {
        section.text(
            "On the diagonal, “12 + 3” are 12 correct spans and 3 of the right type with wrong \
             boundaries. “(none)” stands for no span: missed in its column, spurious in its row.",
        );
    }
    for (i, (name, counts)) in all.names().into_iter().zip(&analysis.systems).enumerate() {
        let pairs = pairs(counts, analysis.has_spans);
        let (matrix, left_off) = matrix(format!("{}: {name}", letter(i)), &pairs);
        section.table(matrix);
        if left_off > 0 {
            section.note(format!("{left_off} more with fewer errors are not shown."));
        }
    }
    section
}

/// Counts errors by kind.
fn kinds(analysis: &Analysis) -> Table {
    let systems = analysis.systems.iter().map(|system| &system.errors);
    let mut table = Table::new("Errors by kind", with_letters("error", systems.len()));
    for kind in ErrorKind::ALL {
        let counts = systems.clone().map(|errors| count(errors.count(kind)));
        table.row([kind.words()].into_iter().chain(counts));
    }
    let totals = systems.map(|errors| count(errors.total()));
    table.row(["all".to_owned()].into_iter().chain(totals));
    table
}

/// How often gold and predicted names belong together, and how often with errors.
type Pairs = BTreeMap<(String, String), [u64; 2]>;

fn pairs(counts: &SystemAnalysis, has_spans: bool) -> Pairs {
    let mut pairs = Pairs::new();
    for (name, counts) in counts_of(counts, has_spans) {
        pairs.entry((name_of(name), name_of(name))).or_default()[0] = counts.correct;
    }
    let mut add = |names, count| pairs.entry(names).or_default()[1] = count;
    if has_spans {
        let name = |kind: &Option<String>| kind.as_deref().map_or(NONE.to_owned(), name_of);
        for ((gold, predicted), &count) in &counts.errors.types {
            add((name(gold), name(predicted)), count);
        }
    } else {
        for confusion in counts.evaluation.confusions(usize::MAX) {
            add(
                (name_of(confusion.gold), name_of(confusion.predicted)),
                confusion.count,
            );
        }
    }
    pairs
}

/// Returns the matrix of the names with the most errors, and how many others there are.
fn matrix(caption: String, pairs: &Pairs) -> (Table, usize) {
    let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
    for ((gold, predicted), [_, wrong]) in pairs {
        for name in [gold, predicted] {
            *errors.entry(name).or_default() += wrong;
        }
    }
    let has_none = errors.remove(NONE).is_some(); // always the last
    let mut names: Vec<(&str, u64)> = errors.into_iter().collect();
    names.sort_by_key(|(_, errors)| Reverse(*errors));
    let left_off = names.len().saturating_sub(MAX_MATRIX);
    names.truncate(MAX_MATRIX);
    names.sort_unstable();
    let mut names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
    names.extend(has_none.then_some(NONE));
    let mut table = Table::new(caption, heads("gold \\ predicted"));
    table.head.extend(names.iter().map(|&name| name.to_owned()));
    table.class = "matrix";
    for gold in &names {
        let pair = |predicted: &&str| {
            let pair = pairs.get(&((*gold).to_owned(), (*predicted).to_owned()));
            pair.copied().unwrap_or_default()
        };
        let sum: u64 = names.iter().flat_map(pair).sum();
        let cells = names.iter().map(|predicted| {
            let [correct, wrong] = pair(predicted);
            let numbers = [correct, wrong].into_iter().filter(|&n| n > 0).map(count);
            let class = ["wrong", "correct"][usize::from(gold == predicted)];
            let share = 100 * (correct + wrong) / sum.max(1);
            Cell::new(
                numbers.collect::<Vec<_>>().join(" + "),
                class,
                share.to_string(),
            )
        });
        table.row([*gold]).cells.extend(cells);
    }
    (table, left_off)
}

/// Returns a type as it is shown.
fn name_of(name: &str) -> String {
    match name {
        "" => "(no type)".to_owned(),
        name => name.to_owned(),
    }
}
