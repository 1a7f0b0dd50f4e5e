//! Tagging many sequences in parallel.
//!
//! Python objects are read and made with the GIL, sequence after sequence; between, batches of them
//! are tagged by all threads without it.

use dropchain::Result;
use dropchain::tag::{KeyedSentence, Tagging};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

use super::item_sequence::read_items;
use super::model::OpenModel;
use crate::error::{at, exception};
use crate::items::ItemReader;
use crate::threads;

/// Items in a batch: enough work for all threads, in about a megabyte.
const ITEMS: usize = 4096;

/// Predicts the labels of sequences.
pub fn tag<'py>(
    py: Python<'py>,
    open: &OpenModel,
    sequences: &Bound<'py, PyAny>,
    name: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    let batches = Batches {
        open,
        name,
        threads,
        marginals: false,
    };
    batches.run(sequences, |tagging| all.append(open.names(py, tagging)?))?;
    Ok(all)
}

/// Computes the probabilities of labels.
pub fn marginals<'py>(
    py: Python<'py>,
    open: &OpenModel,
    sequences: &Bound<'py, PyAny>,
    name: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    let batches = Batches {
        open,
        name,
        threads,
        marginals: true,
    };
    batches.run(sequences, |tagging| {
        let items = PyList::empty(py);
        for row in tagging.marginals.iter().flat_map(|m| m.rows()) {
            let item = PyDict::new(py);
            for (label, &probability) in open.labels.iter().zip(row) {
                item.set_item(label, probability)?;
            }
            items.append(item)?;
        }
        all.append(items)
    })?;
    Ok(all)
}

struct Batches<'a> {
    open: &'a OpenModel,
    name: &'a str,
    threads: Option<usize>,
    marginals: bool,
}

impl Batches<'_> {
    /// Tags sequences and passes the results on, in order.
    fn run(
        &self,
        sequences: &Bound<'_, PyAny>,
        mut each: impl FnMut(&Tagging) -> PyResult<()>,
    ) -> PyResult<()> {
        let py = sequences.py();
        let mut sequences = sequences.try_iter()?;
        let mut reader = ItemReader::default();
        let mut batch = Vec::new();
        let (mut first, mut is_last) = (0, false);
        while !is_last {
            let (mut items, mut used) = (0, 0);
            while items < ITEMS && !is_last {
                let Some(sequence) = sequences.next().transpose()? else {
                    is_last = true;
                    break;
                };
                if batch.len() == used {
                    batch.push(self.open.tagger.keyed_sentence().map_err(exception)?);
                }
                let sentence = &mut batch[used];
                sentence.clear();
                let name = || format!("{}[{}]", self.name, first + used);
                items += 1 + read_items(&sequence, &name, &mut reader, sentence)?;
                used += 1;
            }
            for (i, tagging) in py
                .detach(|| self.tag(&batch[..used]))
                .into_iter()
                .enumerate()
            {
                let place = || format!("{}[{}]", self.name, first + i);
                let tagging = tagging.map_err(exception);
                each(&tagging.map_err(|error| at(py, place, error))?)?;
            }
            first += used;
            py.check_signals()?;
        }
        Ok(())
    }

    fn tag(&self, batch: &[KeyedSentence]) -> Vec<Result<Tagging>> {
        let tag = |sentence: &KeyedSentence| {
            let mut scratch = self.open.scratch()?;
            let tagging = self
                .open
                .tag(sentence, self.marginals, &mut scratch.workspace);
            self.open.recycle(scratch);
            tagging
        };
        let pool = match batch.len() {
            0 | 1 => None,
            _ => match threads::pool(self.threads) {
                Ok(pool) => Some(pool),
                Err(error) => return vec![Err(error)],
            },
        };
        match pool {
            Some(pool) if pool.current_num_threads() > 1 => {
                pool.install(|| batch.par_iter().map(tag).collect())
            }
            _ => batch.iter().map(tag).collect(),
        }
    }
}
