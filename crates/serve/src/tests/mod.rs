//! Answers of the router, without connections.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use dropchain::corpus::ReadOptions;
use dropchain::train::{Lbfgs, TrainOptions, Trainer};
use dropchain::{Corpus, MemoryLimit, Model, Tagger, Template};
use dropchain_numerics::testing::rows;
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::access_log::AccessLog;
use crate::models::Models;
use crate::routes::{App, router};
use crate::{ModelFile, ServeOptions};

const CORPUS: &str = "\
Ann B-PER
Lee I-PER
left O
Rome B-LOC
. O

Bob B-PER
met O
Ann B-PER
";

/// A model of names.
fn model() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    let train = || {
        let corpus = Corpus::parse(CORPUS, "train.conll", &ReadOptions::default()).unwrap();
        let template = Template::parse("word\nword[-1]\n", "t.tpl", &mut |_| unreachable!());
        let trainer = Trainer::new(TrainOptions::new(Lbfgs::default())).unwrap();
        Arc::new(trainer.train(corpus, template.unwrap(), &mut ()).unwrap().model)
    };
    Arc::clone(MODEL.get_or_init(train))
}

/// A server of one model, `ner`, whose requests need no connection.
struct TestServer {
    runtime: Runtime,
    service: TowerToHyperService<Router>,
}

/// The answer to a request.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the message of an error with a status.
    fn error(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        self.json()["error"].as_str().unwrap().to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl TestServer {
    fn new(change: impl FnOnce(&mut ServeOptions)) -> Self {
        Self::with_log(change, None)
    }

    fn with_log(change: impl FnOnce(&mut ServeOptions), log: Option<AccessLog>) -> Self {
        let mut options = ServeOptions { threads: 1, ..ServeOptions::default() };
        change(&mut options);
        let file = ModelFile { name: "ner".to_owned(), path: PathBuf::from("none") };
        let memory = options.memory;
        let open = move |_: &_| Ok(Tagger::new(model()).with_memory_limit(memory));
        let models = Models::open(vec![file], Box::new(open)).unwrap();
        let mut app = App::new("127.0.0.1:80".parse().unwrap(), models, options);
        app.log = log;
        let app = Arc::new(app);
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        Self { runtime, service: TowerToHyperService::new(router(&app)) }
    }

    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (method, path) = line.split_once(' ').unwrap();
        let request = Request::builder().method(method).uri(path);
        let request = headers.iter().fold(request, |r, (name, value)| r.header(*name, *value));
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.runtime.block_on(async {
            let (head, body) = self.service.call(request).await.unwrap().into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            Answer { status: head.status.as_u16(), headers: head.headers, body }
        })
    }

    fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[("host", "localhost")], "")
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        let headers = [("host", "localhost"), ("content-type", "application/json")];
        self.send(&format!("POST {path}"), &headers, body)
    }

    /// Returns the value of a metric.
    fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").body;
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
        values.next().map_or(0.0, |value| value.trim().parse().unwrap())
    }
}

#[test]
fn spans_have_probabilities_and_those_below_the_threshold_are_left_out() {
    let server = TestServer::new(|_| {});
    let spans = |options: &str| {
        let answer = server.post(&format!("/tag?{options}"), "{\"tokens\": [\"Ann\", \"left\"]}");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["sentences"][0]["spans"].as_array().unwrap().clone()
    };
    assert!(spans("")[0].get("probability").is_none());
    let p = spans("threshold=0")[0]["probability"].as_f64().unwrap();
    assert!(0.5 < p && p < 1.0 && spans("marginals")[0]["probability"] == p);
    assert_eq!(spans(&format!("threshold=PER={p}")).len(), 1);
    assert_eq!(spans(&format!("threshold={}", p + 1e-9)).len(), 0);
    let message = server.post("/tag?threshold=XYZ=0.5", "{\"text\": \"Ann left\"}").error(422);
    assert!(message.contains("no type 'XYZ'; its types are "), "{message}");
}

