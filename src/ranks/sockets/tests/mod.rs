//! Ranks over TCP do what ranks of one process do, and end together.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Barrier;
use std::thread;

use super::ring::Turn;
use super::*;
use crate::random::Lcg;
use crate::ranks::Ranks;
use crate::ranks::tests::run_ranks;

const SECRET: [u8; 16] = *b"0123456789abcdef";

/// Long enough that no test waits for its end.
const LONG: Duration = Duration::from_secs(600);

/// Listeners, and their addresses.
fn listen(size: usize) -> (Vec<SocketListener>, Vec<String>) {
    let listeners: Vec<_> = (0..size)
        .map(|_| SocketListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let address = |listener: &SocketListener| listener.address().unwrap().to_string();
    let addresses = listeners.iter().map(address).collect();
    (listeners, addresses)
}

/// Runs `work` on each of `size` connected ranks and returns the results, by rank.
pub(crate) fn run_sockets<T: Send>(size: usize, work: impl Fn(SocketRanks) -> T + Sync) -> Vec<T> {
    let (listeners, addresses) = listen(size);
    thread::scope(|scope| {
        let ranks = listeners.into_iter().enumerate().map(|(rank, listener)| {
            let (addresses, work) = (&addresses, &work);
            scope.spawn(move || work(listener.connect(rank, addresses, SECRET, LONG).unwrap()))
        });
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Numbers of a rank whose sums are exact.
fn numbers(length: usize, rank: usize) -> Vec<f64> {
    let mut random = Lcg(rank as u64 + 1);
    (0..length).map(|_| random.below(1000) as f64).collect()
}

fn bytes(length: usize, rank: usize) -> Vec<u8> {
    let mut random = Lcg(rank as u64 + 9);
    (0..length).map(|_| random.below(256) as u8).collect()
}

fn message<T>(outcome: Result<T>) -> String {
    match outcome {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn sums_are_those_of_ranks_in_one_process() {
    for size in [1, 2, 3, 5] {
        let blocks = 3 * size * BLOCK / NUMBER;
        for length in [0, 1, size - 1, size, 7 * size - 1, blocks + 1, 1_000_000] {
            let expected = run_ranks(size, |ranks| {
                let mut numbers = numbers(length, ranks.rank());
                ranks.sum(&mut numbers).unwrap();
                numbers
            });
            let sums = run_sockets(size, |mut ranks| {
                let mut numbers = numbers(length, ranks.rank());
                ranks.sum(&mut numbers).unwrap();
                numbers
            });
            assert!(sums == expected, "{length} numbers of {size} ranks");
        }
    }
}

#[test]
fn all_ranks_get_the_bytes_of_any() {
    for size in [1, 2, 3, 5] {
        for length in [0, 1, BLOCK, 10 * BLOCK + 1] {
            for root in [0, size / 2, size - 1] {
                let all = run_sockets(size, |mut ranks| {
                    let mut bytes = bytes(length + ranks.rank(), ranks.rank());
                    ranks.broadcast(root, &mut bytes).unwrap();
                    bytes
                });
                let expected = bytes(length + root, root);
                let are_equal = all.iter().all(|bytes| *bytes == expected);
                assert!(are_equal, "{length} bytes of rank {root} of {size}");
            }
        }
    }
}

#[test]
fn all_ranks_get_the_bytes_of_all() {
    for size in [1, 2, 3, 5] {
        for lengths in [
            [0; 5],
            [1, 0, 2, 0, 9],
            [10 * BLOCK + 1, 0, BLOCK, 3, 4 * BLOCK],
        ] {
            let own = |rank: usize| bytes(lengths[rank], rank);
            let all = run_sockets(size, |ranks| {
                let own = own(ranks.rank());
                Ranks::new(ranks).gather(&own).unwrap()
            });
            let expected: Vec<_> = (0..size).map(own).collect();
            assert!(
                all.iter().all(|all| *all == expected),
                "{lengths:?}, {size} ranks"
            );
        }
    }
}

#[test]
fn operations_follow_one_another_without_a_pause() {
    let all = run_sockets(3, |mut ranks| {
        let rank = ranks.rank();
        let mut sums = numbers(50_000, rank);
        let mut text = bytes(300_000, rank);
        for _ in 0..20 {
            ranks.sum(&mut sums).unwrap();
            for root in [1, 0, 2, 0] {
                ranks.broadcast(root, &mut text).unwrap();
            }
            sums.iter_mut().for_each(|sum| *sum %= 1000.0);
        }
        (sums, text)
    });
    assert!(all[1] == all[0] && all[2] == all[0]);
}

#[test]
fn messages_are_divided_into_blocks_and_sent_before_others_are_received() {
    let text = |sent, received| {
        let turns = turns(sent, received, 10).map(|turn| match turn {
            Turn::Send(range) => format!("s{}-{}", range.start, range.end),
            Turn::Receive(range) => format!("r{}-{}", range.start, range.end),
        });
        turns.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(text(0, 0), "");
    assert_eq!(text(11, 3), "s0-10 s10-11 r0-3");
    assert_eq!(text(0, 20), "r0-10 r10-20");
    assert_eq!(text(40, 20), "s0-10 s10-20 s20-30 s30-40 r0-10 r10-20");
    let parts: Vec<_> = (0..4).map(|i| part(10, i, 4)).collect();
    assert_eq!(parts, [0..3, 3..6, 6..9, 9..10]);
}

#[test]
fn a_rank_that_ends_early_ends_all() {
    let outcomes = run_sockets(5, |mut ranks| {
        if ranks.rank() == 3 {
            return "ended".to_owned();
        }
        message(ranks.sum(&mut numbers(200_000, ranks.rank())))
    });
    // Who has not sent yet finds the neighbor that it receives from, which may be another.
    assert!(
        outcomes[4].starts_with("rank 3 (127.0.0.1:"),
        "{outcomes:?}"
    );
    for outcome in [&outcomes[0], &outcomes[1], &outcomes[2], &outcomes[4]] {
        assert!(outcome.ends_with(") has ended"), "{outcome}");
    }
}

#[test]
fn a_rank_that_cannot_be_sent_to_is_named() {
    let barrier = Barrier::new(3);
    let outcomes = run_sockets(3, |mut ranks| match ranks.rank() {
        0 => {
            barrier.wait();
            let ring = ranks.ring.as_mut().unwrap();
            let sent = (0..4).try_for_each(|_| ring.send(|block| block.resize(BLOCK, 0)));
            let outcome = message(sent.and_then(|()| ring.receive(1).map(drop)));
            barrier.wait();
            outcome
        }
        1 => {
            drop(ranks);
            barrier.wait();
            barrier.wait();
            String::new()
        }
        _ => {
            barrier.wait();
            barrier.wait(); // alive, and silent
            String::new()
        }
    });
    let named = outcomes[0].starts_with("rank 1 (127.0.0.1:");
    assert!(
        named && outcomes[0].ends_with(") has ended"),
        "{}",
        outcomes[0]
    );
}

#[test]
fn a_failed_operation_ends_ranks_whose_neighbors_keep_their_handles() {
    let ended = Barrier::new(3);
    let outcomes = run_sockets(4, |mut ranks| {
        let rank = ranks.rank();
        if rank == 3 {
            return "none".to_owned();
        }
        let outcome = message(ranks.sum(&mut numbers(200_000, rank)));
        ended.wait();
        let closed = "the connections of this rank are closed";
        assert_eq!(message(ranks.broadcast(0, &mut Vec::new())), closed);
        assert_eq!(message(ranks.sum(&mut [1.0])), closed);
        outcome
    });
    let ended = |outcome: &String| outcome.ends_with(" has ended");
    assert!(outcomes[..3].iter().all(ended), "{outcomes:?}");
}

#[test]
fn ranks_that_do_different_things_end() {
    let outcomes = run_sockets(2, |mut ranks| match ranks.rank() {
        0 => message(ranks.sum(&mut [1.0])),
        _ => message(ranks.broadcast(0, &mut Vec::new())),
    });
    for outcome in &outcomes {
        let differ = outcome.starts_with("ranks sent one another different things: rank ");
        assert!(differ || outcome.ends_with("has ended"), "{outcome}");
    }
    assert!(
        outcomes
            .iter()
            .any(|outcome| outcome.contains("different things"))
    );
    let lengths = run_sockets(3, |mut ranks| {
        let length = 10 - ranks.rank() / 2;
        message(ranks.sum(&mut numbers(length, 0)))
    });
    assert!(
        lengths.iter().all(|outcome| outcome != "no error"),
        "{lengths:?}"
    );
    // Rank 0 sends without receiving, and finds out in the next operation.
    let later = run_sockets(2, |mut ranks| {
        let first = match ranks.rank() {
            0 => ranks.broadcast(0, &mut vec![1; 99]),
            _ => ranks.sum(&mut [1.0, 2.0]),
        };
        message(first.and_then(|()| ranks.sum(&mut [1.0, 2.0])))
    });
    assert!(
        later.iter().all(|outcome| outcome != "no error"),
        "{later:?}"
    );
}

#[test]
fn a_length_alone_allocates_nothing() {
    let (mut listeners, addresses) = listen(2);
    let listener = listeners.remove(0);
    let head = |kind: u64| [1 << 8 | kind, 1 << 60].map(u64::to_le_bytes);
    let outcome = thread::scope(|scope| {
        let rank = scope.spawn(|| {
            let mut ranks = listener.connect(0, &addresses, SECRET, LONG).unwrap();
            message(ranks.broadcast(1, &mut Vec::new()))
        });
        let mut other = listeners
            .remove(0)
            .connect(1, &addresses, SECRET, LONG)
            .unwrap();
        let ring = other.ring.as_mut().unwrap();
        ring.send(|block| block.extend(head(Operation::Broadcast as u64).as_flattened()))
            .unwrap();
        drop(other);
        rank.join().unwrap()
    });
    assert!(outcome.ends_with("has ended"), "{outcome}");
}

/// Connects two ranks, the second of which has another secret if that is said, and returns the
/// messages.
fn connect_two(secrets: [[u8; 16]; 2], timeout: Duration) -> Vec<String> {
    let (listeners, addresses) = listen(2);
    thread::scope(|scope| {
        let ranks = listeners.into_iter().enumerate().map(|(rank, listener)| {
            let addresses = &addresses;
            let connect = move || listener.connect(rank, addresses, secrets[rank], timeout);
            scope.spawn(move || message(connect().and_then(|mut ranks| ranks.sum(&mut [1.0]))))
        });
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

#[test]
fn ranks_with_another_secret_are_refused() {
    let mut other = SECRET;
    other[15] ^= 1;
    for (secrets, fails) in [([SECRET; 2], false), ([SECRET, other], true)] {
        let timeout = if fails {
            Duration::from_millis(300)
        } else {
            LONG
        };
        for (rank, message) in connect_two(secrets, timeout).iter().enumerate() {
            let neighbor = format!("rank {} (127.0.0.1:", 1 - rank);
            assert_eq!(message.starts_with(&neighbor), fails, "{message}");
            assert_eq!(
                message.contains("did not answer within 0.3 s: "),
                fails,
                "{message}"
            );
        }
    }
}

#[test]
fn a_rank_that_never_comes_is_named() {
    let (mut listeners, mut addresses) = listen(3);
    let timeout = Duration::from_millis(300);
    let listener = listeners.remove(0);
    let outcome = listener.connect(0, &addresses, SECRET, timeout);
    let expected = format!(
        "rank 1 ({}) did not answer within 0.3 s: it is not connecting",
        addresses[1]
    );
    assert_eq!(message(outcome), expected);
    // Nobody listens there.
    drop(listeners.pop());
    addresses.swap(0, 2);
    let outcome = listeners
        .remove(0)
        .connect(2, &addresses[1..], SECRET, timeout);
    assert_eq!(message(outcome), "rank 2 of 2; expected one below 2");
    let free = listen(1).0.remove(0).address().unwrap().to_string();
    let addresses = [addresses[0].clone(), free.clone()];
    let outcome = listen(1)
        .0
        .remove(0)
        .connect(0, &addresses, SECRET, timeout);
    let message = message(outcome);
    assert!(
        message.starts_with(&format!("rank 1 ({free}) did not answer")),
        "{message}"
    );
}

#[test]
fn stray_connections_are_dropped() {
    let (listeners, addresses) = listen(2);
    let mut silent = TcpStream::connect(&addresses[0]).unwrap();
    let mut other = TcpStream::connect(&addresses[1]).unwrap();
    other.write_all(&[b'x'; 100]).unwrap();
    let mut gathered = Vec::new();
    thread::scope(|scope| {
        let ranks = listeners.into_iter().enumerate().map(|(rank, listener)| {
            let addresses = &addresses;
            scope.spawn(move || {
                let ranks = listener.connect(rank, addresses, SECRET, LONG).unwrap();
                Ranks::new(ranks).gather(&[rank as u8]).unwrap()
            })
        });
        let ranks: Vec<_> = ranks.collect();
        gathered.extend(ranks.into_iter().map(|rank| rank.join().unwrap()));
    });
    assert_eq!(gathered, [[[0], [1]], [[0], [1]]]);
    for stream in [&mut silent, &mut other] {
        assert!(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)));
    }
}

#[test]
fn a_stray_that_answers_is_not_taken_for_a_rank() {
    let stray = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut listeners, mut addresses) = listen(3);
    addresses[1] = stray.local_addr().unwrap().to_string();
    let timeout = Duration::from_millis(300);
    let outcome = thread::scope(|scope| {
        let rank = scope.spawn(|| listeners.remove(0).connect(0, &addresses, SECRET, timeout));
        let (mut stream, _) = stray.accept().unwrap();
        let mut greeting = [0; 40];
        stream.read_exact(&mut greeting).unwrap();
        greeting[39] ^= 1;
        stream.write_all(&greeting).unwrap();
        drop(stray);
        message(rank.join().unwrap())
    });
    assert!(
        outcome.starts_with(&format!("rank 1 ({})", addresses[1])),
        "{outcome}"
    );
}

#[test]
fn of_many_silent_connections_the_oldest_are_dropped() {
    let (mut listeners, addresses) = listen(2);
    let connect = |_| TcpStream::connect(&addresses[0]).unwrap();
    let mut silent: Vec<_> = (0..70).map(connect).collect();
    thread::scope(|scope| {
        let addresses = &addresses;
        let first = listeners.remove(0);
        let rank = scope.spawn(move || first.connect(0, addresses, SECRET, LONG));
        assert!(matches!(silent[0].read(&mut [0; 1]), Ok(0) | Err(_)));
        let other = listeners.remove(0).connect(1, addresses, SECRET, LONG);
        assert!(other.is_ok() && rank.join().unwrap().is_ok());
    });
}

#[test]
fn connections_are_closed_even_if_the_next_rank_does_not_read() {
    let barrier = Barrier::new(2);
    run_sockets(2, |mut ranks| {
        if ranks.rank() == 0 {
            let ring = ranks.ring.as_mut().unwrap();
            ring.send(|block| block.resize(1 << 26, 0)).unwrap();
            ring.disagree();
        }
        barrier.wait();
    });
}

#[test]
fn a_greeting_may_come_in_pieces() {
    let (mut listeners, addresses) = listen(2);
    let greeting = Hello::new(1, 2, SECRET).unwrap().bytes(1, 0);
    thread::scope(|scope| {
        let addresses = &addresses;
        let first = listeners.remove(0);
        let rank = scope.spawn(move || first.connect(0, addresses, SECRET, LONG));
        let mut stream = TcpStream::connect(&addresses[0]).unwrap();
        stream.write_all(&greeting[..7]).unwrap();
        thread::sleep(Duration::from_millis(50));
        stream.write_all(&greeting[7..]).unwrap();
        let mut answer = [0; 40];
        stream.read_exact(&mut answer).unwrap();
        let (mut other, _) = listeners[0].listener.accept().unwrap();
        other.read_exact(&mut answer).unwrap();
        let expected = Hello::new(1, 2, SECRET).unwrap();
        assert_eq!(answer, expected.bytes(0, 1));
        other.write_all(&greeting).unwrap();
        rank.join().unwrap().unwrap();
    });
}

#[test]
fn ranks_agree_on_errors() {
    let outcomes = run_sockets(3, |ranks| {
        let ranks = Ranks::new(ranks);
        message(ranks.agree(match ranks.rank() {
            1 => Err(Error::parameter("bad")),
            _ => Ok(()),
        }))
    });
    assert_eq!(outcomes, ["rank 1: bad"; 3]);
}
