/** The completion script for zsh: found in a directory of `fpath`, or sourced after `compinit`. */

import type { TypedCommand, TypedFlag, TypedValue } from './typed-command.ts'

export function zshScript(commands: readonly TypedCommand[]): string {
  return `#compdef reams
# Completion of reams for zsh, printed by "reams completion zsh".

${commands.map(commandFunction).join('\n\n')}

if [[ $funcstack[1] == _reams ]]; then
  _reams "$@"
else
  compdef _reams reams
fi`
}

function commandFunction({ name, flags, commands, operands }: TypedCommand): string {
  const flagSpecifications = flags.map(flagSpecification)
  const body =
    commands.length > 0
      ? choiceOf(name, commands, flagSpecifications)
      : [
          argumentsCall('-s', [
            ...flagSpecifications,
            ...operands.map((operand, index) => `'${operand.isList ? '*' : index + 1}${valueSpecification(operand)}'`),
          ]),
        ]
  return [`${functionName(name)}() {`, ...body.map((line) => `  ${line}`), '}'].join('\n')
}

/** The function of that command completes what follows, with `words` beginning there. */
function choiceOf(name: string, commands: TypedCommand['commands'], flags: readonly string[]): string[] {
  return [
    'local curcontext=$curcontext context state state_descr line ret=1',
    'typeset -A opt_args',
    'local -a commands=(',
    ...commands.map(({ word, summary }) => `  ${quoted(`${word}:${summary}`)}`),
    ')',
    `${argumentsCall('-C', [...flags, `'1:command:{_describe command commands}'`, `'*:: :->command'`])} && ret=0`,
    `[[ $state == command ]] && _call_function ret ${functionName(name)}_$words[1]`,
    'return ret',
  ]
}

function argumentsCall(option: string, specifications: readonly string[]): string {
  return [`_arguments ${option} -S`, ...specifications].join(' \\\n    ')
}

/** `_reams_token_create`. */
function functionName(command: string): string {
  return ['_reams', ...command.split(' ')].filter((word) => word !== '').join('_')
}

/** As `_arguments` takes it: `--store='[the store]:store:_files'`. */
function flagSpecification({ forms, description, value, isList }: TypedFlag): string {
  const text = `[${description.replace(/[[\]\\]/g, '\\$&')}]`
  if (value === undefined)
    return forms.length > 1 ? `'(- *)'{${forms.join()}}${quoted(text)}` : `${forms}${quoted(text)}`
  const names = forms.map((form) => (form.startsWith('--') ? `${form}=` : `${form}+`))
  const tail = quoted(text + valueSpecification(value))
  if (names.length > 1) return `'(${forms.join(' ')})'{${names.join()}}${tail}`
  return isList ? `'*'${names}${tail}` : `${names}${tail}`
}

function valueSpecification({ label, suggestions }: TypedValue): string {
  return `:${label}:${suggestions === 'files' ? '_files' : suggestions.length === 0 ? ' ' : `(${suggestions.join(' ')})`}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
