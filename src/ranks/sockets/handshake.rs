//! How ranks find one another: each reaches the next one and is reached by the previous one.
//!
//! Both ends of a connection say who they are (40 bytes, numbers in little-endian order):
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `DROPRNK\n` |
//! | 4 | version of the protocol |
//! | 4 | number of ranks |
//! | 4 | rank that speaks |
//! | 4 | rank that is spoken to |
//! | 16 | the secret of the run |

use std::hint::black_box;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{SockRef, TcpKeepalive};

use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"DROPRNK\n";
const VERSION: u32 = 1;
const HELLO: usize = 40;

/// Maximum number of connections of which nobody knows yet whose they are.
const MAX_PENDING: usize = 64;

/// Time between looks at them.
const POLL: Duration = Duration::from_millis(2);

/// Time between attempts to reach a rank.
const RETRY: Duration = Duration::from_millis(100);

/// Idle time after which, and interval at which, the system asks whether a neighbor is still there.
/// There is no `TCP_USER_TIMEOUT`: Linux also ends connections with it whose receiver is alive, but
/// computes and reads nothing for that time.
const KEEPALIVE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(10)];

/// The connections of a rank, and what its neighbors are called in messages.
pub struct Links {
    pub incoming: TcpStream,
    pub outgoing: TcpStream,
    pub previous: String,
    pub next: String,
}

/// The time for connecting.
#[derive(Clone, Copy)]
pub struct Clock {
    start: Instant,
    timeout: Duration,
}

impl Clock {
    /// Starts the time.
    pub fn start(timeout: Duration) -> Self {
        let start = Instant::now();
        Self { start, timeout }
    }

    fn left(self) -> Duration {
        self.timeout.saturating_sub(self.start.elapsed())
    }
}

/// What a rank says of itself.
pub struct Hello {
    rank: u32,
    size: u32,
    secret: [u8; 16],
}

impl Hello {
    /// Creates the greeting of a rank.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are 2³² ranks or more.
    pub fn new(rank: usize, size: usize, secret: [u8; 16]) -> Result<Self> {
        let [Ok(rank), Ok(size)] = [rank, size].map(u32::try_from) else {
            return Err(Error::parameter(format!("{size} ranks; expected fewer")));
        };
        Ok(Self { rank, size, secret })
    }

    fn next(&self) -> u32 {
        (self.rank + 1) % self.size
    }

    fn previous(&self) -> u32 {
        (self.rank + self.size - 1) % self.size
    }

    /// Returns what rank `from` says to rank `to`.
    pub fn bytes(&self, from: u32, to: u32) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        let (head, secret) = bytes.split_at_mut(HELLO - self.secret.len());
        head[..8].copy_from_slice(&MAGIC);
        let numbers = [VERSION, self.size, from, to].map(u32::to_le_bytes);
        head[8..].copy_from_slice(numbers.as_flattened());
        secret.copy_from_slice(&self.secret);
        bytes
    }

    /// Returns whether this rank was greeted by `from`, in a time that does not tell how much of a
    /// secret was right.
    fn is_greeted(&self, greeting: &[u8; HELLO], from: u32) -> bool {
        let expected = self.bytes(from, self.rank);
        let pairs = expected.iter().zip(greeting);
        pairs.fold(0, |all, (a, b)| black_box(all | (a ^ b))) == 0
    }
}

/// Connects a rank with its neighbors.
///
/// # Errors
///
/// [`Error::Communication`] with the neighbor that did not answer in time.
pub fn connect(
    listener: &TcpListener,
    hello: &Hello,
    addresses: &[String],
    clock: Clock,
) -> Result<Links> {
    let name = |rank: u32| format!("rank {rank} ({})", addresses[rank as usize]);
    let (previous, next) = (name(hello.previous()), name(hello.next()));
    let address = &addresses[hello.next() as usize];
    let late = |neighbor: &str, reason: &str| {
        let seconds = clock.timeout.as_secs_f64();
        let message = format!("{neighbor} did not answer within {seconds} s: {reason}");
        Error::Communication(message)
    };
    let (outgoing, incoming) = thread::scope(|scope| {
        let reaching = thread::Builder::new().spawn_scoped(scope, || reach(hello, address, clock));
        let incoming = accept(listener, hello, clock);
        let outgoing = match reaching.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(outgoing)) => outgoing,
            Ok(Err(_)) => Err("a thread panicked".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        (outgoing, incoming)
    });
    let links = Links {
        outgoing: outgoing.map_err(|reason| late(&next, &reason))?,
        incoming: incoming.map_err(|reason| late(&previous, &reason))?,
        previous,
        next,
    };
    for stream in [&links.incoming, &links.outgoing] {
        prepare(stream).map_err(|error| {
            Error::Communication(format!("cannot use the connections of this rank: {error}"))
        })?;
    }
    Ok(links)
}

