//! Long work: on a thread of its own, so that Ctrl-C and other Python threads are served
//! meanwhile.

use std::ops::ControlFlow;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dropchain::{Error, Result};
use pyo3::prelude::*;

use crate::error::exception;
use crate::threads;

/// Interval at which signals are checked.
const POLL: Duration = Duration::from_millis(50);

/// The work's end of the connection to Python.
pub struct Job<'a, E> {
    /// Is set when the work should end.
    pub interrupt: &'a AtomicBool,
    channel: Mutex<(Sender<E>, Receiver<ControlFlow<()>>)>,
}

impl<E> Job<'_, E> {
    /// Sends an event to Python and waits until it is handled; any thread may. Returns whether to
    /// continue.
    pub fn send(&self, event: E) -> ControlFlow<()> {
        let channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let (events, replies) = &*channel;
        events.send(event).ok().and_then(|()| replies.recv().ok()).unwrap_or(ControlFlow::Break(()))
    }
}

/// Runs `work` with this number of threads (`None`: one for each processor) and without the GIL.
/// `handle` gets its events, in the thread of the caller and with the GIL; an exception that it
/// raises, or Ctrl-C, ends the work early. Returns the result, of as much as was done, and the
/// exception that ended it.
///
/// # Errors
///
/// The exception that ended the work, or the error of the work or of starting threads.
pub fn run<E: Send, T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&Job<'_, E>) -> Result<T> + Send,
    mut handle: impl FnMut(E) -> PyResult<ControlFlow<()>>,
) -> PyResult<(T, Option<PyErr>)> {
    let pool = threads::pool(threads).map_err(exception)?;
    let interrupt = AtomicBool::new(false);
    let (events, mut from_work) = mpsc::channel();
    let (reply, replies) = mpsc::channel();
    let mut raised: Option<PyErr> = None;
    let result = thread::scope(|scope| {
        let job = Job { interrupt: &interrupt, channel: Mutex::new((events, replies)) };
        let worker = thread::Builder::new()
            .name("dropchain".to_owned())
            .spawn_scoped(scope, move || pool.install(|| work(&{ job })))
            .map_err(Error::threads)?;
        loop {
            let from_work = &mut from_work;
            let outcome = match py.detach(move || from_work.recv_timeout(POLL)) {
                Ok(event) => {
                    let outcome = handle(event).and_then(|flow| py.check_signals().map(|()| flow));
                    let flow = *outcome.as_ref().unwrap_or(&ControlFlow::Break(()));
                    reply.send(flow).ok();
                    outcome.map(|_| ())
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = outcome {
                interrupt.store(true, Ordering::Relaxed);
                raised.get_or_insert(error);
            }
        }
        py.detach(|| worker.join()).unwrap_or_else(|payload| panic::resume_unwind(payload))
    });
    // Ctrl-C in the last moment must not lose what was done.
    if let Err(error) = py.check_signals() {
        raised.get_or_insert(error);
    }
    match result {
        Ok(result) => Ok((result, raised)),
        Err(error) => Err(raised.unwrap_or_else(|| exception(error))),
    }
}

/// Runs work that sends no events, and is told by a flag when to end: see [`run`].
///
/// # Errors
///
/// The exception that ended the work early, or the errors of [`run`].
pub fn wait<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
) -> PyResult<T> {
    let no_events = |()| Ok(ControlFlow::Continue(()));
    let (result, raised) = run(py, threads, |job| work(job.interrupt), no_events)?;
    raised.map_or(Ok(result), Err)
}
