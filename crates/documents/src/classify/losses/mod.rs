//! Training with losses of y·score.

mod layout;
mod linear;
mod monitor;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dropchain::MemoryLimit;
use dropchain::error::{Error, Result};
use dropchain::ids::AttributeId;
use dropchain::model::{Precision, TrainingRecord};
use dropchain::optim::StopReason;
use dropchain::train::{
    AttributeCorpus, BaseModels, End, EndReason, ExtractedCorpora, Finished, Observer, Pruned,
    Rounded, Segment, SegmentEnd, SegmentTrainer, TrainSettings, TrainingSet,
};

use super::header::{ClassifierHeader, ClassifierParts, OutputLayer};
use super::options::check_settings;
use crate::irls::{hidden_memory, hidden_start, irls_memory};
use layout::Layout;
use monitor::{Monitor, accuracy};

pub use monitor::LossTrainer;

impl LossTrainer {
    /// Trains on ready-made features.
    ///
    /// # Errors
    ///
    /// The documents do not fit the loss; the memory limit is too low; the objective is not finite
    /// at the start.
    pub(super) fn train(
        &self,
        (corpus, dev): (&AttributeCorpus, Option<&AttributeCorpus>),
        settings: &TrainSettings,
        interrupt: Option<&AtomicBool>,
        limit: MemoryLimit,
        observer: &mut dyn Observer,
    ) -> Result<(ClassifierParts, End)> {
        let models = BaseModels::default();
        let extracted = ExtractedCorpora::from_attributes(corpus, dev, settings, &models)?;
        let clock = Instant::now();
        let set = extracted.into_training_set(settings);
        let layout = self.layout(&set);
        let memory = self.memory(&set, settings);
        observer.start(&dropchain::train::Start {
            parameters: match self.hidden {
                0 => set.space().dimension(),
                _ => layout.dimension(),
            },
            ..set.start_event(settings, memory)
        });
        let held = set.memory();
        let check = limit.check((held + memory) as u64, held as u64);
        check.map_err(|over| {
            let (weights, classes) = (layout.dimension(), layout.labels);
            Error::parameter(format!(
                "training on {weights} weights of {classes} classes: {over}; expected fewer \
                 weights (--min-count 2), fewer classes or a larger limit (--memory)"
            ))
        })?;
        let mut all = Segment {
            start: self.start(&set),
            done: 0,
            limit: settings.max_iterations(),
            is_warm_up: false,
            best: None,
            recall_bias: 0.0,
            interrupt,
        };
        let mut monitor = Monitor::new(self, &set, settings, &mut all);
        (monitor.clock, monitor.skips_start) = (clock, false);
        let outcome = linear::train(&mut monitor, all, observer)?;
        let (mut theta, end) = monitor.finish(outcome)?;
        observer.end(&end);
        let (pruned, rounded) = round(&set, layout, settings, &mut theta);
        if let Some(pruned) = pruned {
            observer.pruned(&pruned);
        }
        if let Some(rounded) = rounded {
            observer.rounded(&rounded);
        }
        Ok((self.parts(&set, settings, &theta, end.record())?, end))
    }

    /// Makes the model.
    fn parts(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        theta: &[f64],
        record: TrainingRecord,
    ) -> Result<ClassifierParts> {
        let layout = self.layout(set);
        let mut options = serde_json::to_value(settings)
            .map_err(|e| Error::parameter(format!("cannot write the options as JSON: {e}")))?;
        options["loss"] = serde_json::to_value(self.loss).unwrap_or_default();
        options["hidden"] = self.hidden.into();
        let classes = set.node_classes();
        let rows = (0..classes.classes().len() as u32).map(|attribute| {
            let class = classes.class(attribute);
            let row = layout.row(theta, class as usize, classes.size(class));
            (set.node_name(AttributeId(attribute)).to_vec(), row)
        });
        let layer = layout.output_layer(theta);
        Ok(ClassifierParts {
            header: ClassifierHeader {
                classes: set.labels().names().to_vec(),
                loss: Some(self.loss),
                biases: layout.biases(theta),
                outputs: layer.map(OutputLayer::check).transpose()?,
                documents: set.data().labeled() as u64,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                options,
                result: Some(record),
                ..ClassifierHeader::default()
            },
            precision: settings.options().precision,
            rows: rows.collect(),
        })
    }
}

