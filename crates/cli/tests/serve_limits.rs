//! `serve`: limits, and clients that break the rules.

use std::time::Instant;

use serde_json::json;

use crate::support::{Connection, NER_CORPUS, Response, Server, TestDir, post, serve, wait_until};

/// A model of so many labels that tagging a token takes long.
pub fn slow_model() -> TestDir {
    let lines: Vec<String> = (0..400).map(|i| format!("w{i} L{i}\n")).collect();
    let line =
        "train slow.conll --template minimal --algorithm ap --max-iterations 1 --model m --quiet";
    TestDir::trained(&[("slow.conll", &lines.concat())], line)
}

/// A request that takes [`slow_model`] far longer than any test.
pub fn endless() -> String {
    let inputs = vec![json!({"tokens": vec!["a"; 20]}); 15_000];
    post("/tag?nbest=2", &json!({"inputs": inputs}).to_string())
}

/// A request that is answered at once, and its status.
fn status_of_small(server: &Server) -> u16 {
    server.post("/tag", "{\"tokens\": [\"Rome\"]}").status
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let (_dir, server) = serve("--max-body 1k");
    let body = |length: usize| format!("{{\"text\":\"{}\"}}", "a".repeat(length - 11));
    assert_eq!(server.post("/tag", &body(1000)).status, 200);
    let message = server.post("/tag", &body(1001)).error(413);
    assert!(message.starts_with("the body has more than 1000 bytes"), "{message}");
    assert!(server.post("/tag", &body(900_000)).error(413).contains("--max-body"));
    // Without its length, it is noticed on the way.
    let chunked = |chunks: &[&str]| {
        let mut connection = server.connect();
        connection.send(
            "POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
        );
        for chunk in chunks {
            connection.send(format!("{:x}\r\n{chunk}\r\n", chunk.len()));
        }
        connection.send("0\r\n\r\n");
        connection.response()
    };
    chunked(&[&body(700), &" ".repeat(400)]).error(413);
    assert_eq!(chunked(&["{\"tokens\": [\"Ro", "me\"]}"]).labels(), [json!(["B-LOC"])]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_request_takes_more_memory_than_the_limits_say() {
    // Another scheme than that of the model: known labels restrict pairs.
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal --scheme bioes");
    let server = Server::start_within(&dir, 1_000_000, "m --threads 1 --memory 200M");
    let tokens = vec!["a"; 100_000];
    let keys = vec!["z"; 2000].join(",");
    let known = json!({"tokens": tokens, "z": vec!["O"; 100_000]}).to_string();
    let spans: Vec<_> =
        (0..30_000).map(|i| json!({"token_start": i, "token_end": i + 1, "type": "PER"})).collect();
    let spans = json!({"tokens": &tokens[..50_000], "z": spans}).to_string();
    let list = |item: &str, count: usize| vec![item; count].join(",");
    let texts = format!("{{\"text\": \"{}\"}}", "a\\n".repeat(600_000));
    let empty = format!("{{\"inputs\": [{}]}}", list("{\"tokens\":[]}", 130_000));
    let rows = format!("{{\"rows\": [{}]}}", list("[]", 600_000));
    let keyed: Vec<String> = (0..150_000).map(|i| format!("\"{i}\":0")).collect();
    let keyed = format!("{{\"tokens\": [\"a\"], {}}}", keyed.join(","));
    for (query, body) in [
        (format!("forced={keys}"), &known),
        ("forced=z".to_owned(), &known),
        ("forced=z&marginals".to_owned(), &spans),
        (String::new(), &texts),
        ("marginals".to_owned(), &texts),
        (String::new(), &empty),
        (String::new(), &rows),
        (String::new(), &keyed),
    ] {
        let status = server.post(&format!("/tag?{query}"), body).status;
        assert!([200, 400, 413, 422].contains(&status), "{status} {query:.40}");
        assert_eq!(status_of_small(&server), 200, "{query:.40}");
    }
}

#[test]
fn an_answer_from_the_headers_reaches_a_client_that_sends_a_large_body() {
    let (_dir, server) = serve("");
    let body = "x".repeat(4_000_000);
    let length = format!("Content-Length: {}\r\n", body.len());
    for (request, host, status) in [
        ("POST /nothing", "localhost", 404),
        ("PUT /tag", "localhost", 405),
        ("POST /tag", "localhost", 415),
        ("POST /tag", "evil.example", 403),
    ] {
        let mut connection = server.connect();
        connection.send(format!("{request} HTTP/1.1\r\nHost: {host}\r\n{length}\r\n{body}"));
        connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        connection.response().error(status);
        assert_eq!(connection.response().status, 200, "{request}");
    }
    // More than is read of what nobody needs.
    let mut connection = server.connect();
    connection
        .send("POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n");
    let part = vec![b'x'; 1 << 20];
    (0..17).for_each(|_| connection.send(&part));
    let answer = connection.response();
    answer.error(404);
    assert_eq!(answer.header("connection"), Some("close"));
    connection.assert_closed();
}

#[test]
fn a_client_that_expects_to_be_told_is_told_before_it_sends_a_body() {
    let (_dir, server) = serve("");
    let head = |path: &str, length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    for (path, length, status) in [("/nothing", 10, 404), ("/tag", 1 << 30, 413)] {
        let mut connection = server.connect();
        connection.send(head(path, length));
        let answer = connection.response();
        answer.error(status);
        assert_eq!(answer.header("connection"), Some("close"));
        connection.assert_closed();
    }
    let body = "{\"tokens\": [\"Rome\"]}";
    let mut connection = server.connect();
    connection.send(head("/tag", body.len()));
    assert_eq!(connection.response().status, 100);
    connection.send(body);
    assert_eq!(connection.response().status, 200);
}

#[test]
fn headers_that_are_far_too_large_are_answered_before_the_end() {
    let (_dir, server) = serve("");
    let mut connection = server.connect();
    connection.send(format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(8_000_000)));
    assert_eq!(connection.response().status, 431);
    connection.assert_closed();
}

/// Starts a request that keeps the only thread of a server busy until the connection is dropped.
pub fn occupy(server: &Server) -> Connection {
    let mut busy = server.connect();
    busy.send(endless());
    wait_until("a busy thread", || server.metric("dropchain_threads_busy") == 1.0);
    busy
}

/// Starts a request that waits for the only thread of a server.
pub fn wait_in_queue(server: &Server) -> Connection {
    let mut waiting = server.connect();
    waiting.send(post("/tag", "{\"tokens\": [\"Rome\"]}"));
    wait_until("a request that waits", || server.metric("dropchain_requests_waiting") == 1.0);
    waiting
}

#[test]
fn requests_beyond_the_queue_are_turned_away() {
    let dir = slow_model();
    let server = Server::start(&dir, "m --threads 1 --queue 1 --timeout 1000");
    let busy = occupy(&server);
    let mut waiting = wait_in_queue(&server);
    let answer = server.post("/tag", "{\"tokens\": [\"Rome\"]}");
    let message = answer.error(503);
    assert_eq!(message, "too many requests are waiting; try again later");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(server.get("/health").status, 200);
    // Nobody waits for the first answer anymore.
    drop(busy);
    assert_eq!(waiting.response().status, 200);
}

#[test]
fn a_request_that_takes_too_long_is_given_up() {
    let dir = slow_model();
    let server = Server::start(&dir, "m --threads 1 --timeout 0.5");
    let mut connection = server.connect();
    connection.send(endless());
    let message = connection.response().error(503);
    assert!(message.starts_with("the request took more than 0.5 seconds"), "{message}");
    wait_until("the thread", || status_of_small(&server) == 200);
}

/// Sends one sentence that keeps a thread busy for a while, and returns what was answered.
fn long_sentence(server: &Server) -> Response {
    let mut connection = server.connect();
    let tokens = vec!["a"; 30_000];
    connection.send(post("/tag?nbest=2", &json!({"tokens": tokens}).to_string()));
    connection.response()
}

#[test]
fn a_sentence_that_takes_too_long_is_given_up_before_its_end() {
    let dir = slow_model();
    let patient = Server::start(&dir, "m --threads 1 --timeout 1000");
    let started = Instant::now();
    assert_eq!(long_sentence(&patient).status, 200);
    let whole = started.elapsed();
    let server = Server::start(&dir, "m --threads 1 --timeout 0.01");
    let started = Instant::now();
    long_sentence(&server).error(503);
    wait_until("the thread", || server.metric("dropchain_threads_busy") == 0.0);
    let given_up = started.elapsed();
    assert!(given_up < whole / 2, "{given_up:?} of {whole:?}");
}

#[test]
fn slow_clients_do_not_keep_connections() {
    let (_dir, server) = serve("--idle-timeout 0.3 --timeout 0.3 --max-connections 3");
    let mut silent = server.connect();
    let mut headers = server.connect();
    headers.send("POST /tag HTTP/1.1\r\nHost: loc");
    let mut body = server.connect();
    body.send(post("/tag", "{\"tokens\": [\"Rome\"]}").split_at(100).0);
    silent.assert_closed();
    headers.assert_closed();
    let message = body.response().error(408);
    assert_eq!(message, "the body of the request did not arrive in time");
    body.assert_closed();
    let mut idle = server.connect();
    idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(idle.response().status, 200);
    idle.assert_closed();
}

#[test]
fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let (_dir, server) = serve("--idle-timeout 0.3 --max-connections 1");
    let mut connection = server.connect();
    let body = json!({"tokens": vec!["a"; 30_000]}).to_string();
    // More than the system buffers.
    connection.send(post("/tag?marginals", &body).repeat(4));
    // The only connection is free again when this one is closed.
    let mut other = server.connect();
    other.send(post("/tag", "{\"tokens\": [\"Rome\"]}"));
    assert_eq!(other.response().status, 200);
}

