//! The section on rare words: scores by the frequency of words in the training data.

use dropchain::Result;
use dropchain_analysis::{FrequencyBand, WordCounts};
use serde::Serialize;

use super::analysis::{Analysis, SystemAnalysis};
use super::evaluated::Evaluated;
use super::plot::{Axis, Plot, Scale};
use super::views::{Figure, LegendEntry, Table, count, count_of, curve, legend, letter, percent};

/// Scores by the frequency of words in the training data.
#[derive(Debug, Serialize)]
pub struct Frequency {
    summary: String,
    legend: Vec<LegendEntry>,
    figure: Option<Figure>,
    table: Table,
}

impl Frequency {
    pub fn new(evaluated: &Evaluated, analysis: &Analysis, words: &WordCounts) -> Result<Self> {
        let bands = |system: &SystemAnalysis| system.by_frequency.bands().to_vec();
        let systems: Vec<Vec<FrequencyBand>> = analysis.systems.iter().map(bands).collect();
        let name = |band: &FrequencyBand| match (band.low, band.high) {
            (0, _) => "unseen".to_owned(),
            (low, Some(high)) if low == high => low.to_string(),
            (low, Some(high)) => format!("{low}–{high}"),
            (low, None) => format!("≥ {low}"),
        };
        let names: Vec<String> = systems[0].iter().map(name).collect();
        let letters = (0..systems.len()).map(letter);
        let has_spans = analysis.has_spans;
        let mut head = vec!["in training".to_owned(), "tokens".to_owned()];
        if has_spans {
            head.push("spans".to_owned());
            head.extend(letters.clone().map(|letter| format!("{letter}: F1")));
            head.extend(letters.clone().map(|letter| format!("{letter}: recall")));
        }
        head.extend(letters.map(|letter| format!("{letter}: accuracy")));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = Table::new("Scores by frequency, in percent", &head);
        for (i, name) in names.iter().enumerate() {
            let band = &systems[0][i];
            let mut cells = vec![name.clone(), count(band.tokens)];
            if has_spans {
                cells.push(count(band.spans.gold));
                cells.extend(systems.iter().map(|s| score(s[i].spans.gold, f1(&s[i]))));
                let recall = |s: &Vec<FrequencyBand>| s[i].spans.metrics().recall;
                cells.extend(systems.iter().map(|s| score(s[i].spans.gold, recall(s))));
            }
            cells.extend(systems.iter().map(|s| score(s[i].tokens, accuracy(&s[i]))));
            table.row(cells);
        }
        Ok(Self {
            summary: format!(
                "The training data have {} and {}.",
                count_of(words.tokens(), "token"),
                count_of(words.words() as u64, "distinct word")
            ),
            legend: legend(evaluated.systems.iter().map(|system| system.name.as_str())),
            figure: frequency_figure(&systems, names, has_spans)?,
            table,
        })
    }
}

fn f1(band: &FrequencyBand) -> f64 {
    band.spans.metrics().f1
}

fn accuracy(band: &FrequencyBand) -> f64 {
    band.correct_tokens as f64 / band.tokens.max(1) as f64
}

/// Formats a score that is over a number of things, of which there may be none.
fn score(things: u64, score: f64) -> String {
    match things {
        0 => "–".to_owned(),
        _ => percent(score),
    }
}

fn frequency_figure(
    systems: &[Vec<FrequencyBand>],
    names: Vec<String>,
    has_spans: bool,
) -> Result<Option<Figure>> {
    let series = systems.iter().enumerate().map(|(i, bands)| {
        let bands = bands.iter().enumerate();
        let points = bands.filter(|(_, band)| match has_spans {
            true => band.spans.gold > 0,
            false => band.tokens > 0,
        });
        let score = |band: &FrequencyBand| if has_spans { f1(band) } else { accuracy(band) };
        let points = points.map(|(x, band)| (x as f64, 100.0 * score(band)));
        curve(i, systems.len(), points.collect())
    });
    let mut x = Axis::new("occurrences in the training data", Scale::Linear);
    x.range = Some((-0.5, names.len() as f64 - 0.5));
    x.names = names;
    let (title, y) = match has_spans {
        true => ("F1 of spans by their rarest word", "F1, in percent"),
        false => ("Accuracy by frequency of the word", "accuracy, in percent"),
    };
    let mut y = Axis::new(y, Scale::Linear);
    y.range = Some((0.0, 105.0));
    let plot = Plot {
        x,
        y,
        series: series.collect(),
        diagonal: false,
    };
    Figure::draw(title, "The table has the same numbers.".to_owned(), &plot)
}
