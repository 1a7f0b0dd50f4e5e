//! `dropchain serve`: tagging over HTTP.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use clap::Args;
use dropchain_options::LabelOptions;
use dropchain_serve::{ModelFile, ServeOptions, Server, ServerHandle};

use crate::interrupt::{self, SAME_SIGNAL, Signal};
use crate::tag_input::TaggerArguments;
use crate::{CommandError, CommandFiles, CommandResult, OutputKind, byte_size, notice, print};

/// Tag over HTTP: JSON in, JSON out, and a page to try a model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain serve ner.model                # page: http://127.0.0.1:8080/
  dropchain serve ner.model tags=pos.model --listen 127.0.0.1:0
  # curl --json '{\"text\": \"Ann left.\"}' http://127.0.0.1:8080/tag

Endpoints: POST /tag, GET /models, /health, /livez, /readyz, /metrics (Prometheus),
and / (a page).
SIGINT and SIGTERM end the server when the requests in progress are answered. A
model whose file is replaced, best by `mv`, is replaced without a restart; SIGHUP
loads all models again. docs/serve.md has the details.")]
pub struct ServeCommand {
    /// Model files; the first is the default. `NAME=FILE` names a model; otherwise its name is that
    /// of the file, without `.model`
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<ModelFile>,
    /// Address and port to listen on, or :PORT on this machine alone; port 0 chooses one, which is
    /// printed
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080", value_parser = listen)]
    listen: SocketAddr,
    /// Listen on this port, on this machine alone, like --listen :PORT
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
    /// Host names that requests may be for, besides localhost [default: any if --listen has an
    /// address of the network]
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    allow_host: Vec<String>,
    /// Origins of pages, such as https://example.org, that may use the server from a browser,
    /// besides its own page; `*` is any
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    allow_origin: Vec<String>,
    /// Append a line of JSON for each request to this file, without texts; - is standard error
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    #[command(flatten)]
    serve_limits: ServeLimits,
    #[command(flatten)]
    tagger: TaggerArguments,
    #[command(flatten)]
    labels: LabelOptions,
}

/// Limits on requests and connections.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct ServeLimits {
    /// Maximum size of the body of a request; a response may have 16 times as much
    #[arg(long, value_name = "SIZE", default_value = "2M", value_parser = byte_size)]
    max_body: u64,
    /// Maximum time of a request, from its headers to its answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    timeout: Duration,
    /// Maximum time that a connection may wait for the headers of a request, or for a client that
    /// does not read, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    idle_timeout: Duration,
    /// Maximum number of requests that wait for a thread; others are answered with status 503
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,
    /// Maximum number of connections; others wait
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,
}

/// Parses where to listen: an address with a port, or a port of this machine.
fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.strip_prefix("localhost").unwrap_or(text).strip_prefix(':');
    port.unwrap_or(text).parse().map(local).map_err(|_| {
        "expected an address of this machine and a port, such as 0.0.0.0:9000 for all, or :9000 \
         for programs on this machine"
    })
}

/// Returns the address of a port of this machine.
fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Parses a time in seconds, from a millisecond to a day.
fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (1e-3..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or("expected seconds, from 0.001 to 86400")
}

impl ServeCommand {
    pub fn run(&self) -> CommandResult {
        let is_repeated = |i: usize| self.models[..i].iter().any(|m| m.name == self.models[i].name);
        if (0..self.models.len()).any(is_repeated) {
            return Err(CommandError::Usage(
                "two models have the same name; expected different ones, as in new=path/ner.model",
            ));
        }
        let log = self.access_log.as_deref();
        CommandFiles::default()
            .read(self.models.iter().map(|model| &model.path))
            .write("--access-log", OutputKind::AccessLog, log.filter(|log| *log != Path::new("-")))
            .check()?;
        self.tagger.threads.check_stacks()?;
        let (tagger, labels) = (self.tagger.clone(), self.labels.clone());
        let open = move |path: &Path| tagger.open(path, &labels, false);
        let mut server = Server::open(self.models.clone(), open, self.options())?;
        if let Some(log) = log {
            server = server.with_access_log(log)?;
        }
        watch_signals(server.handle());
        print(&format!("listening on http://{}\n", server.address()))?;
        server.run(notice)?;
        Ok(())
    }

    fn options(&self) -> ServeOptions {
        ServeOptions {
            listen: self.port.map_or(self.listen, local),
            allow_hosts: self.allow_host.clone(),
            allow_origins: self.allow_origin.clone(),
            threads: self.tagger.threads.count(),
            queue: self.serve_limits.queue as usize,
            timeout: self.serve_limits.timeout,
            idle_timeout: self.serve_limits.idle_timeout,
            max_connections: self.serve_limits.max_connections as usize,
            max_body: usize::try_from(self.serve_limits.max_body).unwrap_or(usize::MAX),
            max_sentence: self.tagger.limits.read().max_sentence,
            memory: self.tagger.limits.memory(),
        }
    }
}

/// Lets SIGINT and SIGTERM end the server, a second one at once, and SIGHUP load the models again.
fn watch_signals(server: ServerHandle) {
    let first: OnceLock<Instant> = OnceLock::new();
    let handle = move |signal: Signal| {
        if signal == Signal::HANG_UP {
            server.reload();
        } else if let Some(first) = first.get() {
            if first.elapsed() > SAME_SIGNAL {
                notice(&format!("error: interrupted by {signal} again"));
                std::process::exit(signal.exit_code().into());
            }
        } else {
            let _ = first.set(Instant::now());
            notice(&format!("{signal}: finishing the requests in progress"));
            server.stop();
        }
    };
    if let Err(error) = interrupt::watch_signals(handle) {
        notice(&format!(
            "warning: signals will end the server without finishing requests: {error}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for (text, expected) in [
            (":9000", "127.0.0.1:9000"),
            ("9000", "127.0.0.1:9000"),
            ("localhost:0", "127.0.0.1:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(listen(text), Ok(expected.parse().unwrap()), "{text}");
        }
        for text in ["", ":", "x:80", "0.0.0.0", ":70000", "localhost"] {
            assert!(listen(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_seconds_with_or_without_a_fraction() {
        assert_eq!(seconds("30"), Ok(Duration::from_secs(30)));
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["", "0", "-1", "nan", "inf", "1e9", "30s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
