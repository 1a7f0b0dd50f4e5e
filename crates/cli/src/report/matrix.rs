//! Confusion matrices.

use std::collections::BTreeMap;

use serde::Serialize;

use super::analysis::SystemAnalysis;
use super::views::count;

/// Maximum number of types or labels in a matrix.
const MAX_MATRIX: usize = 20;

/// Which types or labels a system confuses.
#[derive(Debug, Serialize)]
pub struct Matrix {
    letter: String,
    name: String,
    columns: Vec<String>,
    rows: Vec<MatrixRow>,
    left_off: usize,
}

#[derive(Debug, Serialize)]
struct MatrixRow {
    name: String,
    cells: Vec<MatrixCell>,
}

#[derive(Debug, Serialize)]
struct MatrixCell {
    text: String,
    is_correct: bool,
    /// The share of the row, from 0 to 100.
    share: u64,
}

/// Returns a type as it is shown.
pub fn name_of(name: &str) -> String {
    match name {
        "" => "(no type)".to_owned(),
        name => name.to_owned(),
    }
}

/// Numbers of gold and predicted names that belong together.
type Pairs = BTreeMap<(String, String), PairCount>;

/// How often two names belong together, and how often with wrong boundaries.
#[derive(Clone, Copy, Default)]
struct PairCount {
    correct: u64,
    wrong: u64,
}

const NONE: &str = "(none)";

fn type_pairs(system: &SystemAnalysis) -> Pairs {
    let mut pairs = Pairs::new();
    for (name, counts) in system.evaluation.types() {
        let pair = pairs.entry((name_of(name), name_of(name))).or_default();
        pair.correct = counts.correct;
    }
    for errors in system.errors.types() {
        let name = |kind: Option<&str>| kind.map_or(NONE.to_owned(), name_of);
        let pair = pairs
            .entry((name(errors.gold), name(errors.predicted)))
            .or_default();
        pair.wrong = errors.count;
    }
    pairs
}

fn label_pairs(system: &SystemAnalysis) -> Pairs {
    let mut pairs = Pairs::new();
    for (name, counts) in system.evaluation.labels() {
        let pair = pairs.entry((name_of(name), name_of(name))).or_default();
        pair.correct = counts.correct;
    }
    for confusion in system.evaluation.confusions(usize::MAX) {
        let names = (name_of(confusion.gold), name_of(confusion.predicted));
        pairs.entry(names).or_default().wrong = confusion.count;
    }
    pairs
}

impl Matrix {
    /// Creates the matrix of a system; `None` if it has nothing.
    pub fn new(letter: String, system: &str, counts: &SystemAnalysis, spans: bool) -> Option<Self> {
        let pairs = match spans {
            true => type_pairs(counts),
            false => label_pairs(counts),
        };
        (!pairs.is_empty()).then(|| Self::of_pairs(letter, system, &pairs))
    }

    fn of_pairs(letter: String, system: &str, pairs: &Pairs) -> Self {
        // The names with the most errors; the absence of a span is always the last.
        let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
        for ((gold, predicted), counts) in pairs {
            for name in [gold, predicted] {
                *errors.entry(name).or_default() += counts.wrong;
            }
        }
        let has_none = errors.remove(NONE).is_some();
        let mut names: Vec<(&str, u64)> = errors.into_iter().collect();
        names.sort_by_key(|(_, errors)| std::cmp::Reverse(*errors));
        let left_off = names.len().saturating_sub(MAX_MATRIX);
        names.truncate(MAX_MATRIX);
        names.sort_unstable();
        let mut names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
        names.extend(has_none.then_some(NONE));
        let rows = names.iter().map(|gold| MatrixRow {
            name: (*gold).to_owned(),
            cells: row(pairs, gold, &names),
        });
        Self {
            letter,
            name: system.to_owned(),
            rows: rows.collect(),
            columns: names.into_iter().map(str::to_owned).collect(),
            left_off,
        }
    }
}

fn row(pairs: &Pairs, gold: &str, names: &[&str]) -> Vec<MatrixCell> {
    let pair = |predicted: &str| {
        let pair = pairs.get(&(gold.to_owned(), predicted.to_owned()));
        pair.copied().unwrap_or_default()
    };
    let sizes = names.iter().map(|name| pair(name));
    let sum: u64 = sizes.map(|pair| pair.correct + pair.wrong).sum();
    let cell = |predicted: &&str| {
        let pair = pair(predicted);
        let size = pair.correct + pair.wrong;
        MatrixCell {
            text: match (pair.correct, pair.wrong) {
                (0, 0) => String::new(),
                (correct, 0) => count(correct),
                (correct, wrong) if gold == *predicted => {
                    format!("{} + {}", count(correct), count(wrong))
                }
                (_, wrong) => count(wrong),
            },
            is_correct: gold == *predicted,
            share: 100 * size / sum.max(1),
        }
    };
    names.iter().map(cell).collect()
}
