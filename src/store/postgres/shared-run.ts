/** One run at a time of something that takes long, for all who ask: whoever comes meanwhile shares the next one. */

export class SharedRun<T> {
  readonly #work: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(work: () => Promise<T>) {
    this.#work = work
  }

  /** What it answers was found after this call, so that everybody sees what they have written before. */
  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#run()
    const ended = this.#running.then(
      () => {},
      () => {},
    )
    this.#next = ended.then(() => this.#run())
    return this.#next
  }

  #run(): Promise<T> {
    this.#next = undefined
    const running = this.#work().finally(() => {
      this.#running = undefined
    })
    this.#running = running
    return running
  }
}
