//! End-to-end tests of templates: from text to attributes.

mod bundles;
mod dialects;
mod docs;
mod documents;
mod errors;

mod finkel;
mod functions;
mod memory;
mod robust;
mod store;

use std::sync::Arc;

use super::{Attribute, AttributeSink, Template, Workspace};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::sentence::{Schema, Sentence};
use crate::testing::{escaped_rows, rows};

/// Collects the attributes of a token, with values other than 1 after a colon.
#[derive(Default)]
struct Collected {
    node: Vec<String>,
    edge: Vec<String>,
}

impl AttributeSink for Collected {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.node.push(format_attribute(attribute, value));
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.edge.push(format_attribute(attribute, value));
    }
}

fn format_attribute(attribute: &Attribute<'_>, value: f64) -> String {
    let mut name = Vec::new();
    attribute.write(&mut name);
    assert!(attribute.has_name(&name));
    assert_eq!(attribute.key(), Attribute::named(&name, Fingerprinter::default()).key());
    let name = String::from_utf8(name).expect("attributes are UTF-8");
    if value == 1.0 { name } else { format!("{name}:{value}") }
}

/// Returns the contents of the files that the templates in these tests refer to.
fn resource(name: &str) -> Result<String> {
    match name {
        "names.txt" => Ok("New York\nParis\n".to_owned()),
        "paths.txt" => Ok("0110\tParis\t7\n011011\tYork\t3\n1\tin\t99\n".to_owned()),
        "vectors.txt" => Ok("3 2\nin 0.5 -1\nRome 2 0\nParis 3 4\n".to_owned()),
        "ragged.txt" => Ok("in 0.5 -1\nRome 2\n".to_owned()),
        "bad.txt" => Ok("0110\tParis\n011\n".to_owned()),
        _ => Err(Error::io(name, std::io::ErrorKind::NotFound.into())),
    }
}

fn parse(source: &str) -> Result<Template> {
    Template::parse(source, "t.tpl", &mut resource)
}

fn error(source: &str) -> String {
    parse(source).expect_err("an error").to_string()
}

/// Asserts the errors of templates.
fn assert_errors(table: &str) {
    for (source, message) in rows(table) {
        assert_eq!(error(source), message, "{source}");
    }
}

/// Builds a sentence with several columns: cells separated by blanks, one row per line.
fn table(names: &str, label: Option<usize>, rows: &str) -> Sentence {
    let names = names.split(' ').map(str::to_owned).collect();
    let schema = Arc::new(Schema::new(names, label).expect("a schema"));
    let mut sentence = Sentence::new(schema, "x.conll");
    for (line, row) in (1..).zip(rows.lines()) {
        sentence.push(row.split(' '), line).expect("a row");
    }
    sentence
}

fn words(text: &str) -> Sentence {
    Sentence::from_words(text.split(' '))
}

fn collect(template: &Template, sentence: &Sentence, t: usize) -> Collected {
    let extractor = template.bind(sentence.schema()).expect("columns");
    let mut workspace = Workspace::default();
    extractor.prepare(sentence, &mut workspace).expect("values");
    let mut collected = Collected::default();
    extractor.extract(sentence, t, &mut workspace, &mut collected);
    collected
}

/// Returns the node attributes of token `t` of `sentence`, words separated by blanks.
fn nodes(source: &str, sentence: &str, t: usize) -> Vec<String> {
    let template = parse(source).expect("a template");
    collect(&template, &words(sentence), t).node
}
