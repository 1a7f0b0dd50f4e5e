//! The first section: the results in tiles, and what the others show, in sentences; and the facts
//! below the title.

use std::path::Path;
use std::time::SystemTime;

use dropchain::kernel::date;
use dropchain::train::DevScore;
use dropchain::{Place, Result};
use serde::Serialize;

use crate::confusions::{commonest_confusion, commonest_kind};
use crate::evaluated::{Analysis, Evaluated};
use crate::scores::{size_of, worst_type};
use crate::significance::{Significance, interval};
use crate::training::{NamedRun, Settings, command, plain, verdicts};
use crate::views::{Section, Tile, count, count_of, letter, percent, system};

/// Maximum number of values of a fact that are shown.
const MAX_VALUES: usize = 3;

/// A line below the title.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    name: &'static str,
    values: Vec<String>,
    is_code: bool,
}

/// Summary of the evaluation: the corpus, its size, and its results.
#[derive(Clone, Debug, Default)]
pub struct EvaluationSummary {
    corpus: String,
    size: String,
    tiles: Vec<Tile>,
    verdicts: Vec<String>,
}

impl EvaluationSummary {
    /// Sums up the scores and errors of systems.
    ///
    /// # Errors
    ///
    /// Sentences are too many or too long to be counted.
    pub fn new(
        all: &Evaluated,
        analysis: &Analysis,
        significance: Option<&Significance>,
    ) -> Result<Self> {
        let corpus = all.corpus.iter().next();
        let corpus =
            corpus.map_or(String::new(), |sentence| Place::file(&**sentence.file()).to_string());
        let (names, best) = (all.names(), analysis.best());
        let of_best = match names.len() {
            1 => names[0].to_owned(),
            n => format!("{} {}, the best of {n} systems", system(best), names[best]),
        };
        let metric = if analysis.has_spans { "F1" } else { "accuracy" };
        let range = interval(all, best)?;
        let range = range
            .map_or(String::new(), |ends| format!(", 95% CI {}", ends.map(percent).join(" to ")));
        let errors = analysis.systems[best].errors.total();
        let kind = commonest_kind(analysis, best);
        let mut tiles = vec![Tile {
            name: format!("{metric} on {}", short_name(&corpus)),
            value: percent(analysis.score(best)),
            note: format!("{of_best}{range}"),
        }];
        tiles.extend(worst_type(analysis, best));
        tiles.push(Tile {
            name: "Errors".to_owned(),
            value: count(errors),
            note: kind.map_or(String::new(), |(kind, number)| {
                format!("{} of them: {}", count(number), kind.words())
            }),
        });
        let mut verdicts = significance.map_or(Vec::new(), |s| s.verdict(&names, best));
        verdicts.extend(training_score(all, analysis, best, metric));
        verdicts.extend(commonest_confusion(analysis, best));
        let without = all.systems.iter().filter(|s| s.warning_of_noise.is_some());
        verdicts.extend(without.map(|system| {
            format!("{}: the weights have seen no noise, although training had some.", system.name)
        }));
        Ok(Self { corpus, size: size_of(analysis), tiles, verdicts })
    }
}

/// Compares the score on training data with that on the gold data.
fn training_score(
    all: &Evaluated,
    analysis: &Analysis,
    system: usize,
    metric: &str,
) -> Option<String> {
    let training = all.systems[system].training?;
    let score = analysis.score(system);
    let sentences = count(training.sentences);
    let of = match training.is_sample {
        true => format!("its first {sentences} sentences"),
        false => format!("{sentences} sentences"),
    };
    Some(format!(
        "Overfitting: {metric} of {} is {} on the training data ({of}) and {} here, {:.1} points \
         apart.",
        all.systems[system].name,
        percent(training.value),
        percent(score),
        100.0 * (training.value - score)
    ))
}

