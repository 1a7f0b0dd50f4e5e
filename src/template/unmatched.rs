//! What of a template has no effect on the training data: patterns of Wapiti that match no cell,
//! and files that have none of their words.

use hashbrown::HashSet;

use super::ast::{Operation, TemplateFunction};
use super::caseless::PREFIX;
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

/// A file of a template, and the lines that read it.
struct File<'t> {
    name: &'t str,
    text: &'t str,
    heads: Vec<&'t str>,
}

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

    /// Returns warnings of the files that none of the attributes with these names comes from.
    pub(crate) fn unmatched_files<'n>(
        &self,
        names: impl IntoIterator<Item = &'n [u8]>,
    ) -> Vec<String> {
        let files = self.stored.files.iter().map(|(name, text)| {
            let call = format!("({}", quote(name));
            let heads = self.parsed.lines.iter().map(|line| &*line.head);
            File { name, text, heads: heads.filter(|head| head.contains(&call)).collect() }
        });
        let mut files: Vec<File<'_>> = files.filter(|file| !file.heads.is_empty()).collect();
        for name in names {
            if files.is_empty() {
                break;
            }
            let name = name.strip_prefix(PREFIX).unwrap_or(name);
            files.retain(|file| !file.heads.iter().any(|head| name.starts_with(head.as_bytes())));
        }
        files.iter().map(File::warning).collect()
    }
}

impl File<'_> {
    fn warning(&self) -> String {
        let call = format!("({}", quote(self.name));
        let is_called = |function: &str| self.heads[0].contains(&format!("{function}{call}"));
        let expected = FILES.into_iter().find(|(function, _)| is_called(function));
        let expected = expected.map_or("words on each", |(_, expected)| expected);
        let lines = nonblank_lines(self.text).count();
        let first = nonblank_lines(self.text).next().map_or("", |(_, line)| line);
        let fault = format!("nothing in the training data matches its {lines} lines");
        let first = quote_start(first).escape_debug().to_string();
        format!("warning: {}: {fault}; expected {expected}, the first is '{first}'", self.name)
    }
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
    fn files_without_a_word_of_the_training_data_are_named_with_their_first_line() {
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
        ] {
            let found = template(source, file).unmatched_files([name.as_bytes()]);
            assert_eq!(found.concat(), expected, "{source}");
        }
    }
}
