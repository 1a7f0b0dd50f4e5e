//! Metrics for Prometheus.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dropchain::{Error, Result};
use hyper::StatusCode;
use prometheus::core::Collector;
use prometheus::{
    GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
};

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// The counts of a server.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    sentences: IntCounterVec,
    tokens: IntCounterVec,
    loaded: GaugeVec,
    failures: IntCounterVec,
    /// Requests that are being answered.
    pub in_progress: IntGauge,
    /// Requests that wait for a thread.
    pub waiting: IntGauge,
    /// Threads that tag.
    pub busy_threads: IntGauge,
    /// Open connections.
    pub connections: IntGauge,
}

impl Metrics {
    /// Starts to count.
    pub fn new() -> Result<Self> {
        Self::register().map_err(|error| Error::parameter(format!("metrics: {error}")))
    }

    fn register() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let counter = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let durations = HistogramOpts::new(
            "dropchain_request_duration_seconds",
            "Time from the headers of a request to its answer",
        )
        .buckets(BUCKETS.to_vec());
        let gauge = |name: &str, help: &str| register(&registry, IntGauge::new(name, help));
        Ok(Self {
            requests: counter(
                "dropchain_requests_total",
                "Requests by endpoint and status",
                &["endpoint", "status"],
            )?,
            durations: register(&registry, HistogramVec::new(durations, &["endpoint"]))?,
            sentences: counter("dropchain_sentences_total", "Tagged sentences", &["model"])?,
            tokens: counter("dropchain_tokens_total", "Tagged tokens", &["model"])?,
            loaded: register(
                &registry,
                GaugeVec::new(
                    Opts::new(
                        "dropchain_model_loaded_timestamp_seconds",
                        "When the model was loaded, in seconds since 1970",
                    ),
                    &["model"],
                ),
            )?,
            failures: counter(
                "dropchain_model_load_failures_total",
                "Replaced model files that could not be loaded",
                &["model"],
            )?,
            in_progress: gauge("dropchain_requests_in_progress", "Requests being answered")?,
            waiting: gauge(
                "dropchain_requests_waiting",
                "Requests that wait for a thread",
            )?,
            busy_threads: gauge("dropchain_threads_busy", "Threads that tag")?,
            connections: gauge("dropchain_connections", "Open connections")?,
            registry,
        })
    }

    /// Counts a request.
    pub fn count_request(&self, endpoint: &str, status: StatusCode, duration: Duration) {
        let labels = [endpoint, status.as_str()];
        self.requests.with_label_values(&labels).inc();
        let durations = self.durations.with_label_values(&[endpoint]);
        durations.observe(duration.as_secs_f64());
    }

    /// Counts what was tagged with a model.
    pub fn count_tagged(&self, model: &str, sentences: u64, tokens: u64) {
        self.sentences.with_label_values(&[model]).inc_by(sentences);
        self.tokens.with_label_values(&[model]).inc_by(tokens);
    }

    /// Records that a model was loaded.
    pub fn set_loaded(&self, model: &str, time: SystemTime) {
        let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let gauge = self.loaded.with_label_values(&[model]);
        gauge.set(seconds.as_secs_f64());
        // All series of a model exist from the start.
        self.count_tagged(model, 0, 0);
        self.failures.with_label_values(&[model]).inc_by(0);
    }

    /// Counts a model file that could not be loaded.
    pub fn count_failure(&self, model: &str) {
        self.failures.with_label_values(&[model]).inc();
    }

    /// Returns all counts in the text format of Prometheus.
    pub fn text(&self) -> Result<String> {
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        text.map_err(|error| Error::parameter(format!("metrics: {error}")))
    }
}

/// Adds a metric to a registry.
fn register<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> prometheus::Result<M> {
    let metric = metric?;
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}
