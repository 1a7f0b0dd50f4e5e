//! Reports what happens in training to the terminal and the log.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::{End, Event, Iteration, Start, digits};
use dropchain::kernel::optim::StopReason;
use dropchain::train::EndReason;
use dropchain::{Error, Result};

use dropchain_command::exit::CommandResult;
use dropchain_command::exit::training_result;
use dropchain_command::interrupt;
use dropchain_command::progress::Progress;

/// Reports training.
pub struct Reporter<'a> {
    progress: &'a Progress,
    log: Option<(PathBuf, BufWriter<File>)>,
    failure: Option<Error>,
}

impl<'a> Reporter<'a> {
    /// Creates the log, if there is to be one.
    pub fn new(progress: &'a Progress, log: Option<&Path>) -> Result<Self> {
        let create = |path: &Path| match File::create(path) {
            Ok(file) => Ok((path.to_owned(), BufWriter::new(file))),
            Err(error) => Err(Error::io(path, error)),
        };
        Ok(Self { progress, log: log.map(create).transpose()?, failure: None })
    }

    /// Reports an event; ends training if the log cannot be written.
    pub fn report(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Start(start) => self.progress.println(&describe_start(start)),
            Event::Iteration(iteration) => {
                if iteration.number > 0 {
                    interrupt::set_has_result();
                }
                self.progress.update(&describe_iteration(iteration));
            }
            Event::End(end) => self.progress.println(&describe_end(end)),
        }
        let Some((path, file)) = &mut self.log else {
            return ControlFlow::Continue(());
        };
        let written = serde_json::to_string(event).map_err(std::io::Error::other);
        match written.and_then(|line| writeln!(file, "{line}")).and_then(|()| file.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(Error::io(path, error));
                ControlFlow::Break(())
            }
        }
    }

    /// Returns how the command ends, after the model was written.
    pub fn finish(self, end: &End, model: &Path) -> CommandResult {
        let model = model.display();
        self.progress.println(&format!("wrote {model}"));
        if let Some(error) = self.failure {
            return Err(error.into());
        }
        let reason = end.reason.unwrap_or(StopReason::Improvement);
        let fate = format!("{model} has the best weights so far");
        training_result((EndReason::Optimizer(reason), end.iterations), false, true, &fate)
    }
}

fn describe_start(start: &Start) -> String {
    if start.labels == 0 {
        return format!("{} documents, {} features", start.documents, start.attributes);
    }
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
        iteration.number, iteration.objective, iteration.gradient_norm, iteration.seconds
    );
    if let Some(accuracy) = iteration.dev_accuracy {
        line.push_str(&format!("  dev accuracy {:.2}%", 100.0 * accuracy));
    }
    line
}

fn describe_end(end: &End) -> String {
    let reason = match end.reason {
        Some(reason) => reason.to_string(),
        None => "the accuracy on development data no longer improves".to_owned(),
    };
    let objective = digits(end.objective);
    let mut line =
        format!("stopped after {} iterations: {reason}; objective {objective}", end.iterations);
    if let Some(accuracy) = end.dev_accuracy {
        line.push_str(&format!(
            "; best on development data: accuracy {:.2}% at iteration {}",
            100.0 * accuracy,
            end.best_iteration
        ));
    }
    line
}
