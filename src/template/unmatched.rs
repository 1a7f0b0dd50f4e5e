//! What of a template has no effect on the training data: patterns of Wapiti that match no cell,
//! files that have none of their words, and other lines without an attribute.

use hashbrown::HashSet;

use super::ast::{Operation, TemplateFunction, TemplateLine};
use super::syntax::quote;
use super::template_file::Template;
use super::text::{nonblank_lines, quote_start};
use crate::sentence::Sentence;

/// The functions that read files, and what their lines should have.
const FILES: [(&str, &str); 3] = [
    ("cluster", "a path, a tab and a word on each"),
    ("lexicon", "a phrase on each, or a header with `name`"),
    ("vector", "a word and its numbers on each"),
];

impl Template {
    /// Returns warnings of the patterns that match no cell of the training data, each with the
    /// first line that has it.
    pub(crate) fn unmatched_patterns(&self, sentences: &[Sentence]) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut warnings = Vec::new();
        let parts =
            self.parsed.lines.iter().flat_map(|line| line.parts.iter().map(move |p| (line, p)));
        for (line, part) in parts {
            let TemplateFunction { operation: Operation::OfText(function), input, text } =
                &part.term.function
            else {
                continue;
            };
            let (Some(pattern), Some(input)) = (&function.pattern, input) else { continue };
            let matches = |sentence: &Sentence| {
                let column = input.column.index(sentence.schema());
                let is_match = |column, t| pattern.is_match(sentence.cell(t, column));
                column.is_some_and(|c| (0..sentence.len()).any(|t| is_match(c, t)))
            };
            if !seen.insert(text) || sentences.iter().any(matches) {
                continue;
            }
            let source = text.split_once(',').map_or("", |(_, source)| source);
            let hint = match source.contains(['[', '(', '+', '|', '{']) {
                true => " (in Wapiti's patterns, brackets, +, | and { stand for themselves)",
                false => "",
            };
            let place = format!("{}:{}", self.stored.file, line.number);
            let fault = format!("{text} matches nothing in the training data{hint}");
            warnings.push(format!("warning: {place}: {fault}"));
        }
        warnings
    }

    /// Returns warnings of the lines that none of the attributes with these names comes from, those
    /// for label pairs only if there are such attributes; of files, where these are all the lines
    /// that read one.
    pub(crate) fn unmatched_lines<'n>(
        &self,
        names: impl IntoIterator<Item = &'n [u8]>,
        has_edges: bool,
    ) -> Vec<String> {
        // A line that comes with the program may wait for more data.
        let shipped = self.stored.file.strip_suffix(".tpl").and_then(Self::shipped);
        let shipped = shipped.and_then(Result::ok);
        let is_asked = |line: &&TemplateLine| {
            let mut shipped = shipped.iter().flat_map(|template| &template.parsed.lines);
            (line.node || has_edges) && shipped.all(|other| other.head != line.head)
        };
        let mut lines: Vec<&TemplateLine> = self.parsed.lines.iter().filter(is_asked).collect();
        for name in names {
            if lines.is_empty() {
                break;
            }
            lines.retain(|line| !line.has_name(name));
        }
        let mut warnings = Vec::new();
        for (name, text) in &self.stored.files {
            let call = format!("({}", quote(name));
            let reads = |line: &&TemplateLine| line.head.contains(&call);
            let all = self.parsed.lines.iter().filter(reads).count();
            let (readers, others): (Vec<_>, Vec<_>) = lines.into_iter().partition(reads);
            if let Some(line) = readers.first().filter(|_| readers.len() == all) {
                warnings.push(unmatched_file(name, text, &line.head, &call));
            }
            lines = others; // one of several readers may wait for more data
        }
        let file = &self.stored.file;
        let fault = "no token of the training data has an attribute of this line";
        warnings.extend(lines.iter().map(|l| format!("warning: {file}:{}: {fault}", l.number)));
        warnings
    }
}

/// Returns a warning of a file, given the head of a line with the `call` that reads it.
fn unmatched_file(name: &str, text: &str, head: &str, call: &str) -> String {
    let expected = FILES.iter().find(|(function, _)| head.contains(&format!("{function}{call}")));
    let expected = expected.map_or("words on each", |(_, expected)| expected);
    let lines = nonblank_lines(text).count();
    let first = nonblank_lines(text).next().map_or("", |(_, line)| line);
    let fault = format!("nothing in the training data matches its {lines} lines");
    let first = quote_start(first).escape_debug().to_string();
    format!("warning: {name}: {fault}; expected {expected}, the first is '{first}'")
}

#[cfg(test)]
mod tests {
    use crate::sentence::Sentence;
    use crate::template::Template;

    fn template(source: &str, file: &str) -> Template {
        let mut load = |_: &str| Ok(file.to_owned());
        Template::parse(source, "t.tpl", &mut load).unwrap()
    }

    #[test]
    fn patterns_that_match_no_cell_are_named_with_their_first_line() {
        let sentences =
            [Sentence::from_words(["Oslo", "ran"]), Sentence::from_words(["1990", "x-y"])];
        for (source, expected) in [
            ("u1:%t[0,0,\"^\\u\"]\nu2:%m[-1,0,\".?$\"]\nb\n", ""),
            ("u1:%x[0,0]\nu2:%t[0,0,\"z$\"]\n", "t.tpl:2: %t[0,z$] matches nothing in the"),
            // At several positions, and below the second macro of a line.
            (
                "u1:%x[0,0]/%m[-1,0,\"q\"]\nu2:%m[1,0,\"q\"]\n",
                "t.tpl:1: %m[0,q] matches nothing in the training data",
            ),
            ("u:%t[0,0,\"[A-Z]\"]\n", "data (in Wapiti's patterns, brackets, +, | and { stand for"),
        ] {
            let found = template(source, "").unmatched_patterns(&sentences);
            assert_eq!(found.len(), usize::from(!expected.is_empty()), "{found:?}");
            assert!(found.iter().all(|warning| warning.contains(expected)), "{found:?}");
        }
    }

    #[test]
    fn files_and_lines_without_an_attribute_are_named() {
        for (source, file, name, expected) in [
            ("word\nlexicon(\"f\")\n", "Oslo\n", "lexicon(\"f\")[0]=S", ""),
            ("word\nlexicon(\"f\")[+1] & word\n", "Oslo\n", "lexicon(\"f\")[+1]|word[0]=S|a", ""),
            (
                "word if lexicon(\"f\") exists\n",
                "Oslo\n",
                "word[0] if lexicon(\"f\")[0] exists=Oslo",
                "",
            ),
            (
                "word\ncluster(\"f\", 4)\ncluster(\"f\", 4)[-1]\n",
                "01\tc7\n\n10\tc8\n",
                "word[0]=ran",
                "warning: f: nothing in the training data matches its 2 lines; expected a path, a \
                 tab and a word on each, the first is '01\\tc7'",
            ),
            (
                "word\nlexicon(\"f\")\n",
                "Oslo, Norway\nRome, Italy\n",
                "word[0]=ran",
                "warning: f: nothing in the training data matches its 2 lines; expected a phrase \
                 on each, or a header with `name`, the first is 'Oslo, Norway'",
            ),
            (
                "word\nedge: word\nregex(\"^z\")\n",
                "",
                "word[0]=ran",
                "warning: t.tpl:3: no token of the training data has an attribute of this line",
            ),
        ] {
            let found =
                template(source, file).unmatched_lines([name.as_bytes(), b"word[0]=a"], false);
            assert_eq!(found.concat(), expected, "{source}");
        }
    }
}
