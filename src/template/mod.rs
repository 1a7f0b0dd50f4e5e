//! Feature templates: which attributes a token has.
//!
//! A template file says, one template a line, what is looked at around a token; `docs/templates.md`
//! is its reference. [`Template::parse`] checks the file, [`Template::learn`] fixes what depends on
//! the training data, [`Template::bind`] looks up the columns of a corpus, and the [`Extractor`]
//! that results gives the attributes of a token to a [`AttributeSink`], which may write their names:
//!
//! ```
//! use dropchain::sentence::{Schema, Sentence};
//! use dropchain::template::{Attribute, AttributeSink, Template, Workspace};
//!
//! struct Names(Vec<u8>);
//! impl AttributeSink for Names {
//!     fn node(&mut self, attribute: &Attribute<'_>, _value: f64) {
//!         attribute.write(&mut self.0);
//!         self.0.push(b' ');
//!     }
//!     fn edge(&mut self, _attribute: &Attribute<'_>, _value: f64) {}
//! }
//!
//! let source = "word\nword[-1] & shape(collapsed)\n";
//! let template = Template::parse(source, "my.tpl", &mut |_| unreachable!())?;
//! let extractor = template.bind(&Schema::words())?;
//! let sentence = Sentence::from_words(["in", "London"]);
//! let (mut workspace, mut sink) = (Workspace::default(), Names(Vec::new()));
//! extractor.prepare(&sentence, &mut workspace)?;
//! extractor.extract(&sentence, 1, &mut workspace, &mut sink);
//! assert_eq!(sink.0, b"word[0]=London word[-1]|shape(collapsed)[0]=in|Xx ");
//! # Ok::<(), dropchain::Error>(())
//! ```
//!
//! Characters are grapheme clusters throughout: none is ever cut.

mod arguments;
mod attribute;
mod bind;
mod extract;
mod functions;
mod lexer;
mod lexicon;
mod name;
mod parser;
mod pattern;
mod resources;
mod shape;
mod shipped;
mod syntax;
mod text;
mod vectors;
mod view;
mod wapiti_regex;
mod workspace;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

pub use attribute::Attribute;
pub use extract::{AttributeSink, Extractor};
pub use syntax::ColumnRef;
pub use workspace::Workspace;

use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence};
use lexer::Spot;
use pattern::Dialect;
use resources::Resources;
use shape::Known;
use syntax::{Form, Function, Line};

/// Largest template file, in bytes; the largest in use have some kilobytes.
const MAX_SOURCE: usize = 1 << 20;

/// A template file, checked, with the files that it names and what was learned from the
/// training data.
///
/// It is stored whole in a model: text, lexica, clusters and word vectors, known words. Reading it back
/// parses the text again, so that a damaged model is an error and nothing worse.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Template {
    source: Arc<str>,
    file: Arc<str>,
    files: Vec<(String, Arc<str>)>,
    lines: Arc<[Line]>,
    transitions: bool,
    known: Arc<Known>,
}

/// What is stored of a [`Template`].
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    source: Arc<str>,
    file: Arc<str>,
    files: Vec<(String, Arc<str>)>,
    known: Vec<Box<str>>,
}

impl From<Template> for Stored {
    fn from(template: Template) -> Self {
        let mut known: Vec<Box<str>> = template.known.iter().cloned().collect();
        known.sort_unstable();
        Self {
            source: template.source,
            file: template.file,
            files: template.files,
            known,
        }
    }
}

impl TryFrom<Stored> for Template {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let mut load = |name: &str| {
            let found = stored.files.iter().find(|(known, _)| known == name);
            let missing = || Error::parameter("the file is not stored with the template");
            found
                .map(|(_, text)| (**text).to_owned())
                .ok_or_else(missing)
        };
        let mut template = Self::parse(&stored.source, &stored.file, &mut load)?;
        template.known = Arc::new(stored.known.into_iter().collect());
        Ok(template)
    }
}

impl Template {
    /// Parses a template file, its own language or that of CRF++ or Wapiti.
    ///
    /// `file` names it in messages; `resources` gives the text of a file that it names, such as a
    /// lexicon, under the name that the template has for it.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the line and column of the first fault, and at the line of a file that
    /// it names where that is faulty.
    pub fn parse(
        source: &str,
        file: &str,
        resources: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<Self> {
        Self::parse_in(Path::new(""), source, file, resources)
    }

    /// Reads a template file; names of lexica and clusters in it are relative to its folder.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it cannot be read, and those of [`Template::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let read =
            |path: &Path| std::fs::read_to_string(path).map_err(|error| Error::io(path, error));
        let directory = path.parent().unwrap_or(Path::new(""));
        let source = read(path)?;
        let mut load = |name: &str| read(&directory.join(name));
        Self::parse_in(directory, &source, &path.display().to_string(), &mut load)
    }

