//! Engines by name.

use dropchain_numerics::noise::Engine;

#[test]
fn names_round_trip() {
    for name in ["exact", "message", "window=12", "local"] {
        assert_eq!(name.parse::<Engine>().unwrap().to_string(), name);
    }
    assert_eq!("window=0".parse::<Engine>().unwrap().to_string(), "local");
}

#[test]
fn a_window_without_a_number_is_rejected() {
    for name in ["window", "window=", "window=-1", "window=1.5", "window 3", "windows=3"] {
        let error = name.parse::<Engine>().unwrap_err().to_string();
        let expected = "expected window=R with a whole number R, for example window=2";
        assert_eq!(error, format!("gradient '{name}'; {expected}"));
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = "approximate".parse::<Engine>().unwrap_err().to_string();
    let expected = "gradient 'approximate'; expected exact, message, window=R or local";
    assert_eq!(error, expected);
}
