//! Training events, from the thread that trains to Python.

use std::any::Any;
use std::ops::ControlFlow;

use dropchain::train::{End, EndReason, Iteration, Observer, ObserverError, Start};
use dropchain_online::Calibration;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fields::fields;
use crate::job::Job;

/// A training event on its way to Python.
pub enum Event {
    /// Numbers of weights and of attributes.
    Start([usize; 2]),
    /// The learning rates that were tried.
    Calibrated(Calibration),
    /// An iteration other than the starting point.
    Iteration(Box<Iteration>),
    /// The reason.
    End(EndReason),
}

/// Sends training events.
pub struct EventSender<'a, 'j> {
    job: &'a Job<'j, Event>,
    flow: ControlFlow<()>,
}

impl<'a, 'j> EventSender<'a, 'j> {
    pub fn new(job: &'a Job<'j, Event>) -> Self {
        Self {
            job,
            flow: ControlFlow::Continue(()),
        }
    }

    fn send(&mut self, event: Event) {
        if self.flow.is_continue() {
            self.flow = self.job.send(event);
        }
    }
}

impl Observer for EventSender<'_, '_> {
    fn start(&mut self, start: &Start) {
        self.send(Event::Start([start.weights, start.attributes]));
    }

    fn prepared(&mut self, found: &dyn Any) {
        if let Some(calibration) = found.downcast_ref::<Calibration>() {
            self.send(Event::Calibrated(calibration.clone()));
        }
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if iteration.number > 0 {
            self.send(Event::Iteration(Box::new(iteration.clone())));
        }
        Ok(self.flow)
    }

    fn end(&mut self, end: &End) {
        self.send(Event::End(end.reason));
    }
}

impl Event {
    /// Calls `handler(kind, fields)`.
    pub fn call(self, handler: &Bound<'_, PyAny>) -> PyResult<ControlFlow<()>> {
        let fields = PyDict::new(handler.py());
        let kind = match self {
            Self::Start([weights, attributes]) => {
                fields.set_item("weights", weights)?;
                fields.set_item("attributes", attributes)?;
                "start"
            }
            Self::Calibrated(calibration) => {
                fields!(fields, calibration, [sentences, initial, trials, rate]);
                "calibration"
            }
            Self::Iteration(iteration) => {
                set_iteration(&fields, &iteration)?;
                "iteration"
            }
            Self::End(reason) => {
                fields.set_item("reason", reason.name())?;
                "end"
            }
        };
        handler.call1((kind, fields))?;
        Ok(ControlFlow::Continue(()))
    }
}

fn set_iteration(fields: &Bound<'_, PyDict>, iteration: &Iteration) -> PyResult<()> {
    fields!(
        fields,
        iteration,
        [number, weight_norm, gradient_norm, evaluations]
    );
    fields!(fields, iteration, [step, learning_rate]);
    fields.set_item("loss", iteration.objective)?;
    fields.set_item("nonzero", iteration.nonzero_weights)?;
    if let Some(scores) = &iteration.label_scores {
        let labels = scores.labels.iter();
        let labels = labels.map(|(name, c)| (name, c.correct, c.predicted, c.gold));
        fields.set_item("label_scores", labels.collect::<Vec<_>>())?;
        fields.set_item("sentences", (scores.correct_sentences, scores.sentences))?;
    }
    Ok(())
}
