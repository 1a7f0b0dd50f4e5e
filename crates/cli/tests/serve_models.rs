//! `serve`: its models, which are replaced while it runs, and its end.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::serve_limits::{occupy, slow_model, wait_in_queue};
use crate::support::{Connection, NER_CORPUS, Response, Server, TestDir, post, wait_until};

/// A model that labels all it knows `NEW`.
fn new_model() -> Vec<u8> {
    let corpus = "Ann NEW\nleft NEW\n\nRome NEW\nSeine NEW\n\nx OLD\n";
    let train = "train new.conll --template minimal --model new --quiet";
    TestDir::trained(&[("new.conll", corpus)], train).bytes("new")
}

/// A directory with the model `m` and the file `new`, another model.
fn two_models() -> TestDir {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    dir.write("new", new_model());
    dir
}

fn tag(server: &Server) -> Response {
    server.post("/tag", "{\"tokens\": [\"Rome\"]}")
}

fn rename(dir: &TestDir, from: &str, to: &str) {
    fs::rename(dir.path(from), dir.path(to)).unwrap();
}

#[test]
fn a_request_is_answered_by_the_model_that_it_began_with() {
    let dir = slow_model();
    dir.write("new", new_model());
    let server = Server::start(&dir, "m --threads 1 --timeout 1000");
    let busy = occupy(&server);
    let mut waiting = wait_in_queue(&server);
    rename(&dir, "new", "m");
    server.wait_for("m: loaded m");
    drop(busy);
    let labels = waiting.response().labels();
    assert_ne!(labels, [json!(["NEW"])]);
    assert_eq!(tag(&server).labels(), [json!(["NEW"])]);
}

#[test]
fn a_damaged_model_is_reported_and_the_old_one_serves_on() {
    let dir = two_models();
    let server = Server::start(&dir, "m");
    let mut damaged = dir.bytes("new");
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    dir.write("damaged", damaged);
    rename(&dir, "damaged", "m");
    server.wait_for("the model loaded before serves on");
    assert!(server.stderr().contains("m: m: "), "{}", server.stderr());
    assert_eq!(tag(&server).labels(), [json!(["B-LOC"])]);
    let health = server.get("/health");
    assert_eq!((health.status, &health.json()["status"]), (200, &json!("degraded")));
    assert!(health.json()["models"][0]["error"].as_str().unwrap().starts_with("m: "));
    assert_eq!(server.metric("dropchain_model_load_failures_total{model=\"m\"}"), 1.0);
    // It is tried once, not every second.
    thread::sleep(Duration::from_millis(2500));
    assert_eq!(server.stderr().matches("serves on").count(), 1, "{}", server.stderr());
    rename(&dir, "new", "m");
    server.wait_for("m: loaded m");
    assert_eq!(server.get("/health").json()["status"], "ok");
    assert_eq!(tag(&server).labels(), [json!(["NEW"])]);
}

#[test]
fn a_model_that_is_written_in_place_is_loaded_when_it_is_complete() {
    let dir = two_models();
    let server = Server::start(&dir, "m");
    let new = dir.bytes("new");
    dir.write("m", &new[..new.len() / 2]);
    server.wait_for("the model loaded before serves on");
    assert_eq!(tag(&server).labels(), [json!(["B-LOC"])]);
    dir.write("m", &new);
    server.wait_for("m: loaded m");
    assert_eq!(tag(&server).labels(), [json!(["NEW"])]);
}

#[test]
fn a_model_whose_file_is_removed_serves_on() {
    let dir = two_models();
    let server = Server::start(&dir, "m");
    fs::remove_file(dir.path("m")).unwrap();
    server.wait_for("No such file");
    assert_eq!(tag(&server).labels(), [json!(["B-LOC"])]);
    assert_eq!(server.get("/health").json()["status"], "degraded");
}

#[test]
fn sighup_loads_all_models_again() {
    let dir = two_models();
    let mut server = Server::start(&dir, "m new");
    server.send("HUP");
    server.wait_for("m: loaded m");
    server.wait_for("new: loaded new");
    assert_eq!(tag(&server).labels(), [json!(["B-LOC"])]);
}

/// Waits until a request is in progress, besides the one that asks.
fn wait_for_progress(server: &Server) {
    wait_until("a request in progress", || server.metric("dropchain_requests_in_progress") == 2.0);
}

/// Starts a request whose body has not arrived yet, and returns the rest of the body.
fn half_sent(connection: &mut Connection) -> String {
    let mut request = post("/tag", "{\"tokens\": [\"Rome\"]}");
    let rest = request.split_off(request.len() - 8);
    connection.send(request);
    rest
}

#[test]
fn requests_in_progress_are_answered_before_the_end() {
    let dir = two_models();
    for signal in ["TERM", "INT"] {
        let mut server = Server::start(&dir, "m");
        let mut idle = server.connect();
        idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(idle.response().status, 200);
        let mut connection = server.connect();
        let rest = half_sent(&mut connection);
        wait_for_progress(&server);
        server.send(signal);
        server.wait_for(&format!("SIG{signal}: finishing the requests in progress"));
        idle.assert_closed();
        assert!(Connection::open(server.address).is_err());
        connection.send(rest);
        assert_eq!(connection.response().labels(), [json!(["B-LOC"])]);
        assert_eq!(server.wait().code(), Some(0), "{}", server.stderr());
    }
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let dir = two_models();
    let mut server = Server::start(&dir, "m");
    let mut connection = server.connect();
    half_sent(&mut connection);
    wait_for_progress(&server);
    server.send("TERM");
    server.wait_for("SIGTERM: finishing");
    // Signals within a second count as one.
    thread::sleep(Duration::from_millis(1200));
    server.send("TERM");
    assert_eq!(server.wait().code(), Some(143));
    assert!(server.stderr().contains("interrupted by SIGTERM again"), "{}", server.stderr());
}
