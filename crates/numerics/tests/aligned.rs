use dropchain_numerics::aligned::{Aligned, zeros};

#[test]
fn numbers_begin_at_a_cache_line_and_stay_when_their_number_changes() {
    let mut numbers = Aligned::default();
    for length in [3, 1, 100, 0, 40, 1000] {
        let before = numbers.len();
        numbers.resize(length);
        assert_eq!(numbers.len(), length);
        assert_eq!(numbers.as_ptr().align_offset(64), 0);
        assert!(numbers.iter().take(before).enumerate().all(|(i, &x)| x == i as f64));
        assert!(numbers.iter().skip(before).all(|&x| x == 0.0));
        numbers.iter_mut().enumerate().for_each(|(i, x)| *x = i as f64);
        assert_eq!(numbers.clone()[..], numbers[..]);
    }
    numbers.set_zeros(5);
    assert_eq!(numbers[..], [0.0; 5]);
}

#[test]
fn large_and_small_arrays_are_zeros() {
    for length in [0, 5, 3 << 20] {
        let array = zeros::<f32>(length);
        assert!(array.len() == length && array.iter().all(|&x| x == 0.0));
    }
}
