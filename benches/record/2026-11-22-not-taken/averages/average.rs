//! Averages the weights of models: `average OUT MODEL…`.

use std::collections::HashMap;

use dropchain::label::LabelId;
use dropchain::{Model, Result};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let models = args[2..]
        .iter()
        .map(Model::open)
        .collect::<Result<Vec<_>>>()?;
    let n = models.len() as f64;
    let base = models
        .iter()
        .max_by_key(|m| m.header().labels.len())
        .unwrap();
    let labels = base.header().labels.clone();
    let k = labels.len();
    let mut header = base.header().clone();
    let (mut transitions, mut start, mut end) = (vec![0.0; k * k], vec![0.0; k], vec![0.0; k]);
    let mut index: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut nodes: Vec<(Vec<u8>, Vec<f64>)> = Vec::new();
    for model in &models {
        let names = model.header().labels.names().iter();
        let map: Vec<usize> = names.map(|x| labels.id(x).unwrap().index()).collect();
        let own = &model.header().label_weights;
        for a in 0..map.len() {
            start[map[a]] += own.start[a] / n;
            end[map[a]] += own.end[a] / n;
            for b in 0..map.len() {
                transitions[map[a] * k + map[b]] += own.transitions[a * map.len() + b] / n;
            }
        }
        for item in model.node_weights() {
            let (name, weights) = item?;
            let i = *index.entry(name.to_vec()).or_insert_with(|| {
                nodes.push((name.to_vec(), vec![0.0; k]));
                nodes.len() - 1
            });
            for (label, x) in weights {
                nodes[i].1[map[label.index()]] += x / n;
            }
        }
    }
    header.label_weights.transitions = transitions;
    (header.label_weights.start, header.label_weights.end) = (start, end);
    let nodes = nodes.into_iter().map(|(name, weights)| {
        let weights = weights.into_iter().enumerate().filter(|(_, x)| *x != 0.0);
        let weights = weights.map(|(i, x)| (LabelId(i as u16), x));
        (name, weights.collect::<Vec<_>>())
    });
    let edges: [(Vec<u8>, Vec<([LabelId; 2], f64)>); 0] = [];
    Model::from_weights(header, nodes, edges)?.save(&args[1])
}
