//! The figure of `bench gradients`: how far the gradients within a window are off, by radius, and
//! what the engines cost, by labels, length and attributes.

use dropchain_report::plot::{Axis, Mark, Plot, Point, Scale, Series, Sheet};

use super::results::{Deviation, Gradients, Measurement, Sweep};

/// Errors below are rounding errors, and drawn as this one.
const ROUNDING: f64 = 1e-16;

impl Gradients {
    /// Returns the figure.
    pub fn figure(&self) -> Sheet {
        let mut sheet = Sheet {
            title: "Gradients of the noise term: error and cost".to_owned(),
            note: self.note(),
            ..Sheet::default()
        };
        sheet.add("Error by radius", self.errors());
        for sweep in &self.sweeps {
            sheet.add(format!("Cost by {}", sweep.axis.label()), sweep.plot());
        }
        sheet
    }

    fn note(&self) -> String {
        let corpus = &self.corpus;
        format!(
            "{}, {}; {} sentences, {} tokens, {} labels. Errors at weights {}. Times are processor \
             seconds of the part that an engine adds to the likelihood: median and quartiles of \
             repeats. Dashed: the count of multiply-adds, in proportion to the last time.",
            corpus.files.join(", "),
            corpus.template.as_deref().unwrap_or("no template"),
            corpus.sentences,
            corpus.tokens,
            corpus.labels,
            self.weights,
        )
    }

    fn errors(&self) -> Plot {
        type RelativeError = fn(&Deviation) -> f64;
        let curves: [(&str, RelativeError); 2] = [
            ("error of the noise term", |d| d.relative_error),
            ("error of the whole gradient", |d| d.relative_error_whole),
        ];
        let series = curves.map(|(name, error)| {
            let points = self.engines.iter().filter_map(|row| {
                Some((row.radius()?, error(row.deviation.as_ref()?).max(ROUNDING)))
            });
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            Series::new(0, Mark::LineAndPoints, points).name(name)
        });
        let x = Axis::new("radius r of the window", Scale::Linear);
        Plot::new(x, Axis::new("relative error", Scale::Log), series.into())
    }
}

impl Measurement {
    /// Returns the radius of a window; that of `local` is 0.
    fn radius(&self) -> Option<f64> {
        match self.engine.as_str() {
            "local" => Some(0.0),
            name => name.strip_prefix("window=")?.parse().ok(),
        }
    }

    /// Returns what the engine adds per sentence in microseconds, if it takes time.
    fn cost(&self, x: f64) -> Option<Point> {
        let time = self.added_seconds.times(1e6 / self.sentences as f64);
        let range = (time.low > 0.0).then_some((time.low, time.high));
        (time.median > 0.0).then_some(Point { x, y: time.median, range, count: None })
    }
}

impl Sweep {
    fn plot(&self) -> Plot {
        let engines = self.points.first().map_or(0, |point| point.engines.len());
        let curves = (0..engines).map(|number| {
            let rows = self.points.iter().map(|point| (point.value, &point.engines[number]));
            let costs = rows.filter_map(|(x, row)| {
                Some((row.cost(x)?, row.added_multiply_adds / row.sentences as f64))
            });
            let (points, work): (Vec<Point>, Vec<f64>) = costs.unzip();
            let scale = points.last().zip(work.last()).map(|(point, work)| point.y / work);
            let counted = points.iter().zip(&work);
            let counted = counted.filter_map(|(point, work)| Some((point.x, scale? * work)));
            let counted = Series::new(0, Mark::Reference, counted).name("count of multiply-adds");
            let name = self.points[0].engines[number].name();
            (counted, Series::new(0, Mark::LineAndPoints, points).name(name))
        });
        let (mut series, curves): (Vec<Series>, Vec<Series>) = curves.unzip();
        series.extend(curves);
        let y = Axis::new("microseconds per sentence", Scale::Log);
        Plot::new(Axis::new(self.axis.label(), Scale::Log), y, series)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_committed_figure_is_drawn_from_the_committed_numbers() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
        let read = |name| fs::read_to_string(folder.join(name)).unwrap();
        let report: Gradients = serde_json::from_str(&read("gradients.json")).unwrap();
        let svg = report.figure().svg().unwrap();
        assert!(svg == read("gradients.svg"), "draw anew with docs/figures/draw.sh");
    }
}
