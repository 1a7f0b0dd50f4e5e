//! Reading what runs have recorded: logs of training, logs of searches, measurements of gradients.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use dropchain::error::{Error, Place, Result};
use dropchain::input_file::read_text;

/// Maximum number of bytes of a file.
const MAX_FILE: usize = 512 << 20;

/// Number of characters of a line to quote.
const QUOTE: usize = 60;

/// What a file is expected to be, in error messages.
const EXPECTED: &str = "a log of train or tune (--log), or the results of bench gradients (--json)";

/// What a file records.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A training run.
    Run(RecordedRun),
    /// A search of hyperparameters.
    Search(RecordedSearch),
    /// Measurements of the gradient engines.
    Gradients(Box<RecordedGradients>),
}

/// A training run, as far as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    /// The part of a training in two passes, such as `first`.
    pub pass: Option<String>,
    /// The fields of the line `start`.
    pub start: Map<String, Value>,
    /// The iterations.
    pub iterations: Vec<RecordedIteration>,
    /// The fields of the line `end`; `None` if the run was killed or is still running.
    pub end: Option<Map<String, Value>>,
}

/// An iteration of a training run. A value that is not a number was logged as null.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct RecordedIteration {
    /// Its number.
    pub iteration: u64,
    /// The objective.
    pub objective: Option<f64>,
    /// Its part Σ log p(y|x).
    pub log_likelihood: Option<f64>,
    /// Its noise term.
    pub dropout: Option<f64>,
    /// Its L2 penalty.
    pub l2: Option<f64>,
    /// Its L1 penalty.
    pub l1: Option<f64>,
    /// The norm of the gradient.
    pub gradient_norm: Option<f64>,
    /// Time since the start.
    pub seconds: f64,
    /// F1 on development data.
    pub dev_f1: Option<f64>,
    /// Accuracy on development data, of labels that encode no spans.
    pub dev_accuracy: Option<f64>,
}

impl RecordedIteration {
    /// The score on development data: F1, or accuracy of labels that encode no spans.
    #[must_use]
    pub fn dev_score(&self) -> Option<f64> {
        self.dev_f1.or(self.dev_accuracy)
    }
}

/// A search, as far as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSearch {
    /// The fields of the line `start`.
    pub start: Map<String, Value>,
    /// The fields of the lines `configuration`: the result of each in each rung that it reached.
    pub configurations: Vec<Map<String, Value>>,
    /// The fields of the line `end`; `None` if the search was killed or is still running.
    pub end: Option<Map<String, Value>>,
}

/// Measurements of the gradient engines.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecordedGradients {
    /// Training files.
    #[serde(default)]
    pub files: Vec<String>,
    /// Number of sentences.
    #[serde(default)]
    pub sentences: Option<u64>,
    /// Number of tokens.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// The engines.
    pub engines: Vec<RecordedEngine>,
    /// Trainings with the engines.
    #[serde(default)]
    pub training: Vec<RecordedTraining>,
}

/// The measurements of an engine ([`crate::bench::Measurement`]).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the fields of Measurement")]
pub struct RecordedEngine {
    pub engine: String,
    pub collapsed: bool,
    pub seconds: f64,
    pub ratio_to_likelihood: f64,
    pub relative_error: Option<f64>,
    pub relative_error_whole: Option<f64>,
    pub cosine: Option<f64>,
    pub peak_bytes: Option<u64>,
}

/// A training with an engine ([`crate::bench::TrainingRun`]).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the fields of TrainingRun")]
pub struct RecordedTraining {
    pub engine: String,
    pub collapsed: bool,
    pub dev_f1: Option<f64>,
    pub dev_accuracy: Option<f64>,
    pub iterations: u64,
    pub best_iteration: u64,
    pub seconds: f64,
}

/// Reads what a file records: one or more runs or searches, or measurements of gradients.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read or is too large; [`Error::Input`] with the line if it
/// is none of these, or ends in the middle of a line.
pub fn read_recorded(path: &Path) -> Result<Vec<Recorded>> {
    let text = read_text(path, MAX_FILE, EXPECTED)?;
    let file = path.display().to_string();
    parse(&text, &file)
}

