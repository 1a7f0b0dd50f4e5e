//! The page: its sections, and the template that shows them.

use dropchain::{Error, Result};
use dropchain_analysis::ErrorKind;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::analysis::Analysis;
use super::calibration::CalibrationView;
use super::evaluated::Evaluated;
use super::frequency::Frequency;
use super::gradients::Gradients;
use super::scores::Scores;
use super::search::Search;
use super::sentences::SentenceList;
use super::training::Training;
use super::views::{LegendEntry, count, count_of, legend};

/// The name of the template; MiniJinja escapes all text in those that end in `.html`.
const TEMPLATE: &str = "page.html";

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("filter.js");

/// The page. Sections without inputs are absent.
#[derive(Serialize)]
pub struct Page<'a> {
    title: &'a str,
    version: &'static str,
    style: &'static str,
    script: &'static str,
    pub training: Option<Training>,
    pub searches: Vec<Search>,
    pub scores: Option<Scores>,
    pub errors: Option<Errors>,
    pub frequency: Option<Frequency>,
    pub calibration: Option<CalibrationView>,
    pub gradients: Vec<Gradients>,
    missing: Vec<Missing>,
}

/// Errors in their sentences.
#[derive(Serialize)]
pub struct Errors {
    summary: String,
    legend: Vec<LegendEntry>,
    kinds: Vec<KindChoice>,
    types: Vec<String>,
    list: SentenceList,
}

/// A kind of errors to choose.
#[derive(Serialize)]
struct KindChoice {
    value: ErrorKind,
    name: &'static str,
}

/// A section without inputs, and what it needs.
#[derive(Serialize)]
struct Missing {
    section: &'static str,
    needs: &'static str,
}

impl<'a> Page<'a> {
    pub fn new(title: &'a str) -> Self {
        Self {
            title,
            version: env!("CARGO_PKG_VERSION"),
            style: STYLE,
            script: SCRIPT,
            training: None,
            searches: Vec::new(),
            scores: None,
            errors: None,
            frequency: None,
            calibration: None,
            gradients: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Sets the section of errors.
    pub fn set_errors(&mut self, evaluated: &Evaluated, analysis: Analysis) {
        let systems = &analysis.systems;
        let total: u64 = systems.iter().map(|system| system.errors.total()).sum();
        let shown = analysis.sentences.shown() as u64;
        let kinds = ErrorKind::ALL.into_iter().filter(|kind| {
            let mut counts = systems.iter().map(|system| system.errors.count(*kind));
            analysis.has_spans && counts.any(|count| count > 0)
        });
        self.errors = Some(Errors {
            summary: match shown < total {
                true => format!(
                    "The first {} of {}; --max-errors shows more.",
                    count(shown),
                    count_of(total, "error")
                ),
                false => format!("{}.", count_of(total, "error")),
            },
            legend: legend(evaluated.systems.iter().map(|system| system.name.as_str())),
            kinds: kinds
                .map(|value| KindChoice {
                    value,
                    name: value.name(),
                })
                .collect(),
            types: analysis.sentences.types(),
            list: analysis.sentences,
        });
    }

    /// Renders the page. It allows no network access and no other scripts.
    pub fn render(mut self) -> Result<String> {
        self.missing = self.find_missing();
        let failed =
            |e: minijinja::Error| Error::parameter(format!("the page cannot be rendered: {e:#}"));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true);
        environment.set_syntax(syntax.build().map_err(failed)?);
        let source = include_str!("page.html");
        environment.add_template(TEMPLATE, source).map_err(failed)?;
        let template = environment.get_template(TEMPLATE).map_err(failed)?;
        template.render(Serde(&self)).map_err(failed)
    }

    fn find_missing(&self) -> Vec<Missing> {
        let has_systems = self.scores.is_some();
        let sections = [
            (
                self.training.is_some() || !self.searches.is_empty(),
                "Training",
                "a log, written by train --log or tune --log",
            ),
            (
                has_systems,
                "Scores, confusions and errors",
                "--gold FILE with --model MODEL or --predictions PRED",
            ),
            (
                self.frequency.is_some(),
                "Scores by frequency of the words",
                match has_systems {
                    true => "--train TRAIN, the training data",
                    false => "--train TRAIN, the training data, and --gold and --model",
                },
            ),
            (
                self.calibration.is_some(),
                "Calibration",
                match has_systems {
                    true => "--model MODEL, or predictions of tag --marginals",
                    false => "--gold FILE with --model MODEL, or predictions of tag --marginals",
                },
            ),
            (
                !self.gradients.is_empty(),
                "Gradient engines",
                "results of bench gradients --json",
            ),
        ];
        let missing = sections.into_iter().filter(|(is_there, ..)| !is_there);
        missing
            .map(|(_, section, needs)| Missing { section, needs })
            .collect()
    }
}
