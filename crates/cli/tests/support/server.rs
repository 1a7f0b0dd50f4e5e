//! A running `serve` process, and a client that may break the rules of HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{NER_CORPUS, TestDir, send, wait, wait_until};

/// An answer that takes longer counts as none.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A server of a small model, and its directory.
pub fn serve(options: &str) -> (TestDir, Server) {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let server = Server::start(&dir, &format!("m {options}"));
    (dir, server)
}

/// A running `serve` process. It is killed when it is dropped.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    stderr: Arc<Mutex<String>>,
}

impl Server {
    /// Starts the program on a port that it chooses.
    pub fn start(dir: &TestDir, options: &str) -> Self {
        let line = format!("serve --listen 127.0.0.1:0 {options}");
        Self::of(dir.command(&line))
    }

    /// Starts the program within a limit on its address space, in kilobytes.
    pub fn start_within(dir: &TestDir, kilobytes: u64, options: &str) -> Self {
        let line =
            format!("ulimit -v {kilobytes} && exec \"$D\" serve --listen 127.0.0.1:0 {options}");
        Self::of(dir.shell_command(&line))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn({
            let stderr = Arc::clone(&stderr);
            move || {
                for line in lines {
                    let mut stderr = stderr.lock().unwrap();
                    stderr.push_str(&line.unwrap());
                    stderr.push('\n');
                }
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{first}{}", stderr.lock().unwrap()));
        Self { child, address: address.parse().unwrap(), stderr }
    }

    /// Returns what it has written to standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// Waits until it has written `text` to standard error.
    pub fn wait_for(&self, text: &str) {
        wait_until(text, || self.stderr().contains(text));
    }

    /// Sends a signal.
    pub fn send(&mut self, signal: &str) {
        send(signal, &mut self.child);
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child, "serve")
    }

    /// Opens a connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address).unwrap()
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str) -> Response {
        let mut connection = self.connect();
        connection.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        connection.response()
    }

    /// Sends JSON.
    pub fn post(&self, path: &str, body: &str) -> Response {
        let mut connection = self.connect();
        connection.send(post(path, body));
        connection.response()
    }

    /// Returns the value of a metric, given its name and labels as they are printed.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let value = line.unwrap_or_else(|| panic!("no {name} in {text}"));
        value.trim().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a request with a body of JSON.
pub fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A connection.
pub struct Connection {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let reader = BufReader::new(stream.try_clone()?);
        Ok(Self { stream, reader })
    }

    /// Sends bytes. The server may have closed the connection already.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Reads a response.
    pub fn response(&mut self) -> Response {
        self.next_response().expect("the connection was closed")
    }

    /// Reads a response; `None` if the connection was closed before it.
    pub fn next_response(&mut self) -> Option<Response> {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
                assert!(head.is_empty(), "an incomplete response: {head:?}");
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let status = head[0].split(' ').nth(1).unwrap().parse().unwrap();
        let mut response = Response { status, head, body: Vec::new() };
        let length = response.header("content-length");
        let length = length.map_or(0, |length| length.parse().unwrap());
        response.body.resize(length, 0);
        self.reader.read_exact(&mut response.body).unwrap();
        Some(response)
    }

    /// Reads until the server closes the connection.
    pub fn read_to_end(&mut self, text: &mut String) {
        self.reader.read_to_string(text).unwrap();
    }

    /// Waits until the server closes the connection, and asserts that it sends nothing before.
    pub fn assert_closed(&mut self) {
        let mut byte = [0];
        // A reset is an end, too.
        let read = self.reader.read(&mut byte).unwrap_or_else(|error| {
            assert!(error.kind() != std::io::ErrorKind::WouldBlock, "not closed");
            0
        });
        assert_eq!(read, 0, "{byte:?}");
    }
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: Vec<String>,
    body: Vec<u8>,
}

impl Response {
    /// Returns a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head[1..].iter().map(|line| line.split_once(": "));
        let mut headers = headers.map(Option::unwrap);
        let found = headers.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Parses the body, which must be JSON and be declared so.
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Asserts that it is an error with this status, and returns its message.
    pub fn error(&self, status: u16) -> String {
        let json = self.json();
        assert_eq!((self.status, &json["status"]), (status, &status.into()), "{json}");
        json["error"].as_str().unwrap().to_owned()
    }

    /// Asserts that the request succeeded, and returns the body.
    pub fn success(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.text());
        self.text()
    }

    /// Asserts that the request succeeded, and returns the labels of its sentences.
    pub fn labels(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text());
        let sentences = self.json()["sentences"].take();
        let sentences = sentences.as_array().unwrap().iter();
        sentences.map(|sentence| sentence["labels"].clone()).collect()
    }
}
