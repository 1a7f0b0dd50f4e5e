//! Connections.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use dropchain::Error;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener as AsyncListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use super::routes::Routes;
use super::stopping::Stop;
use crate::CommandResult;
use crate::progress::notice;

/// Maximum size of the headers of a request, in bytes.
const MAX_HEADER_SIZE: usize = 32 << 10;

/// How long to wait before the next connection if there are no more file descriptors, say.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long clients may take to read the last answers.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Answers requests until `stop`, and then those in progress.
pub fn run(listener: TcpListener, routes: Routes, stop: Stop) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(Error::threads)?;
    runtime.block_on(serve(listener, Arc::new(routes), stop))
}

async fn serve(listener: TcpListener, routes: Arc<Routes>, mut stop: Stop) -> CommandResult {
    let listener =
        AsyncListener::from_std(listener).map_err(|error| Error::io("the network", error))?;
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(routes.limits.max_connections()));
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            // Without a sender there are no signals to wait for.
            Ok(()) = stop.changed() => break,
        };
        match accepted {
            Ok((stream, slot)) => talk(stream, slot, &routes, &graceful),
            Err(error) => {
                notice(&format!(
                    "dropchain: a connection was not accepted: {error}"
                ));
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    let patience = routes.limits.timeout() + LAST_WORDS;
    let open = graceful.count();
    if timeout(patience, graceful.shutdown()).await.is_err() {
        notice(&format!(
            "dropchain: some of {open} connections were closed before their answers were read"
        ));
    }
    Ok(())
}

/// Accepts the next connection when there may be one more.
async fn accept(
    listener: &AsyncListener,
    slots: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await;
    let slot = slot.map_err(std::io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

/// Starts to answer the requests of a connection.
fn talk(
    stream: TcpStream,
    slot: OwnedSemaphorePermit,
    routes: &Arc<Routes>,
    graceful: &GracefulShutdown,
) {
    // Answers are written whole, so there is nothing to wait for.
    let _ = stream.set_nodelay(true);
    let idle = routes.limits.idle_timeout();
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(idle));
    let routes = Arc::clone(routes);
    let service = {
        let routes = Arc::clone(&routes);
        service_fn(move |request| {
            let routes = Arc::clone(&routes);
            async move { routes.answer(request).await }
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_header_size(MAX_HEADER_SIZE)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let connection = graceful.watch(connection);
    routes.metrics.connections.inc();
    tokio::spawn(async move {
        // A client that goes away or talks nonsense is none of our business.
        let _ = connection.await;
        routes.metrics.connections.dec();
        drop(slot);
    });
}
