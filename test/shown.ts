/** Compares what a page shows with what came: `…` stands for the rest of a line, on a line of its own for any lines. */

import assert from 'node:assert/strict'

export function isShown(shown: string, came: string): boolean {
  // The last line of a page always ends; an answer need not.
  return shownPattern(shown).test(came.replace(/(?<=[^\n])$/, '\n'))
}

export function assertShown(shown: string, came: string, where: string): void {
  if (isShown(shown, came)) return
  // Never equal here: the difference between the two is what a reader of the failure wants to see.
  assert.equal(came, shown, where)
}

function shownPattern(shown: string): RegExp {
  const lines = shown.split(/(?<=\n)/).map((line) => {
    if (line.trim() === '…') return '(?:.*\\n)*?'
    return line.split('…').map(RegExp.escape).join('.*?')
  })
  return new RegExp(`^${lines.join('')}$`)
}
