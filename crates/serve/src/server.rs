//! Connections.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::Router;
use dropchain::{Error, Result, Tagger};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener as AsyncListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::ServeOptions;
use crate::access_log::{AccessLog, LogWriter};
use crate::models::{ModelFile, Models, Report};
use crate::routes::{App, router};
use crate::unread::Lingering;

/// Maximum size of the headers of a request, in bytes.
const MAX_HEADER_SIZE: usize = 32 << 10;

/// Maximum number of the headers of a request, of which the shortest has four bytes.
const MAX_HEADERS: usize = MAX_HEADER_SIZE / 4;

/// Pause after a failed `accept`, for example when file descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time limit for clients to read the last answers at shutdown.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Interval at which model files are checked for changes.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// Handle of a running server, for use from any thread.
#[derive(Clone, Debug, Default)]
pub struct ServerHandle {
    stop: Arc<Notify>,
    reload: Arc<Notify>,
}

impl ServerHandle {
    /// Ends the server when the requests in progress are answered.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Loads all models again, soon.
    pub fn reload(&self) {
        self.reload.notify_one();
    }
}

/// A server with its models, which listens.
pub struct Server {
    listener: TcpListener,
    app: App,
    handle: ServerHandle,
    log: Option<LogWriter>,
}

impl Server {
    /// Loads and verifies models, whose names differ and of which the first is the default, and
    /// listens. Models are opened by `open`, now and when they are replaced.
    ///
    /// # Errors
    ///
    /// The errors of `open`; [`Error::Model`] if a file is damaged; [`Error::Io`] if the address is
    /// not available.
    pub fn open(
        models: Vec<ModelFile>,
        open: impl Fn(&Path) -> Result<Tagger> + Send + Sync + 'static,
        options: ServeOptions,
    ) -> Result<Self> {
        let models = Models::open(models, Box::new(open))?;
        let error = |error| Error::io(options.listen.to_string(), error);
        let listener = TcpListener::bind(options.listen).map_err(error)?;
        listener.set_nonblocking(true).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let (app, handle) = (App::new(address, models, options), ServerHandle::default());
        Ok(Self { listener, app, handle, log: None })
    }

    /// Appends a line of JSON for each request to a file; `-` is standard error.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written.
    pub fn with_access_log(mut self, path: &Path) -> Result<Self> {
        let (log, writer) = AccessLog::open(path)?;
        (self.app.log, self.log) = (Some(log), Some(writer));
        Ok(self)
    }

    /// Returns the address, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// Returns a handle to end the server.
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Answers requests until the server is stopped, and then those in progress. `report` is called
    /// with messages for whoever runs the server: which models were replaced, or could not be, and
    /// what is wrong with the network.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the operating system has no resources for it.
    pub fn run(self, report: impl Fn(&str) + Send + Sync + 'static) -> Result<()> {
        let report: Arc<Report> = Arc::new(report);
        if let Some(writer) = self.log {
            let report = Arc::clone(&report);
            let thread = thread::Builder::new().name("access log".to_owned());
            let started = thread.spawn(move || writer.run(&*report));
            started.map_err(|error| Error::io("threads", error))?;
        }
        let app = Arc::new(self.app);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            // One of them loads models.
            .max_blocking_threads(app.options.threads + 1)
            .build()
            .map_err(Error::threads)?;
        let result = runtime.block_on(serve(self.listener, &app, self.handle, report));
        // Not even for a sentence that is being tagged for nobody.
        runtime.shutdown_background();
        app.log.iter().for_each(AccessLog::end);
        result
    }
}

async fn serve(
    listener: TcpListener,
    app: &Arc<App>,
    handle: ServerHandle,
    report: Arc<Report>,
) -> Result<()> {
    let listener = AsyncListener::from_std(listener);
    let listener = listener.map_err(|error| Error::io("the network", error))?;
    tokio::spawn(watch_files(Arc::clone(app), handle.clone(), Arc::clone(&report)));
    let slots = app.options.max_connections.min(Semaphore::MAX_PERMITS);
    let slots = Arc::new(Semaphore::new(slots));
    let graceful = GracefulShutdown::new();
    let router = router(app);
    // Accepts the next connection when there may be one more.
    let accept = async || {
        let slot = Arc::clone(&slots).acquire_owned().await;
        Ok((slot.map_err(io::Error::other)?, listener.accept().await?.0))
    };
    loop {
        let accepted: io::Result<_> = tokio::select! {
            accepted = accept() => accepted,
            () = handle.stop.notified() => break,
        };
        match accepted {
            Ok((slot, stream)) => talk(stream, slot, app, &router, &graceful),
            Err(error) => {
                report(&format!("a connection was not accepted: {error}"));
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    let open = graceful.count();
    let patience = app.options.timeout + LAST_WORDS;
    if timeout(patience, graceful.shutdown()).await.is_err() {
        report(&format!("some of {open} connections were closed before their answers were read"));
    }
    Ok(())
}

/// Replaces models whose files are replaced, and all of them when that is asked for.
async fn watch_files(app: Arc<App>, handle: ServerHandle, report: Arc<Report>) {
    loop {
        let all = timeout(RELOAD_INTERVAL, handle.reload.notified()).await.is_ok();
        app.log.iter().filter(|_| all).for_each(AccessLog::reopen);
        let (app, report) = (Arc::clone(&app), Arc::clone(&report));
        // A panic is printed; the next file may be better.
        let _ = spawn_blocking(move || app.models.refresh(all, &*report)).await;
    }
}

/// Starts to answer the requests of a connection.
fn talk(
    stream: TcpStream,
    slot: OwnedSemaphorePermit,
    app: &App,
    router: &Router,
    graceful: &GracefulShutdown,
) {
    // Answers are written whole, so there is nothing to wait for.
    let _ = stream.set_nodelay(true);
    let idle = app.options.idle_timeout;
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(idle));
    // Not `axum::serve`, which has no limit on the time for headers.
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_header_size(MAX_HEADER_SIZE)
        .max_headers(MAX_HEADERS)
        .serve_connection(
            TokioIo::new(Lingering::new(stream)),
            TowerToHyperService::new(router.clone()),
        );
    let connection = graceful.watch(connection);
    let open = Arc::clone(&app.metrics.connections);
    tokio::spawn(async move {
        // A client that goes away or talks nonsense is none of our business.
        let _ = connection.await;
        drop((open, slot));
    });
}
