use dropchain_numerics::noise::Engine;
use dropchain_numerics::objective::{NoiseKind, NoiseOptions};

fn error(change: impl FnOnce(&mut NoiseOptions)) -> String {
    let mut options = NoiseOptions::default();
    change(&mut options);
    options.check().unwrap_err().to_string()
}

#[test]
fn names_round_trip() {
    let kinds = ["dropout", "gaussian", "additive", "reweighted", "reweighted=7"];
    for name in kinds.into_iter().chain(["monte-carlo", "monte-carlo=2"]) {
        assert_eq!(name.parse::<NoiseKind>().unwrap().to_string(), name);
    }
    for name in ["reweighted=", "reweighted=0", "reweighted=-3"] {
        let error = name.parse::<NoiseKind>().unwrap_err().to_string();
        assert!(error.contains("expected reweighted=N"), "{error}");
    }
    for name in ["monte-carlo=", "monte-carlo=0", "monte-carlo=1001", "monte-carlo=x"] {
        let error = name.parse::<NoiseKind>().unwrap_err().to_string();
        assert!(error.contains("expected monte-carlo=SAMPLES, 1 to 1000"), "{error}");
    }
    assert_eq!(
        "reweighted7".parse::<NoiseKind>().unwrap_err().to_string(),
        "noise 'reweighted7'; expected dropout, gaussian, additive, reweighted or \
         monte-carlo"
    );
}

#[test]
fn edges_have_the_noise_of_nodes_unless_they_are_given_their_own() {
    assert_eq!(NoiseOptions::dropout(0.25).edge_noise(), 0.25);
    let given = NoiseOptions { edge_dropout: Some(0.1), ..NoiseOptions::default() };
    assert_eq!(given.edge_noise(), 0.1);
}

#[test]
fn a_dropout_rate_is_below_1_and_a_variance_is_finite() {
    let expected = "expected a rate of at least 0 and below 1";
    assert_eq!(error(|o| o.dropout = 1.0), format!("dropout 1; {expected}"));
    assert_eq!(error(|o| o.edge_dropout = Some(-0.5)), format!("edge dropout -0.5; {expected}"));
    assert_eq!(
        error(|o| (o.kind, o.dropout) = (NoiseKind::Additive, f64::INFINITY)),
        "dropout inf; expected a variance: a finite number that is not negative"
    );
    assert_eq!(
        error(|o| o.unlabeled_weight = -0.1),
        "unlabeled weight -0.1; expected a finite number that is not negative"
    );
    assert_eq!(
        error(|o| (o.kind, o.dropout) = (NoiseKind::MonteCarlo(4), 1.0)),
        format!("dropout 1; {expected}")
    );
}

#[test]
fn noise_that_is_not_quadratic_has_one_gradient() {
    for kind in [NoiseKind::MonteCarlo(4), NoiseKind::Reweighted(3)] {
        let expected = format!(
            "gradient 'local' with {kind} noise; expected `gradient` exact, since this noise \
             has only one gradient"
        );
        assert_eq!(error(|o| (o.kind, o.gradient) = (kind, Engine::Window(0))), expected);
    }
}

#[test]
fn unlabeled_sentences_dilute_the_noise_term_as_in_eq_11() {
    let noise = NoiseOptions { unlabeled_weight: 0.5, ..NoiseOptions::dropout(0.5) };
    // n = 3, m = 2, α = ½: λ = 3/(3 + ½·2)
    assert_eq!(noise.factors([3.0, 2.0]), [0.75, 0.375]);
    assert_eq!(noise.factors([3.0, 0.0])[0], 1.0);
    assert_eq!(noise.factors([0.0, 0.0]), [0.0, 0.0]);
}

#[test]
fn dropout_is_multiplicative_noise_of_a_variance() {
    let gaussian = NoiseOptions { kind: NoiseKind::Gaussian, ..NoiseOptions::dropout(1.0) };
    assert_eq!(NoiseOptions::dropout(0.5).rates(), gaussian.rates());
    assert_eq!(NoiseOptions::dropout(0.0).rates(), [0.0; 2]);
}