impl SegmentTrainer for LossTrainer {
    fn check(&self, settings: &TrainSettings) -> Result<()> {
        check_settings(Some(self.loss), self.hidden, settings, &self.optimizer)
    }

    fn start(&self, set: &TrainingSet) -> Vec<f64> {
        match self.hidden {
            0 => vec![0.0; self.layout(set).dimension()],
            units => {
                let scales = &set.space().nodes.scale;
                hidden_start(&set.data().nodes, scales, units, self.seed)
            }
        }
    }

    fn run(
        &self,
        set: &TrainingSet,
        settings: &TrainSettings,
        mut segment: Segment<'_>,
    ) -> Result<SegmentEnd> {
        let mut monitor = Monitor::new(self, set, settings, &mut segment);
        let outcome = linear::train(&mut monitor, segment, &mut ())?;
        let reason = monitor.reason(outcome.stop_reason)?;
        let is_resumable = reason == EndReason::Optimizer(StopReason::MaxIterations);
        Ok(SegmentEnd {
            theta: outcome.x,
            done: monitor.done + outcome.iterations,
            objective: outcome.value,
            recall_biases: vec![0.0; monitor.scores.len()],
            scores: monitor.scores,
            active_attributes: Vec::new(),
            // The weights are empty if they belong to an earlier segment.
            best: monitor.best.filter(|best| !best.theta.is_empty()),
            reason: (!is_resumable).then_some(reason),
            recall_bias: 0.0,
        })
    }

    fn length(&self, set: &TrainingSet, _settings: &TrainSettings, _done: usize) -> Result<usize> {
        Ok(self.layout(set).dimension())
    }

    fn weights(
        &self,
        _set: &TrainingSet,
        _settings: &TrainSettings,
        _done: usize,
        end: Vec<f64>,
    ) -> Result<Vec<f64>> {
        Ok(end)
    }

    fn memory(&self, set: &TrainingSet, settings: &TrainSettings) -> usize {
        let (rows, layout) = (&set.data().nodes, self.layout(set));
        let (pairs, columns) = (self.optimizer.memory, layout.columns);
        let bytes = match self.hidden {
            0 => irls_memory(rows, columns, layout.outputs()),
            units => hidden_memory(rows, columns, units, pairs),
        };
        // θ, that of the best iteration, and the result.
        let bytes = bytes.saturating_add(layout.dimension().saturating_mul(8 * 3));
        set.memory_with_model(bytes, settings.options().precision)
    }

    fn finish(
        &self,
        set: TrainingSet,
        settings: &TrainSettings,
        mut weights: Vec<f64>,
        record: &TrainingRecord,
    ) -> Result<Finished> {
        let layout = self.layout(&set);
        let (pruned, rounded) = round(&set, layout, settings, &mut weights);
        let parts = self.parts(&set, settings, &weights, record.clone())?;
        Ok(Finished {
            model: parts.encode()?,
            pruned,
            rounded,
        })
    }
}

/// Prunes weights, if there is a threshold, and rounds them, if the model stores them with few
/// bits.
fn round(
    set: &TrainingSet,
    layout: Layout,
    settings: &TrainSettings,
    theta: &mut [f64],
) -> (Option<Pruned>, Option<Rounded>) {
    let (options, classes) = (settings.options(), set.node_classes());
    let score = |theta: &[f64]| accuracy(set, layout, theta);
    let pruned = (options.prune > 0.0).then(|| {
        let before_score = score(theta);
        let [before, after] = layout.prune(theta, classes, options.prune);
        let dev = before_score.zip(score(theta)).map(|(b, a)| [b, a]);
        Pruned { before, after, dev }
    });
    let precision = options.precision;
    let has_few_bits = matches!(precision, Precision::F16 | Precision::I8);
    let rounded = has_few_bits.then(|| {
        let before = score(theta);
        layout.round(theta, classes, precision);
        let dev = before.zip(score(theta)).map(|(b, a)| [b, a]);
        Rounded { precision, dev }
    });
    (pruned, rounded)
}
