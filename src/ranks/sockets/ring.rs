//! The two connections of a rank. Another thread writes, so that a rank sends and receives at the
//! same time.
//!
//! What is sent waits in a queue of [`AHEAD`] blocks. Ranks never wait for one another in a circle:
//! a rank sends at most [`AHEAD`] blocks more than it has received of an operation ([`turns`]), so
//! one whose queue is full has received more than the next rank; the rank that has received
//! least can always send, and so can its previous rank.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use super::handshake::Links;
use crate::error::{Error, Result};

/// Bytes that are sent at a time.
pub const BLOCK: usize = 1 << 17;

/// Blocks that a rank sends before it receives one.
const AHEAD: usize = 3;

/// What ranks do together.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Sum = 1,
    Broadcast = 2,
}

/// What a rank does next in an exchange of messages.
#[derive(Debug)]
pub enum Turn {
    Send(Range<usize>),
    Receive(Range<usize>),
}

/// Divides messages of these lengths into blocks.
pub fn turns(sent: usize, received: usize, block: usize) -> impl Iterator<Item = Turn> {
    let range = move |i: usize, length: usize| {
        let start = length.min(i * block);
        let range = start..length.min(start + block);
        (!range.is_empty()).then_some(range)
    };
    let rounds = sent.max(received).div_ceil(block);
    (0..rounds + AHEAD).flat_map(move |round| {
        let sent = range(round, sent).map(Turn::Send);
        let earlier = round.checked_sub(AHEAD);
        let received = earlier.and_then(|i| range(i, received)).map(Turn::Receive);
        sent.into_iter().chain(received)
    })
}

/// The connections of a rank.
pub struct Ring {
    open: Option<Open>, // None once an operation has failed
    previous: String,
    next: String,
    received: Vec<u8>,
    operation: u64, // its number and kind
    count: u64,
}

/// Connections in use.
struct Open {
    incoming: TcpStream,
    outgoing: TcpStream,
    writer: Writer,
}

/// The thread that writes.
struct Writer {
    blocks: SyncSender<Vec<u8>>,
    spare: Receiver<Vec<u8>>,
    thread: JoinHandle<()>,
    failure: Arc<OnceLock<io::Error>>,
}

impl Ring {
    /// Starts to use the connections.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: the system has no more threads or files.
    pub fn new(links: Links) -> Result<Self> {
        let writer = Writer::start(&links).map_err(|error| {
            Error::Communication(format!("cannot start to send to {}: {error}", links.next))
        })?;
        Ok(Self {
            open: Some(Open {
                incoming: links.incoming,
                outgoing: links.outgoing,
                writer,
            }),
            previous: links.previous,
            next: links.next,
            received: Vec::new(),
            operation: 0,
            count: 0,
        })
    }

    /// Begins an operation, which every message of it names.
    pub fn begin(&mut self, operation: Operation) {
        self.count += 1;
        self.operation = self.count << 8 | operation as u64;
    }

    /// Sends the length of a message.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: the next rank has ended, or cannot be reached.
    pub fn send_length(&mut self, length: usize) -> Result<()> {
        let head = [self.operation, length as u64].map(u64::to_le_bytes);
        self.send(|block| block.extend_from_slice(head.as_flattened()))
    }

    /// Receives the length of a message. What is read may be shorter: a length is no reason to
    /// allocate.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: the previous rank has ended, cannot be reached, or sends something
    /// of another operation.
    pub fn receive_length(&mut self) -> Result<usize> {
        let (words, _) = self.receive(16)?.as_chunks();
        let words = [words[0], words[1]].map(u64::from_le_bytes);
        match (words[0] == self.operation, usize::try_from(words[1])) {
            (true, Ok(length)) => Ok(length),
            _ => Err(self.disagree()),
        }
    }

    /// Sends a block, which `fill` writes into an empty one.
    ///
    /// # Errors
    ///
    /// Same as [`send_length`](Self::send_length).
    pub fn send(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let Some(Open { writer, .. }) = &self.open else {
            return Err(ended());
        };
        let mut block = writer.spare.try_recv().unwrap_or_default();
        block.clear();
        fill(&mut block);
        match writer.blocks.send(block) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.lose(None)),
        }
    }

    /// Receives a block of so many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: the previous rank has ended, or cannot be reached.
    pub fn receive(&mut self, length: usize) -> Result<&[u8]> {
        let Some(Open { incoming, .. }) = &mut self.open else {
            return Err(ended());
        };
        self.received.resize(length.max(self.received.len()), 0);
        match incoming.read_exact(&mut self.received[..length]) {
            Ok(()) => Ok(&self.received[..length]),
            Err(error) => Err(self.lose(Some(&error))),
        }
    }

    /// Closes the connections, since the previous rank does something else, and returns the error.
    pub fn disagree(&mut self) -> Error {
        self.close();
        let message = format!(
            "ranks sent one another different things: {} is in another step of the run",
            self.previous
        );
        Error::Communication(message)
    }

    /// Closes the connections, since a neighbor was lost, and returns the error. That of writing
    /// comes first: it ends reading.
    fn lose(&mut self, reading: Option<&io::Error>) -> Error {
        let writing = (self.open.as_ref()).and_then(|open| open.writer.failure.get());
        let (neighbor, error) = match (writing, reading) {
            (Some(error), _) => (&self.next, error),
            (None, Some(error)) => (&self.previous, error),
            (None, None) => return ended(),
        };
        let message = match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                format!("{neighbor} has ended")
            }
            _ => format!("{neighbor} cannot be reached: {error}"),
        };
        self.close();
        Error::Communication(message)
    }

    /// Closes the connections, so that the neighbors end as well, whoever still has this value. A
    /// neighbor that waits until it can send learns it from nothing less.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            for stream in [&open.incoming, &open.outgoing] {
                stream.shutdown(Shutdown::Both).ok();
            }
            open.writer.finish();
        }
    }
}

/// The error of operations after one that failed.
fn ended() -> Error {
    Error::Communication("the connections of this rank are closed".to_owned())
}

impl Drop for Ring {
    /// Waits until all is sent.
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.writer.finish();
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → this rank → {}", self.previous, self.next)
    }
}

impl Writer {
    fn start(links: &Links) -> io::Result<Self> {
        let (blocks, queue) = mpsc::sync_channel(AHEAD);
        let (used, spare) = mpsc::channel();
        let failure = Arc::new(OnceLock::new());
        let [incoming, outgoing] = [links.incoming.try_clone()?, links.outgoing.try_clone()?];
        let reason = Arc::clone(&failure);
        let write = move || {
            if let Err(error) = write(&outgoing, &queue, &used) {
                let _ = reason.set(error);
                // The other thread may be waiting for a rank that waits for this one.
                incoming.shutdown(Shutdown::Both).ok();
            }
        };
        let thread = thread::Builder::new().name("dropchain-ranks".to_owned());
        Ok(Self {
            blocks,
            spare,
            thread: thread.spawn(write)?,
            failure,
        })
    }

    /// Waits until all is written.
    fn finish(self) {
        drop(self.blocks);
        self.thread.join().ok();
    }
}

/// Writes blocks as long as there are any.
fn write(
    mut outgoing: &TcpStream,
    queue: &Receiver<Vec<u8>>,
    used: &Sender<Vec<u8>>,
) -> io::Result<()> {
    for block in queue {
        outgoing.write_all(&block)?;
        used.send(block).ok();
    }
    outgoing.shutdown(Shutdown::Write)
}
