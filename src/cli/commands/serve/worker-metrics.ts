/** The metrics of all workers together. A worker that has ended, or does not answer, neither fails nor holds up the others. */

import cluster, { type Worker } from 'node:cluster'
import { combine, createProcessMetrics, type Metric } from './metrics.ts'

/** How long a worker may take to answer. Then what it answered last is taken. */
const ANSWER_MS = 1_000

interface Question {
  readonly metricsFor: number
}

interface Answer extends Question {
  readonly metrics: readonly Metric[]
}

/** In a worker: answers whenever the first process asks. */
export function answerWithMetrics(read: () => Promise<readonly Metric[]>): void {
  process.on('message', async (message: Partial<Question> | string) => {
    if (typeof message !== 'object' || message.metricsFor === undefined) return
    const answer: Answer = { metricsFor: message.metricsFor, metrics: await read() }
    // The first process may have ended.
    if (process.connected) process.send?.(answer, () => {})
  })
}

/** In the first process. */
export class WorkerMetrics {
  readonly #readOwn = createProcessMetrics()
  /** What each worker answered last. */
  readonly #last = new Map<Worker, readonly Metric[]>()
  /** What workers that have ended had counted: the sums never go down. */
  #ended: readonly Metric[] = []
  #adding = Promise.resolve()
  readonly #asked = new Map<number, { readonly worker: Worker; readonly settle: () => void }>()
  #lastId = 0

  constructor() {
    cluster.on('message', (worker, message: Partial<Answer> | string) => {
      if (typeof message !== 'object' || message.metricsFor === undefined || message.metrics === undefined) return
      if (!worker.isDead()) this.#last.set(worker, message.metrics)
      this.#asked.get(message.metricsFor)?.settle()
    })
    cluster.on('exit', (worker) => {
      for (const asked of this.#asked.values()) if (asked.worker === worker) asked.settle()
      const counted = this.#last.get(worker)?.filter(({ type }) => type !== 'gauge') ?? []
      this.#last.set(worker, counted)
      this.#adding = this.#adding.then(async () => {
        this.#ended = await combine([...this.#ended, ...counted])
        this.#last.delete(worker)
      })
    })
  }

  async read(workers: Iterable<Worker>): Promise<readonly Metric[]> {
    const [own] = await Promise.all([this.#readOwn(), ...Array.from(workers, (worker) => this.#ask(worker))])
    // How this process does its little work says nothing about the service, but it takes time and memory too.
    const costs = own.filter(({ name }) => name.startsWith('process_'))
    return [...this.#last.values(), this.#ended, costs].flat()
  }

  async #ask(worker: Worker): Promise<void> {
    const id = ++this.#lastId
    const { promise, resolve: settle } = Promise.withResolvers<void>()
    const timer = setTimeout(settle, ANSWER_MS)
    this.#asked.set(id, { worker, settle })
    // The error is of a worker that is about to end.
    worker.send({ metricsFor: id } satisfies Question, (error) => error && settle())
    await promise
    clearTimeout(timer)
    this.#asked.delete(id)
  }
}
