//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;

use crate::models::{Models, ServedModel, lock};
use crate::workers::Workers;

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// What happens once at a time, counted by its references.
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
    total: u64,
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
        for (count, _) in histogram
            .counts
            .iter_mut()
            .zip(BUCKETS)
            .filter(|(_, end)| seconds <= *end)
        {
            *count += 1;
        }
        histogram.total += 1;
        histogram.seconds += seconds;
    }

    /// Returns all counts.
    pub fn text(&self, models: &Models, workers: &Workers) -> String {
        let mut text = Text(String::new());
        text.family(
            "requests_total",
            "counter",
            "Requests by endpoint and status",
        );
        for ((endpoint, status), count) in lock(&self.requests).iter() {
            let labels = format!("{{endpoint=\"{endpoint}\",status=\"{status}\"}}");
            text.sample("requests_total", &labels, count);
        }
        let name = "request_duration_seconds";
        text.family(
            name,
            "histogram",
            "Time from the headers of a request to its answer",
        );
        for (endpoint, histogram) in lock(&self.durations).iter() {
            let ends = BUCKETS
                .iter()
                .map(ToString::to_string)
                .chain(["+Inf".to_owned()]);
            for (end, count) in ends.zip(histogram.counts.iter().chain([&histogram.total])) {
                let labels = format!("_bucket{{endpoint=\"{endpoint}\",le=\"{end}\"}}");
                text.sample(name, &labels, count);
            }
            let labels = format!("{{endpoint=\"{endpoint}\"}}");
            text.sample(name, &format!("_sum{labels}"), histogram.seconds);
            text.sample(name, &format!("_count{labels}"), histogram.total);
        }
        let (waiting, busy) = workers.load();
        let (requests, connections) = (self.in_progress.value(), self.connections.value());
        for (name, help, value) in [
            ("requests_in_progress", "Requests being answered", requests),
            (
                "requests_waiting",
                "Requests that wait for a thread",
                waiting,
            ),
            ("threads_busy", "Threads that tag", busy),
            ("connections", "Open connections", connections),
        ] {
            text.family(name, "gauge", help);
            text.sample(name, "", value);
        }
        let mut of_models = |name, kind, help, value: &dyn Fn(&ServedModel) -> u64| {
            text.family(name, kind, help);
            for model in models.all() {
                let escaped = model.name().replace('\\', "\\\\").replace('"', "\\\"");
                let escaped = escaped.replace('\n', "\\n");
                text.sample(name, &format!("{{model=\"{escaped}\"}}"), value(model));
            }
        };
        of_models("sentences_total", "counter", "Tagged sentences", &|m| {
            m.counts().sentences
        });
        of_models("tokens_total", "counter", "Tagged tokens", &|m| {
            m.counts().tokens
        });
        let help = "Replaced model files that could not be loaded";
        of_models("model_load_failures_total", "counter", help, &|m| {
            m.counts().failures
        });
        let help = "When the model was loaded, in seconds since 1970";
        of_models("model_loaded_timestamp_seconds", "gauge", help, &|m| {
            m.current().seconds()
        });
        text.0
    }
}

/// Metrics as text.
struct Text(String);

impl Text {
    /// Begins the samples of a metric.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = write!(
            self.0,
            "# HELP dropchain_{name} {help}\n# TYPE dropchain_{name} {kind}\n"
        );
    }

    /// Writes a sample. `labels` may begin with the suffix of the name.
    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "dropchain_{name}{labels} {value}");
    }
}
