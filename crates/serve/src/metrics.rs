//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;

use crate::models::{ModelState, Models, lock};
use crate::workers::Workers;

/// Upper ends of the buckets of durations, in seconds, before that of all.
const BUCKETS: [&str; 17] = [
    "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
    "0.25", "0.5", "1", "2.5", "5", "10", "+Inf",
];

/// What happens several times at once, counted by its references.
#[derive(Debug, Default)]
pub struct Gauge(Arc<()>);

impl Gauge {
    /// Counts one more until the result is dropped.
    pub fn enter(&self) -> Arc<()> {
        Arc::clone(&self.0)
    }

    fn value(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// Durations of the requests to an endpoint.
#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()], // [bucket] requests that took at most as long
    seconds: f64,
}

/// The counts of a server; those of a model are kept with it.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    durations: Mutex<BTreeMap<&'static str, Histogram>>,
    /// Requests that are being answered.
    pub in_progress: Gauge,
    /// Open connections.
    pub connections: Gauge,
}

impl Metrics {
    /// Counts a request.
    pub fn count(&self, endpoint: &'static str, status: StatusCode, duration: Duration) {
        let key = (endpoint, status.as_u16());
        *lock(&self.requests).entry(key).or_default() += 1;
        let (seconds, mut durations) = (duration.as_secs_f64(), lock(&self.durations));
        let histogram = durations.entry(endpoint).or_default();
        histogram.seconds += seconds;
        for (count, end) in histogram.counts.iter_mut().zip(BUCKETS) {
            *count += u64::from(end.parse().is_ok_and(|end: f64| seconds <= end));
        }
    }

    /// Returns all counts.
    pub fn text(&self, models: &Models, workers: &Workers) -> String {
        let mut text = Text(String::new());
        text.family("requests_total", "counter");
        for ((endpoint, status), count) in lock(&self.requests).iter() {
            let labels = format!("{{endpoint=\"{endpoint}\",status=\"{status}\"}}");
            text.sample("requests_total", &labels, *count as f64);
        }
        let name = "request_duration_seconds";
        text.family(name, "histogram");
        for (endpoint, Histogram { counts, seconds }) in lock(&self.durations).iter() {
            for (end, count) in BUCKETS.iter().zip(counts) {
                let labels = format!("_bucket{{endpoint=\"{endpoint}\",le=\"{end}\"}}");
                text.sample(name, &labels, *count as f64);
            }
            let count = counts[BUCKETS.len() - 1] as f64;
            for (suffix, value) in [("_sum", *seconds), ("_count", count)] {
                text.sample(name, &format!("{suffix}{{endpoint=\"{endpoint}\"}}"), value);
            }
        }
        let (waiting, busy) = workers.load();
        for (name, value) in [
            ("requests_in_progress", self.in_progress.value()),
            ("requests_waiting", waiting),
            ("threads_busy", busy),
            ("connections", self.connections.value()),
        ] {
            text.family(name, "gauge");
            text.sample(name, "", value as f64);
        }
        let mut of_models = |name, kind, value: fn(&ModelState) -> u64| {
            text.family(name, kind);
            for model in models.all() {
                let escaped = model.file.name.replace('\\', "\\\\").replace('"', "\\\"");
                let labels = format!("{{model=\"{}\"}}", escaped.replace('\n', "\\n"));
                text.sample(name, &labels, value(&model.state()) as f64);
            }
        };
        of_models("sentences_total", "counter", |m| m.sentences);
        of_models("tokens_total", "counter", |m| m.tokens);
        of_models("model_load_failures_total", "counter", |m| m.failures);
        let loaded = "model_loaded_timestamp_seconds";
        of_models(loaded, "gauge", |m| m.current.loaded);
        text.0
    }
}

/// Metrics as text.
struct Text(String);

impl Text {
    /// Begins the samples of a metric.
    fn family(&mut self, name: &str, kind: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# TYPE dropchain_{name} {kind}");
    }

    /// Writes a sample. `labels` may begin with the suffix of the name.
    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, "dropchain_{name}{labels} {value}");
    }
}
