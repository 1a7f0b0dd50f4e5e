//! Reports what happens in training to the terminal and the log.

use std::path::Path;

use crate::predictor::digits;
use crate::{End, Event, Start};
use dropchain::Result;
use dropchain::train::Iteration;
use dropchain_report::log::Log;

use dropchain_command::exit::{CommandResult, training_result};
use dropchain_command::interrupt;
use dropchain_command::progress::Progress;

/// Reports training.
pub struct Reporter<'a> {
    progress: &'a Progress,
    log: Log,
}

impl<'a> Reporter<'a> {
    /// Opens the log, if there is to be one.
    pub fn new(progress: &'a Progress, log: Option<&Path>) -> Result<Self> {
        Ok(Self { progress, log: log.map(Log::create).transpose()?.unwrap_or_default() })
    }

    /// Reports an event.
    pub fn report(&mut self, event: &Event) {
        match event {
            Event::Start(start) => self.progress.println(&describe_start(start)),
            Event::Iteration(iteration) => self.progress.update(&describe_iteration(iteration)),
            Event::End(end) => self.progress.println(&describe_end(end)),
        }
        let is_result = match event {
            Event::Start(_) => false,
            Event::Iteration(iteration) => iteration.number > 0,
            Event::End(_) => true,
        };
        if is_result {
            interrupt::set_has_result();
        }
        self.log.write(event, is_result);
    }

    /// Returns how the command ends, after the model was written.
    pub fn finish(self, end: &End, model: &Path) -> CommandResult {
        let model = model.display();
        self.progress.println(&format!("wrote {model}"));
        self.log.finish()?;
        let fate = format!("{model} has the best weights so far");
        training_result((end.reason, end.iterations), false, true, &fate)
    }
}

fn describe_start(start: &Start) -> String {
    let unlabeled = match start.unlabeled {
        0 => String::new(),
        n => format!(", {n} unlabeled documents"),
    };
    format!(
        "{} documents, {} classes{unlabeled}; {} features ({:.1} per document), {} after \
         collapsing; {} weights",
        start.documents,
        start.labels,
        start.attributes,
        start.active_per_token,
        start.columns,
        start.parameters,
    )
}

fn describe_iteration(iteration: &Iteration) -> String {
    let mut line = format!(
        "iteration {:4}  objective {:.4}  |gradient| {:.3e}  {:.1} s",
        iteration.number,
        iteration.objective,
        iteration.optimizer.gradient_norm,
        iteration.time.as_secs_f64()
    );
    if let Some(score) = iteration.dev {
        line.push_str(&format!("  dev {score}%"));
    }
    line
}

fn describe_end(end: &End) -> String {
    let objective = digits(end.objective);
    let mut line = format!(
        "stopped after {} iterations: {}; objective {objective}",
        end.iterations,
        end.reason.message()
    );
    if let Some(accuracy) = end.dev_accuracy {
        line.push_str(&format!(
            "; kept iteration {}: accuracy {:.2}% on development data",
            end.best_iteration,
            100.0 * accuracy
        ));
    }
    line
}
