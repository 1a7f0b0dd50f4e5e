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
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};

/// Numbers that one call sums; fewer than the 2³¹ that MPI can count, and a buffer of 128 MB.
const SUMMED: usize = 1 << 24;

/// Bytes that one call sends; fewer than the 2³¹ that MPI can count.
const SENT: usize = 1 << 30;

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
    buffer: Vec<f64>, // what this rank adds, while MPI writes the sums
}

impl WorldReduce {
    /// Creates a handle.
    pub fn new() -> Self {
        let [rank, size] = with_world(|world| [world.rank(), world.size()]);
        Self {
            rank: unsigned(rank),
            size: unsigned(size),
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
            for piece in numbers.chunks_mut(SUMMED) {
                self.buffer.clear();
                self.buffer.extend_from_slice(piece);
                world.all_reduce_into(&self.buffer[..], piece, SystemOperation::sum());
            }
        });
        Ok(())
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        with_world(|world| {
            let root = world.process_at_rank(0);
            let mut length = bytes.len() as u64;
            root.broadcast_into(&mut length);
            bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
            for piece in bytes.chunks_mut(SENT) {
                root.broadcast_into(piece);
            }
        });
        Ok(())
    }

    fn gather(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(with_world(|world| gather(world, bytes)))
    }
}

/// Returns the bytes of all ranks of a communicator, by rank.
pub fn gather(world: &SimpleCommunicator, bytes: &[u8]) -> Vec<Vec<u8>> {
    // One more byte: the address of an empty slice in Rust may be 1, which Open MPI takes for
    // MPI_IN_PLACE.
    let message = [bytes, &[0]].concat();
    let Ok(length) = i32::try_from(message.len()) else {
        fail("a message of more than 2 GB");
    };
    let mut lengths = vec![0_i32; unsigned(world.size())];
    world.all_gather_into(&length, &mut lengths[..]);
    let mut starts = Vec::with_capacity(lengths.len());
    let mut total = 0_i32;
    for &length in &lengths {
        starts.push(total);
        total = (total.checked_add(length)).unwrap_or_else(|| fail("messages of more than 2 GB"));
    }
    let mut all = vec![0; unsigned(total)];
    let mut parts = PartitionMut::new(&mut all[..], &lengths[..], &starts[..]);
    world.all_gather_varcount_into(&message[..], &mut parts);
    let parts = starts.iter().zip(&lengths).map(|(&start, &length)| {
        let start = unsigned(start);
        all[start..start + unsigned(length) - 1].to_vec()
    });
    parts.collect()
}

/// Converts a count or a rank of MPI, which is never negative.
fn unsigned(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}
