//! Parsing CRFsuite's format of pre-extracted attributes.
//!
//! A line is a token: its label, then its attributes, each `name` or `name:value`, separated by
//! tabs; a blank line ends the sentence. `\:` and `\\` are escapes for a colon and a backslash; any
//! other backslash is literal. The default value is 1. There are no comments. `edge:name` is an
//! attribute of the pair of the previous token and this one, with a weight for each pair of labels,
//! unless what follows the colon is a number. The rest is the syntax of
//! `frontend/iwa.c` of CRFsuite 0.12, with two differences: what CRFsuite silently misreads (`atof`
//! parses `word:London` as 0; a leading tab makes the first attribute the label) is an error here;
//! and a label that begins with `@` is a label, unless it is `@weight`.
//!
//! `@weight:2` in the place of a label, on a line of its own or before the label of any token, is
//! the weight of the sentence (`frontend/reader.c`).

use std::collections::VecDeque;
use std::sync::Arc;

use super::doubts::check_token;
use super::lines::{InputLine, LineReader, is_blank};
use super::parse::{PendingWeight, ReadOptions, SentenceParser};
use crate::error::{Error, Place, Result};
use crate::sentence::{Attributes, Schema, Sentence, check_attribute};

/// The prefix of attributes of label pairs.
const EDGE: &str = "edge:";

/// What is said of a file in which labels stand alone.
const NO_ATTRIBUTES: &str =
    "no token has an attribute; expected them after its label, each after a tab";

/// Parses CRFsuite's format. The only column is `label`.
pub(super) struct CrfsuiteParser {
    options: ReadOptions,
    schema: Arc<Schema>,
    current: Option<(Sentence, Attributes)>,
    name: String,          // of the current field, unescaped
    weight: PendingWeight, // of the current sentence
    is_bare: bool,         // tokens have no attributes so far
}

impl CrfsuiteParser {
    pub fn new(options: ReadOptions) -> Result<Self> {
        Ok(Self {
            options,
            schema: Arc::new(Schema::new(vec!["label".to_owned()], Some(0))?),
            current: None,
            name: String::new(),
            weight: PendingWeight::default(),
            is_bare: true,
        })
    }

    /// Parses the token on `line`.
    fn token(&mut self, line: &InputLine) -> Result<()> {
        let new = || (Sentence::new(self.schema.clone(), line.file.clone()), Attributes::default());
        let (sentence, out) = self.current.get_or_insert_with(new);
        let mut fields = line.text.split('\t');
        let mut label = fields.next().unwrap_or_default();
        let mut value = unescape(label, &mut self.name);
        let mut start = label.len() + 1;
        if self.name == "@weight" {
            if self.options.supervision.weights {
                self.weight.set(line, value.unwrap_or_default(), "the sentence")?;
            }
            label = loop {
                match fields.next() {
                    None => return Ok(()),
                    Some("") => start += 1,
                    Some(next) => break next,
                }
            };
            value = unescape(label, &mut self.name);
            start += label.len() + 1;
        }
        if value.is_some() {
            return Err(line.error(format!(
                "the label '{label}' has a value; expected a label alone ('\\:' stands for a colon)"
            )));
        }
        if self.name.is_empty() {
            return Err(line.error(
                "the line begins with a tab; expected a label \
                 (any, such as '_', if it is not known)",
            ));
        }
        sentence.push([&self.name], line.number)?;
        check_token(("", false), &self.name, line, &self.options.report);
        self.options.parse_last_label(sentence, line)?;
        self.options.check_length(sentence)?;
        // Fast path: nearly all lines have no escapes and no values.
        let special = |any, byte| any | matches!(byte, b'\\' | b':');
        let plain = !line.text.bytes().fold(false, special);
        for field in fields {
            // CRFsuite treats a run of tabs as one.
            if plain && !field.is_empty() {
                out.push(field, 1.0);
            } else if !field.is_empty() {
                let edge = edge_name(field);
                let value = unescape(edge.unwrap_or(field), &mut self.name);
                let value = number(&self.name, value).map_err(|message| {
                    let column = line.text[..start].chars().count() as u64 + 1;
                    let place = Place::column(&**line.file, line.number, column);
                    Error::input(place, message)
                })?;
                if edge.is_some() {
                    out.push_edge(&self.name, value);
                } else {
                    out.push(&self.name, value);
                }
            }
            start += field.len() + 1;
        }
        out.end_token();
        Ok(())
    }

