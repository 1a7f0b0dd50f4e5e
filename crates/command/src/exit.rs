//! How commands end, and their exit codes.

use std::io;

use dropchain::Error;
use dropchain::train::StopReason;
use dropchain_layout::counted;

use crate::interrupt::{self, Signal};
use crate::missing;
use crate::progress::notice;

/// Why a command did not end with the result that was asked for.
#[derive(Debug)]
pub enum CommandError {
    /// The command failed: exit code 1.
    Failed(Error),
    /// The arguments conflict: exit code 2, as for arguments that clap rejects.
    Usage(&'static str),
    /// Training ended before it converged; its model was written: exit code 3.
    NotConverged(String),
    /// The objective became infinite or not a number: exit code 4.
    NotFinite(String),
    /// A score misses what was asked of it; it was printed: exit code 4.
    Missed(String),
    /// A signal ended the command: exit code 128 plus its number.
    Interrupted(Signal, String),
    /// Broken pipe: standard output was closed, for example by `head`. Exit code 0.
    OutputClosed,
    /// It was said already, by this process or another one of the run: the exit code.
    Said(u8),
}

/// The result of a command.
pub type CommandResult<T = ()> = Result<T, CommandError>;

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::OutputClosed
            }
            error @ Error::NotFinite(_) => Self::NotFinite(error.to_string()),
            error => Self::Failed(error),
        }
    }
}

impl CommandError {
    /// Returns the number that the operating system has for the exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::NotConverged(_) => 3,
            Self::NotFinite(_) | Self::Missed(_) => 4,
            Self::Interrupted(signal, _) => signal.exit_code(),
            Self::Said(code) => *code,
        }
    }

    /// Returns the message for the user.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::OutputClosed | Self::Said(_) => None,
            Self::Failed(error) => Some(missing::message(error)),
            Self::Usage(message) => Some((*message).to_owned()),
            Self::NotConverged(message)
            | Self::NotFinite(message)
            | Self::Missed(message)
            | Self::Interrupted(_, message) => Some(message.clone()),
        }
    }
}

/// Prints why a command did not end with its result, and returns the exit code.
pub fn end(result: CommandResult) -> u8 {
    let Err(error) = result else { return 0 };
    if let Some(message) = error.message() {
        notice(&format!("error: {message}"));
    }
    error.code()
}

/// Fails if a signal came too late to change anything: the exit code says so all the same.
pub fn check_uninterrupted() -> CommandResult {
    interrupt::received().map_or(Ok(()), |signal| {
        let message = format!("interrupted by {signal} after the result was complete");
        Err(CommandError::Interrupted(signal, message))
    })
}

/// Returns the result of a training run; `fate` says what became of its model.
///
/// The line search fails at a point that is no minimum if values and gradients disagree, by a
/// fault or by overflow: within rounding of a minimum, another test stops training first. With the
/// approximate gradients of the paper they disagree by design, and it is how training ends.
pub fn training_result(
    (reason, iterations): (StopReason, usize),
    is_first_pass: bool,
    has_exact_gradient: bool,
    fate: &str,
) -> CommandResult {
    let iterations = counted(iterations, "iteration");
    if let Some(signal) = interrupt::received() {
        let when = match is_first_pass {
            true => "before the second pass had a result".to_owned(),
            false => format!("after {iterations}"),
        };
        let message = format!("interrupted by {signal} {when}; {fate}");
        return Err(CommandError::Interrupted(signal, message));
    }
    match reason {
        StopReason::LineSearch if has_exact_gradient => Err(CommandError::NotConverged(format!(
            "training did not converge: the line search found no lower value after \
             {iterations}; {fate}"
        ))),
        StopReason::NonFinite => Err(CommandError::NotFinite(format!(
            "the objective or its gradient is not finite after {iterations}; {fate}"
        ))),
        _ => Ok(()),
    }
}
