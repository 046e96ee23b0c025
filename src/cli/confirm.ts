/** Asks on a terminal, and goes on only after a yes. */

import { createInterface } from 'node:readline/promises'
import { Failure } from './failure.ts'

interface Question {
  readonly question: string
  /** What to say where nobody can see the question. */
  readonly unseen: string
  /** What to say after a no. */
  readonly refused: string
}

/** Throws a Failure unless the answer is yes. */
export async function confirm({ question, unseen, refused }: Question): Promise<void> {
  const output = [process.stderr, process.stdout].find(({ isTTY }) => isTTY)
  if (output === undefined) throw new Failure(2, unseen)
  const terminal = createInterface({ input: process.stdin, output })
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed])
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure(1, refused)
}
