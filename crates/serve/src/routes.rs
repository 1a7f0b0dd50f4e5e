//! Requests and their answers.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::time::{Instant, timeout_at};

use crate::api_error::{ApiError, JSON, json_response};
use crate::body::{self, ResponseMemory};
use crate::metrics::Metrics;
use crate::models::Models;
use crate::options::ServeOptions;
use crate::origin::OriginRules;
use crate::query::RequestOptions;
use crate::tagging::answer;
use crate::workers::Workers;

/// The addresses.
const PATHS: [&str; 5] = [TAG, "/models", "/health", "/metrics", "/"];

/// The address that tags.
const TAG: &str = "/tag";

/// The page for people.
const PAGE: &str = include_str!("page.html");

/// What the page may load: nothing but itself, and answers of this server.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The type of the metrics.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What answers requests.
pub struct App {
    pub address: SocketAddr,
    pub models: Models,
    pub metrics: Metrics,
    pub options: ServeOptions,
    origins: OriginRules,
    workers: Workers,
    responses: ResponseMemory,
}

impl App {
    /// Serves models at an address.
    pub fn new(address: SocketAddr, models: Models, options: ServeOptions) -> Self {
        Self {
            address,
            models,
            metrics: Metrics::default(),
            origins: OriginRules::new(address, &options.allow_hosts, &options.allow_origins),
            workers: Workers::new(options.threads, options.queue),
            responses: ResponseMemory::default(),
            options,
        }
    }
}

/// Returns what answers the requests to all addresses.
pub fn router(app: &Arc<App>) -> Router {
    type Served = State<Arc<App>>;
    let models = async |State(app): Served| json_line(&app.models.descriptions());
    let health = async |State(app): Served| json_line(&app.models.health());
    let metrics = async |State(app): Served| {
        let text = app.metrics.text(&app.models, &app.workers);
        ([(header::CONTENT_TYPE, METRICS_TYPE)], text)
    };
    Router::new()
        .route("/", get(page))
        .route(TAG, post(tag))
        .route("/models", get(models))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(Arc::clone(app), check_and_count))
        .with_state(Arc::clone(app))
}

/// Answers requests that are allowed, and counts all of them.
async fn check_and_count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let _in_progress = app.metrics.in_progress.enter();
    let path = PATHS.into_iter().find(|path| *path == request.uri().path());
    let allowed = app
        .origins
        .check(request.headers(), request.uri().authority());
    let (response, origin) = match allowed {
        Err(error) => (error.into_response(), None),
        Ok(Some(origin)) if request.method() == Method::OPTIONS => (preflight(), Some(origin)),
        Ok(origin) => (next.run(request).await, origin),
    };
    let endpoint = path.unwrap_or("other");
    app.metrics
        .count(endpoint, response.status(), began.elapsed());
    let headers = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let vary = HeaderValue::from_static("Origin");
    let cross_origin = origin.map(|origin| {
        [
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, origin),
            (header::VARY, vary),
        ]
    });
    (headers, cross_origin, response).into_response()
}

/// The answer to a browser that asks what a page of an allowed origin may send.
fn preflight() -> Response {
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

/// Answers a request to tag, by the model that is there when its headers are.
async fn tag(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let deadline = Instant::now() + app.options.timeout;
    let options = RequestOptions::parse(request.uri().query().unwrap_or_default())?;
    let served = app.models.find(options.model.as_deref())?;
    let (name, model) = (
        served.file.name.clone(),
        Arc::clone(&served.state().current),
    );
    check_content_type(request.headers())?;
    let body = body::read(request.into_body(), app.options.max_body);
    let body = timeout_at(deadline, body).await.map_err(|_| {
        let message = "the body of the request did not arrive in time";
        ApiError::new(StatusCode::REQUEST_TIMEOUT, message)
    })??;
    let limits = app.options.clone();
    let answer = app.workers.run(move |is_abandoned| {
        model.with_workspace(|workspace| {
            let model = (name.as_str(), &model.tagger);
            answer(&body, model, &options, &limits, workspace, is_abandoned)
        })
    });
    let answer = timeout_at(deadline, answer).await.map_err(|_| {
        let seconds = app.options.timeout.as_secs_f64();
        ApiError::unavailable(format!(
            "the request took more than {seconds} seconds; send less at once (--timeout)"
        ))
    })??;
    let mut state = served.state();
    state.sentences += answer.sentences;
    state.tokens += answer.tokens;
    drop(state);
    Ok(json_response(app.responses.admit(answer.body)?))
}

/// Rejects bodies that are not declared as JSON. A page of another origin cannot send such a body
/// without asking first.
fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let found = headers.get(header::CONTENT_TYPE);
    let found = found.map_or("", |value| value.to_str().unwrap_or("?"));
    let essence = found.split(';').next().unwrap_or_default().trim();
    let encoding = headers.get(header::CONTENT_ENCODING);
    let message = if !essence.eq_ignore_ascii_case(JSON) {
        format!("expected the header Content-Type: {JSON}, found {found:?}")
    } else if encoding.is_some_and(|encoding| encoding != "identity") {
        "expected a body without Content-Encoding".to_owned()
    } else {
        return Ok(());
    };
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, PAGE)
}

async fn not_found(uri: Uri) -> ApiError {
    let (path, paths) = (uri.path(), PATHS.join(", "));
    let message = format!("there is nothing at {path:?}; expected one of {paths}");
    ApiError::new(StatusCode::NOT_FOUND, message)
}

async fn not_allowed(method: Method, uri: Uri) -> impl IntoResponse {
    let path = uri.path();
    let methods = match path {
        TAG => "POST, OPTIONS",
        _ => "GET, HEAD, OPTIONS",
    };
    let message = format!("{method} is not possible for {path}; expected {methods}");
    let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message);
    ([(header::ALLOW, methods)], error)
}

fn json_line(value: &serde_json::Value) -> Response {
    json_response(format!("{value}\n"))
}