    fn parse_in(
        directory: &Path,
        source: &str,
        file: &str,
        load: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<Self> {
        if source.len() > MAX_SOURCE {
            let message = format!("a template file of more than {MAX_SOURCE} bytes");
            return Err(Error::input(Place::file(file), message));
        }
        let mut resources = Resources::new(directory, load);
        let written = written_lines(source);
        let patterns = check_dialects(&written, file)?;
        let (lines, transitions) = if patterns {
            parse_patterns(&written, file)?
        } else {
            (parse_own(&written, file, &mut resources)?, true)
        };
        if lines.is_empty() && !(patterns && transitions) {
            let message = "there is no template in this file";
            return Err(Error::input(Place::file(file), message));
        }
        Ok(Self {
            source: source.into(),
            file: file.into(),
            files: resources.into_files(),
            lines: lines.into(),
            transitions,
            known: Arc::default(),
        })
    }

    /// The text of the template file, as it was read.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether label pairs have a weight of their own: always, but in a CRF++ or Wapiti file
    /// without a bare `B`.
    #[must_use]
    pub fn transitions(&self) -> bool {
        self.transitions
    }

    /// Whether there are templates that are crossed with the label pair.
    #[must_use]
    pub fn has_edges(&self) -> bool {
        self.lines.iter().any(|line| line.edge)
    }

    /// The columns that the templates read, each once, in order of first mention.
    #[must_use]
    pub fn columns(&self) -> Vec<ColumnRef> {
        let mut columns = Vec::new();
        for column in self.functions().filter_map(Function::column) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    fn functions(&self) -> impl Iterator<Item = &Function> {
        self.lines.iter().flat_map(|line| {
            let pieces = line.pieces.iter().map(|piece| &piece.term.function);
            pieces.chain(line.conditions.iter().map(|c| &c.term.function))
        })
    }

    /// Fixes what depends on the training data: the words that the Stanford shapes mark with `k`
    /// are those that start in lower case there. Replaces what was learned before; does nothing
    /// where no template has such a shape.
    pub fn learn<'a>(&mut self, sentences: impl Iterator<Item = &'a Sentence>) {
        let stanford = |function: &&Function| matches!(function, Function::Form(Form::Shape(shape), _) if shape.uses_known_words());
        let mut columns: Vec<ColumnRef> = Vec::new();
        for column in self
            .functions()
            .filter(stanford)
            .filter_map(Function::column)
        {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        if columns.is_empty() {
            return;
        }
        let mut known = Known::new();
        for sentence in sentences {
            let positions = columns
                .iter()
                .filter_map(|c| bind::position(c, sentence.schema()));
            for position in positions {
                for word in (0..sentence.len()).map(|t| sentence.cell(t, position)) {
                    if shape::is_known_candidate(word) && !known.contains(word) {
                        known.insert(word.into());
                    }
                }
            }
        }
        self.known = Arc::new(known);
    }

    /// Looks up the columns of a corpus.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the template that reads a column which is not there, or which holds
    /// the labels.
    pub fn bind(&self, schema: &Schema) -> Result<Extractor> {
        bind::bind(&self.lines, &self.file, schema, &self.known)
    }
}

/// Lines that are neither blank nor a comment, with their numbers from 1.
fn written_lines(source: &str) -> Vec<(u64, &str)> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let numbered = (1..).zip(source.lines());
    let is_written = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    numbered.filter(|(_, line)| is_written(line)).collect()
}

/// Whether the file is one of CRF++ or Wapiti; a fault if only some of its lines are.
fn check_dialects(written: &[(u64, &str)], file: &str) -> Result<bool> {
    let Some(&(first, line)) = written.first() else {
        return Ok(false);
    };
    let patterns = pattern::is_pattern(line);
    for &(number, line) in written {
        if pattern::is_pattern(line) != patterns {
            let (this, other) = if patterns {
                ("dropchain's own language", "CRF++ or Wapiti")
            } else {
                ("CRF++ or Wapiti", "dropchain's own language")
            };
            let message = format!(
                "'{}' is a template of {this}, line {first} one of {other}; expected one of \
                 them throughout",
                line.trim()
            );
            return Err(Error::input(Place::column(file, number, 1), message));
        }
    }
    Ok(patterns)
}

fn parse_own(
    written: &[(u64, &str)],
    file: &str,
    resources: &mut Resources<'_>,
) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut seen: HashMap<String, u64> = HashMap::new();
    for &(number, text) in written {
        let spot = Spot { file, line: number };
        let Some(line) = parser::line(text, spot, resources)? else {
            continue;
        };
        if let Some(earlier) = seen.insert(line.head.clone(), number) {
            let column = text.chars().take_while(|c| c.is_whitespace()).count() as u64 + 1;
            let name = line.head.strip_suffix('=').unwrap_or(&line.head);
            return Err(spot.fault(column, format!("'{name}' stands on line {earlier} already")));
        }
        lines.push(line);
    }
    Ok(lines)
}

/// A line that comes twice counts once: a second copy would only double a weight.
fn parse_patterns(written: &[(u64, &str)], file: &str) -> Result<(Vec<Line>, bool)> {
    let dialect: Dialect = pattern::dialect(written.iter().map(|(_, line)| *line));
    let (mut lines, mut transitions) = (Vec::new(), false);
    let mut seen = hashbrown::HashSet::new();
    for &(number, text) in written {
        let text = pattern::content(text, dialect);
        let parsed = pattern::line(text, dialect, Spot { file, line: number })?;
        transitions |= parsed.transition;
        if seen.insert(text) {
            lines.extend(parsed.line);
        }
    }
    Ok((lines, transitions))
}
