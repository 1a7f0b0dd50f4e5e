//! The comparison for people.

use std::fmt;

use super::{BootstrapReport, Difference};

/// Levels of significance that are named, strictest first.
const LEVELS: [(f64, &str); 3] = [(0.001, "0.1%"), (0.01, "1%"), (0.05, "5%")];

/// A table in percent, with a verdict on each score; with a final line end.
impl fmt::Display for BootstrapReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} sentences, {} tokens; {} samples, seed {}",
            self.sentences, self.tokens, self.samples, self.seed
        )?;
        writeln!(
            f,
            "{:8}  {:>6}  {:>6}  {:>6}  {:>18}  {:>6}",
            "", "A", "B", "B - A", "95% interval", "p"
        )?;
        if let Some(f1) = &self.f1 {
            row(f, "F1", f1)?;
        }
        row(f, "accuracy", &self.accuracy)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, score: &Difference) -> fmt::Result {
    let [low, high] = score.interval;
    writeln!(
        f,
        "{name:8}  {:6.2}  {:6.2}  {:+6.2}  {:>18}  {:.4}  {}",
        100.0 * score.a,
        100.0 * score.b,
        100.0 * score.difference,
        format!("[{:+.2}, {:+.2}]", 100.0 * low, 100.0 * high),
        score.p_value,
        verdict(score)
    )
}

fn verdict(score: &Difference) -> String {
    let better = if score.difference > 0.0 { "B" } else { "A" };
    match LEVELS.iter().find(|(level, _)| score.p_value <= *level) {
        Some((_, level)) if score.difference != 0.0 => {
            format!("{better} is better, significant at the {level} level")
        }
        _ => "no significant difference".to_owned(),
    }
}
