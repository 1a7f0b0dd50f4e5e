//! Tagging: the template, the table of weights and Viterbi.
//!
//! The template is timed with a sink that answers as the tagger does whether the sum of a bundle of
//! attributes is known, and that counts; Viterbi with scores of its own. What remains of tagging is
//! the look-up of attributes and the sum of their weights. It is timed by that difference, because
//! its steps share buffers that only the tagger has.

use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::time::Instant;

use dropchain::kernel::chain::{Scores, Viterbi};
use dropchain::kernel::extract::{AttributeSource, TokenSink};
use dropchain::kernel::template::{BundleKey, BundleSink};
use dropchain::model::AttributeKind;
use dropchain::sentence::Sentence;
use dropchain::tag::{TagOptions, Tagger, Workspace};
use dropchain::template::{Attribute, AttributeSink, Template};
use dropchain::train::{TrainOptions, Trainer};
use dropchain::{Result, template};

use crate::corpus::Numbers;
use crate::machine::{ByThreads, Machine};
use crate::work::{Row, Work};

/// Sentences that are timed together; of every group the fastest round counts.
const GROUP: usize = 50;
/// Most memoized scores of the tagger (`src/tag/bundle_sums.rs`).
const MAX_SCORES: usize = 1 << 20;
/// Look-ups that it caches (`src/tag/scorer.rs`).
const CACHED: usize = 1 << 14;
/// Bytes of a cache line.
const LINE: f64 = 64.0;

/// Returns the rows of the kernels of tagging `sentences` with a model trained on them.
pub fn measure(
    machine: &Machine,
    template: &str,
    sentences: &[Sentence],
    rounds: usize,
) -> Vec<Row> {
    let options = TrainOptions { max_iterations: Some(10), ..TrainOptions::default() };
    let template = Template::shipped(template).unwrap().unwrap();
    let trained = Trainer::new(options).unwrap();
    let trained = trained.train(sentences.to_vec(), template, &mut ());
    let tagger = Tagger::new(trained.unwrap().model);
    let template = tagger.model().header().template.as_ref();
    let source = AttributeSource::bind(template, sentences[0].schema()).unwrap();
    let source = source.with_fingerprinter(tagger.model().fingerprinter());
    let counts = Counts::of(&tagger, &source, sentences);
    let works = counts.works(machine, sentences);

    let total = fastest(sentences.len(), rounds, || {
        let mut workspace = Workspace::default();
        let tagger = &tagger;
        move |i| {
            let tagging = tagger.tag_with(&sentences[i], TagOptions::default(), &mut workspace);
            black_box(tagging.unwrap());
        }
    });
    let of_template = fastest(sentences.len(), rounds, || {
        let mut workspace = template::Workspace::default();
        let (source, answers) = (&source, &counts.answers);
        move |i| {
            let mut replay = Replay(answers[i].iter());
            let sentence = (&sentences[i]).into();
            source.bundles(sentence, &mut workspace, &mut replay).unwrap();
        }
    });
    let longest = sentences.iter().map(Sentence::len).max().unwrap_or(0);
    let stride = tagger.transitions().stride();
    let mut numbers = Numbers(1);
    let node: Vec<f64> = (0..longest * stride).map(|_| numbers.score()).collect();
    let of_viterbi = fastest(sentences.len(), rounds, || {
        let (mut viterbi, mut path) = (Viterbi::default(), Vec::new());
        let (tagger, node) = (&tagger, &node);
        move |i| {
            let node = &node[..sentences[i].len() * stride];
            let scores = Scores { node, edge: None };
            let constraint = tagger.constraint();
            viterbi.decode(tagger.transitions(), scores, constraint, None, &mut path);
            black_box(&path);
        }
    });
    let rest = [0, 1].map(|i| total[i] - of_template[i] - of_viterbi[i]);
    let kernels = [("template", of_template), ("look-up and sums", rest), ("Viterbi", of_viterbi)];
    let rows = kernels.into_iter().zip(works);
    rows.map(|((kernel, seconds), work)| Row {
        kernel,
        work,
        seconds,
        shares: [Some(seconds[0] / total[0]), None],
    })
    .collect()
}

/// Returns the seconds in which what `prepare` returns runs for each of `sentences` sentences, on
/// one thread and on two, which have half of the groups each.
fn fastest<R: FnMut(usize)>(
    sentences: usize,
    rounds: usize,
    prepare: impl Fn() -> R + Sync,
) -> ByThreads {
    [1, 2].map(|threads| {
        let run = |first: usize| {
            let mut run = prepare();
            let starts = (first * GROUP..sentences).step_by(threads * GROUP);
            let mut best: Vec<f64> = starts.clone().map(|_| f64::INFINITY).collect();
            for _ in 0..=rounds {
                for (start, best) in starts.clone().zip(&mut best) {
                    let clock = Instant::now();
                    (start..sentences.min(start + GROUP)).for_each(&mut run);
                    *best = best.min(clock.elapsed().as_secs_f64());
                }
            }
            best.iter().sum::<f64>()
        };
        std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..threads).map(|first| scope.spawn(move || run(first))).collect();
            let seconds = running.into_iter().map(|thread| thread.join().unwrap());
            seconds.sum::<f64>() / threads as f64
        })
    })
}

