//! Teams of threads.

use dropchain::corpus::{Format, ReadOptions};
use std::sync::{Arc, Barrier, Mutex};

use dropchain::kernel::ranks::Reduce;
use dropchain::train::{Lbfgs, NoiseKind, NoiseOptions};
use dropchain::{Corpus, Template};
use serde_json::json;

use super::*;

fn panic_with(rank: usize, message: &str) -> ! {
    panic!("rank {rank} ends all: {message}")
}

/// A rank that is a thread: all add to the same numbers, one after the other.
struct Thread {
    rank: usize,
    barrier: Arc<(Barrier, usize)>,
    sums: Arc<Mutex<Vec<f64>>>,
}

impl Reduce for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.barrier.1
    }

    fn sum(&mut self, numbers: &mut [f64]) -> Result<()> {
        let mut sums = self.sums.lock().unwrap();
        sums.resize(numbers.len(), 0.0);
        sums.iter_mut().zip(&*numbers).for_each(|(sum, x)| *sum += x);
        drop(sums);
        self.barrier.0.wait();
        numbers.copy_from_slice(&self.sums.lock().unwrap());
        if self.barrier.0.wait().is_leader() {
            self.sums.lock().unwrap().clear();
        }
        self.barrier.0.wait();
        Ok(())
    }
}

/// Runs `work` on all ranks of a team, and returns their results.
fn run<T: Send>(size: usize, work: impl Fn(usize, &Team) -> T + Sync) -> Vec<T> {
    let barrier = Arc::new((Barrier::new(size), size));
    let sums = Arc::default();
    std::thread::scope(|scope| {
        let start = |rank| {
            let (barrier, sums) = (Arc::clone(&barrier), Arc::clone(&sums));
            let thread = Thread { rank, barrier, sums };
            let work = &work;
            scope.spawn(move || work(rank, &Team::new(Ranks::new(thread), 1, panic_with)))
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

fn message(result: CommandResult) -> (u8, String) {
    let error = result.unwrap_err();
    (error.code(), error.message().unwrap_or_default())
}

#[test]
fn an_error_of_one_rank_is_that_of_all() {
    let results = run(3, |rank, team| {
        message(team.agree(match rank {
            2 => Err(Error::parameter("train.conll:3: no label").into()),
            _ => Ok(()),
        }))
    });
    let expected = (1, "rank 2: train.conll:3: no label".to_owned());
    assert_eq!(results, vec![expected; 3]);
}

#[test]
fn wrong_arguments_keep_their_exit_code() {
    let results = run(2, |_, team| message(team.agree(Err(CommandError::Usage("read once")))));
    assert_eq!(results, vec![(2, "read once".to_owned()); 2]);
    let results = run(2, |rank, team| {
        message(team.agree(match rank {
            1 => Err(CommandError::Usage("read once")),
            _ => Ok(()),
        }))
    });
    assert_eq!(results[0], (1, "rank 1: read once".to_owned()));
}

#[test]
fn the_others_end_as_rank_0_does() {
    for (error, code) in [
        (CommandError::NotConverged as fn(String) -> CommandError, 3),
        (CommandError::NotFinite, 4),
    ] {
        let results = run(3, |rank, team| {
            message(team.follow_first(match rank {
                0 => Err(error("why".to_owned())),
                _ => Ok(()),
            }))
        });
        let silent = (code, String::new());
        assert_eq!(results, [(code, "why".to_owned()), silent.clone(), silent]);
    }
    assert!(run(3, |_, team| team.follow_first(Ok(())).is_ok()) == [true; 3]);
}

fn parse(text: &str, name: &str) -> Corpus {
    let options = ReadOptions { format: Some(Format::Conll), ..ReadOptions::default() };
    Corpus::parse(text, name, &options).unwrap()
}

fn check(inputs: impl Fn(usize) -> Inputs + Sync) -> Vec<Option<String>> {
    run(3, |rank, team| {
        team.check_same(|| Ok(inputs(rank))).err().and_then(|error| error.message())
    })
}

#[test]
fn a_rank_with_other_sentences_is_named_with_the_file() {
    let read = |labels: [&str; 2]| {
        let [train, dev] = labels.map(|label| format!("Ann {label}\nleft O\n"));
        let inputs = Inputs::default().corpus(&parse(&train, "train.conll"));
        inputs.corpus(&parse(&dev, "dev.conll"))
    };
    let same = check(|_| read(["B-PER", "B-PER"]));
    assert_eq!(same, [None, None, None]);
    let expected = "rank 2 read other sentences from dev.conll than rank 0; expected the same \
                    files and options on all machines";
    let differ = check(|rank| read(["B-PER", ["B-PER", "B-PER", "B-LOC"][rank]]));
    assert_eq!(differ, vec![Some(expected.to_owned()); 3]);
    let differ = check(|rank| read([["B-PER", "B-PER", "B-LOC"][rank], "B-PER"]));
    assert!(differ[0].as_ref().unwrap().contains("from train.conll"));
}

#[test]
fn values_of_attributes_count() {
    let read = |value: &str| {
        let options = ReadOptions { format: Some(Format::Crfsuite), ..ReadOptions::default() };
        let text = format!("B-PER\tw=Ann:{value}\nO\tw=left\n");
        let corpus = Corpus::parse(&text, "a.crfsuite", &options).unwrap();
        Inputs::default().corpus(&corpus)
    };
    assert_eq!(check(|_| read("2")), [None, None, None]);
    let differ = check(|rank| read(["2", "3", "2"][rank]));
    let expected = "rank 1 read other sentences from a.crfsuite than rank 0";
    assert!(differ[2].as_ref().unwrap().starts_with(expected));
}

#[test]
fn a_rank_with_other_options_or_another_template_is_named() {
    let options = check(|rank| Inputs::default().options(&json!([1, 1, 2][rank])));
    let expected = "rank 2 has other options than rank 0";
    assert!(options[0].as_ref().unwrap().starts_with(expected));
    let template = check(|rank| {
        let text = ["word\n", "shape\n", "word\n"][rank];
        Inputs::default().template(Some(&text.parse::<Template>().unwrap()))
    });
    let expected = "rank 1 read another template";
    assert!(template[0].as_ref().unwrap().starts_with(expected));
}

#[test]
fn what_does_not_divide_is_refused() {
    let sampled = Lbfgs {
        noise: NoiseOptions { kind: NoiseKind::MonteCarlo(4), ..NoiseOptions::default() },
        ..Lbfgs::default()
    };
    let refused = |size, learner: &Lbfgs| {
        let results = run(size, |_, team| team.check_learner(learner).err().map(|e| e.to_string()));
        results[0].clone().unwrap_or_default()
    };
    assert_eq!(refused(2, &Lbfgs::default()), "");
    assert!(refused(2, &sampled).starts_with("`noise` monte-carlo"));
    assert_eq!(refused(1, &sampled), "");
    assert!(Team::default().check_learner(&sampled).is_ok());
}

#[test]
fn standard_input_is_refused_by_several_ranks() {
    let refuses = |size, name: &str| run(size, |_, team| team.check_no_stdin([name]).is_err());
    assert_eq!(refuses(2, "-"), [true, true]);
    assert_eq!(refuses(2, "./-"), [false, false]);
    assert_eq!(refuses(1, "-"), [false]);
}
