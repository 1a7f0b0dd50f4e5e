//! The course of training as a table on a terminal.

use dropchain::eval::Counts;
use dropchain::train::{DevScore, Iteration, Start};
use serde_json::Value;

use crate::score_table::percent;

/// One row in this many is shown even if development data do not improve.
const EVERY: usize = 10;

/// Columns between two cells.
const GAP: usize = 2;

/// The course of one model.
#[derive(Default)]
pub struct TrainingTable {
    patience: Option<u64>,
    noise: String,
    warmed_up: bool, // there were iterations without noise
    has_header: bool,
    types: Vec<(String, Counts)>, // of the kept iteration
    kept: Vec<Column>,            // its cells
}

/// A heading with its width, and the cell below it.
type Column = (&'static str, usize, String);

impl TrainingTable {
    /// Creates the table of a training run.
    pub fn new(start: &Start) -> Self {
        let options = &start.options;
        let noise = match (&options["noise"], options["dropout"].as_f64()) {
            (Value::String(kind), Some(rate)) => format!("{kind} {rate}"),
            _ => "noise".to_owned(),
        };
        Self { patience: options["patience"].as_u64(), noise, ..Self::default() }
    }

    /// Returns the lines of an iteration, of as many columns as fit: a row if it is kept so far or
    /// one in ten, and before it a heading, or where noise begins.
    pub fn lines(&mut self, iteration: &Iteration, columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let details = iteration.dev_details.as_ref();
        let is_kept = details.is_some_and(|details| details.best_iteration == iteration.number);
        if let Some(details) = details.filter(|_| is_kept) {
            self.types.clone_from(&details.types);
        }
        let begins = iteration.terms.noise > 0.0 && self.warmed_up;
        if begins {
            lines.push(format!("{} begins, and is part of the objective", self.noise));
        }
        self.warmed_up = iteration.terms.noise == 0.0;
        if !is_kept && !begins && !iteration.number.is_multiple_of(EVERY) {
            return lines;
        }
        let cells = self.cells(iteration);
        if !self.has_header {
            self.has_header = true;
            let headings = cells.iter().map(|(name, width, _)| (*width, *name));
            lines.insert(0, line(headings, columns));
        }
        lines.push(row(&cells, columns));
        if is_kept {
            self.kept = cells;
        }
        lines
    }

    /// Returns the row of the iteration that is kept, which ends the table.
    pub fn kept(&self, columns: usize) -> Option<String> {
        let mut cells = self.kept.clone();
        let (_, _, number) = cells.first_mut()?;
        number.insert(0, '★');
        Some(row(&cells, columns))
    }

    /// Returns the cells of an iteration, the most important ones first.
    fn cells(&self, iteration: &Iteration) -> Vec<Column> {
        let mut cells = vec![("iter", 6, iteration.number.to_string())];
        match iteration.dev {
            Some(DevScore::F1(f1)) => {
                cells.push(("dev F1", 7, percent(f1)));
                let types = iteration.dev_details.iter().flat_map(|details| &details.types);
                let metrics = sum(types).metrics();
                cells.push(("P", 6, percent(metrics.precision)));
                cells.push(("R", 6, percent(metrics.recall)));
            }
            Some(DevScore::Accuracy(accuracy)) => {
                cells.push(("dev accuracy", 12, percent(accuracy)));
            }
            None => {}
        }
        if let Some(mean) = iteration.dev_mean {
            cells.insert(2, ("mean of 5", 9, percent(mean)));
        }
        if let Some(details) = &iteration.dev_details {
            let of = self.patience.map_or(String::new(), |of| format!("/{of}"));
            cells.push(("patience", 8, format!("{}{of}", details.waited)));
        }
        cells.push(("objective", 12, format!("{:.2}", iteration.objective)));
        if !iteration.optimizer.gradient_norm.is_nan() {
            let norm = format!("{:.2e}", iteration.optimizer.gradient_norm);
            cells.push(("|gradient|", 10, norm));
        }
        cells.push(("time", 9, format!("{:.1} s", iteration.time.as_secs_f64())));
        cells
    }

    /// Returns the scores by type of the kept iteration, if there are spans.
    pub fn scores_by_type(&self) -> Vec<String> {
        if self.types.is_empty() {
            return Vec::new();
        }
        let widest = self.types.iter().map(|(name, _)| name.chars().count()).max();
        let first = widest.unwrap_or(0).max("dev".len());
        let row = |name: &str, cells: [String; 4]| {
            let mut line = format!("{name:<first$}");
            for cell in cells {
                line += &format!("  {cell:>6}");
            }
            line
        };
        let heading = row("dev", ["F1", "P", "R", "gold"].map(str::to_owned));
        let rows = self.types.iter().map(|(name, counts)| {
            let metrics = counts.percentages();
            let scores = [metrics.f1, metrics.precision, metrics.recall];
            let [f1, precision, recall] = scores.map(|score| format!("{score:.2}"));
            row(name, [f1, precision, recall, counts.gold.to_string()])
        });
        [heading].into_iter().chain(rows).collect()
    }
}

/// Returns the counts of all types.
fn sum<'a>(types: impl Iterator<Item = &'a (String, Counts)>) -> Counts {
    types.fold(Counts::default(), |sum, (_, counts)| Counts {
        correct: sum.correct + counts.correct,
        gold: sum.gold + counts.gold,
        predicted: sum.predicted + counts.predicted,
    })
}

