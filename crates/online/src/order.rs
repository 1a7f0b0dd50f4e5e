//! The order of sentences in an epoch.

use dropchain::kernel::random::nth;

/// Fills `order` with the numbers below its length, in an order that is a function of seed and
/// epoch: the shuffle of Fisher and Yates.
///
/// Random integers below n are the high half of a 64-bit random number times n; their bias is below
/// n/2⁶⁴.
pub(super) fn shuffle(seed: u64, epoch: u64, order: &mut [u32]) {
    for (i, number) in order.iter_mut().enumerate() {
        *number = i as u32;
    }
    let key = nth(seed, epoch);
    for i in (1..order.len()).rev() {
        let random = u128::from(nth(key, i as u64));
        let j = (random * (i as u128 + 1)) >> 64;
        order.swap(i, j as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_permutation_that_depends_on_seed_and_epoch() {
        let order = |seed, epoch| {
            let mut order = vec![0; 100];
            shuffle(seed, epoch, &mut order);
            order
        };
        let mut sorted = order(1, 2);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_eq!(order(1, 2), order(1, 2));
        assert_ne!(order(1, 2), order(1, 3));
        assert_ne!(order(1, 2), order(2, 2));
    }

    #[test]
    fn every_position_is_equally_likely() {
        // Number 0 of 5 over 5000 epochs: 1000 at each position, standard deviation 28.
        let mut counts = [0_i32; 5];
        for epoch in 0..5000 {
            let mut order = [0; 5];
            shuffle(7, epoch, &mut order);
            let position = order.iter().position(|&number| number == 0).unwrap();
            counts[position] += 1;
        }
        assert!(counts.iter().all(|n| (n - 1000).abs() < 140), "{counts:?}");
    }
}
