//! Tagging over HTTP: a [`Server`] keeps models in memory, and answers JSON with JSON.
//!
//! One thread talks to all connections and only moves bytes. Bodies are parsed, tagged and answered
//! on a bounded number of other threads, with the reader of JSON lines and the writer of `tag
//! --output jsonl`, whose bytes the answers have. What a client may take is bounded in size and
//! time by [`ServeOptions`]. Models whose files are replaced are replaced while requests are
//! answered. `docs/serve.md` is the manual.
//!
//! ```no_run
//! use dropchain_serve::{ModelFile, ServeOptions, Server};
//!
//! # fn main() -> dropchain::Result<()> {
//! let model = ModelFile { name: "ner".to_owned(), path: "ner.model".into() };
//! let open = |path: &_| dropchain::Tagger::open(path);
//! let server = Server::open(vec![model], open, ServeOptions::default())?;
//! let handle = server.handle(); // from another thread: handle.stop()
//! server.run(|message| eprintln!("{message}"))
//! # }
//! ```

mod access_log;
mod models;
mod request;
mod routes;
mod server;
mod tagging;
#[cfg(test)]
mod tests;
mod unread;

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::available_parallelism;
use std::time::Duration;

use dropchain::MemoryLimit;
use dropchain::corpus::ReadLimits;

pub use models::ModelFile;
pub use server::{Server, ServerHandle};

/// What a server listens on, who may use it, and its limits.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address and port to listen on; port 0 chooses one.
    pub listen: SocketAddr,
    /// Host names that requests may be for, besides localhost. Without any, an address of the
    /// network is served under all names.
    pub allow_hosts: Vec<String>,
    /// Origins of pages that may use the server, besides its own page; `*` is any.
    pub allow_origins: Vec<String>,
    /// Number of threads that tag, at least 1.
    pub threads: usize,
    /// Maximum number of requests that wait for a thread.
    pub queue: usize,
    /// Maximum time of a request, from its headers to its answer.
    pub timeout: Duration,
    /// Maximum time without headers on a connection, or without a client that reads.
    pub idle_timeout: Duration,
    /// Maximum number of connections; others wait.
    pub max_connections: usize,
    /// Maximum size of the body of a request, in bytes; a response may have 16 times as much.
    pub max_body: usize,
    /// Maximum number of tokens of a sentence; raw text is split there.
    pub max_sentence: usize,
    /// Limits the memory for tagging a single sentence.
    pub memory: MemoryLimit,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            threads: available_parallelism().map_or(1, usize::from),
            queue: 64,
            timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            max_connections: 256,
            max_body: 2_000_000,
            max_sentence: ReadLimits::MAX_SENTENCE,
            memory: MemoryLimit::default(),
        }
    }
}