#[test]
fn connections_beyond_the_limit_wait() {
    let (_dir, server) = serve("--max-connections 1");
    let mut first = server.connect();
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    first.send(health);
    assert_eq!(first.response().status, 200);
    let mut second = server.connect();
    second.send(health);
    first.send(health);
    assert_eq!(first.response().status, 200);
    drop(first);
    assert_eq!(second.response().status, 200);
}

#[test]
fn garbage_is_answered_with_an_error_and_harms_nobody() {
    let (_dir, server) = serve("");
    let status = |bytes: &[u8]| {
        let mut connection = server.connect();
        connection.send(bytes);
        connection.next_response().map(|response| response.status)
    };
    let huge = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let headers =
        |count| format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(count));
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(100_000));
    let length = "POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                  Content-Length: 99999999999999999999999\r\n\r\n";
    for (bytes, expected) in [
        (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS\r\n\r\n"[..], 400),
        (b"\x00\xff\xfe\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (huge.as_bytes(), 431),
        (headers(5000).as_bytes(), 200),
        (headers(6000).as_bytes(), 431),
        (length.as_bytes(), 400),
    ] {
        assert_eq!(status(bytes), Some(expected), "{}", String::from_utf8_lossy(bytes));
    }
    assert!(matches!(status(long.as_bytes()), Some(414 | 431)));
    let smuggled = "POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                    Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}  ";
    assert_eq!(status(smuggled.as_bytes()), Some(400));
    let not_utf8 = b"POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                     Content-Length: 12\r\n\r\n{\"text\":\"\xff\"}";
    assert_eq!(status(not_utf8), Some(400));
    // A client that goes away in the middle.
    let mut gone = Connection::open(server.address).unwrap();
    gone.send(post("/tag", "{\"tokens\": [\"Rome\"]}").split_at(100).0);
    drop(gone);
    assert_eq!(status_of_small(&server), 200);
    assert!(!server.stderr().contains("panicked"), "{}", server.stderr());
}
