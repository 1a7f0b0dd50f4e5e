//! Communication between ranks by MPI.
//!
//! A communicator of MPI belongs to the thread that initialized MPI, which makes all calls
//! (`MPI_THREAD_FUNNELED`). A handle that other threads may own therefore does not contain it, but
//! finds it among the variables of its thread.
//!
//! The library of MPI ends all ranks when a call fails (`MPI_ERRORS_ARE_FATAL`, its default), and
//! so does everything here: a rank that went on alone would wait forever.

use std::cell::RefCell;
use std::io::Write;

use dropchain::Result;
use dropchain::train::Reduce;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};

/// What one call sends: fewer than the 2³¹ that MPI can count.
#[derive(Clone, Copy)]
pub struct Pieces {
    /// Numbers that are summed.
    pub numbers: usize,
    pub bytes: usize,
}

/// With a buffer for sums of 128 MB.
impl Default for Pieces {
    fn default() -> Self {
        Self {
            numbers: 1 << 24,
            bytes: 1 << 30,
        }
    }
}

thread_local! {
    /// The communicator of all ranks, on the main thread.
    static WORLD: RefCell<Option<SimpleCommunicator>> = const { RefCell::new(None) };
}

/// The communicator of all ranks, for as long as this value lives.
pub struct World(());

impl World {
    /// Creates the communicator.
    pub fn open(universe: &Universe) -> Self {
        let world = universe.world().duplicate();
        WORLD.with_borrow_mut(|slot| *slot = Some(world));
        Self(())
    }
}

impl Drop for World {
    /// Frees the communicator, which is possible only before MPI ends.
    fn drop(&mut self) {
        WORLD.with_borrow_mut(Option::take);
    }
}

/// Calls `work` with the communicator of all ranks.
fn with_world<T>(work: impl FnOnce(&SimpleCommunicator) -> T) -> T {
    WORLD.with_borrow(|world| match world {
        Some(world) => work(world),
        None => fail("MPI was called by another thread than the main thread"),
    })
}

/// Ends all ranks, since this one cannot go on.
fn fail(message: &str) -> ! {
    let world = SimpleCommunicator::world();
    let rank = world.rank();
    let _ = writeln!(std::io::stderr().lock(), "rank {rank}: {message}");
    world.abort(1)
}

/// Ends all ranks with an exit code.
pub fn abort(code: i32) -> ! {
    SimpleCommunicator::world().abort(code)
}

/// Communication between all ranks; for the main thread.
pub struct WorldReduce {
    rank: usize,
    size: usize,
    pieces: Pieces,
    buffer: Vec<f64>, // what this rank adds, while MPI writes the sums
}

impl WorldReduce {
    /// Creates a handle.
    pub fn new(pieces: Pieces) -> Self {
        let [rank, size] = with_world(|world| [world.rank(), world.size()]);
        Self {
            rank: unsigned(rank),
            size: unsigned(size),
            pieces,
            buffer: Vec::new(),
        }
    }
}

impl Reduce for WorldReduce {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn sum(&mut self, numbers: &mut [f64]) -> Result<()> {
        with_world(|world| {
            for piece in numbers.chunks_mut(self.pieces.numbers) {
                self.buffer.clear();
                self.buffer.extend_from_slice(piece);
                world.all_reduce_into(&self.buffer[..], piece, SystemOperation::sum());
            }
        });
        Ok(())
    }

    fn broadcast(&mut self, root: usize, bytes: &mut Vec<u8>) -> Result<()> {
        with_world(|world| match i32::try_from(root) {
            Ok(root) => broadcast(world, root, bytes, self.pieces),
            Err(_) => fail("a rank that MPI cannot count"),
        });
        Ok(())
    }
}

/// Overwrites `bytes` with those of a rank of a communicator.
pub fn broadcast(world: &SimpleCommunicator, root: i32, bytes: &mut Vec<u8>, pieces: Pieces) {
    let root = world.process_at_rank(root);
    let mut length = bytes.len() as u64;
    root.broadcast_into(&mut length);
    bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
    for piece in bytes.chunks_mut(pieces.bytes) {
        root.broadcast_into(piece);
    }
}

/// Converts a rank or a number of ranks of MPI, which is never negative.
fn unsigned(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}
