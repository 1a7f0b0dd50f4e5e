//! Draining of request data that a client still sends after its answer.
//!
//! An answer that needs no body is ready when the headers are. A client that writes all of its
//! request before it reads would lose the answer if the connection were closed then, and the rest
//! of the body would be taken for its next request. So some of it is read and thrown away; if there
//! is more, the answer says that it ends the connection, which is closed when the client has closed
//! it, too.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, timeout_at};

use crate::models::lock;

/// Limit on the bytes that are drained.
const MAX_UNREAD: usize = 16 << 20;

/// Time limit for a client to close a connection that the server has closed.
const LINGER: Duration = Duration::from_secs(1);

/// The body of a request, for whom it is for, and for what is left of it after them.
#[derive(Clone)]
pub struct SharedBody(Arc<Mutex<BodyState>>);

struct BodyState {
    body: Body,
    is_begun: bool,
    is_ended: bool,
}

impl SharedBody {
    pub fn new(body: Body) -> Self {
        let is_ended = body.is_end_stream();
        Self(Arc::new(Mutex::new(BodyState { body, is_begun: false, is_ended })))
    }

    /// Reads the rest, for no longer than to the deadline, if the client sends it: one that waits
    /// to be told (`Expect: 100-continue`) does not. Returns whether there is nothing left.
    pub async fn drain(mut self, is_awaited: bool, deadline: Instant) -> bool {
        let is_sent = lock(&self.0).is_begun || !is_awaited;
        let mut length = 0;
        while is_sent && length <= MAX_UNREAD && !lock(&self.0).is_ended {
            match timeout_at(deadline, self.frame()).await {
                Ok(Some(Ok(frame))) => length += frame.data_ref().map_or(0, Bytes::len),
                Ok(None) => break,
                Ok(Some(Err(_))) | Err(_) => return false,
            }
        }
        lock(&self.0).is_ended
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let mut state = lock(&self.0);
        state.is_begun = true;
        if state.is_ended {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut state.body).poll_frame(context));
        state.is_ended = frame.is_none() || state.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.0).is_ended
    }

    fn size_hint(&self) -> SizeHint {
        lock(&self.0).body.size_hint()
    }
}

/// A connection that, once it has ended its own side, reads what the client still sends.
pub struct Lingering<S> {
    stream: Pin<Box<S>>,
    unread: usize,
    timer: Option<Pin<Box<Sleep>>>, // once its own side has ended
}

impl<S> Lingering<S> {
    pub fn new(stream: S) -> Self {
        Self { stream: Box::pin(stream), unread: MAX_UNREAD, timer: None }
    }
}

impl<S: AsyncRead> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.timer.is_none() {
            ready!(this.stream.as_mut().poll_shutdown(context))?;
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut bytes = [0; 8 << 10];
        while this.unread > 0 && timer.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(this.stream.as_mut().poll_read(context, &mut buffer));
            let length = buffer.filled().len();
            if read.is_err() || length == 0 {
                break;
            }
            this.unread = this.unread.saturating_sub(length);
        }
        Poll::Ready(Ok(()))
    }
}
