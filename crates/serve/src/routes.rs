//! Requests and their answers: who may ask, and what is counted.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{self, HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::{Method, StatusCode, Uri, uri::Authority};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dropchain_analysis::EXPLANATION_STYLE;
use dropchain_formats::{MARKS_STYLE, marks_script};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::ServeOptions;
use crate::access_log::{self, Access, AccessLog, TaggedCounts};
use crate::models::{MODEL_HEADER, ModelState, Models, lock};
use crate::request::{ApiError, JSON, RequestOptions, Task, json_response};
use crate::tagging::{Answer, RESPONSE_UNITS, Workers, admit, answer, read_body};
use crate::unread::SharedBody;

/// The addresses.
const PATHS: [&str; 9] = [
    "/tag",
    "/explain",
    "/models",
    "/health",
    "/livez",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/",
];

/// The methods of HTTP, which the access log names.
const METHODS: [&str; 9] =
    ["GET", "POST", "OPTIONS", "HEAD", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT"];

/// The page for people, with the styles of marks and explanations, and the script of its marks.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    include_str!("page.html")
        .replace("/* marks */", MARKS_STYLE)
        .replace("/* explanations */", EXPLANATION_STYLE)
        .replace("/* script of marks */", &marks_script())
});

/// The interface for programs.
const OPENAPI: &str = include_str!("openapi.json");

/// Content security policy: the page loads only itself and answers of this server.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Shared state of the request handlers.
pub struct App {
    pub address: SocketAddr,
    pub models: Models,
    pub metrics: Metrics,
    pub options: ServeOptions,
    pub log: Option<AccessLog>,
    origins: OriginRules,
    workers: Workers,
    responses: Arc<Semaphore>, // memory of those that clients have not read yet
}

impl App {
    /// Serves models at an address.
    pub fn new(address: SocketAddr, models: Models, options: ServeOptions) -> Self {
        let origins = OriginRules::new(address, &options.allow_hosts, &options.allow_origins);
        let workers = Workers::new(options.threads, options.queue);
        let responses = Arc::new(Semaphore::new(RESPONSE_UNITS));
        let metrics = Metrics::default();
        Self { address, models, metrics, options, log: None, origins, workers, responses }
    }
}

/// Returns what answers the requests to all addresses.
pub fn router(app: &Arc<App>) -> Router {
    type Served = State<Arc<App>>;
    let answer = |task| {
        post(async move |State(app): Served, request| answer_with(task, &app, request).await)
    };
    let models = async |State(app): Served| json_line(&app.models.descriptions());
    let health = async |State(app): Served| json_line(&app.models.health());
    let ready = async |State(app): Served| {
        let health = app.models.health();
        let is_ready = health["status"] == "ok";
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, json_line(&health))
    };
    let metrics = async |State(app): Served| {
        let text = app.metrics.text(&app.models, &app.workers);
        ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
    };
    Router::new()
        .route("/", get(page))
        .route("/tag", answer(Task::Tag))
        .route("/explain", answer(Task::Explain))
        .route("/models", get(models))
        .route("/health", get(health))
        .route("/livez", get(async || json_response("{\"status\":\"ok\"}\n")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(async || json_response(OPENAPI)))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(Arc::clone(app), check_and_count))
        .with_state(Arc::clone(app))
}

