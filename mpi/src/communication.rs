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
use dropchain::kernel::ranks::Reduce;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

/// Numbers that one call sums: fewer than the 2³¹ that MPI can count, with a buffer of 128 MB.
pub const PIECE: usize = 1 << 24;

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
        None => {
            let rank = unsigned(SimpleCommunicator::world().rank());
            fail(rank, "MPI was called by another thread than the main thread")
        }
    })
}

/// Ends all ranks with a message, since this one cannot go on.
pub fn fail(rank: usize, message: &str) -> ! {
    let _ = writeln!(std::io::stderr().lock(), "rank {rank}: {message}");
    abort(1)
}

/// Ends all ranks with an exit code.
pub fn abort(code: i32) -> ! {
    SimpleCommunicator::world().abort(code)
}

/// Communication between all ranks; for the main thread.
pub struct WorldReduce {
    rank: usize,
    size: usize,
    piece: usize,     // numbers that one call sums
    buffer: Vec<f64>, // what this rank adds, while MPI writes the sums
}

impl WorldReduce {
    /// Creates a handle that sums so many numbers in one call.
    pub fn new(piece: usize) -> Self {
        let [rank, size] = with_world(|world| [world.rank(), world.size()]);
        Self { rank: unsigned(rank), size: unsigned(size), piece, buffer: Vec::new() }
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
            for piece in numbers.chunks_mut(self.piece) {
                self.buffer.clear();
                self.buffer.extend_from_slice(piece);
                world.all_reduce_into(&self.buffer[..], piece, SystemOperation::sum());
            }
        });
        Ok(())
    }
}

/// Converts a rank or a number of ranks of MPI, which is never negative.
fn unsigned(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}
