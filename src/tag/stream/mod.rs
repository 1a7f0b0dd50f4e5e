//! Streaming: read, tag and write concurrently, with results in input order.
//!
//! A reader thread reads ahead into a bounded queue. N workers pop batches of sentences, tag and
//! format them, and write the output once that of all earlier batches has been written. If only one
//! sentence is available, it is a batch of its own, so that interactive input gets an immediate
//! answer.
//!
//! Memory is bounded, however long the input and whatever its sentences: the queue by sentences and
//! bytes, a batch by sentences and tokens, and the output that waits for that of a slower batch by
//! batches and bytes. Beyond that, workers wait before they take another batch. There is no
//! deadlock: batches are taken in order, so the batch that is waited for has been taken, and its
//! worker waits for nobody.

mod queue;
#[cfg(test)]
mod tests;
mod waiting;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::workspace::Workspace;
use crate::corpus::Reader;
use crate::error::{Error, Result};
use crate::sentence::DocumentOptions;
pub use queue::{Batch, BatchOutput};
use queue::{InOrder, Queue, lock};

/// Tags the sentences of `reader` with `threads` worker threads and a reader thread, and hands the
/// results over in input order.
///
/// `tag` appends the results of a batch to its last argument, such as bytes. `sink` gets them, one
/// batch after the other; it runs on any of the threads, and tagging goes on meanwhile. If `tag`
/// fails, what it has appended so far is still handed over, and nothing after it.
///
/// With `documents`, batches know the documents of their sentences ([`Batch::documents`]): a
/// sentence waits until its document has ended or `documents.window` tokens after it have been
/// read. So memory is bounded by the window, however long the document.
///
/// # Errors
///
/// The first error of reading, of `tag` or of `sink`, in input order; [`Error::Parameter`] if the
/// threads cannot be started; [`Error::Input`] if the sentences that wait exceed the memory limit
/// of the reader.
pub fn stream<T, F>(
    reader: Reader,
    documents: Option<DocumentOptions>,
    threads: usize,
    tag: F,
    sink: impl FnMut(T) -> Result<()> + Send,
) -> Result<()>
where
    T: BatchOutput,
    F: Fn(&Batch, &mut Workspace, &mut T) -> Result<()> + Sync,
{
    let queue = Arc::new(Queue::new(documents));
    // Not a scoped thread: after an error it may be blocked on input that never comes, and is then
    // not joined.
    let reading = thread::Builder::new().spawn({
        let queue = Arc::clone(&queue);
        move || queue.fill(reader)
    });
    let reading = reading.map_err(Error::threads)?;
    let in_order = Mutex::new(InOrder::new(sink));
    let work = || {
        let _guard = CloseOnPanic(&queue);
        let mut workspace = Workspace::default();
        while let Some(batch) = queue.pop_batch() {
            let mut output = T::default();
            let result = tag(&batch, &mut workspace, &mut output);
            let mut in_order = lock(&in_order);
            if !in_order.add(batch.index, output, result) {
                queue.close();
            }
            queue.set_written(in_order.next, in_order.waiting_bytes);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                queue.close();
                return Err(Error::threads(error));
            }
        }
        work();
        Ok(())
    })?;
    let in_order = in_order.into_inner().unwrap_or_else(PoisonError::into_inner);
    in_order.result?;
    match reading.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Closes the queue if the thread panics, so that no other thread waits for it.
struct CloseOnPanic<'a>(&'a Queue);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close();
        }
    }
}
