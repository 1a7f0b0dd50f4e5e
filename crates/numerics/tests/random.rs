use dropchain_numerics::random::{nth, uniform};

#[test]
fn outputs_are_those_of_the_reference_implementation() {
    let expected = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    let outputs: Vec<u64> = (0..5).map(|n| nth(1_234_567, n)).collect();
    assert_eq!(outputs, expected);
}

#[test]
fn uniform_numbers_are_above_0_and_at_most_1() {
    for n in 0..10_000 {
        let x = uniform(1, n);
        assert!(x > 0.0 && x <= 1.0, "{x}");
    }
}