/// Parses the text of `file`.
fn parse(text: &str, file: &str) -> Result<Vec<Recorded>> {
    let is_object = |line: &str| serde_json::from_str::<Map<String, Value>>(line).is_ok();
    let first = text.lines().next().unwrap_or_default();
    if text.starts_with('{') && (first.trim_end() == "{" || is_object(text)) {
        let object: Value = serde_json::from_str(text).map_err(|e| {
            let place = Place::line(file, e.line() as u64);
            Error::input(place, format!("not valid JSON ({e}); expected {EXPECTED}"))
        })?;
        if object.get("event").is_none() {
            return parse_gradients(object, file).map(|gradients| vec![gradients]);
        }
    }
    let mut reader = LogReader::new(file);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        let is_cut = lines.peek().is_none() && !text.ends_with('\n');
        reader.place.line = i as u64 + 1;
        reader.read_line(line, is_cut)?;
    }
    reader.finish()
}

/// Parses the results of `bench gradients --json`.
fn parse_gradients(object: Value, file: &str) -> Result<Recorded> {
    let gradients = RecordedGradients::deserialize(object).map_err(|e| {
        let message = format!("found a JSON object ({e}); expected {EXPECTED}");
        Error::input(Place::file(file), message)
    })?;
    Ok(Recorded::Gradients(Box::new(gradients)))
}

/// Reads the lines of a log.
struct LogReader {
    place: Place,
    pass: Option<String>,
    recorded: Vec<Recorded>,
}

impl LogReader {
    fn new(file: &str) -> Self {
        Self {
            place: Place::file(file),
            pass: None,
            recorded: Vec::new(),
        }
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::input(self.place.clone(), message)
    }

    /// Reads a line; `is_cut` if it has no end.
    fn read_line(&mut self, line: &str, is_cut: bool) -> Result<()> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let fields: Map<String, Value> = serde_json::from_str(line).map_err(|_| {
            let quoted = quote(line);
            match is_cut && !self.recorded.is_empty() {
                true => self.error(format!(
                    "the log ends in the middle of this line: {quoted}; delete the line to report \
                     those before it"
                )),
                false => self.error(format!("found {quoted}; expected {EXPECTED}")),
            }
        })?;
        match fields.get("event").and_then(Value::as_str) {
            Some("pass") => self.pass = Some(describe_pass(&fields)),
            Some("start") => self.start(fields),
            Some("iteration") => self.iteration(fields)?,
            Some("configuration") => self.configuration(fields)?,
            Some("end") => self.end(fields)?,
            Some(_) => {} // of a later version, or of no interest
            None => {
                return Err(self.error(format!(
                    "found a JSON object without the field \"event\": {}; expected {EXPECTED}",
                    quote(line)
                )));
            }
        }
        Ok(())
    }

    fn start(&mut self, start: Map<String, Value>) {
        self.recorded.push(if start.contains_key("configurations") {
            Recorded::Search(RecordedSearch {
                start,
                configurations: Vec::new(),
                end: None,
            })
        } else {
            Recorded::Run(RecordedRun {
                pass: self.pass.take(),
                start,
                iterations: Vec::new(),
                end: None,
            })
        });
    }

    fn iteration(&mut self, fields: Map<String, Value>) -> Result<()> {
        let iteration: RecordedIteration = self.deserialize(fields)?;
        match self.recorded.last_mut() {
            Some(Recorded::Run(run)) => run.iterations.push(iteration),
            _ => return Err(self.error("found an iteration; expected the line \"start\" before")),
        }
        Ok(())
    }

    fn configuration(&mut self, fields: Map<String, Value>) -> Result<()> {
        match self.recorded.last_mut() {
            Some(Recorded::Search(search)) => search.configurations.push(fields),
            _ => {
                let message = "found a configuration; expected the line \"start\" before";
                return Err(self.error(message));
            }
        }
        Ok(())
    }

    fn end(&mut self, fields: Map<String, Value>) -> Result<()> {
        match self.recorded.last_mut() {
            Some(Recorded::Run(run)) => run.end = Some(fields),
            Some(Recorded::Search(search)) => search.end = Some(fields),
            _ => return Err(self.error("found an end; expected the line \"start\" before")),
        }
        Ok(())
    }

    fn deserialize<T: DeserializeOwned>(&self, fields: Map<String, Value>) -> Result<T> {
        T::deserialize(Value::Object(fields)).map_err(|e| self.error(e.to_string()))
    }

    fn finish(mut self) -> Result<Vec<Recorded>> {
        if self.recorded.is_empty() {
            self.place.line = 0;
            return Err(self.error(format!("found no run; expected {EXPECTED}")));
        }
        Ok(self.recorded)
    }
}

/// Returns the name of the part of training that a line `pass` begins.
fn describe_pass(fields: &Map<String, Value>) -> String {
    let text = |key: &str| fields.get(key).map(ToString::to_string).unwrap_or_default();
    match fields.get("pass").and_then(Value::as_str) {
        Some("fold") => format!("fold {} of {}", text("number"), text("of")),
        Some(pass) => format!("{pass} pass"),
        None => text("pass"),
    }
}

