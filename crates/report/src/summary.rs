//! The first section: the results in tiles beside the course of training, what the other sections
//! show in sentences, and what was trained and evaluated.

use std::path::Path;

use dropchain::Place;
use dropchain::kernel::date;

use crate::evaluated::{Analysis, Evaluated};
use crate::scores::{size_of, worst_type};
use crate::training::{
    Settings, command, kept_score, no_effect_of_noise, plain, score_curve, verdicts,
};
use crate::views::{
    Block, Fact, Section, Summary, Tile, count, count_of, distinct, or_empty, percent,
};
use crate::{Report, confusions::commonest_error, search::Search, significance::Significance};

/// Maximum number of values of a fact that are shown.
const MAX_VALUES: usize = 3;

/// Summary of the evaluation: the corpus, its size, and its results.
#[derive(Debug)]
pub struct EvaluationSummary {
    corpus: String,
    size: String,
    tiles: Vec<Tile>,
    verdicts: Vec<String>,
}

impl EvaluationSummary {
    /// Sums up the scores and errors of systems.
    pub fn new(all: &Evaluated, analysis: &Analysis, significance: &Significance) -> Self {
        let corpus = or_empty(all.corpus.iter().next(), |sentence| {
            Place::file(&**sentence.file()).to_string()
        });
        let (names, best) = (all.names(), analysis.best());
        let of_best = match names.len() {
            1 => names[0].to_owned(),
            n => format!("{}, the highest of {n} systems", names[best]),
        };
        let range = or_empty(significance.intervals.get(best), |ends| {
            format!(", 95% interval {}", ends.map(percent).join(" to "))
        });
        let score = Tile {
            name: format!("{} on {}", analysis.metric(), short_name(&corpus)),
            value: percent(analysis.score(best)),
            note: of_best + &range,
        };
        let errors = Tile {
            name: "Errors".to_owned(),
            value: count(analysis.systems[best].errors.total()),
            note: commonest_error(analysis, best).unwrap_or_default(),
        };
        let tiles = [Some(score), worst_type(analysis, best), Some(errors)];
        let tiles = tiles.into_iter().flatten().collect();
        let mut verdicts = significance.verdict(&names, best);
        verdicts.extend(training_score(all, analysis, best));
        verdicts.extend(all.systems.iter().filter_map(|system| {
            let warning = system.warning_of_noise.as_ref()?;
            Some(no_effect_of_noise(&system.name, warning, all.systems.len()))
        }));
        Self { corpus, size: size_of(analysis), tiles, verdicts }
    }
}

/// Compares the score on training data with that on the gold data.
fn training_score(all: &Evaluated, analysis: &Analysis, system: usize) -> Option<String> {
    let (metric, name) = (analysis.metric(), &all.systems[system].name);
    let training = all.systems[system].training?;
    let sentences = count(training.sentences);
    let first = if training.is_sample { "its first " } else { "" };
    let scores = [training.value, analysis.score(system)];
    let points = 100.0 * (scores[0] - scores[1]);
    let [own, here] = scores.map(percent);
    Some(format!(
        "Overfitting: {metric} of {name} is {own} on the training data ({first}{sentences} \
         sentences) and {here} here, {points:.1} points apart."
    ))
}

/// Returns the section.
pub fn summary(report: &Report, settings: &Settings) -> Section {
    let (runs, evaluation) = (&report.runs[..], report.summary.as_ref());
    let evaluated = evaluation.into_iter().flat_map(|one| one.tiles.clone());
    let searched = report.searches.iter().filter_map(Search::tile);
    let tiles = evaluated.chain(kept_score(runs)).chain(searched).collect();
    let all = evaluation.into_iter().flat_map(|one| one.verdicts.clone());
    let all = all.chain(verdicts(runs, settings)).collect();
    let (figure, facts) = (score_curve(runs), facts(report));
    let summary = Summary { tiles, figure, verdicts: all, facts };
    let blocks = vec![Block::Summary(Box::new(summary))];
    Section { id: "summary", title: "Summary", blocks }
}

/// Returns the title: the corpora.
pub fn title(report: &Report) -> String {
    let of_runs = report.runs.iter().flat_map(|run| &run.run.header.files);
    let files = of_runs.chain(report.searches.iter().flat_map(|search| &search.files));
    // Standard input and data in memory have no name.
    let files = files.filter(|file| *file != "-").map(|file| short_name(file));
    let files = distinct(files.collect(), usize::MAX);
    let trained = match files.as_slice() {
        [] => None,
        [file] => Some(file.clone()),
        [file, rest @ ..] => Some(format!("{file} and {} more", rest.len())),
    };
    let evaluated = report.summary.as_ref().map(|one| short_name(&one.corpus));
    match (trained, evaluated.filter(|name| !name.is_empty())) {
        (Some(trained), Some(gold)) => format!("dropchain report: {trained}, scored on {gold}"),
        (Some(name), None) | (None, Some(name)) => format!("dropchain report: {name}"),
        (None, None) => "dropchain report".to_owned(),
    }
}

/// Returns the facts: data, sizes, date and commands.
fn facts(report: &Report) -> Vec<Fact> {
    let runs = &report.runs;
    let of_file = |files: &str, size: String| match files {
        "" | "-" => size,
        files => format!("{files}: {size}"),
    };
    let trained = runs.iter().map(|run| {
        let data = &run.run.start.data;
        let sizes = [(data.sentences, "sentence"), (data.tokens, "token")];
        let sizes = sizes.map(|(number, thing)| count_of(number as u64, thing));
        of_file(&run.run.header.files.join(", "), sizes.join(", "))
    });
    let dev = runs.iter().filter(|run| run.run.start.data.dev_sentences > 0).map(|run| {
        let size = count_of(run.run.start.data.dev_sentences as u64, "sentence");
        let config = run.run.header.config.as_ref();
        of_file(&or_empty(config, |config| plain(&config["options"]["dev"])), size)
    });
    let evaluated =
        report.summary.iter().filter(|one| !one.corpus.is_empty() || !one.size.is_empty());
    let evaluated = evaluated.map(|one| of_file(&one.corpus, one.size.clone()));
    let commands = runs.iter().filter_map(|run| command(run.run.header.config.as_ref()?));
    let commands = commands.chain(report.searches.iter().filter_map(|one| one.command.clone()));
    let date = report.newest.and_then(date::seconds).map(|seconds| {
        let date = date::utc(seconds); // to the minute
        format!("{} UTC", date[..date.len() - 4].replace('T', " "))
    });
    let facts = [
        ("Training data", trained.collect(), false),
        ("Development data", dev.collect(), false),
        ("Scored on", evaluated.collect(), false),
        ("Date", date.into_iter().collect(), false),
        ("Commands", commands.collect(), true),
    ];
    let facts = facts.map(|(name, values, is_code): (_, Vec<String>, _)| {
        let max = if is_code { usize::MAX } else { MAX_VALUES };
        Fact { name, values: distinct(values, max), is_code }
    });
    facts.into_iter().filter(|fact| !fact.values.is_empty()).collect()
}

/// Returns the name of a file with its folder, which often names the corpus.
fn short_name(file: &str) -> String {
    let parts: Vec<_> = Path::new(file).iter().rev().take(2).collect();
    let parts: Vec<_> = parts.into_iter().rev().map(|part| part.to_string_lossy()).collect();
    parts.join("/").replace("//", "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_with_its_folder() {
        assert_eq!(short_name("/a/wnut17/dev.conll"), "wnut17/dev.conll");
        assert_eq!(short_name("dev.conll"), "dev.conll");
        assert_eq!(short_name(""), "");
    }
}
