//! Reports: logs of training, scores and errors in one HTML page.
//!
//! [`log`] writes and reads the logs. [`Report`] takes what there is and returns the page, one file
//! that needs no network.

mod confusions;
mod errors;
mod evaluated;
pub mod log;
pub mod plot;
mod scores;
mod search;
mod significance;
mod summary;
#[cfg(test)]
mod tests;
mod training;
mod views;

use std::path::Path;
use std::time::SystemTime;

use dropchain::{Error, Place, Result, kernel::input_file::read_text, train::Pass};
use dropchain_analysis::WordCounts;
use dropchain_formats::Escaped;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value as TemplateValue};
use minijinja::{Environment, UndefinedBehavior, context};

pub use evaluated::{Evaluated, count_words, training_sample};

use errors::words_of;
use evaluated::Analysis;
use log::read_runs;
use search::Search;
use significance::Significance;
use summary::EvaluationSummary;
use training::{NamedRun, Settings};
use views::Section;

/// Maximum number of bytes of a log.
const MAX_FILE: usize = 512 << 20;

/// The expected kind of file, for error messages.
const EXPECTED: &str = "a log of training (train --log, tune --log)";

/// Number of bytes from which on words may be broken.
const LONG: usize = 20;

/// The contents of a report.
#[derive(Debug, Default)]
pub struct Report {
    runs: Vec<NamedRun>,
    searches: Vec<Search>,
    evaluated: Vec<Section>,
    summary: Option<EvaluationSummary>,
    /// When the newest of the files was written.
    newest: Option<SystemTime>,
}

impl Report {
    /// Adds a log file, of one run or more.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read or is too large; [`Error::Input`] with the line if
    /// it is none.
    pub fn add_file(&mut self, path: &Path) -> Result<()> {
        let text = read_text(path, MAX_FILE, EXPECTED)?.text;
        self.add_date(path);
        self.add_log(&text, &path.display().to_string())
    }

    /// Adds the text of a log, called `file`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the line if it is none.
    pub fn add_log(&mut self, text: &str, file: &str) -> Result<()> {
        if search::is_search(text) {
            self.searches.push(Search::read(text, file)?);
            return Ok(());
        }
        let runs = read_runs(text, file)?;
        if runs.is_empty() {
            let message = format!("found no run; expected {EXPECTED}");
            return Err(Error::input(Place::file(file), message));
        }
        self.runs.extend(runs.into_iter().map(|run| NamedRun {
            name: match run.pass {
                None => file.to_owned(),
                Some(Pass::First) => format!("{file}, first pass"),
                Some(Pass::Fold { number, of }) => format!("{file}, fold {number} of {of}"),
                Some(Pass::Second) => format!("{file}, second pass"),
            },
            run,
        }));
        Ok(())
    }

    /// Considers a file for the date of the page, which is when the newest of the files was
    /// written.
    pub fn add_date(&mut self, path: &Path) {
        let date = path.metadata().and_then(|data| data.modified()).ok();
        self.newest = self.newest.max(date);
    }

    /// Adds scores and errors of systems: with words of the training data, by their frequency; of
    /// errors, at most `max_errors` are listed.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if sentences are too many or too long to be counted.
    pub fn evaluate(
        &mut self,
        all: &Evaluated,
        words: Option<&WordCounts>,
        max_errors: usize,
    ) -> Result<()> {
        let analysis = Analysis::new(all, words, max_errors)?;
        let has_words = all.corpus.iter().any(|sentence| words_of(sentence).is_some());
        let words = words.filter(|_| has_words);
        let significance = Significance::new(all, &analysis)?;
        self.summary = Some(EvaluationSummary::new(all, &analysis, &significance));
        self.evaluated.push(scores::scores(all, &analysis, &significance, words));
        self.evaluated.extend(significance.section(&all.names()));
        let mut blocks = confusions::confusions(all, &analysis);
        blocks.extend(analysis.errors.blocks(&all.names()));
        self.evaluated.push(Section { id: "errors", title: "Errors", blocks });
        Ok(())
    }

    /// Returns the page, by default with a title that names the corpora. It allows no network
    /// access and no scripts but its own.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it cannot be rendered.
    pub fn html(mut self, title: Option<&str>) -> Result<String> {
        let failed =
            |e: minijinja::Error| Error::parameter(format!("the page cannot be rendered: {e:#}"));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true);
        environment.set_syntax(syntax.build().map_err(failed)?);
        environment.set_formatter(|out, state, value| match value.as_str() {
            Some(text) if !value.is_safe() => write!(out, "{}", Escaped(text)).map_err(Into::into),
            _ => minijinja::escape_formatter(out, state, value),
        });
        environment.add_filter("breakable", breakable);
        environment.add_filter("options", options);
        self.runs.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
        let own_title = summary::title(&self);
        let settings = Settings::new(&self.runs);
        let mut sections = vec![summary::summary(&self, &settings)];
        if !self.runs.is_empty() {
            sections.push(training::training(&self.runs, &settings));
        }
        sections.extend(Search::section(self.searches));
        sections.extend(self.evaluated);
        let has_errors = sections.iter().any(|section| section.id == "errors");
        let script = include_str!("page.js").to_owned();
        let page = context! {
            title => title.unwrap_or(&own_title),
            version => env!("CARGO_PKG_VERSION"),
            style => [plot::STYLE, include_str!("style.css")].concat(),
            script => script + if has_errors { include_str!("filter.js") } else { "" },
            sections => Serde(sections),
        };
        // MiniJinja escapes all text in templates whose name ends in `.html`.
        let source = include_str!("page.html");
        environment.render_named_str("page.html", source, page).map_err(failed)
    }
}

/// Splits a command before each option, which no line breaks.
fn options(command: &str) -> Vec<String> {
    let mut parts = command.split(" --");
    let first = parts.next().map(str::to_owned);
    first.into_iter().chain(parts.map(|part| format!("--{part}"))).collect()
}

/// Escapes a text, in which long words may be broken after `/`, `_`, `-` and commas, and before
/// `.`: names of files, and values of settings.
fn breakable(text: &str) -> TemplateValue {
    let mut html = String::new();
    for (i, word) in text.split(' ').enumerate() {
        let escaped = Escaped(word).to_string();
        html.extend((i > 0).then_some(' '));
        if word.len() < LONG {
            html += &escaped;
            continue;
        }
        for c in escaped.chars() {
            html.extend((c == '.').then_some("<wbr>"));
            html.push(c);
            html.extend("/_-,".contains(c).then_some("<wbr>"));
        }
    }
    TemplateValue::from_safe_string(html)
}
