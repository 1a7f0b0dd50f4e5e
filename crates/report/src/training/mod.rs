//! The section on training: the runs, how their settings differ, and their curves.

mod curves;
mod run;
mod settings;

pub use curves::score_curve;
pub use run::NamedRun;
pub use settings::{Settings, command, plain, values};

use dropchain::train::DevScore;

use crate::views::{
    Block, Rank, Section, TOLD, Table, Tile, count, count_of, distinct, heads, letter, or_empty,
    percent,
};
use curves::{LearningCurve, curves};

/// Maximum number of runs in the table.
const MAX_ROWS: usize = 200;

/// Shows runs, the best first.
pub fn training(runs: &[NamedRun], settings: &Settings) -> Section {
    let mut blocks = vec![Block::Table(table_of(runs, settings))];
    if runs.len() > MAX_ROWS {
        let all = count(runs.len() as u64);
        blocks.push(Block::Note(format!("The best {MAX_ROWS} of {all}.")));
    }
    if let Some(ties) = ties(runs) {
        blocks.push(Block::Note(format!(
            "≈: within {ties} of ★, not told apart. Whether two models differ significantly is \
             tested on the sentences of --gold, with --model for each."
        )));
    }
    let learning = LearningCurve::new(runs, settings).and_then(|curve| curve.figure());
    let figures = learning.into_iter().chain(curves(runs).into_iter().flatten());
    blocks.extend([
        Block::Details("All settings and sizes", vec![settings.table()]),
        Block::Heading("Training curves".to_owned()),
        Block::Figures(figures.collect()),
    ]);
    Section { id: "training", title: "Training", blocks }
}

/// Returns by how much scores differ that are not told apart from the best, if some are.
fn ties(runs: &[NamedRun]) -> Option<String> {
    let (best, others) = runs.split_first()?;
    others.iter().find(|run| run.is_tie(best))?;
    let Some(error) = best.standard_error() else { return Some("±0".to_owned()) };
    let is_accuracy = matches!(best.kept(), Some((_, DevScore::Accuracy(_))));
    let thing = if is_accuracy { "token" } else { "span" };
    let units = count_of(best.run.start.data.dev_units as u64, thing);
    Some(format!("±{} (the standard error on {units})", percent(error)))
}

/// Lists the runs with their results, and the settings that differ.
fn table_of(runs: &[NamedRun], settings: &Settings) -> Table {
    let is_one = runs.len() == 1;
    let mut head = heads(if is_one { "run, trained with" } else { "run, file" });
    head.extend(heads("kept score, mean of 5, at iteration"));
    let has_noise = is_one || runs.iter().any(|run| run.noise().is_some());
    head.extend(has_noise.then(|| "with noise".to_owned()));
    head.extend(heads("iterations, seconds, stop reason"));
    head.extend(settings.different().cloned());
    let caption = match settings.different().next() {
        None => "Runs",
        Some(_) => "Runs, the best first, and the settings that differ",
    };
    let mut table = Table::new(caption, head);
    table.class = "named";
    for (i, run) in runs.iter().take(MAX_ROWS).enumerate() {
        let (end, last) = (run.run.end.as_ref(), run.run.iterations.last());
        let kept = run.kept();
        let at = end.map(|end| end.best_iteration).or(kept.map(|(i, _)| i));
        let mut cells = match is_one {
            true => vec![run.name.clone(), or_empty(end, |end| end.regularization.clone())],
            false => vec![letter(i), run.name.clone()],
        };
        cells.extend([
            or_empty(kept, |(_, score)| {
                score.to_string().replace("accuracy", "acc.").replace(' ', "\u{a0}")
            }),
            or_empty(end.and_then(|end| end.dev_mean), percent),
            or_empty(at, |i| i.to_string()),
        ]);
        let noise = or_empty(run.noise(), |noise| noise.iterations.to_string());
        cells.extend(has_noise.then_some(noise));
        cells.extend([
            count(run.iterations() as u64),
            or_empty(last, |last| format!("{:.1}", last.time.as_secs_f64())),
            end.map_or("not ended", |end| end.reason.name()).replace('_', " "),
        ]);
        cells.extend(settings.different().map(|name| settings.value(i, name)));
        table.row(cells).rank = match i {
            _ if is_one || !run.is_tie(&runs[0]) => Rank::Lower,
            0 => Rank::Highest,
            _ => Rank::Tied,
        };
    }
    table
}

