//! Requests and their answers.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::api_error::ApiError;
use super::body::{self, ResponseMemory};
use super::limits::ServeLimits;
use super::metrics::Metrics;
use super::models::Models;
use super::options::RequestOptions;
use super::origin::OriginRules;
use super::workers::{Job, WorkerPool};

/// The page for people.
const PAGE: &str = include_str!("page.html");

/// What the page may load: nothing but itself, and answers of this server.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The type of the metrics.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The type of JSON.
const JSON: &str = "application/json";

/// A response.
pub type TagResponse = Response<Full<Bytes>>;

/// What requests are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Tag,
    Models,
    Health,
    Metrics,
    Page,
}

impl Endpoint {
    const ALL: [Self; 5] = [
        Self::Tag,
        Self::Models,
        Self::Health,
        Self::Metrics,
        Self::Page,
    ];

    fn path(self) -> &'static str {
        match self {
            Self::Tag => "/tag",
            Self::Models => "/models",
            Self::Health => "/health",
            Self::Metrics => "/metrics",
            Self::Page => "/",
        }
    }

    fn allowed_methods(self) -> &'static str {
        match self {
            Self::Tag => "POST, OPTIONS",
            _ => "GET, HEAD, OPTIONS",
        }
    }

    fn allows(self, method: &Method) -> bool {
        match self {
            Self::Tag => method == Method::POST,
            _ => method == Method::GET || method == Method::HEAD,
        }
    }
}

/// What answers requests.
pub struct Routes {
    pub origins: OriginRules,
    pub models: Arc<Models>,
    pub metrics: Arc<Metrics>,
    pub workers: WorkerPool,
    pub limits: ServeLimits,
    pub responses: ResponseMemory,
}

impl Routes {
    /// Answers a request, and counts it.
    pub async fn answer(&self, request: Request<Incoming>) -> Result<TagResponse, Infallible> {
        let began = Instant::now();
        self.metrics.in_progress.inc();
        let _guard = InProgress(&self.metrics);
        let path = request.uri().path();
        let endpoint = Endpoint::ALL.into_iter().find(|e| e.path() == path);
        let allowed = self
            .origins
            .check(request.headers(), request.uri().authority());
        let (result, origin) = match allowed {
            Ok(origin) => (
                self.dispatch(endpoint, request, began, origin.as_ref())
                    .await,
                origin,
            ),
            Err(error) => (Err(error), None),
        };
        let mut response = result.unwrap_or_else(|error| error_response(&error, endpoint));
        set_common_headers(response.headers_mut(), origin);
        let name = endpoint.map_or("other", Endpoint::path);
        self.metrics
            .count_request(name, response.status(), began.elapsed());
        Ok(response)
    }

    async fn dispatch(
        &self,
        endpoint: Option<Endpoint>,
        request: Request<Incoming>,
        began: Instant,
        origin: Option<&HeaderValue>,
    ) -> Result<TagResponse, ApiError> {
        let Some(endpoint) = endpoint else {
            let paths = Endpoint::ALL.map(Endpoint::path).join(", ");
            let path = request.uri().path();
            let message = format!("there is nothing at {path:?}; expected one of {paths}");
            return Err(ApiError::new(StatusCode::NOT_FOUND, message));
        };
        if request.method() == Method::OPTIONS && origin.is_some() {
            return Ok(preflight());
        }
        if !endpoint.allows(request.method()) {
            let message = format!(
                "{} is not possible for {}; expected {}",
                request.method(),
                endpoint.path(),
                endpoint.allowed_methods()
            );
            return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message));
        }
        match endpoint {
            Endpoint::Tag => self.tag(request, began).await,
            Endpoint::Models => Ok(json_response(format!("{}\n", self.models.descriptions()))),
            Endpoint::Health => Ok(json_response(format!("{}\n", self.models.health()))),
            Endpoint::Metrics => Ok(text_response(METRICS_TYPE, self.metrics.text()?)),
            Endpoint::Page => Ok(page()),
        }
    }

    /// Answers a request to tag.
    async fn tag(
        &self,
        request: Request<Incoming>,
        began: Instant,
    ) -> Result<TagResponse, ApiError> {
        let options = RequestOptions::parse(request.uri().query().unwrap_or_default())?;
        let (index, model) = self.models.find(options.model.as_deref())?;
        check_content_type(request.headers())?;
        let deadline = began + self.limits.timeout();
        let body = body::read(request.into_body(), self.limits.max_body(), deadline).await?;
        let (reply, answer) = oneshot::channel();
        self.workers.submit(Job {
            body,
            options,
            model: (index, model.name.clone(), model.current()),
            deadline: deadline.into_std(),
            reply,
        })?;
        let late = || {
            let seconds = self.limits.timeout().as_secs_f64();
            ApiError::unavailable(format!(
                "the request took more than {seconds} seconds; send less at once (--timeout)"
            ))
        };
        let answer = timeout_at(deadline, answer).await.map_err(|_| late())?;
        let answer =
            answer.unwrap_or_else(|_| Err(ApiError::unavailable("the server is ending")))?;
        self.metrics
            .count_tagged(&model.name, answer.sentences, answer.tokens);
        Ok(json_response(self.responses.admit(answer.body)?))
    }
}

/// A request that is being answered.
struct InProgress<'a>(&'a Metrics);

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.in_progress.dec();
    }
}

/// Rejects bodies that are not declared as JSON. A page of another origin cannot send such a body
/// without asking first.
fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let found = headers.get(header::CONTENT_TYPE);
    let found = found.map_or("", |value| value.to_str().unwrap_or("?"));
    let essence = found.split(';').next().unwrap_or_default().trim();
    let is_encoded = headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity");
    let message = match (essence.eq_ignore_ascii_case(JSON), is_encoded) {
        (true, false) => return Ok(()),
        (true, true) => "expected a body without Content-Encoding".to_owned(),
        _ => format!("expected the header Content-Type: {JSON}, found {found:?}"),
    };
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

fn text_response(content_type: &'static str, body: impl Into<Bytes>) -> TagResponse {
    let mut response = Response::new(Full::new(body.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn json_response(body: impl Into<Bytes>) -> TagResponse {
    text_response(JSON, body)
}

fn page() -> TagResponse {
    let mut response = text_response("text/html; charset=utf-8", PAGE);
    let policy = HeaderValue::from_static(PAGE_POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    response
}

fn error_response(error: &ApiError, endpoint: Option<Endpoint>) -> TagResponse {
    let mut response = json_response(error.body());
    *response.status_mut() = error.status;
    let headers = response.headers_mut();
    match error.status {
        StatusCode::METHOD_NOT_ALLOWED => {
            let methods = endpoint.map_or("", Endpoint::allowed_methods);
            headers.insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    response
}

/// The answer to a browser that asks what a page of an allowed origin may send.
fn preflight() -> TagResponse {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let allowed: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in allowed {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

fn set_common_headers(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
}
