//! Errors as responses: JSON with a status code.

use dropchain::Error;
use hyper::StatusCode;
use serde_json::json;

/// Why a request has no other answer.
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub message: String,
}

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    /// The request itself is malformed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The request is valid JSON, but cannot be tagged.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// There is too much to do.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// The body of the response.
    pub fn body(&self) -> Vec<u8> {
        let object = json!({"status": self.status.as_u16(), "error": self.message});
        format!("{object}\n").into_bytes()
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Input { .. } | Error::Parameter(_) => Self::unprocessable(error.to_string()),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}