/// Sets the options of a connection.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    let [time, interval] = KEEPALIVE;
    let keepalive = TcpKeepalive::new().with_time(time).with_interval(interval);
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// Connects to the next rank: tries until the time is over, and then returns the last error.
fn reach(hello: &Hello, address: &str, clock: Clock) -> std::result::Result<TcpStream, String> {
    loop {
        match try_reach(hello, address, clock) {
            Ok(stream) => return Ok(stream),
            Err(error) if clock.left().is_zero() => return Err(error.to_string()),
            Err(_) => thread::sleep(RETRY.min(clock.left())),
        }
    }
}

fn try_reach(hello: &Hello, address: &str, clock: Clock) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in address.to_socket_addrs()? {
        let left = clock.left().max(POLL); // 0 would be an error
        match TcpStream::connect_timeout(&address, left).and_then(|s| greet(hello, s, left)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Greets the next rank, and waits until it does the same.
fn greet(hello: &Hello, mut stream: TcpStream, left: Duration) -> io::Result<TcpStream> {
    let next = hello.next();
    stream.set_read_timeout(Some(left))?;
    stream.write_all(&hello.bytes(hello.rank, next))?;
    let mut answer = [0; HELLO];
    stream
        .read_exact(&mut answer)
        .map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => io::Error::new(
                error.kind(),
                "it refused the connection; is it of another run?",
            ),
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                io::Error::new(ErrorKind::TimedOut, "it is not connecting")
            }
            _ => error,
        })?;
    if !hello.is_greeted(&answer, next) {
        let message = "it is no rank of this run";
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    stream.set_read_timeout(None)?;
    Ok(stream)
}

/// A connection that has not said yet whose it is.
struct Pending {
    stream: TcpStream,
    greeting: [u8; HELLO],
    filled: usize,
}

impl Pending {
    /// Reads what has come; returns whether that is all. Never waits.
    fn read(&mut self) -> io::Result<bool> {
        while self.filled < HELLO {
            match self.stream.read(&mut self.greeting[self.filled..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Answers the greeting of the previous rank.
    fn answer(mut self, hello: &Hello) -> io::Result<TcpStream> {
        self.stream.set_nonblocking(false)?;
        let answer = hello.bytes(hello.rank, hello.previous());
        self.stream.write_all(&answer)?;
        Ok(self.stream)
    }
}

/// Waits for the previous rank, and drops the connections of all others; of those that say nothing,
/// the oldest first.
fn accept(
    listener: &TcpListener,
    hello: &Hello,
    clock: Clock,
) -> std::result::Result<TcpStream, String> {
    let system = |error: io::Error| error.to_string();
    listener.set_nonblocking(true).map_err(system)?;
    let mut pending: Vec<Pending> = Vec::new();
    while !clock.left().is_zero() {
        while let Ok((stream, _)) = listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                pending.push(Pending {
                    stream,
                    greeting: [0; HELLO],
                    filled: 0,
                });
            }
        }
        let excess = pending.len().saturating_sub(MAX_PENDING);
        pending.drain(..excess);
        let mut waiting = Vec::with_capacity(pending.len());
        for mut connection in pending {
            match connection.read() {
                Ok(false) => waiting.push(connection),
                Ok(true) if hello.is_greeted(&connection.greeting, hello.previous()) => {
                    if let Ok(stream) = connection.answer(hello) {
                        return Ok(stream);
                    }
                }
                Ok(true) | Err(_) => {}
            }
        }
        pending = waiting;
        thread::sleep(POLL);
    }
    Err("it is not connecting".to_owned())
}