/// Returns the row of an iteration.
fn row(cells: &[Column], columns: usize) -> String {
    line(cells.iter().map(|(_, width, cell)| (*width, cell.as_str())), columns)
}

/// Returns a line of the cells that fit, right-aligned.
fn line<'a>(cells: impl Iterator<Item = (usize, &'a str)>, columns: usize) -> String {
    let (mut line, mut filled) = (String::new(), 0);
    for (width, cell) in cells {
        let gap = if line.is_empty() { 0 } else { GAP };
        filled += gap + width;
        if filled > columns {
            break;
        }
        line += &format!("{:gap$}{cell:>width$}", "");
    }
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dropchain::train::{DevDetails, ObjectiveTerms, OptimizerStep, WeightCounts};

    use super::*;

    fn iteration(number: usize, best_iteration: usize, noise: f64) -> Iteration {
        let counts = Counts { correct: 1, gold: 4, predicted: 2 };
        Iteration {
            number,
            objective: 12.345,
            terms: ObjectiveTerms { noise, ..ObjectiveTerms::default() },
            optimizer: OptimizerStep { gradient_norm: 0.5, ..OptimizerStep::default() },
            weights: WeightCounts::default(),
            time: Duration::from_secs(1),
            dev: Some(DevScore::F1(1.0 / 3.0)),
            dev_mean: Some(0.25),
            recall_bias: None,
            dev_details: Some(DevDetails {
                best_iteration,
                waited: number - best_iteration,
                types: vec![("PER".to_owned(), counts)],
                label_scores: None,
            }),
        }
    }

    fn table() -> TrainingTable {
        TrainingTable {
            patience: Some(40),
            noise: "dropout 0.3".to_owned(),
            ..TrainingTable::default()
        }
    }

    #[test]
    fn rows_are_the_iterations_kept_so_far_and_one_in_ten() {
        let mut table = table();
        let lines = table.lines(&iteration(1, 1, 0.0), 100);
        assert_eq!(
            lines,
            [
                concat!(
                    "  iter   dev F1  mean of 5       P       R  patience     objective",
                    "  |gradient|       time"
                ),
                concat!(
                    "     1    33.33      25.00   50.00   25.00      0/40         12.35",
                    "     5.00e-1      1.0 s"
                ),
            ]
        );
        assert!(table.lines(&iteration(2, 1, 0.0), 100).is_empty());
        assert_eq!(table.lines(&iteration(3, 3, 0.0), 100).len(), 1);
        let lines = table.lines(&iteration(10, 3, 0.0), 100);
        assert!(lines[0].contains(" 7/40 "), "{lines:?}");
        let kept = table.kept(15).unwrap();
        assert_eq!(kept, "    ★3    33.33");
    }

    #[test]
    fn narrow_terminals_lose_the_last_columns() {
        let lines = table().lines(&iteration(1, 1, 0.0), 70);
        assert!(lines[0].ends_with("patience     objective"), "{lines:?}");
        let lines = table().lines(&iteration(1, 1, 0.0), 52);
        assert!(lines[1].ends_with("25.00      0/40"), "{lines:?}");
    }

    #[test]
    fn the_beginning_of_noise_has_a_line() {
        let mut table = table();
        table.lines(&iteration(1, 1, 0.0), 100);
        let lines = table.lines(&iteration(2, 1, 0.5), 100);
        assert_eq!(lines[0], "dropout 0.3 begins, and is part of the objective");
        assert_eq!(lines.len(), 2);
        assert!(table.lines(&iteration(3, 1, 0.5), 100).is_empty());
    }

    #[test]
    fn the_end_has_scores_by_type() {
        let mut table = table();
        assert!(table.scores_by_type().is_empty());
        table.lines(&iteration(1, 1, 0.0), 100);
        assert_eq!(
            table.scores_by_type(),
            ["dev      F1       P       R    gold", "PER   33.33   50.00   25.00       4",]
        );
    }
}
