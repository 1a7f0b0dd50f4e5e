//! Bodies of requests, and those of responses.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_error::ApiError;

/// How much of a body that is too large is read, in bytes: a client that still sends would not see
/// the answer.
const MAX_EXCESS: usize = 1 << 20;

/// Memory of responses that clients have not read yet, in units of [`UNIT`] bytes.
const RESPONSE_UNITS: usize = 1 << 19;

/// The unit of the memory of responses, in bytes.
const UNIT: usize = 1 << 10;

/// Reads the body of a request. It is copied, for a list of tiny chunks takes far more memory.
pub async fn read(mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| ApiError::bad_request(format!("the body cannot be read: {error}")))?;
        let data = frame.into_data().unwrap_or_default(); // or trailers
        length += data.len();
        match length <= limit {
            true => bytes.extend_from_slice(&data),
            false => bytes = Vec::new(),
        }
        if length > limit.saturating_add(MAX_EXCESS) {
            break;
        }
    }
    if length <= limit {
        return Ok(bytes.into());
    }
    let message = format!("the body has more than {limit} bytes; send less at once (--max-body)");
    Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// The memory for responses that clients have not read yet.
pub struct ResponseMemory(Arc<Semaphore>);

impl Default for ResponseMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(RESPONSE_UNITS)))
    }
}

impl ResponseMemory {
    /// Returns a body that counts until it has been sent.
    pub fn admit(&self, bytes: Vec<u8>) -> Result<Bytes, ApiError> {
        // A response that is larger than all of the memory may have all of it.
        let units = bytes.len().div_ceil(UNIT).min(RESPONSE_UNITS) as u32;
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units);
        let _permit = permit.map_err(|_| {
            ApiError::unavailable("too many responses wait to be read; try again later")
        })?;
        Ok(Bytes::from_owner(AdmittedBytes { bytes, _permit }))
    }
}

/// Bytes with the permission to keep them in memory.
struct AdmittedBytes {
    bytes: Vec<u8>,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for AdmittedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_responses_take_a_bounded_amount_of_memory() {
        let memory = ResponseMemory::default();
        let half = RESPONSE_UNITS * UNIT / 2;
        let first = memory.admit(vec![0; half]).unwrap();
        let second = memory.admit(vec![0; half]).unwrap();
        assert!(memory.admit(vec![0]).is_err());
        drop(first.clone());
        assert!(memory.admit(vec![0]).is_err());
        drop(first);
        assert!(memory.admit(vec![0; half]).is_ok());
        drop(second);
    }
}
