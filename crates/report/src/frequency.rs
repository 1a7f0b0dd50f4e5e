//! The section on rare words: scores by the frequency of words in the training data.

use dropchain_analysis::{FrequencyBand, WordCounts};

use crate::evaluated::{Analysis, Evaluated};
use crate::plot::{Axis, Plot, Scale};
use crate::training::curve;
use crate::views::{Figure, IN_TABLE, Section, Table, count, count_of, letter, percent, told};

/// A score of a band, and the number of things that it is over.
type Score = fn(&FrequencyBand) -> (u64, f64);

const F1: Score = |band| (band.spans.gold, band.spans.metrics().f1);
const RECALL: Score = |band| (band.spans.gold, band.spans.metrics().recall);
const ACCURACY: Score = |band| {
    let accuracy = band.correct_tokens as f64 / band.tokens.max(1) as f64;
    (band.tokens, accuracy)
};

pub fn frequency(all: &Evaluated, analysis: &Analysis, words: &WordCounts) -> Section {
    let systems = analysis.systems.iter().map(|system| system.by_frequency.bands());
    let systems: Vec<&[FrequencyBand]> = systems.collect();
    let name = |band: &FrequencyBand| match (band.low, band.high) {
        (0, _) => "unseen".to_owned(),
        (low, Some(high)) if low == high => low.to_string(),
        (low, Some(high)) => format!("{low}–{high}"),
        (low, None) => format!("≥ {low}"),
    };
    let names: Vec<String> = systems[0].iter().map(name).collect();
    let has_spans = analysis.has_spans;
    let scores: &[(&str, Score)] = match has_spans {
        true => &[("F1", F1), ("recall", RECALL), ("accuracy", ACCURACY)],
        false => &[("accuracy", ACCURACY)],
    };
    let mut section = Section::new("frequency", "Rare words");
    section.text(format!(
        "The training data have {} and {}.{}",
        count_of(words.tokens(), "token"),
        count_of(words.words() as u64, "distinct word"),
        match has_spans {
            true => " Spans are binned by their rarest word.",
            false => "",
        }
    ));
    section.legend(&all.names(), told(all.systems.len()), true);
    let bands = (all, &systems[..]);
    section.figures([figure(bands, names.clone(), scores[0].1, has_spans)]);
    let mut head = vec!["in training".to_owned(), "tokens".to_owned()];
    head.extend(has_spans.then(|| "spans".to_owned()));
    for (name, _) in scores {
        head.extend((0..systems.len()).map(|i| format!("{}: {name}", letter(i))));
    }
    let mut table = Table::new("Scores by frequency, in percent", head);
    for (i, name) in names.into_iter().enumerate() {
        let band = &systems[0][i];
        let mut cells = vec![name, count(band.tokens)];
        cells.extend(has_spans.then(|| count(band.spans.gold)));
        for (_, score) in scores {
            cells.extend(systems.iter().map(|bands| match score(&bands[i]) {
                (0, _) => String::new(),
                (_, score) => percent(score),
            }));
        }
        table.row(cells);
    }
    section.table(table);
    section
}

fn figure(
    (all, systems): (&Evaluated, &[&[FrequencyBand]]),
    names: Vec<String>,
    score: Score,
    has_spans: bool,
) -> Option<Figure> {
    let series = systems.iter().enumerate().map(|(i, bands)| {
        let scores = (0..).zip(bands.iter().map(score));
        let points = scores.filter(|(_, (things, _))| *things > 0);
        let points = points.map(|(x, (_, score))| (f64::from(x), 100.0 * score));
        curve(i, systems.len(), &all.systems[i].name, points.collect())
    });
    let (title, y) = match has_spans {
        true => ("F1 of spans by their rarest word", "F1, in percent"),
        false => ("Accuracy by frequency of the word", "accuracy, in percent"),
    };
    let x = Axis::new("occurrences in the training data", Scale::Linear).names(names);
    let y = Axis::new(y, Scale::Linear).range(0.0, 105.0);
    let plot = Plot::new(x, y, series.collect());
    Figure::draw(title, IN_TABLE, &plot)
}
