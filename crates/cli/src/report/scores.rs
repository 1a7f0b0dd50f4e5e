//! The sections on scores: overall and by type, and confusions.

use std::collections::BTreeMap;

use dropchain::Result;
use dropchain::eval::Counts;
use dropchain_analysis::ErrorKind;
use serde::Serialize;

use super::analysis::Analysis;
use super::evaluated::Evaluated;
use super::matrix::{Matrix, name_of};
use super::views::{LegendEntry, Table, count, count_of, legend, letter, percent};

/// Maximum number of types or labels in a table.
const MAX_TYPES: usize = 150;

/// Bootstrap samples for the difference of two systems, and their seed.
const SAMPLES: u32 = 2000;
const SEED: u64 = 1;

/// Scores overall and by type.
#[derive(Debug, Serialize)]
pub struct Scores {
    summary: String,
    legend: Vec<LegendEntry>,
    overall: Table,
    difference: Option<String>,
    thing: &'static str,
    types: Vec<TypeScores>,
    types_left_off: usize,
    kinds: Option<Table>,
    matrices: Vec<Matrix>,
}

/// The scores of a type or label, for each system.
#[derive(Debug, Serialize)]
struct TypeScores {
    name: String,
    support: String,
    systems: Vec<TypeScore>,
}

/// The scores of a type or label, in percent.
#[derive(Debug, Serialize)]
struct TypeScore {
    precision: String,
    recall: String,
    f1: String,
}

impl Scores {
    pub fn new(evaluated: &Evaluated, analysis: &Analysis) -> Result<Self> {
        let first = &analysis.systems[0].evaluation;
        let names = evaluated.systems.iter().map(|system| system.name.as_str());
        let (types, types_left_off) = types(analysis);
        let matrices = evaluated.systems.iter().zip(&analysis.systems).enumerate();
        Ok(Self {
            summary: format!(
                "{}, {}",
                count_of(first.sentences(), "sentence"),
                count_of(first.tokens(), "token")
            ),
            legend: legend(names),
            overall: overall(evaluated, analysis),
            difference: difference(analysis)?,
            thing: if analysis.has_spans { "type" } else { "label" },
            types,
            types_left_off,
            kinds: analysis.has_spans.then(|| kinds(analysis)),
            matrices: matrices
                .filter_map(|(i, (system, counts))| {
                    Matrix::new(letter(i), &system.name, counts, analysis.has_spans)
                })
                .collect(),
        })
    }
}

fn overall(evaluated: &Evaluated, analysis: &Analysis) -> Table {
    let mut head = vec!["", "system"];
    if analysis.has_spans {
        head.extend(["precision", "recall", "F1"]);
    }
    head.push("accuracy");
    let mut table = Table::new("Scores, in percent", &head);
    for (i, (system, counts)) in evaluated.systems.iter().zip(&analysis.systems).enumerate() {
        let evaluation = &counts.evaluation;
        let mut cells = vec![letter(i), system.name.clone()];
        if analysis.has_spans {
            let scores = [evaluation.precision(), evaluation.recall(), evaluation.f1()];
            cells.extend(scores.map(percent));
        }
        cells.push(percent(evaluation.accuracy()));
        table.row(cells);
    }
    table
}

/// Describes the difference of two systems, and whether it is significant.
fn difference(analysis: &Analysis) -> Result<Option<String>> {
    let [first, _] = analysis.systems.as_slice() else {
        return Ok(None);
    };
    if first.evaluation.sentences() == 0 {
        return Ok(None);
    }
    let report = analysis.bootstrap.run(SAMPLES, SEED)?;
    let (name, difference) = match report.f1 {
        Some(f1) => ("F1", f1),
        None => ("accuracy", report.accuracy),
    };
    Ok(Some(format!(
        "{name} of B minus that of A: {:+.2} points, with 95% probability between {:+.2} and \
         {:+.2}; p = {:.4} (two-sided, paired bootstrap with {SAMPLES} samples).",
        100.0 * difference.difference,
        100.0 * difference.interval[0],
        100.0 * difference.interval[1],
        difference.p_value
    )))
}

/// Returns the scores by type, or by label if these encode no spans, and how many are left off.
fn types(analysis: &Analysis) -> (Vec<TypeScores>, usize) {
    let mut types: BTreeMap<&str, Vec<Counts>> = BTreeMap::new();
    for (i, system) in analysis.systems.iter().enumerate() {
        let counts: Vec<(&str, Counts)> = match analysis.has_spans {
            true => system.evaluation.types().collect(),
            false => system.evaluation.labels(),
        };
        for (name, counts) in counts {
            let systems = types.entry(name).or_default();
            systems.resize(analysis.systems.len(), Counts::default());
            systems[i] = counts;
        }
    }
    let support = |counts: &[Counts]| counts.iter().map(|c| c.gold).max().unwrap_or(0);
    let mut types: Vec<(&str, Vec<Counts>)> = types.into_iter().collect();
    types.sort_by_key(|(_, counts)| std::cmp::Reverse(support(counts)));
    let left_off = types.len().saturating_sub(MAX_TYPES);
    types.truncate(MAX_TYPES);
    let rows = types.iter().map(|(name, counts)| TypeScores {
        name: name_of(name),
        support: count(support(counts)),
        systems: counts
            .iter()
            .map(|counts| TypeScore::new(*counts))
            .collect(),
    });
    (rows.collect(), left_off)
}

impl TypeScore {
    fn new(counts: Counts) -> Self {
        let metrics = counts.metrics();
        Self {
            precision: percent(metrics.precision),
            recall: percent(metrics.recall),
            f1: percent(metrics.f1),
        }
    }
}

/// Counts errors by kind.
fn kinds(analysis: &Analysis) -> Table {
    let letters: Vec<String> = (0..analysis.systems.len()).map(letter).collect();
    let head = ["error"]
        .into_iter()
        .chain(letters.iter().map(String::as_str));
    let mut table = Table::new("Errors by kind", &head.collect::<Vec<_>>());
    let systems = analysis.systems.iter();
    for kind in ErrorKind::ALL {
        let counts = systems
            .clone()
            .map(|system| count(system.errors.count(kind)));
        table.row([kind.name().to_owned()].into_iter().chain(counts).collect());
    }
    let totals = systems.map(|system| count(system.errors.total()));
    table.row(["all".to_owned()].into_iter().chain(totals).collect());
    table
}
