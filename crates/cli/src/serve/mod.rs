//! `dropchain serve`: tagging over HTTP.
//!
//! One thread talks to all connections ([`server`]), parses nothing but HTTP, and hands the bodies
//! of requests to worker threads ([`workers`]), which parse, tag and write them ([`tagging`]).
//! Another thread looks after the model files and replaces models ([`replacement`]).

mod api_error;
mod body;
mod limits;
mod metrics;
mod model_argument;
mod models;
mod options;
mod origin;
mod replacement;
mod request;
mod routes;
mod rows;
mod server;
mod stopping;
mod tagging;
mod workers;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use clap::Args;
use dropchain::{Error, Result};

use self::body::ResponseMemory;
use self::limits::ServeLimits;
use self::metrics::Metrics;
use self::model_argument::{ModelArgument, check_names};
use self::models::{LoadOptions, Models};
use self::origin::OriginRules;
use self::routes::Routes;
use self::workers::WorkerPool;
use super::arguments::{LimitArguments, ThreadArguments};
use super::document_arguments::DocumentArguments;
use super::{CommandResult, print};

/// Tag over HTTP: JSON in, JSON out, and a page to try a model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain serve ner.model                # page: http://127.0.0.1:8080/
  dropchain serve ner.model tags=pos.model --listen 127.0.0.1:0
  # curl --json '{\"text\": \"Ann left.\"}' http://127.0.0.1:8080/tag

Endpoints: POST /tag, GET /models, /health, /metrics (Prometheus), and / (a page).
SIGINT and SIGTERM end the server when the requests in progress are answered. A
model whose file is replaced, best by `mv`, is replaced without a restart; SIGHUP
loads all models again. docs/serve.md has the details.")]
pub struct ServeCommand {
    /// Model files; the first is the default. `NAME=FILE` names a model; otherwise its name is that
    /// of the file, without `.model`
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<ModelArgument>,
    /// Address and port to listen on; port 0 chooses one, which is printed
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Host names that requests may be for, besides localhost [default: any if --listen has an
    /// address of the network]
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    allow_host: Vec<String>,
    /// Origins of pages, such as https://example.org, that may use the server from a browser,
    /// besides its own page; `*` is any
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    allow_origin: Vec<String>,
    #[command(flatten)]
    serve_limits: ServeLimits,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    document: DocumentArguments,
}

impl ServeCommand {
    pub fn run(&self) -> CommandResult {
        check_names(&self.models)?;
        self.threads.check_stacks()?;
        let metrics = Arc::new(Metrics::new()?);
        let load = LoadOptions {
            document: self.document,
            memory: self.limits.memory(),
        };
        let models = Models::open(&self.models, load, &metrics)?;
        let models = Arc::new(models);
        let (listener, address) = self.bind()?;
        let limits = self.serve_limits.clone();
        let workers = WorkerPool::start(
            self.threads.count(),
            limits.queue(),
            &metrics,
            tagging::Limits {
                max_sentence: self.limits.max_sentence(),
                memory: self.limits.memory(),
                max_response: limits.max_response(),
            },
        )?;
        let stop = stopping::watch(&models)?;
        print(&format!("listening on http://{address}\n"))?;
        let routes = Routes {
            origins: OriginRules::new(address, &self.allow_host, &self.allow_origin),
            models,
            metrics,
            workers,
            limits,
            responses: ResponseMemory::default(),
        };
        server::run(listener, routes, stop)
    }

    /// Listens, and returns the address with the port that was chosen.
    fn bind(&self) -> Result<(TcpListener, SocketAddr)> {
        let error = |error| Error::io(self.listen.to_string(), error);
        let listener = TcpListener::bind(self.listen).map_err(error)?;
        listener.set_nonblocking(true).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        Ok((listener, address))
    }
}
