//! Binds templates to the columns of a corpus.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use super::ast::{Condition, ConditionTest, Position, TemplateLine, Term};
use super::bound_function::BoundFunction;
use super::compiled::{CompiledCondition, CompiledTemplate, CompiledTerm};
use super::document_state::{DocumentPlan, OccurrenceGroup};
use super::extractor::Extractor;
use super::input::{ColumnRef, TextInput};
use super::lexer::LineLocation;
use super::line_options::{LineGroup, LineOptions};
use super::mention::MentionKind;
use super::mined::MinedNames;
use super::shape::{FirstRead, KnownWords, SHAPES};
use super::syntax::{function_example, function_names, is_function};
use super::template_function::{OthersCall, TemplateFunction, TextFunction};
use super::text::did_you_mean;
use crate::error::Result;
use crate::fingerprint::{EMPTY, Fingerprinter};
use crate::sentence::Schema;

/// What a template has learned from the training data.
#[derive(Clone, Copy)]
pub(super) struct Learned<'a> {
    pub known: &'a Arc<KnownWords>,
    pub first_read: &'a Arc<FirstRead>,
    /// The names, by the text that they are found in.
    pub mined: &'a BTreeMap<String, Arc<MinedNames>>,
}

/// Compiles `lines` of the template file `file` for `schema`. Functions over the document see
/// `window` tokens before and after theirs.
///
/// # Errors
///
/// [`crate::Error::Input`] at a template that reads a missing column or the labels.
pub(super) fn bind(
    lines: &[TemplateLine],
    file: &str,
    schema: &Schema,
    learned: Learned<'_>,
    window: u32,
) -> Result<Extractor> {
    let mut binder = Binder {
        schema,
        learned,
        word: ColumnRef::Word.index(schema),
        columns: schema.names().iter().map(String::as_str).zip(0..).collect(),
        functions: Vec::new(),
        indices: HashMap::new(),
        document: DocumentPlan {
            window,
            ..DocumentPlan::default()
        },
    };
    let numbers = number_groups(lines, file).0;
    let mut templates = Vec::with_capacity(lines.len());
    for (line, group) in lines.iter().zip(numbers) {
        let location = LineLocation {
            file,
            line: line.number,
        };
        let template = binder.line(line, location)?;
        templates.push(CompiledTemplate { group, ..template });
    }
    let Binder {
        functions,
        document,
        ..
    } = binder;
    Ok(Extractor::new(functions, templates, document, schema))
}

/// Returns the number of the group of each line, and the groups: lines with the same options. Group
/// 0 is that of lines without options, whether there are any or not.
pub(super) fn number_groups(lines: &[TemplateLine], file: &str) -> (Vec<u32>, Vec<LineGroup>) {
    let location = |line| LineLocation { file, line };
    let mut groups = vec![LineGroup::new(LineOptions::default(), location(0))];
    let numbers = lines.iter().map(|line| {
        let found = groups
            .iter()
            .position(|group| group.options == line.options);
        let number = found.unwrap_or_else(|| {
            groups.push(LineGroup::new(line.options, location(line.number)));
            groups.len() - 1
        });
        groups[number].has_nodes |= line.node;
        groups[number].has_edges |= line.edge;
        number as u32
    });
    (numbers.collect(), groups)
}

struct Binder<'a> {
    schema: &'a Schema,
    learned: Learned<'a>,
    word: Option<usize>,              // the column of the words
    columns: HashMap<&'a str, usize>, // by name
    functions: Vec<BoundFunction>,
    indices: HashMap<String, usize>, // canonical text → index in `functions`
    document: DocumentPlan,
}

