//! Binds templates to the columns of a corpus.

use std::sync::Arc;

use hashbrown::HashMap;

use super::ast::{
    ColumnRef, Condition, Operation, Position, TemplateFunction, TemplateLine, TemplateLines, Term,
    TextInput,
};
use super::attribute::{CompiledCondition, CompiledTemplate, CompiledTerm};
use super::document::{DocumentPlan, MentionKind};
use super::evaluate::BoundFunction;
use super::extractor::Extractor;
use super::shape::{KnownWords, SHAPES};
use super::syntax::{Location, function_example, function_names, is_function};
use super::text::{did_you_mean, push_lower};
use super::text_function::TextFunction;
use crate::error::Result;
use crate::fingerprint::{EMPTY, Fingerprinter};
use crate::sentence::Schema;

/// Compiles the lines of the template file `file` for `schema`.
///
/// # Errors
///
/// [`crate::Error::Input`] at a template that reads a missing column or the labels.
pub(super) fn bind(
    parsed: &TemplateLines,
    file: &str,
    schema: &Schema,
    known_words: Arc<KnownWords>,
) -> Result<Extractor> {
    let (lines, window) = (&parsed.lines, parsed.documents.window);
    let mut binder = Binder {
        schema,
        at: Location { file, line: 0, column: 0 },
        word: ColumnRef::Word.index(schema),
        columns: schema.names().iter().map(String::as_str).zip(0..).collect(),
        functions: Vec::new(),
        indices: HashMap::new(),
        document: DocumentPlan { window, ..DocumentPlan::default() },
    };
    let templates = lines.iter().map(|line| binder.line(line)).collect::<Result<_>>()?;
    let Binder { functions, document, .. } = binder;
    Ok(Extractor::new(functions, templates, document, schema, parsed.dialect, known_words))
}

struct Binder<'a> {
    schema: &'a Schema,
    at: Location<'a>,                 // of the line that is bound
    word: Option<usize>,              // the column of the words
    columns: HashMap<&'a str, usize>, // by name
    functions: Vec<BoundFunction>,
    indices: HashMap<String, usize>, // canonical text → index in `functions`
    document: DocumentPlan,
}