/// Answers requests that are allowed, and counts all of them.
async fn check_and_count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let _in_progress = Arc::clone(&app.metrics.in_progress);
    let method = METHODS.into_iter().find(|method| *method == request.method().as_str());
    let method = method.unwrap_or("other");
    let is_awaited = request.headers().contains_key(header::EXPECT);
    let (head, body) = request.into_parts();
    let body = SharedBody::new(body);
    let request = Request::from_parts(head, Body::new(body.clone()));
    let path = PATHS.into_iter().find(|path| *path == request.uri().path()).unwrap_or("other");
    let allowed = app.origins.check(request.headers(), request.uri().authority());
    let is_allowed = allowed.is_ok();
    let (response, origin) = match allowed {
        Err(error) => (error.into_response(), None),
        Ok(Some(origin)) if request.method() == Method::OPTIONS => {
            // A browser asks what a page of an allowed origin may send.
            let allowed = [
                (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST"),
                (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
                (header::ACCESS_CONTROL_MAX_AGE, "600"),
            ];
            ((StatusCode::NO_CONTENT, allowed).into_response(), Some(origin))
        }
        Ok(origin) => (next.run(request).await, origin),
    };
    let status = response.status();
    let elapsed = began.elapsed();
    app.metrics.count(path, status, elapsed);
    let tagged = response.extensions().get::<TaggedCounts>();
    if let Some(log) = &app.log {
        log.add(&Access {
            time: access_log::now(),
            method,
            path,
            status: status.as_u16(),
            seconds: elapsed.as_secs_f64(),
            bytes: response.body().size_hint().exact(),
            tagged: tagged.cloned(),
        });
    }
    // Who may not use the server does not learn its models.
    let identity = is_allowed.then(|| match tagged {
        Some(tagged) => [(MODEL_HEADER, tagged.model.clone())],
        None => [(MODEL_HEADER, app.models.identities())],
    });
    // What is left of a body would be taken for the next request.
    let is_read = body.drain(is_awaited, began + app.options.timeout).await;
    let close = (!is_read).then_some([(header::CONNECTION, "close")]);
    let headers =
        [(header::X_CONTENT_TYPE_OPTIONS, "nosniff"), (header::CACHE_CONTROL, "no-store")];
    let cross_origin = origin.map(|origin| {
        let allowed = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin)];
        let exposed = (header::ACCESS_CONTROL_EXPOSE_HEADERS, MODEL_HEADER);
        (allowed, [exposed, (header::VARY, "Origin")])
    });
    (headers, identity, close, cross_origin, response).into_response()
}

/// Answers a request by the model that is there when its headers are.
async fn answer_with(task: Task, app: &App, request: Request) -> Result<Response, ApiError> {
    let deadline = Instant::now() + app.options.timeout;
    let options = RequestOptions::parse(task, request.uri().query().unwrap_or_default())?;
    let served = app.models.find(options.model.as_deref())?;
    let (name, model) = (served.file.name.clone(), Arc::clone(&served.state().current));
    check_content_type(request.headers())?;
    let body = read_body(request.into_body(), app.options.max_body);
    let body = timeout_at(deadline, body).await.map_err(|_| {
        let message = "the body of the request did not arrive in time";
        ApiError::new(StatusCode::REQUEST_TIMEOUT, message)
    })??;
    let (limits, identity) = (app.options.clone(), model.identity.clone());
    let answer = app.workers.run(move |interrupt| {
        let tagger = &model.tagger;
        tagger.with_workspace(|workspace| {
            workspace.set_interrupt(interrupt);
            answer(&body, (&name, tagger), (&options, &limits), workspace)
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
    let Answer { body, sentences, tokens } = answer;
    let mut response = json_response(admit(&app.responses, body)?);
    response.extensions_mut().insert(TaggedCounts { model: identity, sentences, tokens });
    Ok(response)
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
    (headers, PAGE.as_str())
}

async fn not_found(uri: Uri) -> ApiError {
    let (path, paths) = (uri.path(), PATHS.join(", "));
    let message = format!("there is nothing at {path:?}; expected one of {paths}");
    ApiError::new(StatusCode::NOT_FOUND, message)
}

async fn not_allowed(method: Method, uri: Uri) -> impl IntoResponse {
    let path = uri.path();
    let methods = match path {
        "/tag" | "/explain" => "POST, OPTIONS",
        _ => "GET, HEAD, OPTIONS",
    };
    let message = format!("{method} is not possible for {path}; expected {methods}");
    let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message);
    ([(header::ALLOW, methods)], error)
}

fn json_line(value: &serde_json::Value) -> Response {
    json_response(format!("{value}\n"))
}

/// Which hosts and origins are allowed.
pub struct OriginRules {
    /// `None`: any host.
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
}

impl OriginRules {
    /// Creates the rules of a server at `address`.
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let is_restricted = address.ip().is_loopback() || !hosts.is_empty();
        let lower = |name: &String| name.trim_end_matches('/').to_ascii_lowercase();
        Self {
            hosts: is_restricted.then(|| hosts.iter().map(lower).collect()),
            origins: origins.iter().map(lower).collect(),
        }
    }

    /// Checks the headers of a request. Returns the origin to allow in the response, if the request
    /// comes from a page of another origin.
    pub fn check(
        &self,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
    ) -> Result<Option<HeaderValue>, ApiError> {
        for name in [HOST, ORIGIN] {
            if headers.get_all(&name).iter().nth(1).is_some() {
                return Err(ApiError::bad_request(format!("the header {name} occurs twice")));
            }
        }
        let host = match (uri_authority, headers.get(HOST)) {
            (Some(authority), _) => authority.as_str(),
            (None, Some(host)) => text(host)?,
            (None, None) => return Err(ApiError::bad_request("the header Host is missing")),
        };
        if !self.allows_host(host) {
            return Err(forbidden(format!(
                "the request is for the host {host:?}, which is not expected; --allow-host \
                 allows it"
            )));
        }
        let Some(header) = headers.get(ORIGIN) else { return Ok(None) };
        let origin = text(header)?.to_ascii_lowercase();
        let own = origin.split_once("://").map(|(_, authority)| authority);
        if own.is_some_and(|own| own.eq_ignore_ascii_case(host)) {
            return Ok(None);
        }
        match self.origins.iter().any(|o| *o == "*" || *o == origin) {
            true => Ok(Some(header.clone())),
            false => Err(forbidden(format!(
                "pages of {origin} may not use this server; --allow-origin allows them"
            ))),
        }
    }

    fn allows_host(&self, host: &str) -> bool {
        let Some(hosts) = &self.hosts else { return true };
        host.parse::<Authority>().is_ok_and(|authority| {
            let name = authority.host().to_ascii_lowercase();
            let address = name.trim_start_matches('[').trim_end_matches(']').parse();
            let is_local = name == "localhost" || address.is_ok_and(|ip: IpAddr| ip.is_loopback());
            is_local || hosts.contains(&name)
        })
    }
}

fn text(value: &HeaderValue) -> Result<&str, ApiError> {
    let text = value.to_str();
    text.map_err(|_| ApiError::bad_request("the header Host or Origin is not ASCII"))
}

fn forbidden(message: String) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, message)
}

