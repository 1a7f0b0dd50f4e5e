//! The processes that run a command together: the ranks of `dropchain-mpi`.
//!
//! Each rank reads all files and prepares the training by itself. What one of them finds wrong ends
//! all: errors are agreed upon before training ([`Team::agree`]), and so is that all have read the
//! same ([`Team::check_same`]). After training rank 0 saves the model, and the others end as it
//! does ([`Team::follow_first`]).

#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};

use dropchain::kernel::ranks::Ranks;
use dropchain::kernel::train::{Learner, Request};
use dropchain::train::BaseModels;
use dropchain::{Corpus, Error, Result, Sentence, Template};
use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::interrupt::{self, Signal};
use crate::{CommandError, CommandResult};

/// Prints `rank N: message`, and ends all ranks at once.
pub type Abort = fn(rank: usize, message: &str) -> !;

/// The ranks of a run; by default this process alone.
#[derive(Default)]
pub struct Team {
    ranks: Option<(Ranks, Abort)>, // if there are several
    /// The default number of threads; `None` for one per processor.
    pub threads: Option<u16>,
}

impl Team {
    /// Creates a team whose ranks have `threads` threads each, unless they are told otherwise.
    pub fn new(ranks: Ranks, threads: usize, abort: Abort) -> Self {
        let threads = u16::try_from(threads).ok();
        Self { ranks: (ranks.size() > 1).then_some((ranks, abort)), threads }
    }

    /// Returns the ranks, if there are several.
    pub fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_ref().map(|(ranks, _)| ranks)
    }

    /// Returns whether this is rank 0, which prints and writes files.
    pub fn is_first(&self) -> bool {
        self.ranks().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// Rejects standard input, which rank 0 alone has.
    pub fn check_no_stdin<S: AsRef<std::ffi::OsStr>>(
        &self,
        files: impl IntoIterator<Item = S>,
    ) -> Result<()> {
        if self.ranks().is_none() || files.into_iter().all(|file| file.as_ref() != "-") {
            return Ok(());
        }
        Err(Error::parameter(
            "-: standard input reaches rank 0 alone; expected files that all ranks can read",
        ))
    }

    /// Rejects a learner that several ranks cannot divide among them.
    pub fn check_learner(&self, learner: &dyn Learner) -> Result<()> {
        self.ranks().map_or(Ok(()), |_| learner.check(Request::Ranks))
    }

    /// Agrees on the outcome of work that each rank has done: if it failed anywhere, all ranks
    /// fail.
    pub fn agree<T>(&self, outcome: CommandResult<T>) -> CommandResult<T> {
        let Some(ranks) = self.ranks() else { return outcome };
        match outcome {
            Ok(value) => Ok(ranks.agree(Ok(value))?),
            Err(CommandError::Failed(error)) => Ok(ranks.agree(Err(error))?),
            // Wrong arguments are the same everywhere, and keep their exit code.
            Err(error) => {
                let message = error.message().unwrap_or_default();
                let _ = ranks.agree::<()>(Err(Error::parameter(message)));
                Err(error)
            }
        }
    }

    /// Fails if a rank has read something else than rank 0.
    pub fn check_same(&self, inputs: impl FnOnce() -> Result<Inputs>) -> CommandResult {
        let Some(ranks) = self.ranks() else { return Ok(()) };
        let Inputs(own) = ranks.agree(inputs())?;
        let all = ranks.gather(json!(own).to_string().as_bytes())?;
        // The inputs of a rank that encodes them differently are different.
        let all = all.iter().map(|bytes| serde_json::from_slice(bytes).unwrap_or_default());
        let all: Vec<Vec<(String, u64)>> = all.collect();
        let differences = all.iter().enumerate().filter_map(|(rank, other)| {
            let what = match other.iter().zip(&all[0]).find(|(here, there)| here != there) {
                Some(((what, _), _)) => what,
                None if other.len() == all[0].len() => return None,
                None => "read other files",
            };
            Some(format!("rank {rank} {what} than rank 0"))
        });
        let differences = differences.collect::<Vec<_>>().join("\n");
        match differences.is_empty() {
            true => Ok(()),
            false => Err(Error::Communication(format!(
                "{differences}; expected the same files and options on all machines"
            ))
            .into()),
        }
    }

    /// Agrees on the signal that ended training: one that any rank has received. An error that this
    /// rank may have alone ends all ranks at once: the others wait for it.
    pub fn trained<T>(&self, outcome: Result<T>) -> Result<T> {
        let Some((ranks, abort)) = &self.ranks else { return outcome };
        if let Err(error @ Error::Io { .. }) = &outcome {
            abort(ranks.rank(), &error.to_string());
        }
        let trained = outcome?;
        let own = interrupt::received().map_or(0, |signal| signal.0);
        if let Some(&number) = ranks.gather(&[own])?.concat().iter().find(|&&number| number > 0) {
            interrupt::adopt(Signal(number));
        }
        Ok(trained)
    }

    /// Ends as rank 0 does, whose result this is on rank 0. The others wait for it.
    pub fn follow_first(&self, result: CommandResult) -> CommandResult {
        let Some(ranks) = self.ranks() else { return result };
        let code = result.as_ref().map_or_else(CommandError::code, |()| 0);
        match ranks.gather(&[code])?.concat().first() {
            Some(&code) if code > 0 && ranks.rank() > 0 => Err(CommandError::Said(code)),
            _ => result,
        }
    }
}

