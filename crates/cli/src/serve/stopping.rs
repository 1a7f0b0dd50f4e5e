//! Signals: SIGINT and SIGTERM end the server, SIGHUP loads the models again.

use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::models::Models;
use super::replacement;
use crate::CommandResult;
use crate::interrupt::Signal;
use crate::progress::notice;
use crate::signals;

/// Signals that arrive within this time count as one: `timeout` sends its signal to the process
/// and to its group.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// Becomes true when the server is to end.
pub type Stop = watch::Receiver<bool>;

/// Starts to handle signals, and to look after the files of the models. A second signal that
/// would end the server ends it at once.
pub fn watch(models: &Arc<Models>) -> CommandResult<Stop> {
    let (stop, stopped) = watch::channel(false);
    let (reload, reloaded) = channel();
    replacement::watch(Arc::clone(models), reloaded)?;
    let first: OnceLock<Instant> = OnceLock::new();
    let handle = move |number: u8| {
        let signal = Signal::from(number);
        if signal == Signal::HANG_UP {
            let _ = reload.send(());
        } else if let Some(first) = first.get() {
            if first.elapsed() > SAME_SIGNAL {
                notice(&format!("dropchain: interrupted by {signal} again"));
                std::process::exit(signal.exit_code().into());
            }
        } else {
            let _ = first.set(Instant::now());
            notice(&format!("{signal}: finishing the requests in progress"));
            let _ = stop.send(true);
        }
    };
    if let Err(error) = signals::watch(handle) {
        notice(&format!(
            "warning: signals will end the server without finishing requests: {error}"
        ));
    }
    Ok(stopped)
}