/// Upper ends of the buckets of durations, in seconds, before that of all.
const BUCKETS: [&str; 17] = [
    "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
    "0.25", "0.5", "1", "2.5", "5", "10", "+Inf",
];

/// Durations of the requests to an endpoint.
#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()], // [bucket] requests that took at most as long
    seconds: f64,
}

/// The counts of a server; those of a model are kept with it.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    durations: Mutex<BTreeMap<&'static str, Histogram>>,
    /// One more reference for each request that is being answered.
    pub in_progress: Arc<()>,
    /// One more reference for each open connection.
    pub connections: Arc<()>,
}

impl Metrics {
    /// Counts a request.
    pub fn count(&self, endpoint: &'static str, status: StatusCode, duration: Duration) {
        let key = (endpoint, status.as_u16());
        *lock(&self.requests).entry(key).or_default() += 1;
        let (seconds, mut durations) = (duration.as_secs_f64(), lock(&self.durations));
        let histogram = durations.entry(endpoint).or_default();
        histogram.seconds += seconds;
        for (count, end) in histogram.counts.iter_mut().zip(BUCKETS) {
            *count += u64::from(end.parse().is_ok_and(|end: f64| seconds <= end));
        }
    }

    /// Returns all counts.
    pub fn text(&self, models: &Models, workers: &Workers) -> String {
        let requests = lock(&self.requests).clone();
        let requests = requests.iter().map(|((endpoint, status), count)| {
            (format!("{{endpoint=\"{endpoint}\",status=\"{status}\"}}"), *count as f64)
        });
        let mut text = metric("requests_total", "counter", requests);
        let mut durations = Vec::new();
        for (endpoint, Histogram { counts, seconds }) in lock(&self.durations).iter() {
            for (end, count) in BUCKETS.iter().zip(counts) {
                let labels = format!("_bucket{{endpoint=\"{endpoint}\",le=\"{end}\"}}");
                durations.push((labels, *count as f64));
            }
            let count = counts[BUCKETS.len() - 1] as f64;
            durations.push((format!("_sum{{endpoint=\"{endpoint}\"}}"), *seconds));
            durations.push((format!("_count{{endpoint=\"{endpoint}\"}}"), count));
        }
        text += &metric("request_duration_seconds", "histogram", durations);
        let (waiting, busy) = workers.load();
        for (name, value) in [
            ("requests_in_progress", Arc::strong_count(&self.in_progress) - 1),
            ("requests_waiting", waiting),
            ("threads_busy", busy),
            ("connections", Arc::strong_count(&self.connections) - 1),
        ] {
            text += &metric(name, "gauge", [(String::new(), value as f64)]);
        }
        let mut of_models = |name, kind, value: fn(&ModelState) -> u64| {
            let samples = models.models.iter().map(|model| {
                let labels = format!("{{model=\"{}\"}}", escaped(&model.file.name));
                (labels, value(&model.state()) as f64)
            });
            text += &metric(name, kind, samples);
        };
        of_models("sentences_total", "counter", |m| m.sentences);
        of_models("tokens_total", "counter", |m| m.tokens);
        of_models("model_load_failures_total", "counter", |m| m.failures);
        of_models("model_loaded_timestamp_seconds", "gauge", |m| m.current.loaded);
        let version = concat!("{version=\"", env!("CARGO_PKG_VERSION"), "\"}");
        text += &metric("build_info", "gauge", [(version.to_owned(), 1.0)]);
        let infos = models.models.iter().map(|model| {
            let current = Arc::clone(&model.state().current);
            let labels = [
                ("model", &*model.file.name),
                ("fingerprint", &current.fingerprint),
                ("version", current.version()),
                ("trained", current.trained.as_deref().unwrap_or_default()),
            ];
            let labels = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
            (format!("{{{}}}", labels.join(",")), 1.0)
        });
        text + &metric("model_info", "gauge", infos)
    }
}