/// What a rank has read, part by part: how to name a difference, and a hash.
#[derive(Debug, Default)]
pub struct Inputs(Vec<(String, u64)>);

impl Inputs {
    /// Adds the options, and the version of the program that has them.
    pub fn options(mut self, options: &Value) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        self.add("runs another version".to_owned(), version.as_bytes());
        self.add("has other options".to_owned(), options.to_string().as_bytes());
        self
    }

    /// Adds the sentences of each file.
    pub fn corpus(mut self, corpus: &Corpus) -> Self {
        for sentences in corpus.sentences().chunk_by(|a, b| a.file() == b.file()) {
            let mut hasher = Xxh3::new();
            sentences.iter().for_each(|s| hash_sentence(s, &mut hasher));
            let what = format!("read other sentences from {}", sentences[0].file());
            self.0.push((what, hasher.finish()));
        }
        self
    }

    /// Adds the template, with the files that belong to it.
    pub fn template(mut self, template: Option<&Template>) -> Self {
        let mut hasher = Xxh3::new();
        template.iter().for_each(|template| template.hash_content(&mut hasher));
        let what = "read another template, or other clusters, vectors or lists for it,";
        self.0.push((what.to_owned(), hasher.finish()));
        self
    }

    /// Adds the models to continue from.
    ///
    /// # Errors
    ///
    /// A model is damaged.
    pub fn models(mut self, models: &BaseModels<'_>) -> Result<Self> {
        for (_, model) in models.iter() {
            let what = format!("read another model from {}", model.path().display());
            self.add(what, &model.fingerprint()?.to_le_bytes());
        }
        Ok(self)
    }

    fn add(&mut self, what: String, contents: &[u8]) {
        self.0.push((what, xxh3_64(contents)));
    }
}

/// Hashes what training uses of a sentence.
fn hash_sentence(sentence: &Sentence, hasher: &mut impl Hasher) {
    sentence.hash_content(hasher);
    let Some(attributes) = &sentence.attributes else { return };
    for t in 0..attributes.len() {
        hash_attributes(attributes.token(t), hasher);
        hash_attributes(attributes.edge(t), hasher);
    }
}

fn hash_attributes<'a>(list: impl Iterator<Item = (&'a str, f64)>, hasher: &mut impl Hasher) {
    for (name, value) in list {
        (name, value.to_bits()).hash(hasher);
    }
    hasher.write_u8(0);
}
