//! The first section: what the others show, in sentences; and the facts below the title.

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;

use crate::confusions::commonest;
use crate::date;
use crate::evaluated::{Analysis, Evaluated};
use crate::scores::{size_of, worst_type};
use crate::search::Search;
use crate::significance::Significance;
use crate::training::{NamedRun, Settings, command, plain, verdicts};
use crate::views::{Section, count, count_of, letter, percent};

/// Maximum number of commands that are shown.
const MAX_COMMANDS: usize = 3;

/// A line below the title.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    name: &'static str,
    values: Vec<String>,
    is_code: bool,
}

/// Summary of the evaluation: the corpus, its size and its sentences.
#[derive(Clone, Debug, Default)]
pub struct EvaluationSummary {
    corpus: String,
    size: String,
    verdicts: Vec<String>,
}

impl EvaluationSummary {
    pub fn new(all: &Evaluated, analysis: &Analysis, significance: Option<&Significance>) -> Self {
        let corpus = all.corpus.iter().next();
        let corpus = corpus.map_or(String::new(), |sentence| sentence.file().to_string());
        let (names, best) = (all.names(), analysis.best());
        let metric = if analysis.has_spans { "F1" } else { "accuracy" };
        let shown = short_name(&corpus);
        let score = percent(analysis.score(best));
        let mut verdicts = Vec::new();
        let several = names.len() > 1;
        match several {
            false => verdicts.push(format!("{} has {metric} {score} on {shown}.", names[0])),
            true => verdicts.push(format!(
                "Of {}, {} ({}) has the highest {metric} on {shown}: {score}.",
                count_of(names.len() as u64, "system"),
                letter(best),
                names[best]
            )),
        }
        verdicts.extend(significance.into_iter().flat_map(|s| s.verdict(&names, best)));
        verdicts.extend(training_score(all, analysis, best, metric));
        let of_best = worst_type(analysis, best).into_iter();
        let of_best = of_best.chain(commonest(analysis, best));
        verdicts.extend(of_best.map(|text| match several {
            true => format!("{}: {text}", letter(best)),
            false => text,
        }));
        let without = all.systems.iter().filter(|s| s.warning_of_noise.is_some());
        verdicts.extend(without.map(|system| {
            format!("{}: the weights have seen no noise, although training had some.", system.name)
        }));
        Self { corpus, size: size_of(analysis), verdicts }
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
    searches: &[Search],
    evaluation: Option<&EvaluationSummary>,
) -> Option<Section> {
    let mut all = verdicts(runs, settings);
    all.extend(searches.iter().filter_map(Search::verdict));
    all.extend(evaluation.into_iter().flat_map(|one| one.verdicts.clone()));
    let mut section = Section::new("summary", "Summary");
    section.list(all.clone());
    (!all.is_empty()).then_some(section)
}

/// Returns the title: the corpora.
pub fn title(
    runs: &[NamedRun],
    searches: &[Search],
    evaluation: Option<&EvaluationSummary>,
) -> String {
    let of_runs = runs.iter().map(|run| run.run.header.files.clone());
    let of_searches = searches.iter().map(|search| search.inputs().0);
    let mut files: Vec<String> = Vec::new();
    for file in of_runs.chain(of_searches).flatten().map(|file| short_name(&file)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
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
    searches: &[Search],
    evaluation: Option<&EvaluationSummary>,
    newest: Option<SystemTime>,
) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |name, values: Vec<String>, is_code| {
        if !values.is_empty() {
            facts.push(Fact { name, values, is_code });
        }
    };
    let mut trained: Vec<(String, Sizes)> = Vec::new();
    let mut dev: Vec<String> = Vec::new();
    for run in runs {
        let (files, start) = (run.run.header.files.join(", "), &run.run.start);
        let size = [start.data.sentences, start.data.tokens].map(|n| n as u64);
        match trained.iter_mut().find(|(other, _)| *other == files) {
            Some((_, sizes)) => sizes.add(size),
            None => trained.push((files, Sizes(size, size))),
        }
        if start.data.dev_sentences > 0 {
            let size = count_of(start.data.dev_sentences as u64, "sentence");
            let config = run.run.header.config.as_ref();
            let files = config.map_or(String::new(), |config| plain(&config["options"]["dev"]));
            dev.push(match files.as_str() {
                "" => size,
                files => format!("{files}: {size}"),
            });
        }
    }
    let trained = trained.into_iter().map(|(files, sizes)| match files.as_str() {
        "" => sizes.text(),
        _ => format!("{files}: {}", sizes.text()),
    });
    let searched = searches.iter().map(|search| search.inputs().0.join(", "));
    let trained: Vec<String> = trained.chain(searched).collect();
    add("Training data", distinct(trained), false);
    add("Development data", distinct(dev), false);
    let evaluated = evaluation.map(|one| format!("{}: {}", one.corpus, one.size));
    add("Scored on", evaluated.into_iter().collect(), false);
    add("Date", newest.and_then(date::utc).into_iter().collect(), false);
    let of_runs = runs.iter().filter_map(|run| command(run.run.header.config.as_ref()?));
    let of_searches = searches.iter().filter_map(|search| search.inputs().1);
    add("Command", distinct(of_runs.chain(of_searches).collect()), true);
    facts
}

/// The lowest and the highest numbers of sentences and tokens.
struct Sizes([u64; 2], [u64; 2]);

impl Sizes {
    fn add(&mut self, size: [u64; 2]) {
        for ((low, high), n) in self.0.iter_mut().zip(&mut self.1).zip(size) {
            (*low, *high) = (n.min(*low), n.max(*high));
        }
    }

    fn text(&self) -> String {
        let [sentences, tokens] = [0, 1].map(|i| {
            let all = count_of(self.1[i], ["sentence", "token"][i]);
            match self.0[i] == self.1[i] {
                true => all,
                false => format!("{} to {all}", count(self.0[i])),
            }
        });
        format!("{sentences}, {tokens}")
    }
}

/// Returns the first different values, and how many more there are.
fn distinct(values: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for value in values {
        if !value.is_empty() && !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    let more = distinct.len().saturating_sub(MAX_COMMANDS);
    if more > 0 {
        distinct.truncate(MAX_COMMANDS);
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
        assert_eq!(distinct(values.to_vec()), ["a", "b", "c", "… and 2 more"]);
    }
}
