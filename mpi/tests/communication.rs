//! Numbers that do not fit into one call of MPI arrive.
//!
//! Needs Open MPI: run `mpi/test`.

#[path = "../src/communication.rs"]
#[allow(dead_code)] // what the program alone needs
mod communication;

use std::env;
use std::process::Command;

use communication::{World, WorldReduce};
use dropchain::kernel::ranks::Ranks;
use mpi::Threading;

#[test]
fn long_sums_are_sent_in_pieces() {
    let mut command = Command::new("timeout");
    command.args(["300", "mpirun", "--oversubscribe", "--allow-run-as-root"]);
    command.args(["--bind-to", "none", "-n", "3"]);
    command.arg(env::current_exe().unwrap());
    command.args(["--exact", "ranks_exchange_pieces", "--ignored"]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout.matches("1 passed").count(), 3, "{stdout}");
}

#[test]
#[ignore = "the test above runs it on several ranks"]
fn ranks_exchange_pieces() {
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled).unwrap();
    let world = World::open(&universe);
    let ranks = Ranks::new(WorldReduce::new(3));
    for length in [0, 1, 3, 4, 10] {
        let mut sums: Vec<f64> = (0..length).map(f64::from).collect();
        ranks.sum(&mut sums).unwrap();
        let expected = (0..length).map(|i| f64::from(i) * ranks.size() as f64);
        assert!(sums.into_iter().eq(expected), "{length} numbers");
    }
    let bytes_of = |rank: usize| -> Vec<u8> { (0..5 * rank as u8 + 4).collect() };
    let gathered = ranks.gather(&bytes_of(ranks.rank())).unwrap();
    let expected: Vec<_> = (0..ranks.size()).map(bytes_of).collect();
    assert_eq!(gathered, expected);
    drop(world);
}