    /// Ends the current sentence, if there is one.
    fn end_sentence(&mut self, ready: &mut VecDeque<Sentence>) -> Result<()> {
        let Some((mut sentence, mut attributes)) = self.current.take() else { return Ok(()) };
        if sentence.is_empty() {
            let message = "the weight stands alone; expected the tokens of its sentence after it, \
                           without a blank line";
            return self.weight.check_none(sentence.file(), message);
        }
        self.weight.apply(&mut sentence)?;
        attributes.shrink();
        sentence.shrink_to_fit();
        sentence.attributes = Some(Box::new(attributes));
        ready.push_back(sentence);
        Ok(())
    }
}

impl SentenceParser for CrfsuiteParser {
    fn memory_per_byte(&self) -> u64 {
        14
    }

    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if is_blank(line.text) {
            return self.end_sentence(ready);
        }
        self.is_bare = self.is_bare && !line.text.contains('\t');
        self.token(line)
    }

    fn end(&mut self, lines: &LineReader, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if self.is_bare && lines.number() > 0 {
            let place = Place::file(&**lines.file());
            self.options.report.warn(place, NO_ATTRIBUTES);
        }
        self.end_sentence(ready)
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        self.current = None;
        self.weight = PendingWeight::default();
        lines.skip_sentence()
    }
}

/// Returns the name of an attribute of label pairs. What CRFsuite reads as the attribute `edge`
/// with a value stays that.
pub(super) fn edge_name(field: &str) -> Option<&str> {
    let name = field.strip_prefix(EDGE)?;
    (!name.is_empty() && name.parse::<f64>().is_err()).then_some(name)
}

/// Unescapes the name in `field` into `name`, and returns the value after its colon, if any.
fn unescape<'a>(field: &'a str, name: &mut String) -> Option<&'a str> {
    name.clear();
    let mut rest = field;
    while let Some(i) = rest.bytes().position(|b| matches!(b, b'\\' | b':')) {
        name.push_str(&rest[..i]);
        let (special, after) = rest[i..].split_at(1);
        if special == ":" {
            return Some(after);
        }
        rest = after;
        match after.strip_prefix(['\\', ':']) {
            Some(unescaped) => {
                name.push_str(&after[..1]);
                rest = unescaped;
            }
            None => name.push('\\'),
        }
    }
    name.push_str(rest);
    None
}