impl Binder<'_> {
    fn line(&mut self, line: &TemplateLine) -> Result<CompiledTemplate> {
        self.at.line = line.number;
        let mut terms = Vec::with_capacity(line.parts.len());
        for part in &line.parts {
            terms.push(CompiledTerm {
                function: self.function(&part.term)?,
                position: part.term.position,
                literal: part.literal.as_bytes().into(),
                literal_fragment: Fingerprinter::default().fragment(b""),
            });
        }
        let mut conditions = Vec::with_capacity(line.conditions.len());
        for condition in &line.conditions {
            conditions.push(CompiledCondition {
                function: self.condition(condition)?,
                position: condition.term.position,
                negated: condition.negated,
            });
        }
        Ok(CompiledTemplate {
            node: line.node,
            edge: line.edge,
            head: line.head.as_bytes().into(),
            head_fingerprint: EMPTY,
            terms,
            escape: line.escape,
            conditions,
            memo: None,
        })
    }

    /// Returns the index of the function with the canonical text `key`, adding it if necessary.
    fn intern(&mut self, key: String, operation: Operation, source: usize) -> usize {
        let functions = &mut self.functions;
        *self.indices.entry(key).or_insert_with(|| {
            functions.push(BoundFunction { operation, source });
            functions.len() - 1
        })
    }

    /// Returns the index of a column, which a term at column `at` of the line reads.
    fn column(&self, column: &ColumnRef, at: u64) -> Result<usize> {
        let names = self.schema.names();
        let index = match column {
            ColumnRef::Word => self.word,
            ColumnRef::Name(name) => {
                self.columns.get(name.as_str()).copied().or_else(|| column.index(self.schema))
            }
            ColumnRef::Number(_) => column.index(self.schema),
        };
        let at = Location { column: at, ..self.at };
        let index = index.ok_or_else(|| at.error(missing_column(column, names)))?;
        at.ensure(!self.schema.is_label(index), || {
            format!("the template reads the label column '{}'", names[index])
        })?;
        Ok(index)
    }

    fn input(&mut self, input: &TextInput, at: u64) -> Result<usize> {
        let column = self.column(&input.column, at)?;
        let source = self.intern(format!("={column}"), Operation::Text, column);
        if !input.lower {
            return Ok(source);
        }
        let lower = Operation::OfText(TextFunction::derived(push_lower));
        Ok(self.intern(format!("lower({column})"), lower, source))
    }

    /// Returns the operation and the source of a call of `others` that gathers `term`.
    fn others(&mut self, term: &Term) -> Result<(Operation, usize)> {
        let at = term.column;
        self.document.others = Some(self.index(&TextInput::WORD, at)?);
        let Position::Relative(offset) = term.position else {
            let at = Location { column: at, ..self.at };
            return Err(at.error("'others' takes relative positions"));
        };
        let TemplateFunction { operation, input, .. } = &term.function;
        if let (&Operation::Run(kind), Some(input)) = (operation, input) {
            let column = self.column(&input.column, at)?;
            return Ok((Operation::GatheredRuns { kind, offset }, column));
        }
        let source = self.function(term)?;
        let number = self.document.gathering;
        self.document.gathering += 1;
        Ok((Operation::Gathered { offset, number }, source))
    }

    /// Returns the number of the index of a text in documents.
    fn index(&mut self, input: &TextInput, at: u64) -> Result<usize> {
        let key = (self.column(&input.column, at)?, input.lower);
        Ok(position_or_push(&mut self.document.indices, key))
    }

    fn function(&mut self, term: &Term) -> Result<usize> {
        let (function, at) = (&term.function, term.column);
        let mut operation = function.operation.clone();
        let Some(input) = &function.input else {
            return Ok(self.intern(function.text.clone(), operation, 0));
        };
        let mut source = self.input(input, at)?;
        if let Some(&known) = self.indices.get(&function.text) {
            return Ok(known);
        }
        match &mut operation {
            Operation::Text => return Ok(source),
            Operation::Value | Operation::Run(_) => source = self.column(&input.column, at)?,
            Operation::Mention(kind) => {
                let lower = input.lower || *kind == MentionKind::Forms;
                source = self.index(&TextInput { lower, ..input.clone() }, at)?;
                if *kind == MentionKind::Forms {
                    position_or_push(&mut self.document.forms, source);
                }
            }
            Operation::Others(term) => {
                let term = term.clone();
                (operation, source) = self.others(&term)?;
            }
            _ => {}
        }
        Ok(self.intern(function.text.clone(), operation, source))
    }

    fn condition(&mut self, condition: &Condition) -> Result<usize> {
        let term = &condition.term;
        let source = self.function(term)?;
        let key = format!("{} {}", term.function.text, condition.text);
        Ok(self.intern(key, Operation::Test(condition.test.clone()), source))
    }
}

/// Returns the index of an item, which is appended if it is new.
fn position_or_push<T: PartialEq>(items: &mut Vec<T>, item: T) -> usize {
    items.iter().position(|other| *other == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}

/// Says that the input has no such column.
fn missing_column(column: &ColumnRef, names: &[String]) -> String {
    let listed = names.join(" ");
    match column {
        ColumnRef::Name(name) if is_function(name) => {
            let called =
                format!("as a function it needs arguments, as in {}", function_example(name));
            format!("the input has no column '{name}', only {listed}; {called}")
        }
        ColumnRef::Name(name) => {
            let mut candidates: Vec<&str> = function_names().collect();
            candidates.extend(SHAPES.iter().map(|(shape, _)| *shape));
            candidates.extend(names.iter().map(String::as_str));
            let suggestion = did_you_mean(name, candidates);
            format!("the input has no column '{name}', only {listed}{suggestion}")
        }
        _ => format!("the input has no {column}; it has {} columns ({listed})", names.len()),
    }
}
