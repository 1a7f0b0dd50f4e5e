//! Templates meet the columns of a corpus: functions become views, each computed once.

use std::sync::Arc;

use hashbrown::HashMap;

use super::extract::{Asked, Compiled, Extractor, Slot};
use super::functions;
use super::lexer::Spot;
use super::shape::{Known, SHAPES};
use super::syntax::{ColumnRef, Condition, Form, Function, Line, Term, Test, Text};
use super::text::did_you_mean;
use super::view::View;
use crate::error::Result;
use crate::fingerprint::{EMPTY, Fingerprinter};
use crate::sentence::Schema;

/// Compiles `lines` of the template file `file` for `schema`.
///
/// # Errors
///
/// [`crate::Error::Input`] at a template that reads a missing column or the labels.
pub(super) fn bind(
    lines: &[Line],
    file: &str,
    schema: &Schema,
    known: &Arc<Known>,
) -> Result<Extractor> {
    let mut binder = Binder {
        schema,
        known,
        views: Vec::new(),
        numbers: HashMap::new(),
    };
    let mut compiled = Vec::with_capacity(lines.len());
    for line in lines {
        let spot = Spot {
            file,
            line: line.number,
        };
        let mut slots = Vec::with_capacity(line.pieces.len());
        for piece in &line.pieces {
            slots.push(Slot {
                view: binder.function(&piece.term, spot)?,
                position: piece.term.position,
                after: piece.after.as_bytes().into(),
                piece: Fingerprinter::default().fragment(b""),
            });
        }
        let mut conditions = Vec::with_capacity(line.conditions.len());
        for condition in &line.conditions {
            conditions.push(Asked {
                view: binder.condition(condition, spot)?,
                position: condition.term.position,
                negated: condition.negated,
            });
        }
        compiled.push(Compiled {
            node: line.node,
            edge: line.edge,
            head: line.head.as_bytes().into(),
            print: EMPTY,
            slots,
            escape: line.escape,
            conditions,
            memo: None,
        });
    }
    Ok(Extractor::new(binder.views, compiled, schema))
}

/// Where `column` lies in `schema`.
pub(super) fn position(column: &ColumnRef, schema: &Schema) -> Option<usize> {
    match column {
        ColumnRef::Word => {
            let first = (schema.width() > 0).then_some(0);
            schema.position("word").or(first)
        }
        ColumnRef::Name(name) => schema.position(name),
        ColumnRef::Number(number) => (*number < schema.width()).then_some(*number),
    }
}

struct Binder<'a> {
    schema: &'a Schema,
    known: &'a Arc<Known>,
    views: Vec<View>,
    numbers: HashMap<String, usize>,
}

impl Binder<'_> {
    /// The number of the view `make` under the name `key`, which is the same view wherever it
    /// comes.
    fn intern(&mut self, key: String, view: View) -> usize {
        let views = &mut self.views;
        *self.numbers.entry(key).or_insert_with(|| {
            views.push(view);
            views.len() - 1
        })
    }

    fn column(&self, column: &ColumnRef, at: u64, spot: Spot<'_>) -> Result<usize> {
        let names = self.schema.names();
        let Some(position) = position(column, self.schema) else {
            let listed = names.join(" ");
            let message = match column {
                ColumnRef::Name(name) => {
                    let mut known: Vec<&str> = functions::names().collect();
                    known.extend(SHAPES.iter().map(|(shape, _)| *shape));
                    known.extend(names.iter().map(String::as_str));
                    let near = did_you_mean(name, known);
                    format!("the input has no column '{name}', only {listed}{near}")
                }
                _ => format!(
                    "the input has no {column}; it has {} ({listed})",
                    names.len()
                ),
            };
            return Err(spot.fault(at, message));
        };
        if self.schema.label() == Some(position) {
            let name = &names[position];
            let message = format!("the template reads the label column '{name}'");
            return Err(spot.fault(at, message));
        }
        Ok(position)
    }

    fn text(&mut self, text: &Text, at: u64, spot: Spot<'_>) -> Result<usize> {
        let column = self.column(&text.column, at, spot)?;
        let source = self.intern(format!("={column}"), View::Column(column));
        if !text.lower {
            return Ok(source);
        }
        Ok(self.intern(format!("lower({column})"), View::Lower(source)))
    }

    fn function(&mut self, term: &Term, spot: Spot<'_>) -> Result<usize> {
        let at = term.column;
        let source = match term.function.text() {
            Some(text) => self.text(text, at, spot)?,
            None => 0,
        };
        let view = match &term.function {
            Function::Form(Form::Same, _) => return Ok(source),
            Function::Bias => View::Bias,
            Function::Start => View::Start,
            Function::End => View::End,
            Function::Form(form, _) => View::Form(*form, source, Arc::clone(self.known)),
            Function::Parts(part, range, _) => {
                let range = *range.start() as usize..=*range.end() as usize;
                View::Parts(*part, range, source)
            }
            Function::Regex(expression, _) => View::Regex(expression.regex.clone(), source),
            Function::Bag(range, _) => View::Bag(range.clone(), source),
            Function::Title(_) => View::Title(source),
            Function::Occurrence(_) => View::Occurrence(source),
            Function::Lexicon(_, lexicon, _) => View::Lexicon(Arc::clone(lexicon), source),
            Function::Cluster(_, clusters, lengths, _) => {
                let lengths = lengths.iter().map(|&length| length as usize).collect();
                View::Cluster(Arc::clone(clusters), lengths, source)
            }
            Function::Vector(embedding, _) => {
                let scale = embedding.scale.unwrap_or(1.0);
                View::Vector(Arc::clone(&embedding.vectors), scale, source)
            }
            Function::Value(_, true) => View::LengthValue(source),
            Function::Value(text, false) => View::Number(self.column(&text.column, at, spot)?),
            Function::Pattern(pattern) => {
                self.column(&ColumnRef::Number(pattern.column), at, spot)?;
                View::Pattern(pattern.clone())
            }
        };
        Ok(self.intern(term.function.to_string(), view))
    }

    fn condition(&mut self, condition: &Condition, spot: Spot<'_>) -> Result<usize> {
        let source = match (&condition.test, condition.term.function.text()) {
            (Test::Length(..), Some(text)) => self.text(text, condition.term.column, spot)?,
            _ => self.function(&condition.term, spot)?,
        };
        let key = format!("{} {}", condition.term.function, condition.test);
        Ok(self.intern(key, View::Test(condition.test.clone(), source)))
    }
}