#[test]
fn bodies_that_cannot_be_answered_say_why() {
    let server = TestServer::new(|_| {});
    let deep = format!("{{\"text\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let table = r#"
        400 {"text": → not valid JSON: EOF
        400 → not valid JSON
        422 [] → expected a JSON object with one of the keys
        422 7 → expected a JSON object with one of the keys
        422 {} → expected the key "tokens" or "text"
        422 {"text": 7} → key "text": expected a string, found a number
        422 {"text": "a", "text": "b"} → found the key "text" twice
        422 {"tokens": ["a", null]} → expected an array of strings, but item 2 is null
        422 {"texts": "a"} → key "texts": expected an array
        422 {"texts": ["a", 1]} → texts:2: expected a string
        422 {"texts": [], "text": "a"} → expected no other key beside "texts", found
        422 {"inputs": ["a"]} → inputs:1: expected an object; found "a"
        422 {"inputs": [{"text": "a"}, {}]} → inputs:2: expected the key
        422 {"text": "a", "marginals": true} → "marginals" is an option; expected it in
        422 {"text": "a", "nbest": 3} → as in /tag?nbest=3
        422 DEEP → key "text": expected a string
        422 {"rows": [["a"], ["b", "c"]]} → row 2: expected 1 columns (word), found 2
        422 {"rows": [[]], "columns": []} → key "columns": expected the names of
        422 {"rows": [[]]} → expected rows of the columns of the training data
        422 {"rows": [["a", "b", "c"]]} → expected rows of the columns of the training
        422 {"rows": [[1]]} → key "rows": expected arrays of strings; invalid type: integer
    "#;
    for (request, expected) in rows(table) {
        let (status, body) = request.split_once(' ').unwrap_or((request, ""));
        let body = &body.replace("DEEP", &deep);
        let found = server.post("/tag", body).error(status.parse().unwrap());
        assert!(found.contains(&expected), "{body:.80}: {found}");
    }
    let long = json!({"tokens": vec!["a"; 2000]}).to_string();
    let message = server.post("/tag?nbest=1000", &long).error(422);
    assert!(message.contains("2000 tokens with nbest=1000"), "{message}");
    let answer = server.post("/tag", "{\"tokens\": [\"Ann\"]}").json();
    assert_eq!(answer["sentences"][0]["labels"], json!(["B-PER"]));
}

#[test]
fn addresses_methods_and_types_that_are_not_served_are_refused() {
    let server = TestServer::new(|_| {});
    let message = server.get("/nothing").error(404);
    assert!(message.contains("there is nothing at \"/nothing\""), "{message}");
    let answer = server.get("/tag");
    assert!(answer.error(405).contains("expected POST"));
    assert_eq!(answer.header("allow"), Some("POST, OPTIONS"));
    let answer = server.post("/models", "{}");
    assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
    let json = ("content-type", "application/json");
    for headers in [
        &[("host", "localhost")][..],
        &[("host", "localhost"), ("content-type", "text/plain")],
        &[("host", "localhost"), json, ("content-encoding", "gzip")],
    ] {
        server.send("POST /tag", headers, "{}").error(415);
    }
}

#[test]
fn what_a_request_may_take_is_limited() {
    let tokens = |count| json!({"tokens": vec!["a"; count]}).to_string();
    let server = TestServer::new(|options| options.max_sentence = 3);
    let message = server.post("/tag", &tokens(4)).error(422);
    assert!(message.contains("has more than 3 tokens"), "{message}");
    let rows = json!({"rows": vec![["a"]; 4]}).to_string();
    let message = server.post("/tag", &rows).error(422);
    assert!(message.contains("has 4 tokens; expected at most 3"), "{message}");
    let answer = server.post("/tag", "{\"text\": \"a b c d\"}").json();
    assert_eq!(answer["sentences"].as_array().unwrap().len(), 2);

    let server = TestServer::new(|options| options.max_body = 1000);
    assert_eq!(server.post("/tag", &tokens(200)).status, 200);
    let message = server.post("/tag?marginals", &tokens(200)).error(413);
    assert!(message.contains("would have more than 16000 bytes"), "{message}");
    let message = server.post("/tag", &tokens(300)).error(413);
    assert!(message.starts_with("the body has more than 1000 bytes"), "{message}");

    let server = TestServer::new(|options| options.memory = MemoryLimit::Bytes(1_000_000));
    assert_eq!(server.post("/tag", &tokens(500)).status, 200);
    let message = server.post("/tag?nbest=1000", &tokens(500)).error(422);
    assert!(message.contains("tagging a sentence of 500 tokens"), "{message}");
}

#[test]
fn metrics_count_requests_sentences_and_tokens() {
    let server = TestServer::new(|_| {});
    assert_eq!(server.metric("dropchain_tokens_total{model=\"ner\"}"), 0.0);
    assert_eq!(server.post("/tag", "{\"texts\": [\"Ann left. Bob met Ann.\", \"\"]}").status, 200);
    server.post("/tag", "{").error(400);
    server.get("/secret?x").error(404);
    for (name, expected) in [
        ("dropchain_sentences_total{model=\"ner\"}", 2.0),
        ("dropchain_tokens_total{model=\"ner\"}", 7.0),
        ("dropchain_requests_total{endpoint=\"/tag\",status=\"200\"}", 1.0),
        ("dropchain_requests_total{endpoint=\"/tag\",status=\"400\"}", 1.0),
        ("dropchain_requests_total{endpoint=\"other\",status=\"404\"}", 1.0),
        ("dropchain_request_duration_seconds_bucket{endpoint=\"/tag\",le=\"+Inf\"}", 2.0),
        ("dropchain_requests_in_progress", 1.0),
    ] {
        assert_eq!(server.metric(name), expected, "{name}");
    }
    assert!(server.metric("dropchain_model_loaded_timestamp_seconds{model=\"ner\"}") > 1e9);
    let answer = server.get("/metrics");
    let text = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.header("content-type"), Some(text));
}

#[test]
fn answers_say_which_model_they_are_from_unless_they_are_refusals() {
    let server = TestServer::new(|_| {});
    let fingerprint = format!("{:032x}", model().fingerprint().unwrap());
    let identity = format!("ner@{fingerprint}");
    for path in ["/models", "/health", "/livez", "/readyz", "/metrics", "/nothing"] {
        assert_eq!(server.get(path).header("dropchain-model"), Some(&*identity), "{path}");
    }
    let answer = server.post("/tag", "{\"text\": \"Ann left.\"}");
    assert_eq!(answer.header("dropchain-model"), Some(&*identity));
    for host in [&[][..], &[("host", "evil.example")]] {
        assert_eq!(server.send("GET /models", host, "").header("dropchain-model"), None);
    }
    let models = server.get("/models").json();
    let health = server.get("/readyz").json();
    let version = env!("CARGO_PKG_VERSION");
    for described in [&models["models"][0], &health["models"][0]] {
        assert_eq!((&described["name"], &described["version"]), (&json!("ner"), &json!(version)));
        assert_eq!(described["fingerprint"], json!(fingerprint));
    }
    assert_eq!(models["models"][0]["files"][0]["name"], "train.conll");
    assert_eq!((&health["status"], &health["version"]), (&json!("ok"), &json!(version)));
    let info = format!("fingerprint=\"{fingerprint}\",version=\"{version}\",trained=\"\"}}");
    assert_eq!(server.metric(&format!("dropchain_model_info{{model=\"ner\",{info}")), 1.0);
    assert_eq!(server.metric(&format!("dropchain_build_info{{version=\"{version}\"}}")), 1.0);
}

#[test]
fn the_access_log_has_a_line_for_each_request_and_nothing_that_a_client_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let (log, writer) = AccessLog::open(&path).unwrap();
    let thread = std::thread::spawn(|| writer.run(&|_: &str| ()));
    let server = TestServer::with_log(|_| {}, Some(log));
    server.post("/tag?forced=Oslo", "{\"text\": \"Oslo left.\", \"Oslo\": null}");
    server.post("/tag?Oslo", "{\"Oslo\"");
    server.get("/Oslo?Oslo");
    server.send("OSLO /models", &[("host", "localhost"), ("user-agent", "Oslo")], "");
    server.send("GET /models", &[("host", "oslo.example")], "");
    drop(server);
    thread.join().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.to_lowercase().contains("oslo"), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let found: Vec<String> = (lines.iter())
        .map(|line| format!("{} {} {}", line["method"], line["path"], line["status"]))
        .collect();
    assert_eq!(
        found.join("\n").replace('"', ""),
        "POST /tag 200\nPOST /tag 400\nGET other 404\nother /models 405\nGET /models 403"
    );
    assert_eq!((&lines[0]["sentences"], &lines[0]["tokens"]), (&json!(1), &json!(3)));
    assert!(lines[0]["bytes"].as_u64() > Some(100), "{text}");
}

