//! The threads that tag.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use dropchain::tag::Workspace;
use dropchain::{Error, Result};
use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::sync::oneshot;

use super::api_error::ApiError;
use super::metrics::Metrics;
use super::models::LoadedModel;
use super::options::RequestOptions;
use super::tagging::{Answer, Limits, answer};

/// A request to tag, and where its answer goes.
pub struct Job {
    pub body: Bytes,
    pub options: RequestOptions,
    /// The index of the model, its name, and what it was when the request came.
    pub model: (usize, String, Arc<LoadedModel>),
    /// When the answer is no longer wanted.
    pub deadline: Instant,
    pub reply: oneshot::Sender<Result<Answer, ApiError>>,
}

/// Threads that answer requests from a bounded queue, each with a workspace for each model.
pub struct WorkerPool {
    queue: SyncSender<Job>,
    metrics: Arc<Metrics>,
}

impl WorkerPool {
    /// Starts threads; `queue` requests may wait for them. They end when the pool is dropped.
    pub fn start(
        threads: usize,
        queue: usize,
        metrics: &Arc<Metrics>,
        limits: Limits,
    ) -> Result<Self> {
        let (sender, receiver) = sync_channel(queue);
        let receiver = Arc::new(Mutex::new(receiver));
        for i in 0..threads {
            let (receiver, metrics) = (Arc::clone(&receiver), Arc::clone(metrics));
            let builder = thread::Builder::new().name(format!("tagging {i}"));
            let spawned = builder.spawn(move || work(&receiver, &metrics, &limits));
            spawned.map_err(Error::threads)?;
        }
        Ok(Self {
            queue: sender,
            metrics: Arc::clone(metrics),
        })
    }

    /// Queues a request.
    pub fn submit(&self, job: Job) -> Result<(), ApiError> {
        // Before a thread can take it.
        self.metrics.waiting.inc();
        let sent = self.queue.try_send(job);
        let sent = sent.inspect_err(|_| self.metrics.waiting.dec());
        sent.map_err(|error| match error {
            TrySendError::Full(_) => {
                ApiError::unavailable("too many requests are waiting; try again later")
            }
            TrySendError::Disconnected(_) => ApiError::unavailable("the server is ending"),
        })
    }
}

/// Answers requests until there are no more.
fn work(queue: &Mutex<Receiver<Job>>, metrics: &Metrics, limits: &Limits) {
    let mut workspaces: Vec<Workspace> = Vec::new();
    loop {
        // One idle thread waits for the queue, the others for the lock.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else {
            return;
        };
        metrics.busy_threads.inc();
        metrics.waiting.dec();
        let (index, name, model) = &job.model;
        if workspaces.len() <= *index {
            workspaces.resize_with(index + 1, Workspace::default);
        }
        let workspace = &mut workspaces[*index];
        let is_abandoned = || job.reply.is_closed() || Instant::now() > job.deadline;
        // A fault of one request must not take a thread from all others.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let model = (name.as_str(), &model.tagger);
            answer(
                &job.body,
                model,
                &job.options,
                limits,
                workspace,
                is_abandoned,
            )
        }));
        let result = result.unwrap_or_else(|_| {
            workspaces[*index] = Workspace::default();
            let message = "tagging failed unexpectedly; please report it";
            Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message))
        });
        metrics.busy_threads.dec();
        let _ = job.reply.send(result);
    }
}
