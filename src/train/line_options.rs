//! The options of template lines, as penalties and noise of attribute classes.

use crate::extract::Classes;
use crate::score::ParameterSpace;
use crate::template::{LineAmount, LineGroup, LineOptions, Template};

/// The options of the template lines that classes of attributes come from.
#[derive(Debug)]
pub(super) struct ClassOptions {
    groups: Vec<LineGroup>,
    of_class: [Vec<u32>; 2], // [classes] of nodes and edges: the group
}

impl ClassOptions {
    /// Collects the options of classes, given the groups of node and edge attributes, as far as
    /// they are not 0. All members of a class have the same group.
    pub fn new(attributes: &[Vec<u32>; 2], classes: [&Classes; 2], groups: Vec<LineGroup>) -> Self {
        let group = |kind: usize, member: u32| attributes[kind].get(member as usize).copied();
        let of_class = [0, 1].map(|kind| {
            let members = classes[kind].first_members().into_iter();
            members.map(|member| group(kind, member).unwrap_or(0)).collect()
        });
        Self { groups, of_class }
    }

    fn options(&self, group: u32) -> LineOptions {
        self.groups[group as usize].options
    }

    /// Returns the strengths of the L2 penalty on all parameters, given that on other attributes;
    /// `None` if none differs.
    pub fn l2_strengths(&self, space: &ParameterSpace, l2: f64) -> Option<Vec<f64>> {
        let is_set = |group: &LineGroup| group.options.l2.is_some();
        self.groups.iter().any(is_set).then(|| {
            let mut strengths = vec![l2; space.dimension()];
            self.set(space, &mut strengths, |options, _| Some(options.l2?.of(l2)));
            strengths
        })
    }

    /// Sets the strengths of the L1 penalty on the attributes of lines that set one, given that on
    /// other attributes.
    pub fn set_l1_strengths(&self, space: &ParameterSpace, l1: f64, strengths: &mut [f64]) {
        self.set(space, strengths, |options, scale| Some(options.l1?.of(l1) * scale));
    }

    /// Returns whether a line sets an L1 penalty of its own.
    pub fn have_l1(&self) -> bool {
        self.groups.iter().any(|group| match group.options.l1 {
            Some(LineAmount::Value(strength)) => strength > 0.0,
            Some(LineAmount::Factor(_)) | None => false,
        })
    }

    /// Returns whether a line sets an amount of noise.
    pub fn have_dropout(&self) -> bool {
        self.groups.iter().any(|group| group.options.dropout.is_some())
    }

    /// Sets the amounts of noise on the classes of lines that set one, given that on others.
    pub fn set_noise(&self, kind: usize, uniform: f64, amounts: &mut [f64]) {
        for (amount, &group) in amounts.iter_mut().zip(&self.of_class[kind]) {
            if let Some(dropout) = self.options(group).dropout {
                *amount = dropout.of(uniform);
            }
        }
    }

    /// Sets the values of the parameters of all classes for which `value(options, √m)` has one.
    fn set(
        &self,
        space: &ParameterSpace,
        values: &mut [f64],
        value: impl Fn(LineOptions, f64) -> Option<f64>,
    ) {
        for (block, of_class) in space.blocks().into_iter().zip(&self.of_class) {
            let values = block.weights_mut(values);
            for (class, &group) in of_class.iter().enumerate().filter(|(_, group)| **group > 0) {
                if let Some(value) = value(self.options(group), block.scale[class]) {
                    values[block.targets.range(class)].fill(value);
                }
            }
        }
    }
}

/// Returns what distinguishes the options of template lines from others, to be hashed; `None`
/// without any.
pub(super) fn line_options_key<'a>(
    template: Option<&Template>,
    groups: Option<&'a [Vec<u32>; 2]>,
) -> Option<(String, &'a [Vec<u32>; 2])> {
    let options = template?.groups().into_iter().map(|group| group.options);
    let options: Vec<LineOptions> = options.collect();
    Some((format!("{options:?}"), groups?))
}
