//! Rare words: scores by the frequency of words in the training data.

use dropchain_analysis::{FrequencyBand, WordCounts};

use crate::evaluated::{Analysis, Evaluated};
use crate::plot::{Axis, Plot, Scale};
use crate::views::{Figure, count_of, series};

/// Plots scores by frequency: F1, or the accuracy of labels without spans.
pub fn figure(all: &Evaluated, analysis: &Analysis, words: &WordCounts) -> Option<Figure> {
    let systems = analysis.systems.iter().map(|system| system.by_frequency.bands());
    let systems: Vec<&[FrequencyBand]> = systems.collect();
    let name = |band: &FrequencyBand| match (band.low, band.high) {
        (0, _) => "unseen".to_owned(),
        (low, Some(high)) if low == high => low.to_string(),
        (low, Some(high)) => format!("{low}–{high}"),
        (low, None) => format!("≥ {low}"),
    };
    let names: Vec<String> = systems[0].iter().map(name).collect();
    let (title, metric) = match analysis.has_spans {
        true => ("F1 of spans by their rarest word", "F1, in percent"),
        false => ("Accuracy by frequency of the word", "accuracy, in percent"),
    };
    // A score, and the number of things that it is over.
    let score = |band: &FrequencyBand| match analysis.has_spans {
        true => (band.spans.gold, band.spans.metrics().f1),
        false => (band.tokens, band.correct_tokens as f64 / band.tokens.max(1) as f64),
    };
    let curves = systems.iter().enumerate().map(|(i, bands)| {
        let scores = (0..).zip(bands.iter().map(score));
        let points = scores.filter(|(_, (things, _))| *things > 0);
        let points = points.map(|(x, (_, score))| (f64::from(x), 100.0 * score));
        series((i, systems.len()), &all.systems[i].name, points.collect())
    });
    let curves: Vec<_> = curves.collect();
    let values =
        curves[0].points.iter().map(|point| format!("{} {:.2}", names[point.x as usize], point.y));
    let description = values.collect::<Vec<_>>().join(", ");
    let x = Axis { names, ..Axis::new("occurrences in the training data", Scale::Linear) };
    let y = Axis::new(metric, Scale::Linear).range(0.0, 105.0);
    let figure = Figure::draw(title, &description, &Plot::new(x, y, curves))?;
    Some(figure.note(format!(
        "By occurrences in the training data, which have {} and {}.",
        count_of(words.tokens(), "token"),
        count_of(words.words() as u64, "distinct word"),
    )))
}
