//! What the ranks of a run agree on besides sums: options that cannot be divided, data, and after
//! every iteration whether to go on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::base_models::BaseModels;
use super::options::{NoiseKind, TrainOptions, WarmStart};
use crate::error::{Error, Result};
use crate::extract::{Classes, numbered};
use crate::optim::Iteration;
use crate::ranks::Ranks;
use crate::template::Template;

/// Checks that training with these options can be divided among ranks.
///
/// # Errors
///
/// [`Error::Parameter`]: the algorithm or the start is an online one, or the noise is sampled.
pub fn check_ranks(options: &TrainOptions) -> Result<()> {
    let (option, reason) = if options.algorithm.is_online() {
        let option = format!("--algorithm {}", options.algorithm.name());
        (option, "updates weights by sentence")
    } else if options.warm_start != WarmStart::Off {
        let option = "--warm-start online".to_owned();
        (option, "updates weights by sentence")
    } else if options.has_noise() && options.noise == NoiseKind::MonteCarlo {
        ("--noise monte-carlo".to_owned(), "is for comparison only")
    } else if options.has_noise() && options.gradient.is_sampled() {
        let option = format!("--gradient {}", options.gradient);
        (option, "draws by the number of a token in all data")
    } else {
        return Ok(());
    };
    Err(Error::parameter(format!(
        "{option} {reason}, and runs in one process; expected one rank, or `dropchain train`"
    )))
}

/// Returns the outcome of work that every rank does for itself: an error if it failed on any.
///
/// # Errors
///
/// See [`Ranks::agree`].
pub(super) fn agreed<T>(ranks: Option<&Ranks>, outcome: Result<T>) -> Result<T> {
    match ranks {
        None => outcome,
        Some(ranks) => ranks.agree(outcome),
    }
}

/// Checks that all ranks have the same number; `other` says what a rank has if it does not.
///
/// # Errors
///
/// [`Error::Communication`] names the first rank that has another number than rank 0.
pub(super) fn check_same(ranks: &Ranks, number: u64, other: impl FnOnce() -> String) -> Result<()> {
    let numbers = ranks.gather_numbers(number)?;
    match numbers.iter().position(|other| *other != numbers[0]) {
        None => Ok(()),
        Some(rank) => Err(Error::Communication(format!("rank {rank} has {}", other()))),
    }
}

/// Checks that sentences of each rank alone are enough to train with: that what depends on all of
/// them are sums, labels and attributes.
///
/// # Errors
///
/// [`Error::Parameter`] says what needs all sentences: attributes that are discovered in unlabeled
/// ones, or depend on documents, as with two passes; a model that training continues from. Of
/// labeled sentences also what templates learn from them, copies without case, and frequencies.
pub fn check_own_sentences(
    ranks: &Ranks,
    options: &TrainOptions,
    models: &BaseModels<'_>,
    template: Option<&Template>,
) -> Result<()> {
    let (own, found) = match ranks.has_own_labeled() {
        true => ("sentences", needs_all_sentences(options, models, template)),
        false => (
            "unlabeled text",
            needs_all_unlabeled(options, models, template),
        ),
    };
    match found {
        None => Ok(()),
        Some(found) => Err(Error::parameter(format!(
            "{own} of each rank with {found}; expected the same sentences on all ranks"
        ))),
    }
}

/// Returns what needs all sentences at once, if anything does.
pub(super) fn needs_all_sentences(
    options: &TrainOptions,
    models: &BaseModels<'_>,
    template: Option<&Template>,
) -> Option<&'static str> {
    let depends_on_order = template.is_some_and(Template::depends_on_order);
    needs_all_unlabeled(options, models, template).or_else(|| {
        if options.caseless > 0.0 {
            Some("copies of sentences without case")
        } else if options.min_frequency.is_some() {
            Some("a minimum frequency")
        } else {
            let found = "a template that learns names, or words while reading";
            depends_on_order.then_some(found)
        }
    })
}

/// Returns what needs all unlabeled sentences at once, if anything does.
fn needs_all_unlabeled(
    options: &TrainOptions,
    models: &BaseModels<'_>,
    template: Option<&Template>,
) -> Option<&'static str> {
    if options.discover {
        Some("attributes discovered in unlabeled text")
    } else if !models.is_empty() {
        Some("a model to continue from")
    } else {
        let reads_documents = template.is_some_and(|template| template.documents().is_some());
        reads_documents.then_some("a template that reads documents")
    }
}

/// Returns classes of columns, given those of each column in the data of this rank: columns that
/// are equal in the data of all ranks have the same class.
///
/// Every rank hashes its classes, and the hashes are summed: a message of 24 bytes per column
/// whatever the number of ranks. With 96 bits, different columns of 10⁸ have the same sum with a
/// probability below 10⁻¹³.
///
/// # Errors
///
/// [`Error::Communication`].
pub(super) fn common_classes(ranks: &Ranks, own: &Classes) -> Result<Vec<u32>> {
    let words = own.classes().iter().flat_map(|class| {
        let key = [
            (ranks.rank() as u64).to_le_bytes(),
            u64::from(*class).to_le_bytes(),
        ];
        let hash = xxh3_128(key.as_flattened());
        [0, 32, 64].map(|shift| f64::from((hash >> shift) as u32))
    });
    let mut words: Vec<f64> = words.collect();
    ranks.sum(&mut words)?;
    let keys = words.as_chunks::<3>().0.iter();
    Ok(numbered(keys.map(|key| key.map(|word| word as u64))))
}

/// The interruption of a run with ranks: all end after the same iteration.
pub(super) struct Agreement<'a> {
    ranks: &'a Ranks,
    request: Option<&'a AtomicBool>, // of this rank
    /// Whether some rank was asked to end.
    pub is_interrupted: AtomicBool,
}

impl<'a> Agreement<'a> {
    pub fn new(ranks: &'a Ranks, request: Option<&'a AtomicBool>) -> Self {
        Self {
            ranks,
            request,
            is_interrupted: AtomicBool::new(false),
        }
    }

    /// Agrees on the end after an iteration, given whether this rank goes on. Ranks with other
    /// weights than those of rank 0 end the run: their arithmetic differs.
    pub fn agree<D>(&self, iteration: &Iteration<'_, D>, flow: ControlFlow<()>) -> ControlFlow<()> {
        match self.exchange(iteration, flow.is_break()) {
            Ok(()) => flow,
            Err(error) => {
                self.ranks.fail(error);
                ControlFlow::Break(())
            }
        }
    }

    fn exchange<D>(&self, iteration: &Iteration<'_, D>, ends: bool) -> Result<()> {
        let Self { ranks, request, .. } = self;
        let is_asked = request.is_some_and(|request| request.load(Ordering::Relaxed));
        let mut counts = [is_asked, ends].map(|flag| f64::from(u8::from(flag)));
        ranks.sum(&mut counts)?;
        let [asked, ended] = counts;
        if asked > 0.0 {
            self.is_interrupted.store(true, Ordering::Relaxed);
        }
        if ended > 0.0 {
            return match ends {
                true => Ok(()),
                false => Err(Error::Communication(format!(
                    "another rank ended training after iteration {}",
                    iteration.number
                ))),
            };
        }
        let mut hasher = Xxh3::new();
        for x in iteration.x {
            hasher.update(&x.to_le_bytes());
        }
        check_same(ranks, hasher.digest(), || {
            format!(
                "other weights than rank 0 after iteration {}; expected processors of one kind and \
                 the same program on all machines",
                iteration.number
            )
        })
    }
}
