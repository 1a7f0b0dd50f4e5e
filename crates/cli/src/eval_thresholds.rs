//! Scores by the least probability that predicted spans need.

use std::path::PathBuf;

use clap::Args;
use dropchain::eval::Evaluation;
use dropchain::tag::{TagOptions, Threshold};
use dropchain::{Error, Result};
use dropchain_analysis::tag_gold;
use dropchain_report::plot::{Axis, Mark, Plot, Scale, Series, Sheet};

use crate::ResultFile;
use crate::gold_file::GoldTagger;
use crate::terminal::Rates;

/// The thresholds, and where to draw what they do.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Probabilities of spans")]
pub struct ThresholdArguments {
    /// Print precision, recall and F1 by the least probability that spans need (`tag --threshold`)
    ///
    /// At 0, 0.1, …, 0.9, 0.95 and 0.99, or at those given: --thresholds=0.5,0.6,0.7
    #[arg(long, value_name = "P,…", num_args = 0..=1, require_equals = true,
          conflicts_with_all = ["damage", "predictions", "per_label", "confusion", "errors"],
          default_missing_value = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.95,0.99")]
    pub thresholds: Option<Rates>,
    /// Also draw them to this file (SVG)
    #[arg(long, value_name = "FILE", requires = "thresholds", hide_short_help = true)]
    pub figure: Option<PathBuf>,
}

/// The scores at each threshold.
pub type ByThreshold = Vec<(f64, Evaluation)>;

impl ThresholdArguments {
    /// Tags a gold file once, scores the spans that reach each threshold, and draws the scores.
    pub fn evaluate(&self, gold: &GoldTagger, options: TagOptions) -> Result<ByThreshold> {
        let labelings = gold.labelings();
        Threshold::new(1.0, Vec::new())?.check(gold.tagger.model().header())?;
        let file = self.figure.as_deref().map(ResultFile::new).transpose()?;
        let evaluation = Evaluation::new().with_labelings(&labelings[0], &labelings[1]);
        let thresholds = self.thresholds.iter().flat_map(|rates| &rates.0);
        let mut scores: ByThreshold = thresholds.map(|p| (*p, evaluation.clone())).collect();
        let all = Some(&Threshold::default());
        tag_gold(&gold.tagger, &gold.corpus, options, all, &mut |labels, tagged| {
            if tagged.sentence.layout.document_start {
                scores.iter_mut().for_each(|(_, evaluation)| evaluation.add_document_start());
                return Ok(());
            }
            let spans = tagged.labeling.spans(&tagged.labels);
            let probabilities = tagged.mark_probabilities.iter().flatten();
            let spans: Vec<_> = spans.iter().zip(probabilities).collect();
            for (threshold, evaluation) in &mut scores {
                let mut predicted: Vec<&str> = tagged.labels.iter().map(AsRef::as_ref).collect();
                for (span, _) in spans.iter().filter(|(_, p)| *p < threshold) {
                    predicted[span.start..span.end].fill(tagged.labeling.outside());
                }
                evaluation.add(labels, &predicted)?;
            }
            Ok(())
        })?;
        if let Some(file) = file {
            let nothing = || Error::parameter("`figure`: there is nothing to draw");
            file.save(figure(&scores).svg().ok_or_else(nothing)?.as_bytes())?;
        }
        Ok(scores)
    }
}

/// Draws precision, recall and F1 by threshold.
fn figure(scores: &ByThreshold) -> Sheet {
    type Score = fn(&Evaluation) -> f64;
    let curves: [(&str, Score); 3] = [
        ("precision", Evaluation::precision),
        ("recall", Evaluation::recall),
        ("F1", Evaluation::f1),
    ];
    let series = curves.iter().enumerate().map(|(color, (name, score))| {
        let points = scores.iter().map(|(threshold, evaluation)| (*threshold, score(evaluation)));
        Series::new(color, Mark::LineAndPoints, points).name(*name)
    });
    let axis = |label| Axis::new(label, Scale::Linear).range(0.0, 1.04);
    let plot = Plot::new(axis("least probability of a span"), axis("score"), series.collect());
    let title = "Scores by the least probability of spans".to_owned();
    Sheet { title, panels: vec![plot], ..Sheet::default() }
}
