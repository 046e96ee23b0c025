/** The completion script for bash. It needs no package, and nothing that the bash 3.2 of macOS lacks. */

import type { Suggestions } from '../../setting-kind.ts'
import { commandNames, flagsWithValue, type TypedCommand } from './typed-command.ts'

export function bashScript(commands: readonly TypedCommand[]): string {
  return `# Completion of reams for bash, printed by "reams completion bash".

_reams() {
  local IFS=$' \\t\\n' i word words=()
  # Bash splits at ":" and "=" too: http://x is made one word again, and so is --format=csv.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i > 1)) && [[ $word == [:=]* || \${COMP_WORDS[i - 1]} == [:=]* ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done

  # Which command it is, and what comes next: the value of a flag, or which operand.
  local commands='|${commandNames(commands).join('|')}|'
  local valued=' ${flagsWithValue(commands).join(' ')} '
  local command= flag= operand=1 ended= name
  for word in "\${words[@]:0:\${#words[@]} - 1}"; do
    name="\${command:+$command }$word"
    if [[ $flag ]]; then
      flag=
    elif [[ $word == *[\\<\\>] ]]; then
      flag='>'
    elif [[ ! $ended && $word == -- ]]; then
      ended=1
    elif [[ ! $ended && $word == -?* ]]; then
      [[ $valued == *" $word "* ]] && flag=$word
    elif [[ $operand == 1 && $commands == *"|$name|"* ]]; then
      command=$name
    else
      ((operand++))
    fi
  done
  local next=$operand
  word=\${words[\${#words[@]} - 1]}
  if [[ $flag ]]; then
    next=$flag
  elif [[ ! $ended && $word == --*=* ]]; then
    next=\${word%%=*}
  elif [[ ! $ended && $word == -* ]]; then
    next=flags
  fi

  local suggestions= files=
  [[ $next == '>' ]] && files=1
  case $command in
${commands.map(commandCase).join('\n')}
  esac
  # Bash begins a new name after ":", but the field of FILE:FIELD belongs there, or the rest of a URL.
  [[ $word == *:"$2" ]] && files=

  COMPREPLY=()
  if [[ $files ]]; then
    compopt -o default 2> /dev/null
  else
    # Where bash was told not to split at "=", the flag is a part of the word.
    local prefix=
    [[ $2 == --*=* ]] && prefix=\${2%%=*}=
    COMPREPLY=($(compgen -P "$prefix" -W "$suggestions" -- "\${2#"$prefix"}"))
  fi
}

# Before 4.0, bash cannot be told when to suggest files: it then does wherever nothing else fits.
if type compopt > /dev/null 2>&1; then
  complete -F _reams reams
else
  complete -o default -F _reams reams
fi`
}

function commandCase({ name, flags, commands, operands }: TypedCommand): string {
  const forms = flags.map((flag) => flag.forms.at(-1) ?? '')
  const values = [
    ...flags.map((flag) => [flag.forms.join(' | '), flag.value?.suggestions ?? []] as const),
    ...operands.map(({ isList, suggestions }, index) => [isList ? '[0-9]*' : `${index + 1}`, suggestions] as const),
  ]
  // Those with the same suggestions share a line.
  const shared = Map.groupBy(values, ([, suggestions]) => effectOf(suggestions))
  const cases = [
    ['flags', effectOf(forms)],
    ['1', effectOf(commands.map(({ word }) => word))],
    ...[...shared].map(([effect, group]) => [group.map(([key]) => key).join(' | '), effect]),
  ]
  const lines = cases.filter(([, effect]) => effect !== '').map(([keys, effect]) => `        ${keys}) ${effect} ;;`)
  return [`    '${name}')`, '      case $next in', ...lines, '      esac ;;'].join('\n')
}

function effectOf(suggestions: Suggestions): string {
  if (suggestions === 'files') return 'files=1'
  return suggestions.length === 0 ? '' : `suggestions='${suggestions.join(' ')}'`
}
