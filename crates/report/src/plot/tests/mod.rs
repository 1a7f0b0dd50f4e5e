//! Plots of all styles.

use super::series::MAX_POINTS;
use super::*;

fn plot(scale: Scale, mark: Mark, points: &[(f64, f64)]) -> Plot {
    let mut series = Series::new(9, mark, points.to_vec());
    series.letter = "A&B".to_owned();
    series.best = points.last().copied();
    let (x, y) = (Axis::new("x", Scale::Linear), Axis::new("<y>", scale));
    Plot::new(x, y, vec![series])
}

const LINE: Mark = Mark::LineAndPoints;

#[test]
fn text_is_escaped_and_the_size_scales() {
    let svg = plot(Scale::Log, LINE, &[(0.0, 1.0), (1.0, 100.0)]);
    let svg = svg.svg().unwrap();
    assert!(svg.contains("&lt;y&gt;") && svg.contains("A&amp;B"), "{svg}");
    assert!(svg.contains("viewBox=\"0 0 420 250\""), "{svg}");
    assert!(svg.contains("<g class=\"s1\"") && svg.ends_with("</svg>\n"), "{svg}");
}

#[test]
fn a_plot_without_finite_points_is_none() {
    let points = [(f64::NAN, 1.0), (1.0, f64::INFINITY)];
    assert_eq!(plot(Scale::Linear, LINE, &points).svg(), None);
}

#[test]
fn extreme_values_are_drawn() {
    let tiny = f64::MIN_POSITIVE;
    for points in [
        [(0.0, f64::MAX), (1.0, f64::MIN)],
        [(0.0, 1.0), (1.0, 1.0 + f64::EPSILON)],
        [(1e300, 5.0), (1e300, 5.0)],
        [(0.0, tiny), (tiny, 1e30)],
        [(0.0, 0.0), (0.0, 0.0)],
        [(0.0, 1e-29), (1.0, 1e308)],
    ] {
        for (scale, mark) in [
            (Scale::Linear, LINE),
            (Scale::Log, LINE),
            (Scale::Log, Mark::Bars),
            (Scale::Linear, Mark::Reference),
        ] {
            let mut plot = plot(scale, mark, &points);
            plot.series[0].points[0].range = Some((tiny, f64::MAX));
            for _ in 0..2 {
                let svg = plot.svg().unwrap();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}: {svg}");
                assert!(svg.contains("class=\"grid\""), "{points:?}: {svg}");
                plot.x.scale = scale;
            }
        }
    }
}

#[test]
fn of_many_points_some_are_drawn_and_the_last() {
    let points: Vec<_> = (0..10_001).map(|i| (f64::from(i), 1.0)).collect();
    let thin = plot(Scale::Linear, LINE, &points).series[0].thin();
    assert!(thin.points.len() <= MAX_POINTS + 1);
    assert_eq!(thin.points.last().map(|p| p.x), Some(10_000.0));
}

#[test]
fn ranges_are_a_band_around_a_line_and_error_bars_of_points() {
    let count = |mark, class: &str| {
        let mut plot = plot(Scale::Linear, mark, &[(0.0, 1.0), (1.0, 2.0)]);
        for point in &mut plot.series[0].points {
            point.range = Some((point.y - 0.5, point.y + 0.5));
        }
        plot.svg().unwrap().matches(class).count()
    };
    assert_eq!(count(LINE, "class=\"band\""), 1);
    assert_eq!(count(Mark::Points, "class=\"error\""), 2);
    assert_eq!(count(Mark::Bars, "class=\"box\""), 2);
    assert_eq!(count(Mark::Reference, "class=\"reference\""), 1);
}

#[test]
fn the_values_of_points_are_in_titles() {
    let mut plot = plot(Scale::Linear, LINE, &[(1.0, 70.2134), (2.0, 71.0)]);
    plot.series[0].name = "run <1>".to_owned();
    plot.series[0].points[1].count = Some(3);
    let svg = plot.svg().unwrap();
    for title in [
        "<title>run &lt;1&gt;: x 1, &lt;y&gt; 70.21</title>",
        "<title>run &lt;1&gt;: x 2, &lt;y&gt; 71, n = 3</title>",
        "class=\"mark hollow\"",
        "data-x=\"60 371 ",
    ] {
        assert!(svg.contains(title), "{title}: {svg}");
    }
}

#[test]
fn what_is_not_told_apart_is_below_the_others() {
    let mut plot = plot(Scale::Linear, Mark::Line, &[(0.0, 1.0), (1.0, 2.0)]);
    let mut rest = plot.series[0].clone();
    rest.is_rest = true;
    plot.series.push(rest);
    let svg = plot.svg().unwrap();
    assert!(svg.find("class=\"rest\"") < svg.find("class=\"s1\""), "{svg}");
}

#[test]
fn letters_stand_apart_right_of_the_plot() {
    let mut plot = plot(Scale::Linear, Mark::Line, &[(0.0, 1.0), (1.0, 2.0)]);
    plot.series = vec![plot.series[0].clone(); 4];
    let svg = plot.svg().unwrap();
    let places = svg.split("class=\"letter\" x=\"").skip(1).map(|text| {
        let (x, rest) = text.split_once("\" y=\"").unwrap();
        (x.parse().unwrap(), rest.split('"').next().unwrap().parse().unwrap())
    });
    let places: Vec<(f64, f64)> = places.collect();
    assert_eq!(places.len(), 4);
    assert!(places.windows(2).all(|pair| pair[1].1 - pair[0].1 > 12.0), "{places:?}");
    let ends = svg.split("data-x=\"60 ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(places.iter().all(|place| place.0 > ends.parse().unwrap()), "{ends} {places:?}");
}

#[test]
fn what_lies_below_the_axis_is_not_drawn_and_said() {
    let mut plot =
        plot(Scale::Linear, Mark::Line, &[(0.0, 0.0), (1.0, 20.0), (2.0, 60.0), (3.0, 80.0)]);
    let line = |svg: &str| {
        let line = svg.split("class=\"line dashed\" d=\"").nth(1).unwrap();
        line.split('"').next().unwrap().to_owned()
    };
    assert!(!plot.svg().unwrap().contains("axis cut"));
    plot.y.range = Some((50.0, 90.0));
    let svg = plot.svg().unwrap();
    assert!(svg.contains(">axis cut: values go down to 0</text>"), "{svg}");
    let line = line(&svg);
    assert_eq!(line.matches('L').count(), 2, "{line}");
    assert!(line.split(' ').nth(1).unwrap().starts_with("208.0"), "{line}");
}