fn quote(line: &str) -> String {
    let beginning: String = line.chars().take(QUOTE).collect();
    let more = if beginning.len() < line.len() {
        "…"
    } else {
        ""
    };
    format!("{beginning:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "{\"event\":\"start\",\"parameters\":{\"l2\":0.1}}\n";
    const ITERATION: &str = "{\"event\":\"iteration\",\"iteration\":1,\"objective\":2.5,\
                             \"gradient_norm\":null,\"seconds\":0.5,\"dev_f1\":0.25}\n";

    fn error(text: &str) -> String {
        parse(text, "a.log").unwrap_err().to_string()
    }

    #[test]
    fn runs_of_two_passes_are_read_with_their_names() {
        let pass = "{\"event\":\"pass\",\"pass\":\"fold\",\"number\":2,\"of\":5}\n";
        let end = "{\"event\":\"end\",\"best_iteration\":1}\n";
        let text = [START, ITERATION, end, pass, START, ITERATION].concat();
        let recorded = parse(&text, "a.log").unwrap();
        let [Recorded::Run(first), Recorded::Run(second)] = recorded.as_slice() else {
            panic!("{recorded:?}");
        };
        assert_eq!((first.pass.as_deref(), first.end.is_some()), (None, true));
        assert_eq!(second.pass.as_deref(), Some("fold 2 of 5"));
        assert_eq!((second.iterations.len(), second.end.is_some()), (1, false));
        let iteration = second.iterations[0];
        assert_eq!(iteration.objective, Some(2.5));
        assert_eq!((iteration.gradient_norm, iteration.dropout), (None, None));
        assert_eq!(iteration.dev_score(), Some(0.25));
    }

    #[test]
    fn a_search_has_configurations() {
        let text = "{\"event\":\"start\",\"configurations\":1}\n\
                    {\"event\":\"configuration\",\"number\":1}\n{\"event\":\"end\",\"best\":1}\n";
        let recorded = parse(text, "a.log").unwrap();
        let [Recorded::Search(search)] = recorded.as_slice() else {
            panic!("{recorded:?}");
        };
        assert_eq!(search.configurations.len(), 1);
        assert!(search.end.is_some());
    }

    #[test]
    fn measurements_of_gradients_are_one_object_on_one_line_or_many() {
        let text = r#"{"version": "0.1.0", "engines": [{"engine": "local", "collapsed": false,
            "seconds": 0.5, "ratio_to_likelihood": 2.0, "relative_error": null}]}"#;
        for text in [
            text.to_owned(),
            text.replace('\n', ""),
            text.replacen('{', "{\n", 1),
        ] {
            let recorded = parse(&text, "g.json").unwrap();
            let [Recorded::Gradients(gradients)] = recorded.as_slice() else {
                panic!("{recorded:?}");
            };
            assert_eq!(gradients.engines[0].engine, "local");
        }
    }

    #[test]
    fn a_truncated_log_is_an_error_at_its_last_line() {
        let text = [START, ITERATION, &ITERATION[..40]].concat();
        let message = error(&text);
        assert!(
            message.starts_with("a.log:3: the log ends in the middle"),
            "{message}"
        );
        let complete = [START, ITERATION.trim_end()].concat();
        assert!(
            parse(&complete, "a.log").is_ok(),
            "only the line end is missing"
        );
    }

    #[test]
    fn foreign_files_are_errors_at_their_first_line() {
        for (text, expected) in [
            (
                "Ann NNP B-PER\n",
                "a.log:1: found \"Ann NNP B-PER\"; expected a log",
            ),
            (
                "{\"a\":1}\n{\"b\":2}\n",
                "a.log:1: found a JSON object without",
            ),
            ("{\n \"a\": 1\n", "a.log:3: not valid JSON"),
            (
                "{\"a\": 1}",
                "a.log: found a JSON object (missing field `engines`)",
            ),
            (
                ITERATION,
                "a.log:1: found an iteration; expected the line \"start\"",
            ),
            ("", "a.log: found no run"),
            (
                "{\"event\":\"other\"}\n{\"event\":\"x\"}\n",
                "a.log: found no run",
            ),
        ] {
            let message = error(text);
            assert!(message.starts_with(expected), "{message}");
        }
        let bad = [
            START,
            "{\"event\":\"iteration\",\"iteration\":\"x\",\"seconds\":1}\n",
        ]
        .concat();
        assert!(
            error(&bad).starts_with("a.log:2: invalid type"),
            "{}",
            error(&bad)
        );
    }
}
