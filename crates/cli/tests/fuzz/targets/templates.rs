//! Templates of all syntaxes, the files that they name, and the attributes that they yield.

use std::sync::Arc;

use dropchain::sentence::Schema;
use dropchain::template::{Attribute, AttributeSink, Template, Workspace};
use dropchain::{Error, Result, Sentence};

use crate::harness::Target;

const OWN: &str = r#"
    word lower shape shape(dan2) prefix(1..4) suffix(2..3,␣lower) bag(word, ngrams(1..3) regex("
    value(length) lexicon("f") cluster("f",␣1,␣4) vector("f",␣scale(2)) column(1) column("pos")
    [-1] [+1] ␣&␣ ␣if␣ ␣not␣ ␣and␣ ␣exists ␣matches␣ ␣==␣ ␣<=␣ edge:␣ .. ( ) bias title occurrence
    affixes(2..6) #
"#;
const PATTERNS: &str = r#"
    U B * u: b %x[ %X[0,0] %m[0,0," %t[-6,0," ] 0,0 -1,1 @ / \d \u \p . ? ^ $ [^a] "
"#;
const FILES: &str = r#"
    0110⇥ ⇥7 1␣0.5␣-1 3␣2 Paris NaN inf ␣ York {" ":3, [" name":" name,id PER␣
"#;

/// Collects names and values of attributes.
#[derive(Default)]
struct Names(Vec<(bool, Vec<u8>, u64)>);

impl Names {
    fn add(&mut self, edge: bool, attribute: &Attribute<'_>, value: f64) {
        let mut name = Vec::new();
        attribute.write(&mut name);
        assert!(std::str::from_utf8(&name).is_ok(), "{name:?}");
        self.0.push((edge, name, value.to_bits()));
    }
}

impl AttributeSink for Names {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.add(false, attribute, value);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.add(true, attribute, value);
    }
}

/// Sentences to apply templates to: every kind of cell.
fn sentences() -> Vec<Sentence> {
    let names = ["word", "pos", "length", "ner"].map(str::to_owned).to_vec();
    let schema = Arc::new(Schema::new(names, Some(3)).unwrap());
    let rows = [
        "Ann NNP 3 B-PER\nleft VBD 4 O\nNew NNP 3 B-LOC\nYork NNP 4 I-LOC\n. . 1 O",
        "e\u{301}t\u{e9} NN 0.5 O\n👩‍👧 SYM -1e300 O\n| \\ 1 O\n | 2 O",
        "İstanbul NNP 8 B-LOC",
    ];
    rows.iter()
        .map(|rows| {
            let mut sentence = Sentence::new(Arc::clone(&schema), "x");
            for (line, row) in (1..).zip(rows.lines()) {
                sentence.push(row.split(' '), line).unwrap();
            }
            sentence
        })
        .collect()
}

/// The contents of every file that a template names.
fn load(_: &str) -> Result<String> {
    Ok("0110\tParis\t7\n1\tYork\t3\n".to_owned())
}

/// Checks what every template holds that can be parsed.
fn check_template(template: &Template) {
    let stored = serde_json::to_string(template).unwrap();
    let again: Template = serde_json::from_str(&stored).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), stored);
    let sentences = sentences();
    let (Ok(extractor), Ok(other)) =
        (template.bind(sentences[0].schema()), again.bind(sentences[0].schema()))
    else {
        return;
    };
    let mut warm = Workspace::default();
    for sentence in sentences.iter().chain(&sentences) {
        let mut fresh = Workspace::default();
        let prepared = extractor.prepare(sentence, &mut warm);
        let expected = other.prepare(sentence, &mut fresh);
        assert_eq!(message(&prepared), message(&expected));
        if prepared.is_err() {
            continue;
        }
        for t in 0..sentence.len() {
            let (mut found, mut expected) = (Names::default(), Names::default());
            extractor.extract(sentence, t, &mut warm, &mut found);
            other.extract(sentence, t, &mut fresh, &mut expected);
            assert_eq!(found.0, expected.0, "in a used workspace and in a fresh one");
            assert!(t > 0 || found.0.iter().all(|(edge, ..)| !edge));
        }
    }
}

fn message(result: &Result<()>) -> Option<String> {
    result.as_ref().err().map(Error::to_string)
}

/// Parses the source with both line endings, and checks the template.
fn check_source(input: &[u8]) {
    let Ok(source) = std::str::from_utf8(input) else { return };
    let parse = |source: &str| Template::parse(source, "t.tpl", &mut load);
    let Ok(template) = parse(source) else { return };
    assert_eq!(template.source(), source);
    check_template(&template);
}

#[test]
fn templates_yield_the_same_attributes_stored_or_not_in_any_workspace() {
    Target::new("templates", OWN).run(check_source);
}

#[test]
fn crfpp_and_wapiti_templates_yield_the_same_attributes_stored_or_not() {
    Target::new("patterns", PATTERNS).run(check_source);
}

#[test]
fn files_that_templates_name_are_errors_or_yield_the_same_attributes() {
    Target::new("resources", FILES).run(|input| {
        let Ok(text) = std::str::from_utf8(input) else { return };
        let templates = [
            "lexicon(\"f\")\nlexicon(\"f\", lower)[-1]\n",
            "cluster(\"f\", 1, 4)\ncluster(\"f\")[+1]\n",
            "vector(\"f\")\n",
            "vector(\"f\", lower, first(2), scale(2))\n",
        ];
        for source in templates {
            let mut load = |_: &str| Ok(text.to_owned());
            if let Ok(template) = Template::parse(source, "t.tpl", &mut load) {
                check_template(&template);
            }
        }
    });
}
