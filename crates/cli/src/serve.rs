//! `dropchain serve`: tagging over HTTP.

use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use clap::Args;
use dropchain_options::LabelOptions;
use dropchain_serve::{ModelFile, ServeOptions, Server, ServerHandle};

use crate::arguments::{ByteSize, LimitArguments, ThreadArguments};
use crate::interrupt::{self, SAME_SIGNAL, Signal};
use crate::progress::notice;
use crate::tag_input::open_tagger;
use crate::template_arguments::DocumentArguments;
use crate::{CommandError, CommandResult, print};

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
    models: Vec<ModelFile>,
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
    #[command(flatten)]
    labels: LabelOptions,
}

/// Limits on requests and connections.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct ServeLimits {
    /// Maximum size of the body of a request; a response may have 16 times as much
    #[arg(long, value_name = "SIZE", default_value = "2M")]
    max_body: ByteSize,
    /// Maximum time of a request, from its headers to its answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    timeout: Seconds,
    /// Maximum time that a connection may wait for the headers of a request, or for a client that
    /// does not read, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    idle_timeout: Seconds,
    /// Maximum number of requests that wait for a thread; others are answered with status 503
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,
    /// Maximum number of connections; others wait
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,
}

/// A time in seconds, from a millisecond to a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seconds(Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.parse().ok();
        let seconds = seconds.filter(|seconds| (1e-3..=86_400.0).contains(seconds));
        seconds
            .map(|seconds| Self(Duration::from_secs_f64(seconds)))
            .ok_or_else(|| "expected seconds, from 0.001 to 86400".to_owned())
    }
}

impl ServeCommand {
    pub fn run(&self) -> CommandResult {
        let is_repeated = |i: usize| self.models[..i].iter().any(|m| m.name == self.models[i].name);
        if (0..self.models.len()).any(is_repeated) {
            return Err(CommandError::Usage(
                "two models have the same name; expected different ones, as in new=path/ner.model",
            ));
        }
        self.threads.check_stacks()?;
        let (document, memory) = (self.document, self.limits.memory());
        let labels = self.labels.clone();
        let open = move |path: &_| {
            let tagger = labels.apply_to_tagger(open_tagger(path)?)?.with_memory_limit(memory);
            document.apply_to_tagger(tagger)
        };
        let server = Server::open(self.models.clone(), open, self.options())?;
        watch_signals(server.handle());
        print(&format!("listening on http://{}\n", server.address()))?;
        server.run(|message| notice(&format!("dropchain: {message}")))?;
        Ok(())
    }

    fn options(&self) -> ServeOptions {
        ServeOptions {
            listen: self.listen,
            allow_hosts: self.allow_host.clone(),
            allow_origins: self.allow_origin.clone(),
            threads: self.threads.count(),
            queue: self.serve_limits.queue as usize,
            timeout: self.serve_limits.timeout.0,
            idle_timeout: self.serve_limits.idle_timeout.0,
            max_connections: self.serve_limits.max_connections as usize,
            max_body: usize::try_from(self.serve_limits.max_body.bytes()).unwrap_or(usize::MAX),
            max_sentence: self.limits.max_sentence(),
            memory: self.limits.memory(),
        }
    }
}

/// Lets SIGINT and SIGTERM end the server, a second one at once, and SIGHUP load the models again.
fn watch_signals(server: ServerHandle) {
    let first: OnceLock<Instant> = OnceLock::new();
    let handle = move |number: u8| {
        let signal = Signal(number);
        if signal == Signal::HANG_UP {
            server.reload();
        } else if let Some(first) = first.get() {
            if first.elapsed() > SAME_SIGNAL {
                notice(&format!("dropchain: interrupted by {signal} again"));
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
    fn times_are_seconds_with_or_without_a_fraction() {
        assert_eq!("30".parse(), Ok(Seconds(Duration::from_secs(30))));
        assert_eq!("0.25".parse(), Ok(Seconds(Duration::from_millis(250))));
        for text in ["", "0", "-1", "nan", "inf", "1e9", "30s"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
