//! The template lines that attributes come from, by their names.

use hashbrown::HashMap;

use super::ast::TemplateLine;
use super::caseless::PREFIX;

/// Finds the template line that an attribute comes from.
///
/// The name of an attribute begins with that of its line. In dropchain's own language no other line
/// has such a name; in CRF++ and Wapiti files, where this may be, the longest one counts.
#[derive(Debug)]
pub struct AttributeLines<'t> {
    lines: Vec<(u64, &'t str)>,
    heads: [HashMap<&'t [u8], Head>; 2], // of nodes and edges
    lengths: Vec<usize>,                 // of heads, descending
    is_caseless: bool,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    line: usize,
    /// Whether values follow.
    has_values: bool,
}

impl<'t> AttributeLines<'t> {
    /// Indexes the `lines` of a template with the text `source`; `is_caseless` if sentences without
    /// case have attributes of their own.
    pub(super) fn new(lines: &'t [TemplateLine], source: &'t str, is_caseless: bool) -> Self {
        let mut index = Self {
            lines: Vec::new(),
            heads: Default::default(),
            lengths: lines.iter().map(|line| line.head.len()).collect(),
            is_caseless,
        };
        index.lengths.sort_unstable_by(|x, y| y.cmp(x));
        index.lengths.dedup();
        let mut source = (1..).zip(source.lines());
        for (i, line) in lines.iter().enumerate() {
            let text = source.find(|(number, _)| *number == line.number);
            let text = text.map_or(&*line.head, |(_, text)| text.trim());
            index.lines.push((line.number, text));
            let head = Head {
                line: i,
                has_values: line.parts.iter().any(|part| !part.term.function.is_flag()),
            };
            for (heads, is_of_kind) in index.heads.iter_mut().zip([line.node, line.edge]) {
                if is_of_kind {
                    heads.entry(line.head.as_bytes()).or_insert(head);
                }
            }
        }
        index
    }

    /// Returns the numbers of the lines in the template file, from 1, with their text.
    pub fn lines(&self) -> &[(u64, &'t str)] {
        &self.lines
    }

    /// Returns the line that an attribute comes from, as an index of [`lines`](Self::lines);
    /// `None` if it is of no line.
    pub fn find(&self, is_edge: bool, name: &[u8]) -> Option<usize> {
        let name = match self.is_caseless {
            true => name.strip_prefix(PREFIX).unwrap_or(name),
            false => name,
        };
        let heads = &self.heads[usize::from(is_edge)];
        let heads = self.lengths.iter().filter_map(|&length| {
            let head = heads.get(name.get(..length)?)?;
            Some((length, head))
        });
        let mut fitting = heads.filter(|(length, head)| head.has_values || *length == name.len());
        fitting.next().map(|(_, head)| head.line)
    }
}

#[cfg(test)]
mod tests {
    use crate::sentence::{Schema, Sentence};
    use crate::template::{Attribute, AttributeSink, Template, Workspace};

    /// Every attribute, whether it is of an edge, and its name.
    struct Names(Vec<(bool, Vec<u8>)>);

    impl AttributeSink for Names {
        fn node(&mut self, attribute: &Attribute<'_>, _value: f64) {
            self.0.push((false, name(attribute)));
        }

        fn edge(&mut self, attribute: &Attribute<'_>, _value: f64) {
            self.0.push((true, name(attribute)));
        }
    }

    fn name(attribute: &Attribute<'_>) -> Vec<u8> {
        let mut name = Vec::new();
        attribute.write(&mut name);
        name
    }

    /// The lines of the attributes of a sentence, by the names of these.
    fn lines_of(source: &str) -> Vec<(String, Option<u64>)> {
        let template = Template::parse(source, "t", &mut |_| unreachable!()).unwrap();
        let lines = template.attribute_lines();
        let extractor = template.bind(&Schema::words()).unwrap();
        let sentence = Sentence::from_words(["Rome", "=|a"]);
        let (mut workspace, mut sink) = (Workspace::default(), Names(Vec::new()));
        extractor.prepare(&sentence, &mut workspace).unwrap();
        for t in 0..2 {
            extractor.extract(&sentence, t, &mut workspace, &mut sink);
        }
        let found = sink.0.into_iter().map(|(is_edge, name)| {
            let line = lines.find(is_edge, &name).map(|line| lines.lines()[line].0);
            (String::from_utf8(name).unwrap(), line)
        });
        found.collect()
    }

    #[test]
    fn every_attribute_is_of_its_line() {
        let source = "# comment\nword\nword & word[-1]\n\nedge: word\nbias\n\
                      word if word[-1] exists\nsuffix(2)\nword[-1]\ntitle\n";
        let found = lines_of(source);
        for (name, line) in &found {
            let expected = match name.as_str() {
                name if name.starts_with("word[0]=") => 2,
                name if name.starts_with("word[0]|word[-1]=") => 3,
                name if name.starts_with("edge:word[0]=") => 5,
                "bias" => 6,
                name if name.starts_with("word[0] if ") => 7,
                name if name.starts_with("suffix(2)") => 8,
                name if name.starts_with("word[-1]=") => 9,
                _ => 10,
            };
            assert_eq!(*line, Some(expected), "{name}");
        }
        assert!(found.iter().any(|(_, line)| *line == Some(7)), "{found:?}");
    }

    #[test]
    fn lines_of_crfpp_are_found_by_their_longest_name() {
        for (name, line) in lines_of("U1:%x[0,0]\nU10:%x[0,0]\nB10:%x[-1,0]\nB\n") {
            let expected = if name.starts_with("U10:") { 2 } else { 1 };
            let expected = if name.starts_with('B') { 3 } else { expected };
            assert_eq!(line, Some(expected), "{name}");
        }
        let template: Template = "word\n".parse().unwrap();
        let lines = template.attribute_lines();
        assert_eq!(lines.find(false, b"unknown"), None);
        assert_eq!(lines.find(true, b"word[0]=a"), None);
        assert_eq!(lines.lines(), [(1, "word")]);
    }
}
