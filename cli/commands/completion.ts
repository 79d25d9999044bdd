import { Argument, type Command } from 'commander';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';

// The scripts never evaluate user input: they pass the words on unchanged and treat the command output as text.
const scripts = {
  bash: `_mandate() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(mandate __complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _mandate mandate
`,
  zsh: `#compdef mandate
_mandate() {
  local -a found
  found=("\${(@f)$(mandate __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then _describe mandate found; else _files; fi
}
compdef _mandate mandate
`,
  fish: `function __mandate_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (mandate __complete fish $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mandate -f -a '(__mandate_complete)'
`,
  // Windows PowerShell drops empty arguments, so the last word is prefixed with `=`.
  powershell: `Register-ArgumentCompleter -Native -CommandName mandate -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  & mandate __complete powershell @words "=$wordToComplete" 2>$null | ForEach-Object {
    $value, $about = $_ -split "\\t", 2
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
`,
} as const;

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
const examples = `
Examples:
  bash        echo 'eval "$(mandate completion bash)"' >> ~/.bashrc
  zsh         echo 'eval "$(mandate completion zsh)"' >> ~/.zshrc, after compinit
  fish        mandate completion fish > ~/.config/fish/completions/mandate.fish
  PowerShell  mandate completion powershell | Out-String | Invoke-Expression, in $PROFILE`;

export function addCompletionCommand(program: Command, io: CliEnvironment): void {
  addCommandWithoutSubcommands(program, 'completion', 'Print a shell completion script')
    .description('Print a script that adds completion of commands, flags and values to your shell.')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', examples)
    .action((shell: (typeof shells)[number]) => io.stdout.write(scripts[shell]));
}
