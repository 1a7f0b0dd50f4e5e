//! The server: requests byte by byte, and bodies to tag with the options of an address.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use dropchain::{MemoryLimit, Tagger};
use dropchain_serve::{ModelFile, ServeOptions, Server, ServerHandle};
use serde::de::IgnoredAny;
use serde_json::Value;
use tempfile::TempDir;

use super::models::models;
use crate::harness::Target;

/// A server that says nothing for so long has lost the request.
const PATIENCE: Duration = Duration::from_secs(60);

/// What ends a connection if everything before it is whole requests.
const LAST: &[u8] = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Maximum size of a body, so that random ones exceed it.
const MAX_BODY: usize = 8 << 10;

/// The name of the thread of connections.
const NAME: &str = "connections";

/// Number of panics on the threads of connections; those of tagging are answers with status 500.
static PANICS: AtomicUsize = AtomicUsize::new(0);

const HTTP: [&str; 22] = [
    "\r\n",
    "\r\n\r\n",
    "GET ",
    "HEAD ",
    "OPTIONS ",
    "POST /tag HTTP/1.1\r\n",
    "POST /tag?forced=ner HTTP/1.1\r\n",
    "GET / HTTP/1.0\r\n",
    "Host: localhost\r\n",
    "Host: a.example\r\n",
    "Origin: http://localhost\r\n",
    "Content-Type: application/json\r\n",
    "Content-Encoding: gzip\r\n",
    "Content-Length: 17\r\n",
    "Content-Length: 9999999999999999999\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: upgrade\r\n",
    "5\r\n{\"tok\r\n",
    "0\r\n\r\n",
    "{\"text\":\"Ann left\"}",
];

const BODIES: &str = r#"
    model=b& model=c& forced=ner& forced=ner,spans& marginals& nbest=3& nbest=1000& constrain=off&
    scheme=bioes& scheme=raw& %2C {"text":" {"texts":[ {"inputs":[{ "tokens":["Ann","left"]
    "rows":[["Ann","1"]] "columns":["word","size","label"] "size":["1","2"] "doc":"1" "doc":null
    "ner":[null,"O"] "ner":[["B-PER","O"],"I-PER"] "spans":[[0,1,"PER"]]
    "spans":[{"start":0,"end":1,"label":"PER"}] null -1 [ ] } , " \u0000 \ud83d
"#;

/// A server in this process with several models, which ends with it.
struct Running {
    address: SocketAddr,
    handle: ServerHandle,
    _folder: TempDir,
}

impl Running {
    fn start(timeout: Duration) -> Self {
        static COUNT: Once = Once::new();
        COUNT.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                let is_ours = thread::current().name() == Some(NAME);
                PANICS.fetch_add(usize::from(is_ours), Ordering::Relaxed);
                before(panic);
            }));
        });
        let folder = TempDir::new().unwrap();
        let files = ["a", "b", "c", "d"].into_iter().zip(models());
        let files = files.map(|(name, model)| {
            let path = folder.path().join(name);
            fs::write(&path, model).unwrap();
            let name = name.to_owned();
            ModelFile { name, path }
        });
        let memory = MemoryLimit::Bytes(64 << 20);
        let open = move |path: &_| Ok(Tagger::open(path)?.with_memory_limit(memory));
        let options = ServeOptions {
            listen: "127.0.0.1:0".parse().unwrap(),
            timeout,
            idle_timeout: timeout,
            max_body: MAX_BODY,
            memory,
            ..ServeOptions::default()
        };
        let server = Server::open(files.collect(), open, options).unwrap();
        let (address, handle) = (server.address(), server.handle());
        let run = move || server.run(|_| ()).unwrap();
        thread::Builder::new().name(NAME.to_owned()).spawn(run).unwrap();
        Self { address, handle, _folder: folder }
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        BufReader::new(stream)
    }

    /// Sends bytes, whatever they are, and then a last request; returns all that is answered.
    fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may have had enough before the end.
        let _ = stream.get_mut().write_all(&[bytes, LAST].concat());
        let mut answers = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answers) {
            let is_closed = error.kind() == std::io::ErrorKind::ConnectionReset;
            assert!(is_closed, "no answer: {error}");
        }
        answers
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
    }
}

/// A client whose connection stays open from request to request.
struct Client<'a> {
    server: &'a Running,
    stream: BufReader<TcpStream>,
}

impl Client<'_> {
    /// Sends a body to tag; returns the status and the body of the answer.
    fn tag(&mut self, query: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let length = body.len();
        let head = format!(
            "POST /tag?{query} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        let request = [head.as_bytes(), body].concat();
        self.stream.get_mut().write_all(&request).unwrap();
        let (mut status, mut length, mut is_last) = (None, None, false);
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            let after = |start| line.strip_prefix(start);
            status = status.or_else(|| after("http/1.1 ")?.get(..3)?.parse().ok());
            length = length.or_else(|| after("content-length: ")?.parse().ok());
            is_last |= line == "connection: close";
        }
        let mut body = vec![0; length.expect("the length of an answer")];
        self.stream.read_exact(&mut body).unwrap();
        if is_last {
            self.stream = self.server.connect();
        }
        (status.expect("the status of an answer"), body)
    }
}

/// A query whose bytes may stand in an address: those that may not are escaped.
fn query(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(1000)];
    let escaped = bytes.iter().map(|&byte| match byte {
        b'%' | b'&' | b'=' | b',' | b'+' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    escaped.collect()
}

#[test]
fn any_request_is_answered_and_takes_nothing_from_the_next() {
    let server = Running::start(Duration::from_millis(100));
    let mut target = Target::new("requests", "");
    target.dictionary = HTTP.map(str::to_owned).to_vec();
    target.run(|input| {
        let answers = server.send(input);
        let answers = String::from_utf8_lossy(&answers);
        assert!(!answers.contains("HTTP/1.1 500"), "{answers}");
        assert!(answers.is_empty() || answers.starts_with("HTTP/1."));
        assert_eq!(PANICS.load(Ordering::Relaxed), 0, "a connection panicked");
        let alone = server.send(b"");
        assert!(alone.starts_with(b"HTTP/1.1 200 OK\r\n"));
    });
}

#[test]
fn any_body_is_tagged_or_an_error_and_the_connection_goes_on() {
    let server = Running::start(PATIENCE);
    let stream = server.connect();
    let server = &server;
    let client = std::cell::RefCell::new(Client { server, stream });
    Target::new("bodies", BODIES).run(|input| {
        let line = input.iter().position(|&byte| byte == b'\n');
        let (options, body) = input.split_at(line.map_or(0, |end| end + 1));
        let options = query(options.strip_suffix(b"\n").unwrap_or(options));
        let mut client = client.borrow_mut();
        let (status, answer) = client.tag(&options, body);
        let Ok(json) = serde_json::from_slice::<Value>(&answer) else {
            // A value of another key is copied as it came, and half a pair of surrogates is JSON.
            let _: IgnoredAny = serde_json::from_slice(&answer).unwrap();
            assert_eq!(status, 200);
            return;
        };
        match status {
            200 => {
                let several = json["results"].as_array();
                let results = several.map_or(vec![&json], |several| several.iter().collect());
                assert!(results.iter().all(|result| result["sentences"].is_array()));
            }
            400 | 404 | 413 | 422 => {
                assert!(json["error"].as_str().is_some_and(|error| !error.is_empty()));
                assert_eq!(json["status"], status);
            }
            _ => panic!("{status}: {json}"),
        }
        assert!(client.tag(&options, body) == (status, answer), "twice");
    });
}