/// Returns a metric as text. The labels of a sample may begin with a suffix of the name.
fn metric(name: &str, kind: &str, samples: impl IntoIterator<Item = (String, f64)>) -> String {
    let samples = samples.into_iter();
    let lines = samples.map(|(labels, value)| format!("dropchain_{name}{labels} {value}\n"));
    format!("# TYPE dropchain_{name} {kind}\n{}", lines.collect::<String>())
}

/// Escapes the value of a label of a metric.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &OriginRules, host: &str, origin: Option<&str>) -> Option<bool> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let allowed = rules.check(&headers, None).ok()?;
        Some(allowed.is_some())
    }

    fn rules(address: &str, hosts: &[&str], origins: &[&str]) -> OriginRules {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        OriginRules::new(address.parse().unwrap(), &owned(hosts), &owned(origins))
    }

    #[test]
    fn a_local_server_answers_only_to_local_names() {
        let local = rules("127.0.0.1:80", &[], &[]);
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:9", "[::1]:80", "127.1.2.3"] {
            assert_eq!(check(&local, host, None), Some(false), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:80", "10.0.0.1", "a b", ""] {
            assert_eq!(check(&local, host, None), None, "{host}");
        }
    }

    #[test]
    fn a_server_of_the_network_answers_to_any_name_or_to_those_allowed() {
        assert_eq!(check(&rules("0.0.0.0:80", &[], &[]), "any.example", None), Some(false));
        let named = rules("0.0.0.0:80", &["Tag.Example"], &[]);
        assert_eq!(check(&named, "tag.example:80", None), Some(false));
        assert_eq!(check(&named, "other.example", None), None);
        assert_eq!(check(&named, "localhost", None), Some(false));
    }

    #[test]
    fn pages_of_other_origins_need_to_be_allowed() {
        let own = rules("127.0.0.1:80", &[], &[]);
        assert_eq!(check(&own, "localhost:80", Some("http://localhost:80")), Some(false));
        for origin in ["http://localhost:81", "https://evil.example", "null", ""] {
            assert_eq!(check(&own, "localhost:80", Some(origin)), None, "{origin}");
        }
        let some = rules("127.0.0.1:80", &[], &["https://a.example/"]);
        assert_eq!(check(&some, "localhost", Some("https://a.example")), Some(true));
        assert_eq!(check(&some, "localhost", Some("http://a.example")), None);
        let any = rules("127.0.0.1:80", &[], &["*"]);
        assert_eq!(check(&any, "localhost", Some("null")), Some(true));
    }

    #[test]
    fn the_description_of_the_interface_has_all_addresses_and_options() {
        let description: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let described = description["paths"].as_object().unwrap();
        assert_eq!(described.len(), PATHS.len());
        assert!(PATHS.into_iter().all(|path| described.contains_key(path)));
        for task in [Task::Tag, Task::Explain] {
            let options = &described[task.path()]["post"]["parameters"];
            let mut names = Vec::new();
            for option in options.as_array().unwrap() {
                let name = option["name"].as_str().unwrap();
                let schema = &option["schema"];
                let value = schema["default"].to_string();
                let value = match &schema["enum"][0] {
                    serde_json::Value::String(first) => first,
                    _ => value.trim_matches('"'),
                };
                let value = if value == "null" { "0.5" } else { value };
                let query = format!("{name}={value}");
                assert!(RequestOptions::parse(task, &query).is_ok(), "{query}");
                names.push(name);
            }
            assert_eq!(names, task.options());
        }
    }
}
