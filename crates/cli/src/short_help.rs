//! `-h`: the options that most people need, on one screen. `--help` has all of them.

use clap::Command;

/// The options that `-h` shows, by command, and examples. Other commands have few enough.
const SHOWN: [(&str, &[&str], &str); 8] = [
    (
        "train",
        &[
            "template",
            "model",
            "dev",
            "columns",
            "label",
            "dropout",
            "l2",
            "clusters",
            "gazetteer",
            "init",
            "config",
            "force",
            "quiet",
        ],
        "  dropchain train train.conll --dev dev.conll --template ner --model ner.model
  dropchain train en.conllu --label upos --template pos --model pos.model",
    ),
    (
        "tune",
        &[
            "template", "model", "dev", "folds", "columns", "label", "dropout", "l2", "random",
            "config", "json", "force", "quiet",
        ],
        "  dropchain tune train.conll --dev dev.conll --template ner --model ner.model
  dropchain tune train.conll --folds 5 --template ner --model ner.model",
    ),
    (
        "tag",
        &[
            "format",
            "output",
            "output_dir",
            "columns",
            "marginals",
            "nbest",
            "document",
            "threads",
        ],
        "  echo 'Ada Lovelace lived in London.' | dropchain tag ner.model --output inline
  dropchain tag ner.model test.conll > test.tagged",
    ),
    (
        "eval",
        &[
            "predictions",
            "columns",
            "label",
            "per_label",
            "confusion",
            "errors",
            "json",
        ],
        "  dropchain eval ner.model test.conll
  dropchain eval --predictions test.tagged test.conll",
    ),
    (
        "explain",
        &[
            "format", "output", "columns", "top", "token", "all", "against",
        ],
        "  echo 'Ada Lovelace lived in London.' | dropchain explain ner.model
  dropchain explain ner.model news.txt --output html > why.html",
    ),
    (
        "check",
        &[
            "dev",
            "test",
            "columns",
            "label",
            "inconsistent",
            "suspicious",
            "strict",
            "json",
        ],
        "  dropchain check train.conll --dev dev.conll --test test.conll
  dropchain check train.conll --suspicious 50",
    ),
    (
        "report",
        &[
            "gold",
            "model",
            "predictions",
            "train",
            "output",
            "title",
            "max_errors",
            "force",
        ],
        "  dropchain report run1.log run2.log --output report.html
  dropchain report run.log --model ner.model --gold dev.conll",
    ),
    (
        "cluster",
        &["clusters", "output", "quiet"],
        "  dropchain cluster texts.txt --clusters 1000 --output clusters.txt",
    ),
];

/// Hides from `-h` what it does not need to show, in those of the commands that there are.
pub fn shorten(command: Command) -> Command {
    let names = command.get_subcommands().map(|c| c.get_name().to_owned());
    let names: Vec<String> = names.collect();
    let shown = SHOWN.into_iter();
    shown
        .filter(|(name, ..)| names.iter().any(|other| other == name))
        .fold(command, |command, (name, shown, examples)| {
            command.mut_subcommand(name, |subcommand| {
                let all = subcommand.get_after_help().cloned().unwrap_or_default();
                let options = subcommand.get_arguments();
                let options = options.filter(|argument| !argument.is_positional()).count();
                let examples = format!(
                    "Examples:\n{examples}\n\n`{name} --help` shows all {options} options."
                );
                subcommand
                    .after_long_help(all)
                    .after_help(examples)
                    .mut_args(|argument| {
                        let is_shown =
                            argument.is_positional() || shown.contains(&argument.get_id().as_str());
                        argument.hide_short_help(!is_shown)
                    })
            })
        })
}