/// Returns the score that the best run kept.
pub fn kept_score(runs: &[NamedRun]) -> Option<Tile> {
    let run = runs.first()?;
    let (iteration, score) = run.kept()?;
    let error = or_empty(run.standard_error(), |error| format!("± {}; ", percent(error)));
    let name = if runs.len() > 1 { letter(0) + " " } else { String::new() } + &run.name;
    Some(Tile {
        name: format!("Kept {} on development data", score.metric()),
        value: percent(score.value()),
        note: format!("{error}{name}, iteration {iteration} of {}", run.iterations()),
    })
}

/// Says what became of runs, the best first.
pub fn verdicts(runs: &[NamedRun], settings: &Settings) -> Vec<String> {
    let Some(best) = runs.first() else { return Vec::new() };
    if runs.len() == 1 {
        let score = best.best().map(|text| format!("Kept: {text}."));
        return [Some(best.verdict()), score].into_iter().flatten().chain(noise(runs)).collect();
    }
    let mut verdicts = Vec::new();
    if let Some(text) = best.best() {
        let choice = Some(settings.choice(0, &[])).filter(|choice| !choice.is_empty());
        let choice = choice.map_or(String::new(), |choice| format!(" ({choice})"));
        let all = count_of(runs.len() as u64, "run");
        let tied = 1 + runs[1..].iter().filter(|run| run.is_tie(best)).count();
        let name = &best.name;
        verdicts.push(match ties(runs) {
            None => format!("The best of {all} is A, {name}{choice}: {text}."),
            Some(range) => format!(
                "{tied} of {all} are not told apart: they are within {range} of A, {name}{choice}: \
                 {text}."
            ),
        });
    }
    let learning = LearningCurve::new(runs, settings);
    verdicts.extend(learning.and_then(|curve| curve.verdict()));
    verdicts.push(endings(runs));
    verdicts.extend(noise(runs));
    verdicts
}

/// Says which kept weights have not seen the noise that they were to see, or that all have.
fn noise(runs: &[NamedRun]) -> Vec<String> {
    let warnings = runs.iter().filter_map(|run| {
        let warning = run.run.end.as_ref()?.record().warning_of_noise()?;
        Some(no_effect_of_noise(&run.name, &warning, runs.len()))
    });
    let warnings = distinct(warnings.collect(), TOLD);
    let is_any = runs.iter().any(|run| run.noise().is_some());
    match warnings.is_empty() && is_any {
        true => vec!["The weights that were kept have seen noise.".to_owned()],
        false => warnings,
    }
}

/// Says what it means that a model, one of `count`, has not seen the noise that was asked for.
pub fn no_effect_of_noise(name: &str, warning: &str, count: usize) -> String {
    let other = ". What differs from others is not the effect of its noise";
    format!("{name}: {warning}{}.", if count > 1 { other } else { "" })
}

/// Counts how runs ended.
fn endings(runs: &[NamedRun]) -> String {
    let mut endings: Vec<(&str, usize)> = Vec::new();
    for ending in runs.iter().map(NamedRun::ending) {
        match endings.iter_mut().find(|(other, _)| *other == ending) {
            Some((_, count)) => *count += 1,
            None => endings.push((ending, 1)),
        }
    }
    endings.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let parts: Vec<String> = endings.iter().map(|(ending, n)| format!("{n} {ending}")).collect();
    format!("Of {} runs: {}.", runs.len(), parts.join(", "))
}
