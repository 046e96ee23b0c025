/** Runs one case: makes it from its number, carries it out, and records what is wrong. */

import type { Store } from '../../src/store/store.ts'
import { Dice } from './dice.ts'
import { exchange, type Transcript } from './exchange.ts'
import type { Findings } from './findings.ts'
import { shown } from './findings.ts'
import type { FuzzedServer } from './fuzzed-server.ts'
import { KINDS, type Kind } from './grammar/kinds.ts'
import { judge } from './judge.ts'
import { answersDue } from './message.ts'
import { describeDelivery, type Plan, planOf } from './plan.ts'
import { anyAuthorization, anyInput, judgeInput, judgeToken } from './reader-cases.ts'

/** Cases that need no server, and how often they come in proportion to the others. */
const INPUT = 'input'
const TOKEN = 'token'
const WEIGHTS = new Map([
  ...Object.entries(KINDS).map(([name, { weight }]) => [name, weight] as const),
  [INPUT, 20],
  [TOKEN, 6],
])
const TOTAL_WEIGHT = WEIGHTS.values().reduce((sum, weight) => sum + weight, 0)

export const CASE_KINDS: readonly string[] = [...WEIGHTS.keys()]

export interface CaseRunnerOptions {
  readonly seed: number
  /** A case goes to the server that its number picks, so that it goes to the same one in every run. */
  readonly servers: readonly FuzzedServer[]
  /** Has the tokens. */
  readonly store: Store
  readonly findings: Findings
  /** Kinds to leave out. */
  readonly without: readonly string[]
  /** Told of every exchange. */
  readonly onExchange?: (number: number, plan: Plan, transcript: Transcript) => void
}

export class CaseRunner {
  readonly #options: CaseRunnerOptions
  connections = 0
  /** How often each status was answered. */
  readonly statuses = new Map<number, number>()

  constructor(options: CaseRunnerOptions) {
    this.#options = options
  }

  /** `round`: how often it ran before; what it writes is then other items. */
  async run(number: number, round = 0): Promise<void> {
    const { seed, without, findings, store } = this.#options
    const dice = new Dice(seed, number)
    const name = anyKind(dice)
    const kind = KINDS[name]
    if (without.includes(name)) return
    if (kind !== undefined) return this.#talk(number, dice, kind, round === 0 ? `c${number}` : `c${number}.${round}`)
    if (name === INPUT) {
      const input = anyInput(dice)
      const flaw = await judgeInput(dice, input)
      if (flaw !== undefined) findings.add(flaw, [number], `${JSON.stringify(input.options)} ${shown(input.bytes)}`)
    } else {
      const authorization = anyAuthorization(dice)
      const flaw = await judgeToken(authorization, store)
      if (flaw !== undefined) findings.add(flaw, [number], JSON.stringify(authorization))
    }
  }

  async #talk(number: number, dice: Dice, kind: Kind, id: string): Promise<void> {
    const { findings, onExchange } = this.#options
    const server = this.#serverOf(number)
    const { site, port } = server
    let count = 0
    const plan = planOf(dice, kind, { site, port, nextId: () => `${id}-${count++}` })
    await server.begin(number)
    const { restarts } = server
    const transcript = await exchange(port, plan)
    this.#noteAnswers(server, plan, transcript)
    onExchange?.(number, plan, transcript)
    const flaws = judge(plan, transcript)
    const isBroken = flaws.length > 0 || ['reset by the server', 'not connected'].includes(transcript.ending)
    // When the process dies all its connections break. Only the death is the finding then.
    if (isBroken && (await server.hasDied(restarts))) return
    for (const flaw of flaws) findings.add(flaw, [number], describe(plan, transcript))
  }

  #serverOf(number: number): FuzzedServer {
    const { servers } = this.#options
    const server = servers[number % servers.length]
    if (server === undefined) throw new Error('There is no server.')
    return server
  }

  #noteAnswers({ ledger }: FuzzedServer, { messages }: Plan, { reader, sentMessages }: Transcript): void {
    this.connections++
    for (const { status } of reader.answers) this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const due = answersDue(messages.slice(0, sentMessages))
    for (const [index, { appends }] of messages.entries())
      if (appends !== undefined) ledger.note(appends, index < due ? reader.answers[index]?.status : undefined)
  }
}

function anyKind(dice: Dice): string {
  let left = dice.below(TOTAL_WEIGHT)
  for (const [name, weight] of WEIGHTS) {
    left -= weight
    if (left < 0) return name
  }
  throw new Error('The weights do not add up.')
}

function describe({ delivery }: Plan, { ending, sent, reader }: Transcript): string {
  const answers = reader.answers.map(({ status, body }) => `${status} ${shown(body, 300)}`)
  const rest = reader.rest.length === 0 ? [] : [`then ${shown(reader.rest, 300)}`]
  return [
    `delivery: ${describeDelivery(delivery)}`,
    `sent: ${shown(sent)}`,
    `answered: ${[...answers, ...rest].join(', ') || 'nothing'}`,
    `the connection was ${ending}`,
  ].join('\n')
}
