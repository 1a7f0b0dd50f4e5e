//! Errors as responses: JSON with a status code.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use dropchain::Error;
use serde_json::json;

/// The type of JSON.
pub const JSON: &str = "application/json";

/// Why a request has no other answer.
#[derive(Clone, Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub message: String,
}

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
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
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Input { .. } | Error::Parameter(_) => Self::unprocessable(error.to_string()),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let object = json!({"status": self.status.as_u16(), "error": self.message});
        let body = json_response(format!("{object}\n"));
        let is_busy = self.status == StatusCode::SERVICE_UNAVAILABLE;
        let retry = is_busy.then_some([(RETRY_AFTER, "1")]);
        (self.status, retry, body).into_response()
    }
}

/// Returns a response of JSON.
pub fn json_response(body: impl Into<Bytes>) -> Response {
    ([(CONTENT_TYPE, JSON)], body.into()).into_response()
}