/// Parses the value of an attribute, by default 1, or returns an error message.
fn number(name: &str, value: Option<&str>) -> Result<f64, String> {
    let number = match value {
        None | Some("") => 1.0,
        Some(value) => value.parse().map_err(|_| {
            format!(
                "attribute '{name}' has the value '{value}'; expected a number \
                 (write '\\:' for a colon that belongs to the name)"
            )
        })?,
    };
    check_attribute(name, number)?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use crate::corpus::Format;
    use crate::corpus::tests::{options, sentences};
    use crate::sentence::Sentence;
    use crate::testing::escaped_rows;

    fn read(text: &str) -> Vec<Sentence> {
        sentences(text, &options(Format::Crfsuite)).unwrap()
    }

    fn attributes(sentence: &Sentence, t: usize) -> Vec<(&str, f64)> {
        sentence.attributes.as_ref().unwrap().token(t).collect()
    }

    fn error(text: &str) -> String {
        crate::corpus::tests::error(text, &options(Format::Crfsuite))
    }

    #[test]
    fn the_prefix_edge_marks_attributes_of_label_pairs() {
        let text = "O\tedge:first\nO\tedge:a\tedge:b\\:c:0.5\tedge:2\tedge\\:d\tedge:\tedge\n";
        let sentence = &read(text)[0];
        let edges = sentence.attributes.as_ref().unwrap();
        assert_eq!(edges.edge(0).count(), 0);
        let found: Vec<_> = edges.edge(1).collect();
        assert_eq!(found, [("a", 1.0), ("b:c", 0.5)]);
        let nodes = [("edge", 2.0), ("edge:d", 1.0), ("edge", 1.0), ("edge", 1.0)];
        assert_eq!(attributes(sentence, 1), nodes);
        assert_eq!(
            error("O\nO\ta\tedge:b:c\n"),
            "x:2:5: attribute 'b' has the value 'c'; expected a number (write '\\:' for a colon \
             that belongs to the name)"
        );
    }

    #[test]
    fn a_token_has_a_label_and_attributes_with_values() {
        let read = read("B-NP\tw[0]=An\tlen:2\tx:-1.5e1\nO\n\n\nI\ta:\t\tb\n");
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].labels().unwrap(), ["B-NP", "O"]);
        let first = attributes(&read[0], 0);
        assert_eq!(first, [("w[0]=An", 1.0), ("len", 2.0), ("x", -15.0)]);
        assert_eq!(attributes(&read[0], 1), []);
        assert_eq!(attributes(&read[1], 0), [("a", 1.0), ("b", 1.0)]);
        assert_eq!(read[1].place(0).to_string(), "x:5");
    }

    #[test]
    fn escapes_are_those_of_crfsuite() {
        let read = read("\\:\tw=\\:\tw=10\\:30:2\tc=\\\\\td=\\n\te=\\\\\\::3\n#\t@\n");
        assert_eq!(read[0].labels().unwrap(), [":", "#"]);
        let first = attributes(&read[0], 0);
        assert_eq!(
            first,
            [("w=:", 1.0), ("w=10:30", 2.0), ("c=\\", 1.0), ("d=\\n", 1.0), ("e=\\:", 3.0)]
        );
        assert_eq!(attributes(&read[0], 1), [("@", 1.0)]);
    }

    #[test]
    fn a_weight_stands_in_the_place_of_a_label_anywhere_in_its_sentence() {
        let text = "@weight:2\nO\ta\n\nO\tb\n@weight:0.5\tX\tc\n\nO\ta\n\nO\ta\n@weight:3\n";
        let read = read(text);
        let weights: Vec<f64> = read.iter().map(Sentence::weight).collect();
        assert_eq!(weights, [2.0, 0.5, 1.0, 3.0]);
        assert_eq!(read[1].labels().unwrap(), ["O", "X"]);
        assert_eq!(attributes(&read[1], 1), [("c", 1.0)]);
    }

    #[test]
    fn what_is_no_label_attribute_or_weight_is_an_error_with_its_place() {
        let table = r#"
            O\ta\nO\ta\tw=http://x\n → x:2:5: attribute 'w=http' has the value '//x'; expected a
                number (write '\:' for a colon that belongs to the name)
            O\tä:nan\n → x:1:3: attribute 'ä' has the value NaN; expected a finite number
            O\tä:1e999\n → x:1:3: attribute 'ä' has the value inf; expected a finite number
            O\t:1\n → x:1:3: an attribute without a name
            \ta\n → x:1: the line begins with a tab; expected a label (any, such as '_', if it is
                not known)
            NN:x\ta\n → x:1: the label 'NN:x' has a value; expected a label alone ('\:' stands for a
                colon)
            O\ta\n@weight:-1\n → x:2: the weight of a sentence is -1; expected a number from 0 to
                1e9
            @weight:nan\nO\ta\n → x:1: the weight of a sentence is NaN; expected a number from 0 to
                1e9
            @weight\t0.5\nO\ta\n → x:1: the weight of the sentence is ''; expected a number
            @weight:1\nO\ta\n@weight:2\n → x:3: a second weight for the sentence; expected one (the
                first is on line 1)
            O\ta\n\n@weight:2\n\nO\ta\n → x:3: the weight stands alone; expected the tokens of its
                sentence after it, without a blank line
            // A column after a weight is counted from the start of the line.
            @weight:2\tO\ta:x\n → x:1:13: attribute 'a' has the value 'x'; expected a number (write
                '\:' for a colon that belongs to the name)
        "#;
        for (text, expected) in escaped_rows(table) {
            assert_eq!(error(&text), expected);
        }
    }
}
