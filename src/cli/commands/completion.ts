/** `reams completion`: prints the script with which a shell completes the commands, options and values of Reams. */

import { Failure } from '../failure.ts'
import { print } from '../output.ts'
import type { CliCommand } from '../setting-values.ts'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { typedCommands } from './completion/typed-command.ts'
import { zshScript } from './completion/zsh.ts'

const SCRIPTS = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
])

/** The command for a program that has these others. */
export function completionCommand(others: readonly CliCommand[]): CliCommand {
  const command: CliCommand = {
    name: 'completion',
    group: 'Help',
    usage: 'bash|zsh|fish',
    summary: 'print a script for completion in your shell',
    description: `Prints a script with which a shell completes commands, options, their values
and files when you press Tab. Write it where your shell looks for it, as below,
and start a new shell. bash looks there if the package bash-completion is
installed; without it, source the file in ~/.bashrc. zsh looks there if ~/.zfunc
is in fpath before ~/.zshrc calls compinit. Write it again after an upgrade.`,
    operands: [{ syntax: '<SHELL>', description: 'bash, zsh or fish', suggestions: [...SCRIPTS.keys()] }],
    settings: [],
    examples: [
      { line: 'reams completion bash > ~/.local/share/bash-completion/completions/reams', purpose: 'bash' },
      { line: 'reams completion zsh > ~/.zfunc/_reams', purpose: 'zsh' },
      { line: 'reams completion fish > ~/.config/fish/completions/reams.fish', purpose: 'fish' },
    ],
    async run([shell = '']) {
      const script = SCRIPTS.get(shell)
      if (script === undefined)
        throw new Failure(2, `There is no completion for "${shell}": expected bash, zsh or fish.`)
      await print(script(typedCommands([...others, command])))
      return undefined
    },
  }
  return command
}
