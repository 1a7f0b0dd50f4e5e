//! The threads that tag.

use std::sync::Arc;

use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::api_error::ApiError;

/// A bounded number of threads, and of requests that wait for them.
pub struct Workers {
    count: usize,
    capacity: usize, // requests that wait or are tagged
    places: Arc<Semaphore>,
    threads: Arc<Semaphore>,
}

impl Workers {
    /// Creates `count` workers; `queue` requests may wait for them.
    pub fn new(count: usize, queue: usize) -> Self {
        let count = count.max(1);
        let capacity = count.saturating_add(queue).min(Semaphore::MAX_PERMITS);
        Self {
            count,
            capacity,
            places: Arc::new(Semaphore::new(capacity)),
            threads: Arc::new(Semaphore::new(count)),
        }
    }

    /// Returns the number of requests that wait, and of threads that tag.
    pub fn load(&self) -> (usize, usize) {
        let busy = self.count - self.threads.available_permits();
        let admitted = self.capacity - self.places.available_permits();
        (admitted.saturating_sub(busy), busy)
    }

    /// Runs `work` on another thread. Its argument tells whether nobody waits for the result
    /// anymore: this future was dropped.
    ///
    /// # Errors
    ///
    /// Too many requests are waiting; `work` fails, or panics, which takes no thread from others.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| ApiError::unavailable("too many requests are waiting; try again later"))?;
        let thread = Arc::clone(&self.threads).acquire_owned().await;
        let client = Arc::new(());
        let watched = Arc::downgrade(&client);
        let done = spawn_blocking(move || {
            // An abandoned request keeps its thread until it has ended, too.
            let _permits = (place, thread);
            work(&|| watched.strong_count() == 0)
        });
        let result = done.await;
        drop(client);
        result.unwrap_or_else(|_| {
            let message = "tagging failed unexpectedly; please report it";
            Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message))
        })
    }
}