/// Returns the section; `None` if there is nothing to say.
pub fn summary(
    (runs, settings): (&[NamedRun], &Settings),
    evaluation: Option<&EvaluationSummary>,
) -> Option<Section> {
    let mut tiles = evaluation.map_or(Vec::new(), |one| one.tiles.clone());
    tiles.extend(runs.first().and_then(kept_score));
    let mut all = evaluation.map_or(Vec::new(), |one| one.verdicts.clone());
    all.extend(verdicts(runs, settings));
    let mut section = Section::new("summary", "Summary");
    let has_any = !tiles.is_empty() || !all.is_empty();
    section.tiles(tiles);
    section.list(all);
    has_any.then_some(section)
}

/// Returns the score of the kept weights of the best run.
fn kept_score(run: &NamedRun) -> Option<Tile> {
    let (iteration, score) = run.kept()?;
    let (metric, value) = match score {
        DevScore::F1(value) => ("F1", value),
        DevScore::Accuracy(value) => ("accuracy", value),
    };
    Some(Tile {
        name: format!("Kept {metric} on development data"),
        value: percent(value),
        note: format!("{} {}, iteration {iteration} of {}", letter(0), run.name, run.iterations()),
    })
}

/// Returns the title: the corpora.
pub fn title(runs: &[NamedRun], evaluation: Option<&EvaluationSummary>) -> String {
    let files = runs.iter().flat_map(|run| &run.run.header.files);
    let files = distinct(files.map(|file| short_name(file)).collect(), usize::MAX);
    let trained = match files.as_slice() {
        [] => None,
        [file] => Some(file.clone()),
        [file, rest @ ..] => Some(format!("{file} and {} more", rest.len())),
    };
    let evaluated = evaluation.map(|one| short_name(&one.corpus));
    match (trained, evaluated.filter(|name| !name.is_empty())) {
        (Some(trained), Some(gold)) => format!("dropchain report: {trained}, scored on {gold}"),
        (Some(name), None) | (None, Some(name)) => format!("dropchain report: {name}"),
        (None, None) => "dropchain report".to_owned(),
    }
}

/// Returns the facts: data, sizes, date and commands.
pub fn facts(
    runs: &[NamedRun],
    evaluation: Option<&EvaluationSummary>,
    newest: Option<SystemTime>,
) -> Vec<Fact> {
    let of_file = |files: &str, size: String| match files {
        "" => size,
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
        let files = config.map_or(String::new(), |config| plain(&config["options"]["dev"]));
        of_file(&files, size)
    });
    let evaluated = evaluation.map(|one| format!("{}: {}", one.corpus, one.size));
    let commands = runs.iter().filter_map(|run| command(run.run.header.config.as_ref()?));
    let facts = [
        ("Training data", trained.collect(), false),
        ("Development data", dev.collect(), false),
        ("Scored on", evaluated.into_iter().collect(), false),
        ("Date", newest.and_then(date::seconds).map(minute).into_iter().collect(), false),
        ("Commands", commands.collect(), true),
    ];
    let facts = facts.map(|(name, values, is_code): (_, Vec<String>, _)| {
        let max = if is_code { usize::MAX } else { MAX_VALUES };
        Fact { name, values: distinct(values, max), is_code }
    });
    facts.into_iter().filter(|fact| !fact.values.is_empty()).collect()
}

/// Returns the first `max` different values, and how many more there are.
fn distinct(values: Vec<String>, max: usize) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for value in values {
        if !value.is_empty() && !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    let more = distinct.len().saturating_sub(max);
    if more > 0 {
        distinct.truncate(max);
        distinct.push(format!("… and {more} more"));
    }
    distinct
}

/// Returns the name of a file with its folder, which often names the corpus.
fn short_name(file: &str) -> String {
    let parts: Vec<_> = Path::new(file).iter().rev().take(2).collect();
    let parts: Vec<_> = parts.into_iter().rev().map(|part| part.to_string_lossy()).collect();
    parts.join("/").replace("//", "/")
}

/// Formats a time to the minute.
fn minute(seconds: u64) -> String {
    let date = date::utc(seconds);
    format!("{} UTC", date[..date.len() - 4].replace('T', " "))
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

    #[test]
    fn values_are_shown_once_and_not_too_many() {
        let values = ["a", "b", "a", "", "c", "d", "e"].map(str::to_owned);
        assert_eq!(distinct(values.to_vec(), 3), ["a", "b", "c", "… and 2 more"]);
    }
}
