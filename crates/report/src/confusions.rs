//! Kinds of errors, and which types are confused.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain_analysis::ErrorKind;

use crate::evaluated::{Analysis, Evaluated, SystemAnalysis};
use crate::scores::{counts_of, name_of};
use crate::views::{Cell, Link, Section, Table, count, heads, system};

/// Maximum number of types or labels in a matrix.
const MAX_MATRIX: usize = 20;

/// The type of what is no span.
const NONE: &str = "(none)";

/// Adds the kinds of errors and the matrices of all systems to a section.
pub fn add(all: &Evaluated, analysis: &Analysis, section: &mut Section) {
    if analysis.has_spans {
        section.table(kinds(analysis));
    }
    section.text(
        "Rows are gold, columns predicted; shades are shares of the row. Numbers link to the \
         errors.",
    );
    if analysis.has_spans {
        section.text(
            "On the diagonal, “12 + 3” are 12 correct spans and 3 of the right type with wrong \
             boundaries. “(none)” stands for no span: missed in its column, spurious in its row.",
        );
    }
    let (mut matrices, mut left_off) = (Vec::new(), 0);
    for (i, (name, counts)) in all.names().into_iter().zip(&analysis.systems).enumerate() {
        let pairs = pairs(counts, analysis.has_spans);
        let (matrix, others) = matrix((system(i), name), &pairs);
        matrices.push(matrix);
        left_off = left_off.max(others);
    }
    section.tables(matrices);
    if left_off > 0 {
        section.note(format!("{left_off} more with fewer errors are not shown."));
    }
}

/// Counts errors by kind.
fn kinds(analysis: &Analysis) -> Table {
    let systems = analysis.systems.iter().map(|system| &system.errors);
    let mut table = Table::new("Errors by kind", heads("error"));
    table.head.extend((0..systems.len()).map(system));
    for kind in ErrorKind::ALL {
        let counts = systems.clone().map(|errors| count(errors.count(kind)));
        table.row([kind.words()].into_iter().chain(counts));
    }
    let totals = systems.map(|errors| count(errors.total()));
    table.row(["all".to_owned()].into_iter().chain(totals));
    table
}

/// Returns the commonest kind of error of a system, and its number; `None` of labels without spans.
pub fn commonest_kind(analysis: &Analysis, system: usize) -> Option<(ErrorKind, u64)> {
    let errors = &analysis.systems[system].errors;
    let counts = ErrorKind::ALL.into_iter().map(|kind| (kind, errors.count(kind)));
    let commonest = counts.max_by_key(|&(kind, count)| (count, Reverse(kind)));
    commonest.filter(|(_, count)| analysis.has_spans && *count > 0)
}

/// Says which two types a system confuses most often, if any.
pub fn commonest_confusion(analysis: &Analysis, system: usize) -> Option<String> {
    let pairs = pairs(&analysis.systems[system], analysis.has_spans).into_iter();
    let confused = pairs.filter(|((gold, predicted), [_, wrong])| {
        gold != predicted && gold != NONE && predicted != NONE && *wrong > 0
    });
    let most = confused.max_by(|(a, [_, n]), (b, [_, m])| n.cmp(m).then(b.cmp(a)));
    let ((gold, predicted), [_, wrong]) = most?;
    let times = if wrong == 1 { "once".to_owned() } else { count(wrong) + " times" };
    Some(format!("Commonest confusion: {gold} predicted as {predicted}, {times}."))
}

/// Counts of pairs of gold and predicted names, and of those with errors.
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
            add((name_of(confusion.gold), name_of(confusion.predicted)), confusion.count);
        }
    }
    pairs
}

/// Returns the matrix of the names with the most errors, and how many others there are.
fn matrix((system, name): (String, &str), pairs: &Pairs) -> (Table, usize) {
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
    let mut table = Table::new(format!("{system}: {name}"), heads("gold \\ predicted"));
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
            // A root, so that rare confusions are seen beside what is correct.
            let share = 100.0 * ((correct + wrong) as f64 / sum.max(1) as f64).sqrt();
            let text = numbers.collect::<Vec<_>>().join(" + ");
            let mut cell = Cell::new(text, class, format!("{share:.0}"));
            cell.link = (wrong > 0).then(|| Link::to_errors(&system, [gold, predicted], NONE));
            cell
        });
        table.row([*gold]).cells.extend(cells);
    }
    (table, left_off)
}
