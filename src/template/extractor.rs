//! Extracts the attributes of a sentence with compiled templates.

use std::sync::Arc;

use super::ast::{ColumnRef, Dialect, Operation};
use super::attribute::{AttributeSink, CompiledTemplate};
use super::bundle::BundledLines;
use super::caseless::{CaseFolder, PREFIX};
use super::document::{DocumentPlan, Occurrence};
use super::evaluate::{BoundFunction, EvaluationPlan};
use super::shape::KnownWords;
use super::workspace::{BundleKey, Workspace};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::sentence::{Document, Schema, Sentence, SentenceRef};

/// An [`AttributeSink`] that memoizes what bundles of attributes amount to.
pub trait BundleSink: AttributeSink {
    /// Starts a sentence, given the keys of its bundles, token by token. Bundles with equal keys
    /// have equal attributes, also in other sentences if the generation is the same.
    fn start_sentence(&mut self, generation: u64, keys: &[BundleKey]);

    /// Starts a bundle, given its index among those of the sentence and its key. Returns whether
    /// its attributes, and [`BundleSink::end_bundle`], are to follow.
    fn start_bundle(&mut self, index: usize, key: BundleKey) -> bool;

    /// Ends the attributes of a bundle.
    fn end_bundle(&mut self);
}

/// Templates bound to the columns of a corpus. Immutable, so threads can share it.
#[derive(Clone, Debug)]
pub struct Extractor {
    identity: Arc<()>, // distinguishes it from other extractors that use the same workspace
    fingerprinter: Fingerprinter,
    functions: Vec<BoundFunction>,
    plan: EvaluationPlan,
    known_words: Arc<KnownWords>,
    templates: Vec<CompiledTemplate>,
    lines: BundledLines,
    columns: Vec<(usize, String)>, // index and name of each column that is read
    document: DocumentPlan,
    caseless: Option<Box<CaselessExtractor>>,
}

/// Extracts the attributes of sentences without case: those of the words in lower case, with names
/// of their own, so that nothing that is learned from one kind of text is lost to the other.
#[derive(Clone, Debug)]
struct CaselessExtractor {
    folder: CaseFolder,
    extractor: Extractor,
}

impl Extractor {
    pub(super) fn new(
        functions: Vec<BoundFunction>,
        templates: Vec<CompiledTemplate>,
        document: DocumentPlan,
        schema: &Schema,
        dialect: Option<Dialect>,
        known_words: Arc<KnownWords>,
    ) -> Self {
        let read = functions.iter().filter(|function| {
            use Operation::{GatheredRuns, Run, Text, Value};
            matches!(function.operation, Text | Value | Run(_) | GatheredRuns { .. })
        });
        let indexed = document.indices.iter().map(|(column, _)| *column);
        let columns = read.map(|function| function.source).chain(indexed);
        let columns = columns.filter_map(|i| Some((i, schema.names().get(i)?.clone()))).collect();
        let plan = EvaluationPlan::new(&functions, dialect);
        let words = ColumnRef::Word.index(schema);
        let mut extractor = Self {
            identity: Arc::new(()),
            fingerprinter: Fingerprinter::default(),
            lines: BundledLines::new(&templates, &plan, words),
            plan,
            known_words,
            functions,
            templates,
            columns,
            document,
            caseless: None,
        };
        extractor.assign_memos();
        extractor.with_fingerprinter(Fingerprinter::default())
    }

    /// Replaces the fingerprinter.
    #[must_use]
    pub fn with_fingerprinter(mut self, fingerprinter: Fingerprinter) -> Self {
        self.identity = Arc::new(());
        self.fingerprinter = fingerprinter;
        for template in &mut self.templates {
            template.head_fingerprint = fingerprinter.fingerprint(&template.head);
            for term in &mut template.terms {
                term.literal_fragment = fingerprinter.fragment(&term.literal);
            }
        }
        if let Some(mut caseless) = self.caseless.take() {
            caseless.extractor = caseless.extractor.with_fingerprinter(fingerprinter);
            self.caseless = Some(caseless);
        }
        self
    }

    /// Gives sentences that `folder` finds to be without case the attributes of `extractor`, which
    /// get names of their own. Their lines are not bundled.
    #[must_use]
    pub(super) fn with_caseless(mut self, folder: CaseFolder, mut extractor: Self) -> Self {
        for template in &mut extractor.templates {
            template.head = [PREFIX, &template.head].concat().into();
        }
        let others = (0..self.templates.len()).collect();
        self.lines = BundledLines { bundles: Vec::new(), others };
        extractor.lines = self.lines.clone();
        self.caseless = Some(Box::new(CaselessExtractor { folder, extractor }));
        let fingerprinter = self.fingerprinter;
        self.with_fingerprinter(fingerprinter)
    }