/// What tagging reads, counted by a sink that knows sums of bundles and caches look-ups like the
/// tagger.
struct Counts<'a> {
    tagger: &'a Tagger,
    generation: u64,
    known: HashSet<[u32; 4]>,
    answers: Vec<Vec<bool>>, // by sentence: whether each bundle is new
    cache: Vec<u64>,         // [CACHED] keys
    rows: HashMap<u64, u32>, // frequencies of attributes that the model has
    attributes: f64,
    lookups: f64, // of attributes without a memo of their own
    misses: f64,
}

impl<'a> Counts<'a> {
    fn of(tagger: &'a Tagger, source: &AttributeSource, sentences: &[Sentence]) -> Self {
        let mut counts = Self {
            tagger,
            generation: 0,
            known: HashSet::new(),
            answers: Vec::new(),
            cache: vec![0; CACHED],
            rows: HashMap::new(),
            attributes: 0.0,
            lookups: 0.0,
            misses: 0.0,
        };
        let mut workspace = template::Workspace::default();
        // The second time as all later ones: with what the first left.
        for _ in 0..2 {
            counts.answers.clear();
            counts.rows.clear();
            [counts.attributes, counts.lookups, counts.misses] = [0.0; 3];
            for sentence in sentences {
                counts.answers.push(Vec::new());
                source.bundles(sentence.into(), &mut workspace, &mut counts).unwrap();
            }
        }
        counts
    }

    /// Returns the work of the template, of look-ups and sums, and of Viterbi.
    fn works(&self, machine: &Machine, sentences: &[Sentence]) -> [Work; 3] {
        let transitions = self.tagger.transitions();
        let (k, row) = (transitions.labels() as f64, 8.0 * transitions.stride() as f64);
        let tokens: f64 = sentences.iter().map(|s| s.len() as f64).sum();
        let bundles: f64 = self.answers.iter().map(|a| a.len() as f64).sum();
        let cells = sentences.iter().flat_map(|s| {
            let columns = 0..s.schema().names().len();
            columns.flat_map(move |column| (0..s.len()).map(move |t| s.cell(t, column).len()))
        });
        let text = cells.sum::<usize>() as f64;
        let template = text + 16.0 * bundles + 24.0 * self.attributes;
        let template = Work::new(machine, 0.0, template, template);

        let added: f64 = self.rows.values().map(|&n| f64::from(n)).sum();
        let weights = 4.0 * k; // bytes of a row of the table
        let mut sums = Work::rows(machine, self.rows.values().copied().collect(), weights);
        sums.operations = k * (2.0 * added + bundles);
        sums += Work::new(machine, 0.0, 16.0 * self.lookups, (16 * CACHED) as f64);
        let slots = 16.0 * self.tagger.model().attributes(AttributeKind::Node) as f64;
        sums += Work::new(machine, 0.0, LINE * self.misses, slots);
        let memo = self.known.len() as f64 * (row + 20.0);
        sums += Work::new(machine, 0.0, bundles * (row + 20.0), memo);

        let operations = tokens * 2.0 * k * (k + 1.0);
        let viterbi = Work::new(machine, operations, tokens * (k + 4.0) * row, k * row);
        [template, sums, viterbi]
    }
}

impl AttributeSink for Counts<'_> {
    fn node(&mut self, attribute: &Attribute<'_>, _value: f64) {
        let key = attribute.key();
        self.attributes += 1.0;
        if attribute.memo().is_none() {
            self.lookups += 1.0;
            let cached = &mut self.cache[key as usize % CACHED];
            self.misses += f64::from(u8::from(*cached != key));
            *cached = key;
        }
        let found = self.tagger.model().table(AttributeKind::Node).find(key);
        if found.unwrap().is_some() {
            *self.rows.entry(key).or_default() += 1;
        }
    }

    fn edge(&mut self, _attribute: &Attribute<'_>, _value: f64) {}
}

impl BundleSink for Counts<'_> {
    fn start_sentence(&mut self, generation: u64, _keys: &[BundleKey]) {
        let stride = self.tagger.transitions().stride();
        if self.generation != generation || self.known.len() * stride > MAX_SCORES {
            self.known.clear();
            self.generation = generation;
        }
    }

    fn start_bundle(&mut self, _index: usize, key: BundleKey) -> bool {
        let is_new = self.known.insert(key.0);
        let answers = self.answers.last_mut();
        answers.unwrap().push(is_new);
        is_new
    }

    fn end_bundle(&mut self) {}
}

impl TokenSink for Counts<'_> {
    fn end_token(&mut self, _t: usize) -> Result<()> {
        Ok(())
    }
}

/// Answers like the tagger, and does nothing else but fetch keys where it would.
struct Replay<'a>(std::slice::Iter<'a, bool>);

impl AttributeSink for Replay<'_> {
    #[inline(always)]
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        match attribute.memo() {
            Some(cell) if cell.get() != 0 => {}
            memo => {
                black_box((attribute.key(), value));
                if let Some(cell) = memo {
                    cell.set(1);
                }
            }
        }
    }

    fn edge(&mut self, _attribute: &Attribute<'_>, _value: f64) {}
}

impl BundleSink for Replay<'_> {
    fn start_sentence(&mut self, _generation: u64, _keys: &[BundleKey]) {}

    #[inline(always)]
    fn start_bundle(&mut self, _index: usize, _key: BundleKey) -> bool {
        self.0.next().copied().unwrap_or(false)
    }

    fn end_bundle(&mut self) {}
}

impl TokenSink for Replay<'_> {
    #[inline(always)]
    fn end_token(&mut self, _t: usize) -> Result<()> {
        Ok(())
    }
}
