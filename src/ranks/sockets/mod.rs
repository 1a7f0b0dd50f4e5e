//! Ranks that are connected by TCP, for engines that start processes and leave the exchange of
//! numbers to them, such as Spark.
//!
//! ```text
//! every rank:  bind → its address → (the engine tells all addresses to all) → connect
//! ```
//!
//! The ranks form a ring: rank r sends to rank r + 1 and receives from rank r − 1, modulo n. A sum
//! of d numbers is a reduce-scatter and an all-gather (Patarasuk and Yuan 2009): every rank sends
//! 2·(n − 1)/n·d numbers, whatever the number of ranks, in 2·(n − 1) steps. Numbers travel as they
//! are, neither compressed nor encrypted; a secret keeps other programs out.
//!
//! A rank that ends closes its connections, whereupon the next operation of its neighbors fails.
//! They close theirs, too, so that all ranks end.

mod handshake;
mod ring;
#[cfg(test)]
pub mod tests;

use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::time::Duration;

use super::Reduce;
use crate::error::{Error, Result};
use handshake::{Clock, Hello};
use ring::{BLOCK, Operation, Ring, Turn, turns};

/// Bytes of a number.
const NUMBER: usize = size_of::<f64>();

/// A rank that waits for the others, at an address that it tells them.
#[derive(Debug)]
pub struct SocketListener {
    listener: TcpListener,
}

impl SocketListener {
    /// Listens at an address, such as `0.0.0.0:0`; port 0 is any that is free.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: there is no such address, or it is in use.
    pub fn bind(address: &str) -> Result<Self> {
        let listener = TcpListener::bind(address).map_err(|error| {
            Error::Communication(format!("cannot wait for other ranks at {address}: {error}"))
        })?;
        Ok(Self { listener })
    }

    /// Returns the address, with the port.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`]: the system does not tell it.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(|error| {
            Error::Communication(format!("cannot tell the address of this rank: {error}"))
        })
    }

    /// Connects the ranks of a run, each of which calls this. `addresses` are those of all ranks,
    /// by rank, as `host:port`; `secret` are random bytes that only they know. Connections of
    /// others are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: there is no such rank. [`Error::Communication`] with the address of
    /// a neighbor that did not answer within this time.
    pub fn connect(
        self,
        rank: usize,
        addresses: &[String],
        secret: [u8; 16],
        timeout: Duration,
    ) -> Result<SocketRanks> {
        let size = addresses.len();
        if rank >= size {
            let message = format!("rank {rank} of {size}; expected one below {size}");
            return Err(Error::parameter(message));
        }
        if size == 1 {
            return Ok(SocketRanks::alone());
        }
        let hello = Hello::new(rank, size, secret)?;
        let clock = Clock::start(timeout);
        let links = handshake::connect(&self.listener, &hello, addresses, clock)?;
        let ring = Some(Ring::new(links)?);
        Ok(SocketRanks { rank, size, ring })
    }
}

/// Communication between ranks that are connected by TCP.
///
/// ```
/// use std::{thread, time::Duration};
/// use dropchain::train::{Reduce, SocketListener};
///
/// # fn main() -> dropchain::Result<()> {
/// let listeners = [SocketListener::bind("127.0.0.1:0")?, SocketListener::bind("127.0.0.1:0")?];
/// let mut addresses = Vec::new();
/// for listener in &listeners {
///     addresses.push(listener.address()?.to_string());
/// }
/// let sums = thread::scope(|scope| {
///     let ranks = listeners.into_iter().enumerate().map(|(rank, listener)| {
///         let addresses = &addresses;
///         scope.spawn(move || {
///             let minute = Duration::from_secs(60);
///             let mut ranks = listener.connect(rank, addresses, [7; 16], minute)?;
///             let mut numbers = [1.0, rank as f64];
///             ranks.sum(&mut numbers).map(|()| numbers)
///         })
///     });
///     let ranks: Vec<_> = ranks.collect();
///     ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<dropchain::Result<Vec<_>>>()
/// })?;
/// assert_eq!(sums, [[2.0, 1.0], [2.0, 1.0]]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SocketRanks {
    rank: usize,
    size: usize,
    ring: Option<Ring>, // of several ranks
}

impl SocketRanks {
    /// Returns the only rank of a run.
    #[must_use]
    pub fn alone() -> Self {
        Self {
            rank: 0,
            size: 1,
            ring: None,
        }
    }
}

impl Reduce for SocketRanks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn sum(&mut self, numbers: &mut [f64]) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        ring.begin(Operation::Sum);
        ring.send_length(numbers.len())?;
        let found = ring.receive_length()?;
        if found != numbers.len() {
            return Err(ring.disagree());
        }
        let (rank, size) = (self.rank, self.size);
        let part = |i: usize| part(numbers.len(), i % size, size);
        let steps: Vec<_> = (0..2 * (size - 1))
            .map(|step| {
                // In the second half, part r + 1 has been summed on rank r.
                let sent = rank + 2 * size - step;
                (part(sent), part(sent - 1), step < size - 1)
            })
            .collect();
        for (sent, received, adds) in steps {
            exchange(ring, numbers, sent, received, adds)?;
        }
        Ok(())
    }

    fn broadcast(&mut self, root: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        ring.begin(Operation::Broadcast);
        let is_first = self.rank == root;
        let is_last = (self.rank + 1) % self.size == root;
        let mut length = bytes.len();
        if !is_first {
            bytes.clear();
            length = ring.receive_length()?;
        }
        if !is_last {
            ring.send_length(length)?;
        }
        for start in (0..length).step_by(BLOCK) {
            let end = length.min(start + BLOCK);
            if !is_first {
                bytes.extend_from_slice(ring.receive(end - start)?);
            }
            if !is_last {
                ring.send(|block| block.extend_from_slice(&bytes[start..end]))?;
            }
        }
        Ok(())
    }
}

/// Returns part `i` of `size` parts of almost equal lengths.
fn part(length: usize, i: usize, size: usize) -> Range<usize> {
    let longest = length.div_ceil(size);
    length.min(i * longest)..length.min((i + 1) * longest)
}

/// Sends some of the numbers and receives others, which are added or replace them.
fn exchange(
    ring: &mut Ring,
    numbers: &mut [f64],
    sent: Range<usize>,
    received: Range<usize>,
    adds: bool,
) -> Result<()> {
    for turn in turns(sent.len(), received.len(), BLOCK / NUMBER) {
        match turn {
            Turn::Send(range) => {
                let numbers = &numbers[sent.clone()][range];
                ring.send(|block| put(block, numbers))?;
            }
            Turn::Receive(range) => {
                let numbers = &mut numbers[received.clone()][range];
                let bytes = ring.receive(NUMBER * numbers.len())?;
                let terms = bytes.as_chunks().0.iter().copied().map(f64::from_le_bytes);
                let numbers = numbers.iter_mut().zip(terms);
                match adds {
                    true => numbers.for_each(|(sum, x)| *sum += x),
                    false => numbers.for_each(|(number, x)| *number = x),
                }
            }
        }
    }
    Ok(())
}

/// Writes numbers into an empty block.
fn put(block: &mut Vec<u8>, numbers: &[f64]) {
    block.resize(NUMBER * numbers.len(), 0);
    let places = block.as_chunks_mut().0.iter_mut();
    places
        .zip(numbers)
        .for_each(|(place, x)| *place = x.to_le_bytes());
}
