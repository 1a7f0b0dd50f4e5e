use dropchain_numerics::simd::{InstructionSet, Kernel, dispatch};
use dropchain_numerics::testing::assert_same_bits;

/// Sums of products and of quotients, with rounding in every step.
struct Sums<'a>(&'a [f64]);

impl Kernel for Sums<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> Vec<f64> {
        let mut sums = [0.1_f64; 8];
        for chunk in self.0.as_chunks::<8>().0 {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum = sum.mul_add(*x, 1.0 / x.mul_add(*x, 1.0));
            }
        }
        sums.to_vec()
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let numbers: Vec<f64> = (0..8000).map(|i| f64::from(i).sin()).collect();
    assert_same_bits(|| dispatch(Sums(&numbers)));
}

#[test]
fn the_instruction_set_is_one_that_the_processor_has() {
    assert!(InstructionSet::selected() <= InstructionSet::of_processor());
}