    /// Returns a copy of a training sentence without case, with `weight` times its weight, if such
    /// sentences have attributes of their own and the copy is another sentence.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if it has gigabytes of text, or the weight is too large.
    pub fn caseless_copy(&self, sentence: &Sentence, weight: f64) -> Result<Option<Sentence>> {
        let caseless = self.caseless.as_ref();
        caseless.map_or(Ok(None), |caseless| caseless.folder.copy(sentence, weight))
    }

    /// Returns the extractor of the sentence that a workspace is prepared for, and its workspace.
    fn active<'w>(&self, ws: &'w mut Workspace) -> (&Self, &'w mut Workspace) {
        match &self.caseless {
            Some(caseless) if ws.is_caseless => (&caseless.extractor, ws.caseless()),
            _ => (self, ws),
        }
    }

    /// Assigns a memo to each template that consists of one function memoized per word. The values
    /// of a bag are those of the function it collects, and those of others of what they gather.
    fn assign_memos(&mut self) {
        for template in &mut self.templates {
            let [term] = &template.terms[..] else { continue };
            let bound = &self.functions[term.function];
            let function = match bound.operation {
                Operation::Bag(_) | Operation::Gathered { .. } => bound.source,
                _ => term.function,
            };
            if template.node != template.edge && self.plan.is_memoized(function) {
                let memos = &mut self.plan.memos_per_value[function];
                template.memo = Some(*memos);
                *memos += 1;
            }
        }
    }

    /// Evaluates the functions of all templates on `sentence`, in its document if it comes with
    /// one, and else as a document of its own. A sentence whose case says nothing may have
    /// attributes of its own, those of the sentence in lower case.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the columns of the sentence differ from those bound, if a cell should be
    /// a number and is not, and if the sentence has gigabytes of text.
    pub fn prepare<'a>(
        &self,
        sentence: impl Into<SentenceRef<'a>>,
        ws: &mut Workspace,
    ) -> Result<()> {
        let sentence = sentence.into();
        ws.is_caseless = false;
        if let Some(caseless) = &self.caseless
            && let Some(folded) = caseless.folder.fold(sentence.sentence())?
        {
            // Functions over the document see this sentence alone.
            caseless.extractor.prepare(&folded, ws.caseless())?;
            ws.is_caseless = true;
            return Ok(());
        }
        let alone;
        let context = match sentence.document() {
            // No attribute depends on other sentences of the document.
            _ if self.document.indices.is_empty() => sentence.sentence().into(),
            Some(_) => sentence,
            None => {
                alone = Document::alone(sentence.sentence());
                alone.in_context(0).unwrap_or(sentence)
            }
        };
        self.fill(context, ws).inspect_err(|_| ws.clear())
    }

    fn fill(&self, context: SentenceRef<'_>, ws: &mut Workspace) -> Result<()> {
        let sentence = context.sentence();
        self.check(sentence)?;
        ws.set_owner(&self.identity, self.fingerprinter, &self.plan.cells);
        let padding = self.plan.padding();
        ws.start_sentence(sentence.len(), padding);
        if let Some((document, number)) = context.document() {
            if !ws.document.is_prepared_for(document) {
                document.sentences().try_for_each(|sentence| self.check(sentence))?;
                ws.document.prepare(&self.document, document)?;
            }
            ws.document.tokens = document.tokens_of(number);
        }
        for column in 0..self.plan.columns.len() {
            for position in -(padding as i64)..(sentence.len() + padding) as i64 {
                let first = self.entry(column, sentence, position, ws);
                ws.rows.push(first);
            }
            check_overflow(sentence, ws)?;
        }
        if let Some((document, _)) = context.document() {
            self.gather_others(document, ws);
            check_overflow(sentence, ws)?;
        }
        ws.values.memos_per_value = 0;
        for (number, function) in self.functions.iter().enumerate() {
            if !self.plan.is_memoized(number) {
                let first = ws.values.next_cell();
                function.fill_sentence(context, self.document.window, ws)?;
                ws.push_row(first);
                check_overflow(sentence, ws)?;
            }
        }
        Ok(())
    }

    /// Memoizes what functions gather at other occurrences of the words of the sentence.
    fn gather_others(&self, document: &Document<'_>, ws: &mut Workspace) {
        ws.document.find_others(&self.document, document);
        ws.document.gathered.clear();
        for function in &self.functions {
            let Operation::Gathered { offset, .. } = function.operation else { continue };
            // Only functions of a single word are gathered (`can_be_gathered`).
            let source = self.plan.cells[function.source];
            for i in 0..ws.document.nearest.len() {
                let Occurrence { sentence: number, t } = ws.document.nearest[i];
                let Some(other) = document.sentence(number) else { continue }; // there is one
                let first = self.entry(source.row, other, t + i64::from(offset), ws);
                ws.document.gathered.push(first + source.offset as u32);
            }
        }
    }

    /// Checks that a sentence is whole and has the columns that are bound.
    fn check(&self, sentence: &Sentence) -> Result<()> {
        sentence.check_text()?;
        let names = sentence.schema().names();
        for (column, bound) in &self.columns {
            if names.get(*column) != Some(bound) {
                let expected = format!("expected column {column} to be '{bound}'");
                let message = format!("{expected}, found the columns {}", names.join(" "));
                return Err(Error::input(sentence.place(0), message));
            }
        }
        Ok(())
    }

    /// Returns the first cell of the memo entry of the text at a position of a sentence, or outside
    /// of it, in a column. The entry is created if needed.
    fn entry(&self, number: usize, sentence: &Sentence, position: i64, ws: &mut Workspace) -> u32 {
        let column = &self.plan.columns[number];
        let inside = (0..sentence.len() as i64).contains(&position);
        let text = match inside {
            true => sentence.cell(position as usize, column.column),
            false => self.plan.boundary(position, sentence.len()),
        };
        if let Some(first) = ws.memo_entry(number, text, inside) {
            return first;
        }
        let range = ws.values.push_arena(text);
        let first = ws.values.next_cell();
        for &number in &column.functions {
            ws.values.memos_per_value = self.plan.memos_per_value[number];
            let function = &self.functions[number];
            let offset = function.source().map_or(0, |source| self.plan.cells[source].offset);
            let source = first as usize + offset;
            function.fill_cell(range.clone(), inside, source, &self.known_words, ws);
        }
        ws.memoize(number, range, inside, first);
        first
    }

    /// Passes all attributes of token `t` to `sink`.
    ///
    /// `ws` must have been prepared for `sentence` by this extractor with [`Extractor::prepare`],
    /// without an error. A position beyond the sentence has no attributes.
    pub fn extract(
        &self,
        sentence: &Sentence,
        t: usize,
        ws: &mut Workspace,
        sink: &mut impl AttributeSink,
    ) {
        let (extractor, ws) = self.active(ws);
        debug_assert_eq!(sentence.len(), ws.tokens, "prepared for another sentence");
        if t >= ws.tokens {
            return;
        }
        for template in &extractor.templates {
            template.extract(t, ws, sink);
        }
    }

    /// Passes the keys of the bundles of all tokens to `sink`. `ws` must have been prepared for the
    /// sentence by this extractor.
    pub fn start_bundles(&self, ws: &mut Workspace, sink: &mut impl BundleSink) {
        let (extractor, ws) = self.active(ws);
        let mut keys = std::mem::take(&mut ws.scratch.bundle_keys);
        keys.clear();
        for t in 0..ws.tokens {
            let bundles = extractor.lines.bundles.iter().enumerate();
            keys.extend(bundles.map(|(number, bundle)| bundle.key(number, t, ws)));
        }
        sink.start_sentence(ws.memo.generation, &keys);
        ws.scratch.bundle_keys = keys;
    }

    /// Passes the attributes of token `t` to `sink`: those of its bundles, as far as the sink wants
    /// them, then all others. Call it for the tokens in order, after
    /// [`start_bundles`](Self::start_bundles).
    pub fn extract_bundles(&self, t: usize, ws: &mut Workspace, sink: &mut impl BundleSink) {
        let (extractor, ws) = self.active(ws);
        let BundledLines { bundles, others } = &extractor.lines;
        for (index, bundle) in (t * bundles.len()..).zip(bundles) {
            if sink.start_bundle(index, ws.scratch.bundle_keys[index]) {
                for &line in &bundle.lines {
                    extractor.templates[line].extract(t, ws, sink);
                }
                sink.end_bundle();
            }
        }
        for &line in others {
            extractor.templates[line].extract(t, ws, sink);
        }
    }
}

fn check_overflow(sentence: &Sentence, ws: &Workspace) -> Result<()> {
    if !ws.values.overflow {
        return Ok(());
    }
    let message = "the sentence is too long for its templates (4 GiB of text)";
    Err(Error::input(sentence.place(0), message))
}
