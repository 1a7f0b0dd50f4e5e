//! Scores by two settings: a table whose cells are shaded.

use crate::views::{Cell, Table, heads, percent};

/// Minimum number of values of either setting.
const MIN_VALUES: usize = 2;

/// A pair of settings of a run or a configuration, dropout and L2, and its score, a fraction.
pub struct Scored {
    pub dropout: f64,
    pub l2: f64,
    pub score: f64,
}

/// Returns the best score for each dropout (rows) and L2 (columns); `None` if not both vary.
pub fn heat_map(scored: &[Scored]) -> Option<Table> {
    let values = |value: fn(&Scored) -> f64| {
        let mut values: Vec<f64> = scored.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        Some(values).filter(|values| values.len() >= MIN_VALUES)
    };
    let (rows, columns) = (values(|one| one.dropout)?, values(|one| one.l2)?);
    let best_of = |dropout, l2| {
        let cell = scored.iter().filter(|s| s.dropout == dropout && s.l2 == l2);
        cell.map(|one| one.score).reduce(f64::max)
    };
    let scores = || scored.iter().map(|one| one.score);
    let (low, high) = (scores().reduce(f64::min)?, scores().reduce(f64::max)?);
    let caption = "Best score by dropout (rows) and L2 (columns), in percent";
    let mut table = Table::new(caption, heads("dropout \\ L2"));
    table.class = "matrix";
    table.head.extend(columns.iter().map(f64::to_string));
    for dropout in rows {
        let cells = columns.iter().map(|&l2| match best_of(dropout, l2) {
            None => Cell::new("", "heat", "0"),
            Some(score) => {
                let share = 100.0 * (score - low) / (high - low).max(f64::MIN_POSITIVE);
                let class = if score == high { "heat top" } else { "heat" };
                Cell::new(percent(score), class, format!("{share:.0}"))
            }
        });
        let cells: Vec<Cell> = cells.collect();
        table.row([dropout.to_string()]).cells.extend(cells);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(dropout: f64, l2: f64, score: f64) -> Scored {
        Scored { dropout, l2, score }
    }

    #[test]
    fn a_cell_has_the_best_score_or_none() {
        let all = [scored(0.0, 1.0, 0.5), scored(0.3, 0.1, 0.75), scored(0.3, 0.1, 0.6)];
        let table = heat_map(&all).unwrap();
        assert_eq!(table.head, ["dropout \\ L2", "0.1", "1"]);
        let texts = table.rows.iter().map(|row| row.cells.iter().map(|c| c.text.as_str()));
        let texts: Vec<Vec<&str>> = texts.map(Iterator::collect).collect();
        assert_eq!(texts, [["0", "", "50.00"], ["0.3", "75.00", ""]]);
        assert_eq!(table.rows[1].cells[1].class, "heat top");
    }

    #[test]
    fn one_setting_alone_has_no_map() {
        assert!(heat_map(&[scored(0.0, 1.0, 0.5), scored(0.3, 1.0, 0.5)]).is_none());
        assert!(heat_map(&[]).is_none());
    }
}
