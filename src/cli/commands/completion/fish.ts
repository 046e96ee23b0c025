/** The completion script for fish. */

import { commandNames, flagsWithValue, type TypedCommand, type TypedFlag, type TypedValue } from './typed-command.ts'

export function fishScript(commands: readonly TypedCommand[]): string {
  return `# Completion of reams for fish, printed by "reams completion fish".

# Whether the words before the cursor are of this command and, if a number is given, its operand of that number comes next.
function __reams_at --argument-names command number
    set -l commands ${commandNames(commands).map(quoted).join(' ')}
    set -l valued ${flagsWithValue(commands).join(' ')}
    set -l typed ''
    set -l operand 1
    set -l is_value no
    set -l is_ended no
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test $is_value = yes
            set is_value no
        else if test $is_ended = no -a "$word" = --
            set is_ended yes
        else if test $is_ended = no; and string match -qr -- '^-.' $word
            contains -- $word $valued; and set is_value yes
        else if test $operand = 1; and contains -- (string trim -- "$typed $word") $commands
            set typed (string trim -- "$typed $word")
        else
            set operand (math $operand + 1)
        end
    end
    test "$typed" = "$command"; and test -z "$number" -o "$number" = $operand
end

# Whether a file fits: fish suggests one after ":" too, where the field of FILE:FIELD belongs, unless the ":" is in a name.
function __reams_at_file
    set -l word (commandline -ct | string unescape)
    not string match -q -- '*:*' $word; or count $word* > /dev/null
end

complete -c reams -e
complete -c reams -f
${commands.flatMap(commandLines).join('\n')}`
}

function commandLines({ name, flags, commands, operands }: TypedCommand): string[] {
  const at = (number?: number, more = '') =>
    `complete -c reams -n "__reams_at '${name}'${number === undefined ? '' : ` ${number}`}${more}"`
  const offered = operands.map((operand, index) => [
    at(operand.isList ? undefined : index + 1, operand.suggestions === 'files' ? '; and __reams_at_file' : ''),
    ...argumentsOf(operand),
  ])
  return [
    '',
    ...flags.map((flag) => [at(), ...flagWords(flag)].join(' ')),
    ...commands.map(({ word, summary }) => `${at(1)} -a ${word} -d ${quoted(summary)}`),
    ...offered.filter(({ length }) => length > 1).map((words) => words.join(' ')),
  ]
}

function flagWords({ forms, description, value }: TypedFlag): string[] {
  const names = forms.map((form) => form.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s '))
  // -r: a value has to follow; -x: and it is no file.
  const argument = value === undefined ? [] : [value.suggestions === 'files' ? '-r' : '-x', ...argumentsOf(value)]
  return [...names, ...argument, `-d ${quoted(description)}`]
}

function argumentsOf({ suggestions }: TypedValue): string[] {
  if (suggestions === 'files') return ['-F']
  return suggestions.length === 0 ? [] : [`-a '${suggestions.join(' ')}'`]
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
