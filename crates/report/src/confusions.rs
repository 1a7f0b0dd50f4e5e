//! Kinds of errors, and which types are confused.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain_analysis::ErrorKind;

use crate::errors::{ErrorList, NONE, title_of};
use crate::evaluated::{Analysis, Evaluated, SystemAnalysis};
use crate::scores::counts_of;
use crate::views::{Block, Cell, Link, Table, count, heads, name_of};

/// Maximum number of types or labels in a matrix.
const MAX_MATRIX: usize = 20;

/// Shows the kinds of errors and the matrices of all systems.
pub fn confusions(all: &Evaluated, analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    if analysis.has_spans {
        blocks.push(Block::Table(kinds(all, analysis)));
    }
    let mut add_text = |text: &str| blocks.push(Block::Text(text.to_owned()));
    add_text(
        "Rows are gold, columns predicted; shades are shares of the row. Numbers link to the \
         errors.",
    );
    if analysis.has_spans {
        add_text(
            "On the diagonal, “12 + 3” are 12 correct spans and 3 of the right type with wrong \
             boundaries. “(none)” stands for no span: missed in its column, spurious in its row.",
        );
    }
    let (mut matrices, mut left_off) = (Vec::new(), 0);
    for (i, (name, counts)) in all.names().into_iter().zip(&analysis.systems).enumerate() {
        let pairs = pairs(counts, analysis.has_spans);
        let (matrix, others) = matrix((i, name), &pairs, &analysis.errors);
        matrices.push(matrix);
        left_off = left_off.max(others);
    }
    blocks.push(Block::Tables(matrices));
    if left_off > 0 {
        blocks.push(Block::Note(format!("{left_off} more with fewer errors are not shown.")));
    }
    blocks
}

/// Counts errors by kind.
fn kinds(all: &Evaluated, analysis: &Analysis) -> Table {
    let systems = analysis.systems.iter().map(|system| &system.errors);
    let mut table = Table::new("Errors by kind", heads("error"));
    table.head.extend(all.names().into_iter().map(str::to_owned));
    for kind in ErrorKind::ALL {
        let counts = systems.clone().map(|errors| count(errors.count(kind)));
        table.row([kind.words()].into_iter().chain(counts));
    }
    let totals = systems.map(|errors| count(errors.total()));
    table.row(["all".to_owned()].into_iter().chain(totals));
    table
}

/// Says which error a system makes most often, if any, and how often.
pub fn commonest_error(analysis: &Analysis, system: usize) -> Option<String> {
    let pairs = pairs(&analysis.systems[system], analysis.has_spans).into_iter();
    let most = pairs.max_by(|(a, [_, n]), (b, [_, m])| n.cmp(m).then(b.cmp(a)));
    let ((gold, predicted), [_, wrong]) = most?;
    (wrong > 0).then(|| format!("most often {}: {}", title_of(&gold, &predicted), count(wrong)))
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
fn matrix((system, name): (usize, &str), pairs: &Pairs, list: &ErrorList) -> (Table, usize) {
    let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
    for ((gold, predicted), [_, wrong]) in pairs {
        for name in [gold, predicted] {
            *errors.entry(name).or_default() += wrong;
        }
    }
    let has_none = errors.remove(NONE).is_some(); // always the last
    let mut most: Vec<(&str, u64)> = errors.into_iter().collect();
    most.sort_by_key(|(_, errors)| Reverse(*errors));
    let left_off = most.len().saturating_sub(MAX_MATRIX);
    let mut names: Vec<&str> = most.iter().take(MAX_MATRIX).map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.extend(has_none.then_some(NONE));
    let mut table = Table::new(name, heads("gold \\ predicted"));
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
            let label = match gold == predicted {
                true => format!("{gold}: {text} with wrong boundaries"),
                false => format!("{}, {text}", title_of(gold, predicted)),
            };
            let id = list.id(gold, predicted).filter(|_| wrong > 0);
            let link = id.map(|id| Link { id, system, label });
            Cell { text, class, share: format!("{share:.0}"), link }
        });
        table.row([*gold]).cells.extend(cells);
    }
    (table, left_off)
}
