use dropchain_numerics::error::Error;
use dropchain_numerics::testing::internal::PIECE;
use dropchain_numerics::testing::run_ranks;

#[test]
fn bytes_of_any_length_are_gathered_by_rank() {
    let gathered = run_ranks(4, |ranks| {
        let length = [5, 0, 1, 4 * PIECE + 6][ranks.rank()];
        let own: Vec<u8> = (0..length).map(|i| (i * 7 + 250) as u8).collect();
        ranks.gather(&own).unwrap()
    });
    assert_eq!(gathered[0][0], [250, 1, 8, 15, 22]);
    assert_eq!(gathered[0][3].len(), 4 * PIECE + 6);
    assert!(gathered.iter().all(|all| *all == gathered[0]));
}

#[test]
fn ranks_agree_if_all_succeed() {
    let outcomes = run_ranks(3, |ranks| ranks.agree(Ok(ranks.rank())));
    let numbers: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

#[test]
fn a_failure_of_some_ranks_is_one_of_all_that_names_them() {
    let outcomes = run_ranks(3, |ranks| {
        ranks.agree(match ranks.rank() {
            1 => Ok(()),
            rank => Err(Error::parameter(format!("bad {rank}"))),
        })
    });
    for outcome in outcomes {
        let message = outcome.unwrap_err().to_string();
        assert_eq!(message, "rank 0: bad 0\nrank 2: bad 2");
    }
}

#[test]
fn what_all_ranks_say_is_said_once() {
    for outcome in run_ranks(2, |ranks| ranks.agree::<()>(Err(Error::parameter("bad")))) {
        assert_eq!(outcome.unwrap_err().to_string(), "bad");
    }
}
