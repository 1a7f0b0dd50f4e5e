//! Limits on requests and connections.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use crate::arguments::ByteSize;

/// How much larger than the largest body of a request a response may be.
const RESPONSE_FACTOR: usize = 16;

/// Limits on requests and connections.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct ServeLimits {
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

impl ServeLimits {
    /// The maximum size of the body of a request, in bytes.
    pub fn max_body(&self) -> usize {
        usize::try_from(self.max_body.bytes()).unwrap_or(usize::MAX)
    }

    /// The maximum size of a response, in bytes.
    pub fn max_response(&self) -> usize {
        self.max_body().saturating_mul(RESPONSE_FACTOR)
    }

    /// The maximum time of a request.
    pub fn timeout(&self) -> Duration {
        self.timeout.0
    }

    /// The maximum time without headers, or without a client that reads.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout.0
    }

    /// The maximum number of requests that wait for a thread.
    pub fn queue(&self) -> usize {
        self.queue as usize
    }

    /// The maximum number of connections.
    pub fn max_connections(&self) -> usize {
        self.max_connections as usize
    }
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
