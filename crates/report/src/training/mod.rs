//! The section on training: the runs, how their settings differ, and their curves.

mod curves;
mod run;
mod settings;

pub use curves::curve;
pub use run::NamedRun;
pub use settings::{Settings, command, plain};

use crate::views::{Section, TOLD, Table, count, count_of, heads, letter, or_empty, percent, told};
use curves::{curves, has_warm_up, learning_curve, parts_of};

/// Maximum number of runs in the table.
const MAX_ROWS: usize = 200;

/// Shows runs, the best first.
pub fn training(runs: &[NamedRun], settings: &Settings) -> Section {
    let mut section = Section::new("training", "Training");
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    section.table(table_of(runs, settings));
    if runs.len() > MAX_ROWS {
        section.note(format!("The best {MAX_ROWS} of {}.", count(runs.len() as u64)));
    }
    if runs.len() > 1 {
        section.note(
            "Logs have no scores of single sentences. Whether two models differ significantly is \
             tested if they are given with --gold and --model.",
        );
    }
    let another = Some("another run").filter(|_| runs.len() > 1);
    for run in runs.iter().take(TOLD) {
        let end = run.run.end.as_ref();
        if let Some(warning) = end.and_then(|end| end.record().warning_of_noise()) {
            section.warning_of_noise(&run.name, &warning, another);
        }
    }
    section.details("All settings and sizes", vec![settings.table()]);
    if let Some(figure) = learning_curve(runs, settings) {
        section.heading("Learning curve");
        section.text(
            "The score on development data of the kept iteration, by the number of training \
             sentences. Several runs on as many: their mean, lowest and highest.",
        );
        section.figures([Some(figure)]);
    }
    show_curves(runs, &names, &mut section);
    section
}

fn show_curves(runs: &[NamedRun], names: &[&str], section: &mut Section) {
    section.heading("Training curves");
    section.text(
        "Dots mark the iterations that were kept. The y-axis of scores is cropped: lower ones are \
         drawn at its edge.",
    );
    if runs.len() == told(runs.len()) && runs.iter().any(has_warm_up) {
        section.text("Iterations without noise, before those with it, are shaded.");
    }
    section.legend(names, letter, false);
    section.figures(curves(runs));
    let shown = told(runs.len());
    let parts: Vec<_> = runs.iter().take(shown).enumerate().map(parts_of).collect();
    if parts.iter().any(Option::is_some) {
        section.heading("Loss components");
        section.text("The objective is their sum. A part that is zero is not drawn.");
        section.figures(parts);
        if runs.len() > shown {
            section.note(format!("Not shown for {} more.", runs.len() - shown));
        }
    }
}

/// Lists the runs with their results, and the settings that differ.
fn table_of(runs: &[NamedRun], settings: &Settings) -> Table {
    let is_one = runs.len() == 1;
    let mut head = heads("run");
    head.extend(is_one.then(|| "trained with".to_owned()));
    head.extend(heads("kept score, mean of 5, at iteration"));
    let has_noise = is_one || runs.iter().any(|run| run.noise().is_some());
    head.extend(has_noise.then(|| "with noise".to_owned()));
    head.extend(heads("iterations, seconds, stop reason"));
    head.extend(settings.different().cloned());
    let caption = match settings.different().next() {
        None => "Runs",
        Some(_) => "Runs, the best first, and the settings that differ",
    };
    let mut table = Table::named(caption, head);
    let highest = runs.first().map_or(-1.0, NamedRun::rank);
    for (i, run) in runs.iter().take(MAX_ROWS).enumerate() {
        let (end, last) = (run.run.end.as_ref(), run.run.iterations.last());
        let kept = run.kept();
        let at = end.map(|end| end.best_iteration).or(kept.map(|(i, _)| i));
        let mut cells = vec![letter(i), run.name.clone()];
        cells.extend(is_one.then(|| or_empty(end, |end| end.regularization.clone())));
        cells.push(or_empty(kept, |(_, score)| {
            let score = score.to_string().replace("accuracy", "acc.");
            score.replace(' ', "\u{a0}")
        }));
        cells.push(or_empty(end.and_then(|end| end.dev_mean), percent));
        cells.push(or_empty(at, |i| i.to_string()));
        cells
            .extend(has_noise.then(|| or_empty(run.noise(), |noise| noise.iterations.to_string())));
        cells.push(count(run.iterations() as u64));
        cells.push(or_empty(last, |last| format!("{:.1}", last.time.as_secs_f64())));
        let reason = end.map_or("not ended", |end| end.reason.name());
        cells.push(reason.replace('_', " "));
        let different = settings.different();
        cells.extend(different.map(|name| settings.value(i, name)));
        let row = table.row(cells);
        row.is_best = !is_one && kept.is_some() && run.rank() == highest;
    }
    table
}

/// Says what became of runs, the best first.
pub fn verdicts(runs: &[NamedRun], settings: &Settings) -> Vec<String> {
    let Some(best) = runs.first() else {
        return Vec::new();
    };
    if runs.len() == 1 {
        let score = best.best().map(|text| format!("Kept: {text}."));
        return [Some(best.verdict()), score, noise(runs)].into_iter().flatten().collect();
    }
    let mut verdicts = Vec::new();
    if let Some(text) = best.best() {
        let choice = Some(settings.choice(0)).filter(|choice| !choice.is_empty());
        let choice = choice.map_or(String::new(), |choice| format!(" ({choice})"));
        let all = count_of(runs.len() as u64, "run");
        verdicts.push(format!("The best of {all} is A, {}{choice}: {text}.", best.name));
        let mut scored = runs.iter().filter(|run| run.kept().is_some());
        if let Some((_, worst)) = scored.next_back().and_then(NamedRun::kept) {
            let worst = percent(worst.value());
            verdicts.push(format!("The lowest kept score of a run is {worst}."));
        }
    }
    if runs.len() <= TOLD {
        verdicts.extend(runs.iter().map(NamedRun::verdict));
    } else {
        verdicts.push(endings(runs));
    }
    verdicts.extend(noise(runs));
    verdicts
}

/// Says whether the weights that were kept have seen noise, if they were to.
fn noise(runs: &[NamedRun]) -> Option<String> {
    let noisy: Vec<&NamedRun> = runs.iter().filter(|run| run.noise().is_some()).collect();
    let without = noisy.iter().filter(|run| run.noise().is_some_and(|noise| !noise.is_any()));
    let names: Vec<&str> = without.map(|run| run.name.as_str()).collect();
    if noisy.is_empty() {
        return None;
    }
    Some(match names.len() {
        0 => "The weights that were kept have seen noise.".to_owned(),
        count => format!(
            "Of {} with noise, {count} kept weights that have not seen it: {}{}.",
            count_of(noisy.len() as u64, "run"),
            names[..told(count)].join(", "),
            if count > TOLD { ", …" } else { "" }
        ),
    })
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
    let parts = endings.iter().map(|(ending, n)| format!("{n} {ending}"));
    let parts: Vec<String> = parts.collect();
    format!("Of {} runs: {}.", runs.len(), parts.join(", "))
}
