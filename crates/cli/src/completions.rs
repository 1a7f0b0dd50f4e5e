//! `dropchain completions`

use clap::Args;
use clap_complete::{Shell, generate};

use super::{CommandResult, definition, print};

/// Print a script that completes commands, options and their values in a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # bash, for the current user (the directory must exist); new shells read it
  dropchain completions bash \\
      > ~/.local/share/bash-completion/completions/dropchain

  # zsh: into a directory of $fpath, before compinit
  dropchain completions zsh > ~/.zfunc/_dropchain

  # fish
  dropchain completions fish > ~/.config/fish/completions/dropchain.fish")]
pub struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsCommand {
    pub fn run(&self) -> CommandResult {
        let mut script = Vec::new();
        generate(self.shell, &mut definition(), "dropchain", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
