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

mod api_error;
mod body;
mod metrics;
mod models;
mod options;
mod origin;
mod query;
mod request;
mod routes;
mod rows;
mod server;
mod tagging;
mod workers;

pub use models::ModelFile;
pub use options::ServeOptions;
pub use server::{Server, ServerHandle};
