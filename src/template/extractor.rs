//! Extracts the attributes of a sentence with compiled templates.

use std::ops::Range;
use std::sync::Arc;

use super::ast::Dialect;
use super::attribute::{AttributeSink, CompiledTemplate};
use super::bundle::BundledLines;
use super::caseless::{CaseFolder, PREFIX};
use super::document::{DocumentPlan, Occurrence, UNKNOWN};
use super::evaluate::InputCell;
use super::evaluation_plan::{EvaluationPlan, Placement};
use super::function::{BoundFunction, ColumnRef, Operation};
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
        let indexed = document.indices.iter().map(|(column, _)| *column);
        let columns = functions.iter().filter_map(BoundFunction::column).chain(indexed);
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
        let unbundled = BundledLines::unbundled(self.templates.len());
        extractor.lines = unbundled.clone();
        self.lines = unbundled;
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
        let mut memos = vec![0; self.functions.len()];
        for template in &mut self.templates {
            let [term] = &template.terms[..] else { continue };
            let bound = &self.functions[term.function];
            let function = match bound.operation {
                Operation::Bag(_) | Operation::Gathered { .. } => bound.source,
                _ => term.function,
            };
            let per_word = matches!(self.plan.placements[function], Placement::PerWord { .. });
            if template.node != template.edge && per_word {
                template.memo = Some(memos[function]);
                memos[function] += 1;
            }
        }
        self.plan.memos_per_value = memos;
    }

    /// Returns whether attributes depend on other sentences of the document.
    pub fn sees_document(&self) -> bool {
        !self.document.indices.is_empty()
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
        let context = if !self.sees_document() {
            sentence.sentence().into()
        } else if sentence.document().is_none() {
            alone = Document::alone(sentence.sentence());
            alone.in_context(0).unwrap_or(sentence)
        } else {
            sentence
        };
        let filled = self.fill(context, ws);
        if filled.is_err() {
            ws.clear();
        }
        filled
    }

    fn fill(&self, context: SentenceRef<'_>, ws: &mut Workspace) -> Result<()> {
        let sentence = context.sentence();
        sentence.check_text()?;
        self.check_columns(sentence)?;
        let outside_memoized = ws.set_owner(&self.identity, self.fingerprinter);
        ws.start_sentence(sentence.len(), self.plan.padding);
        if !outside_memoized {
            self.memoize_outside(ws);
        }
        if let Some((document, number)) = context.document() {
            self.prepare_document(document, number, ws)?;
        }
        for (number, memoized) in self.plan.columns.iter().enumerate() {
            ws.push_outside(number, true);
            for t in 0..sentence.len() {
                let first = self.entry(number, sentence.cell(t, memoized.column), ws);
                ws.push_position(first);
            }
            ws.push_outside(number, false);
            check_overflow(sentence, ws)?;
        }
        if let Some((document, _)) = context.document() {
            self.gather_others(document, sentence.len(), ws);
            check_overflow(sentence, ws)?;
        }
        for (function, placement) in self.functions.iter().zip(&self.plan.placements) {
            match *placement {
                Placement::PerWord { column, offset } => ws.push_memoized(column, offset),
                Placement::PerSentence => {
                    let first = ws.values.next_cell();
                    ws.values.memos_per_value = 0;
                    function.fill_sentence(context, self.document.window, ws)?;
                    ws.push_row(first);
                    check_overflow(sentence, ws)?;
                }
            }
        }
        Ok(())
    }

    /// Indexes the words of a document, unless the workspace has done so.
    fn prepare_document(
        &self,
        document: &Document<'_>,
        number: usize,
        ws: &mut Workspace,
    ) -> Result<()> {
        if !ws.document.is_prepared_for(document) {
            for sentence in document.sentences() {
                sentence.check_text()?;
                self.check_columns(sentence)?;
            }
        }
        ws.document.prepare(&self.document, document, number)
    }

    /// Memoizes what functions gather at other occurrences of the words of a sentence of `length`
    /// tokens.
    fn gather_others(&self, document: &Document<'_>, length: usize, ws: &mut Workspace) {
        ws.document.find_others(&self.document, document, length);
        ws.document.gathered.clear();
        ws.document.gathered_ends.clear();
        for function in &self.functions {
            let Operation::Gathered { offset: distance, .. } = function.operation else { continue };
            for t in 0..length {
                // Only functions of a single word are gathered (`can_be_gathered`).
                let placement = self.plan.placements[function.source];
                for i in ws.document.others(t) {
                    let Placement::PerWord { column, offset } = placement else { break };
                    let other = ws.document.occurrence(i);
                    let first = self.cell_near(column, document, other, distance, ws);
                    ws.document.gathered.push(first + offset as u32);
                }
                let end = ws.document.gathered.len() as u32;
                ws.document.gathered_ends.push(end);
            }
        }
    }

    /// Returns the first cell of the memo entry of the token `distance` tokens after another
    /// occurrence.
    fn cell_near(
        &self,
        number: usize,
        document: &Document<'_>,
        other: Occurrence,
        distance: i32,
        ws: &mut Workspace,
    ) -> u32 {
        let Some(sentence) = document.sentence(other.sentence as usize) else {
            return ws.outside_cell(number, true); // there is one
        };
        let t = i64::from(other.t) + i64::from(distance);
        if t < 0 || t >= sentence.len() as i64 {
            return ws.outside_cell(number, t < 0);
        }
        let token = document.tokens_of(other.sentence as usize).start + t as usize;
        let cells = &mut ws.document.cells;
        if cells.len() <= number {
            cells.resize(number + 1, Vec::new());
        }
        cells[number].resize(document.tokens(), UNKNOWN);
        let known = cells[number][token];
        if known != UNKNOWN {
            return known;
        }
        let text = sentence.cell(t as usize, self.plan.columns[number].column);
        let first = self.entry(number, text, ws);
        ws.document.cells[number][token] = first;
        first
    }

    fn check_columns(&self, sentence: &Sentence) -> Result<()> {
        let names = sentence.schema().names();
        for (column, bound) in &self.columns {
            if names.get(*column) != Some(bound) {
                let message = format!(
                    "expected column {column} to be '{bound}', found the columns {}",
                    names.join(" ")
                );
                return Err(Error::input(sentence.place(0), message));
            }
        }
        Ok(())
    }

    /// Returns the first cell of the memo entry of a text in a column, which is created if needed.
    fn entry(&self, number: usize, text: &str, ws: &mut Workspace) -> u32 {
        if let Some(first) = ws.memo_entry(number, text) {
            return first;
        }
        let range = ws.values.push_arena(text);
        let first = self.fill_entry(number, range.clone(), true, ws);
        ws.memoize(number, range, first);
        first as u32
    }

    /// Creates the memo entries of the positions outside the sentence.
    fn memoize_outside(&self, ws: &mut Workspace) {
        let padding = self.plan.padding;
        for number in 0..self.plan.columns.len() {
            let before = (1..=padding).rev().map(|distance| (true, distance));
            let after = (1..=padding).map(|distance| (false, distance));
            for (before, distance) in before.chain(after) {
                let boundary = (self.plan.dialect).map(|d| d.boundary(before, distance));
                let text = ws.values.push_arena(&boundary.unwrap_or_default());
                let first = self.fill_entry(number, text, false, ws);
                ws.memoize_outside(first);
            }
        }
    }

    fn fill_entry(
        &self,
        number: usize,
        text: Range<usize>,
        inside: bool,
        ws: &mut Workspace,
    ) -> usize {
        let first_cell = ws.values.next_cell();
        for &number in &self.plan.columns[number].functions {
            ws.values.memos_per_value = self.plan.memos_per_value[number];
            let function = &self.functions[number];
            let source =
                first_cell + function.source().map_or(0, |source| self.plan.offset(source));
            let input = InputCell { text: text.clone(), inside, source };
            function.fill_cell(&input, &self.known_words, ws);
        }
        first_cell
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
        let mut combination = std::mem::take(&mut ws.scratch.combination);
        for template in &extractor.templates {
            template.extract(t, ws, &mut combination, sink);
        }
        ws.scratch.combination = combination;
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
        sink.start_sentence(ws.generation(), &keys);
        ws.scratch.bundle_keys = keys;
    }

    /// Passes the attributes of token `t` to `sink`: those of its bundles, as far as the sink wants
    /// them, then all others. Call it for the tokens in order, after
    /// [`start_bundles`](Self::start_bundles).
    pub fn extract_bundles(&self, t: usize, ws: &mut Workspace, sink: &mut impl BundleSink) {
        let (extractor, ws) = self.active(ws);
        let BundledLines { bundles, others } = &extractor.lines;
        let mut combination = std::mem::take(&mut ws.scratch.combination);
        for (index, bundle) in (t * bundles.len()..).zip(bundles) {
            if sink.start_bundle(index, ws.scratch.bundle_keys[index]) {
                for &line in &bundle.lines {
                    extractor.templates[line].extract(t, ws, &mut combination, sink);
                }
                sink.end_bundle();
            }
        }
        for &line in others {
            extractor.templates[line].extract(t, ws, &mut combination, sink);
        }
        ws.scratch.combination = combination;
    }
}

fn check_overflow(sentence: &Sentence, ws: &Workspace) -> Result<()> {
    if !ws.values.overflow {
        return Ok(());
    }
    let message = "the sentence is too long for its templates (4 GiB of text)";
    Err(Error::input(sentence.place(0), message))
}
