//! The template lines that attributes come from, by their names.

use super::ast::{ColumnRef, Operation, Position, TemplateFunction, TemplateLine, TemplateLines};
use super::caseless::PREFIX;
use super::text::push_lower;
use super::wording::words_for;

/// Finds the template line that an attribute comes from.
///
/// The name of an attribute begins with that of its line. In dropchain's own language no other line
/// has such a name; in CRF++ and Wapiti files, where this may be, the longest one counts.
#[derive(Debug)]
pub struct AttributeLines<'t> {
    parsed: &'t TemplateLines,
    lines: Vec<(u64, &'t str)>,
}

impl TemplateLine {
    /// Returns whether an attribute of this name may be of the line.
    pub(super) fn has_name(&self, name: &[u8]) -> bool {
        let name = name.strip_prefix(PREFIX).unwrap_or(name); // no other line has such a name
        let has_values = || self.parts.iter().any(|part| !part.term.function.is_flag());
        let values = name.strip_prefix(self.head.as_bytes());
        values.is_some_and(|values| values.is_empty() || has_values())
    }
}

impl<'t> AttributeLines<'t> {
    /// Takes the lines of a template with the text `source`.
    pub(super) fn new(parsed: &'t TemplateLines, source: &'t str) -> Self {
        let mut source = (1..).zip(source.lines());
        let lines = parsed.lines.iter().map(|line| {
            let text = source.find(|(number, _)| *number == line.number);
            let text = text.map_or(&*line.head, |(_, text)| text.trim());
            (line.number, text)
        });
        Self { parsed, lines: lines.collect() }
    }

    /// Returns the numbers of the lines in the template file, from 1, with their text.
    pub fn lines(&self) -> &[(u64, &'t str)] {
        &self.lines
    }

    /// Returns the line that an attribute comes from, as an index of [`lines`](Self::lines);
    /// `None` if it is of no line.
    pub fn find(&self, is_edge: bool, name: &[u8]) -> Option<usize> {
        let fits = |line: &TemplateLine| {
            (if is_edge { line.edge } else { line.node }) && line.has_name(name)
        };
        // Of lines with the same name, the last one in this order is the first one of the file.
        let found = self.parsed.lines.iter().enumerate().rev().filter(|(_, line)| fits(line));
        found.max_by_key(|(_, line)| line.head.len()).map(|(i, _)| i)
    }

    /// Says in words what an attribute is, such as `the word before is “in”`; `None` if there are
    /// none for it, as for those of CRF++ and Wapiti files. `columns` are the names of the columns.
    pub fn words_for(&self, is_edge: bool, name: &str, columns: &[String]) -> Option<String> {
        let line = &self.parsed.lines[self.find(is_edge, name.as_bytes())?];
        let own = name.as_bytes().strip_prefix(PREFIX).map_or(0, |_| PREFIX.len());
        let values = name[own..].strip_prefix(&*line.head)?;
        let words = words_for(line, values, columns).filter(|_| self.parsed.dialect.is_none())?;
        Some(match own {
            0 => words,
            _ => words + " (the case of the sentence says nothing)",
        })
    }

    /// Returns the name of the attribute that a word has by itself; `None` if no line of the
    /// template is the word, or the word in lower case.
    pub(crate) fn word_attribute(&self, word: &str) -> Option<String> {
        let (line, lower) = self.parsed.lines.iter().find_map(|line| {
            let [part] = &line.parts[..] else { return None };
            let TemplateFunction { operation, input: Some(input), .. } = &part.term.function else {
                return None;
            };
            let is_word = line.node
                && line.conditions.is_empty()
                && part.literal.is_empty()
                && matches!(operation, Operation::Text)
                && matches!(part.term.position, Position::Relative(0))
                && matches!(input.column, ColumnRef::Word | ColumnRef::Number(0));
            is_word.then_some((line, input.lower))
        })?;
        let mut name = line.head.clone();
        match lower {
            true => push_lower(word, &mut name),
            false => name.push_str(word),
        }
        Some(name)
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