#[test]
fn other_hosts_and_origins_are_refused_unless_they_are_allowed() {
    let server = TestServer::new(|options| {
        options.allow_hosts = vec!["tag.example".to_owned()];
        options.allow_origins = vec!["https://a.example".to_owned()];
    });
    let host = |host| server.send("GET /models", &[("host", host)], "").status;
    assert_eq!(["localhost:1", "127.0.0.1", "TAG.example:80"].map(host), [200; 3]);
    assert_eq!(["evil.example", "localhost.evil.example", "8.8.8.8"].map(host), [403; 3]);
    server.send("GET /models", &[], "").error(400);
    let origin = |method: &str, origin| {
        let headers = [("host", "localhost:80"), ("origin", origin)];
        server.send(&format!("{method} /models"), &headers, "")
    };
    let own = origin("GET", "http://localhost:80");
    assert_eq!((own.status, own.header("access-control-allow-origin")), (200, None));
    assert!(origin("GET", "https://evil.example").error(403).contains("--allow-origin"));
    origin("OPTIONS", "https://evil.example").error(403);
    origin("GET", "null").error(403);
    let allowed = origin("GET", "https://a.example");
    let header = allowed.header("access-control-allow-origin");
    assert_eq!((allowed.status, header), (200, Some("https://a.example")));
    let preflight = origin("OPTIONS", "https://a.example");
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-headers"), Some("content-type"));
    for name in ["host", "origin"] {
        let headers = [("host", "localhost"), ("origin", "http://localhost"), (name, "localhost")];
        let message = server.send("GET /health", &headers, "").error(400);
        assert!(message.ends_with("occurs twice"), "{message}");
    }
}