impl Binder<'_> {
    fn line(
        &mut self,
        line: &TemplateLine,
        location: LineLocation<'_>,
    ) -> Result<CompiledTemplate> {
        let mut terms = Vec::with_capacity(line.parts.len());
        for part in &line.parts {
            terms.push(CompiledTerm {
                function: self.function(&part.term, location)?,
                position: part.term.position,
                literal: part.literal.as_bytes().into(),
                literal_fragment: Fingerprinter::default().fragment(b""),
            });
        }
        let mut conditions = Vec::with_capacity(line.conditions.len());
        for condition in &line.conditions {
            conditions.push(CompiledCondition {
                function: self.condition(condition, location)?,
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
            group: 0,
            memo: None,
        })
    }

    /// Returns the index of the function with the canonical text `key`, adding it if necessary.
    fn intern(&mut self, key: String, function: BoundFunction) -> usize {
        let functions = &mut self.functions;
        *self.indices.entry(key).or_insert_with(|| {
            functions.push(function);
            functions.len() - 1
        })
    }

    /// Returns the index of a column, which a term at column `at` of the line reads.
    fn column(&self, column: &ColumnRef, at: u64, location: LineLocation<'_>) -> Result<usize> {
        let names = self.schema.names();
        let index = match column {
            ColumnRef::Word => self.word,
            ColumnRef::Name(name) => {
                let found = self.columns.get(name.as_str()).copied();
                found.or_else(|| column.index(self.schema))
            }
            ColumnRef::Number(_) => column.index(self.schema),
        };
        let Some(index) = index else {
            let listed = names.join(" ");
            let message = match column {
                ColumnRef::Name(name) if is_function(name) => format!(
                    "the input has no column '{name}', only {listed}; as a function it needs \
                     arguments, as in {}",
                    function_example(name)
                ),
                ColumnRef::Name(name) => {
                    let mut candidates: Vec<&str> = function_names().collect();
                    candidates.extend(SHAPES.iter().map(|(shape, _)| *shape));
                    candidates.extend(names.iter().map(String::as_str));
                    let suggestion = did_you_mean(name, candidates);
                    format!("the input has no column '{name}', only {listed}{suggestion}")
                }
                _ => format!(
                    "the input has no {column}; it has {} columns ({listed})",
                    names.len()
                ),
            };
            return Err(location.error(at, message));
        };
        if self.schema.is_label(index) {
            let name = &names[index];
            let message = format!("the template reads the label column '{name}'");
            return Err(location.error(at, message));
        }
        Ok(index)
    }

    fn input(&mut self, input: &TextInput, at: u64, location: LineLocation<'_>) -> Result<usize> {
        let column = self.column(&input.column, at, location)?;
        let source = self.intern(format!("={column}"), BoundFunction::Column(column));
        if !input.lower {
            return Ok(source);
        }
        Ok(self.intern(format!("lower({column})"), BoundFunction::Lower(source)))
    }

    fn others(&mut self, call: &OthersCall, location: LineLocation<'_>) -> Result<BoundFunction> {
        let window = self.document.window;
        let group = OccurrenceGroup {
            index: self.index(&call.same, call.column, location)?,
            nearest: call.nearest,
            window: call.within.map_or(window, |within| within.min(window)),
        };
        let groups = &mut self.document.groups;
        let found = groups.iter().position(|other| *other == group);
        let group = found.unwrap_or_else(|| {
            groups.push(group);
            groups.len() - 1
        });
        let (source, offsets) = match &call.function {
            TemplateFunction::Run(kind, input) => {
                return Ok(BoundFunction::OthersRun {
                    kind: *kind,
                    column: self.column(&input.column, call.column, location)?,
                    offset: call.offset,
                    group,
                });
            }
            TemplateFunction::Bag(range, input) => {
                (self.input(input, call.column, location)?, range.clone())
            }
            _ => {
                let term = Term {
                    function: call.function.clone(),
                    position: Position::Relative(call.offset),
                    column: call.column,
                };
                (self.function(&term, location)?, call.offset..=call.offset)
            }
        };
        self.document.others += 1;
        Ok(BoundFunction::Others {
            source,
            offsets,
            group,
            number: self.document.others - 1,
        })
    }

    /// Returns the number of the index of a text in documents.
    fn index(&mut self, input: &TextInput, at: u64, location: LineLocation<'_>) -> Result<usize> {
        let key = (self.column(&input.column, at, location)?, input.lower);
        let indices = &mut self.document.indices;
        Ok(indices
            .iter()
            .position(|other| *other == key)
            .unwrap_or_else(|| {
                indices.push(key);
                indices.len() - 1
            }))
    }

    fn function(&mut self, term: &Term, location: LineLocation<'_>) -> Result<usize> {
        let at = term.column;
        let source = match term.function.input() {
            Some(input) => self.input(input, at, location)?,
            None => 0,
        };
        let key = term.function.to_string();
        if let Some(&known) = self.indices.get(&key) {
            return Ok(known);
        }
        let function = match &term.function {
            TemplateFunction::Text(TextFunction::Identity, _) => return Ok(source),
            TemplateFunction::Bias => BoundFunction::Bias,
            TemplateFunction::Start => BoundFunction::Start,
            TemplateFunction::End => BoundFunction::End,
            TemplateFunction::Text(TextFunction::ShapeWhileReading(shape), _) => {
                let (known, first_read) =
                    (self.learned.known.clone(), self.learned.first_read.clone());
                BoundFunction::ShapeWhileReading(*shape, known, first_read, source)
            }
            TemplateFunction::Text(function, _) => {
                BoundFunction::Text(*function, Arc::clone(self.learned.known), source)
            }
            TemplateFunction::Substrings(kind, range, _) => {
                let range = *range.start() as usize..=*range.end() as usize;
                BoundFunction::Substrings(*kind, range, source)
            }
            TemplateFunction::Regex(expression, _) => {
                BoundFunction::Regex(expression.regex.clone(), source)
            }
            TemplateFunction::Bag(range, _) => BoundFunction::Bag(range.clone(), source),
            TemplateFunction::Title(_) => BoundFunction::Title(source),
            TemplateFunction::Occurrence(_) => BoundFunction::Occurrence(source),
            TemplateFunction::Lexicon(_, lexicon, _) => {
                BoundFunction::Lexicon(Arc::clone(lexicon), source)
            }
            TemplateFunction::MinedNames(input) => {
                let names = self.learned.mined.get(&input.to_string());
                BoundFunction::MinedNames(names.cloned().unwrap_or_default(), source)
            }
            TemplateFunction::Cluster(_, clusters, lengths, _) => {
                let lengths = lengths.iter().map(|&length| length as usize).collect();
                BoundFunction::Cluster(Arc::clone(clusters), lengths, source)
            }
            TemplateFunction::Vector(lookup, _) => {
                let scale = lookup.scale.unwrap_or(1.0);
                BoundFunction::Vector(Arc::clone(&lookup.vectors), scale, source)
            }
            TemplateFunction::LengthValue(_) => BoundFunction::LengthValue(source),
            TemplateFunction::Value(input) => {
                BoundFunction::Value(self.column(&input.column, at, location)?)
            }
            TemplateFunction::Mention(kind, input) => {
                let lower = TextInput {
                    lower: input.lower || *kind == MentionKind::Forms,
                    ..input.clone()
                };
                let index = self.index(&lower, at, location)?;
                if *kind == MentionKind::Forms && !self.document.forms.contains(&index) {
                    self.document.forms.push(index);
                }
                BoundFunction::Mention(*kind, index)
            }
            TemplateFunction::Others(call) => self.others(call, location)?,
            TemplateFunction::Run(kind, input) => {
                BoundFunction::Run(*kind, self.column(&input.column, at, location)?)
            }
            TemplateFunction::Macro(pattern_macro) => {
                self.column(&ColumnRef::Number(pattern_macro.column), at, location)?;
                BoundFunction::Macro(pattern_macro.clone())
            }
        };
        Ok(self.intern(key, function))
    }

    fn condition(&mut self, condition: &Condition, location: LineLocation<'_>) -> Result<usize> {
        let source = match (&condition.test, condition.term.function.input()) {
            (ConditionTest::Length(..), Some(input)) => {
                self.input(input, condition.term.column, location)?
            }
            _ => self.function(&condition.term, location)?,
        };
        let key = format!("{} {}", condition.term.function, condition.test);
        Ok(self.intern(key, BoundFunction::Test(condition.test.clone(), source)))
    }
}
