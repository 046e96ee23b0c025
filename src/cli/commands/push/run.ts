/** Runs a push: reads the settings, sends the batches, and reports. */

import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { counted, formatCount, hideSecret } from '../../../contract/message-text.ts'
import { InputError } from '../../../items/input-error.ts'
import { ReadAhead } from '../../../store/read-ahead.ts'
import { explainFailure, retryText } from '../../client-failure.ts'
import { Failure, inputFailure } from '../../failure.ts'
import { FileInput } from '../../input.ts'
import { Interrupted, Interruption } from '../../interruption.ts'
import { formatRate, msSince, printError, printNote, report } from '../../output.ts'
import { startProgress } from '../../progress.ts'
import { parseTarget, readCa, readToken } from '../../remote-collection.ts'
import type { SettingValues } from '../../setting-values.ts'
import { type Batch, cutBatches, nameInFile, placeOf } from './batch.ts'
import { type BatchSender, createSender } from './sender.ts'

/** Answers the exit status. */
export async function runPush(address: string, file: string, settings: SettingValues): Promise<number> {
  const { url, name, isLoopback } = parseTarget(address)
  const isCreating = settings.get('pushCreate')
  if (!isCreating && (['key', 'unpaginated', 'private'] as const).some((name) => settings.origin(name) === 'flag'))
    throw new Failure(
      2,
      '--key, --unpaginated and --private are for a new collection: add --create, or leave them out.',
    )
  const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
  using interruption = new Interruption()
  const { signal } = interruption
  await using input = await FileInput.open(file, settings, signal)
  const { source } = input
  const isPipe = source.totalBytes === undefined
  using sender = createSender({
    url: url.href,
    token,
    ca: readCa(settings.get('ca')),
    // Two pipes with the same items are not the same.
    sourceId: isPipe ? randomUUID() : await realpath(file),
    isPacked: !isLoopback,
    timeoutMs: settings.get('pushTimeout') * 1000,
    retries: settings.get('retries'),
    signal,
    onRetry: (retry) => printNote(hideSecret(retryText(retry, 'sending'), token)),
  })
  if (isPipe)
    printNote(`${source.label} cannot be read again: if this push ends early, it cannot be resumed. A file can.`)
  const push = createPush(input, sender, isPipe)
  try {
    // The key of a collection that exists is the concern of its server.
    const keyField = (isCreating ? settings.get('key') : undefined) ?? null
    const [isPaginated, isPrivate] = [!settings.get('unpaginated'), settings.get('private')]
    const create = () => (isCreating ? sender.create({ keyField, isPaginated, isPrivate }) : Promise.resolve())
    await input.prepare(keyField)
    await push.run(cutBatches(input.items(keyField), settings.get('batch')), create)
    const facts = { url: url.href, source: input.label, ...push.facts(), note: input.note.trim() || null }
    await report(settings, facts, `${name}: ${push.summary()}${input.note}`)
    return 0
  } catch (error) {
    if (signal.reason instanceof Interrupted) {
      printError(`reams: ${signal.reason.message}. ${push.standing()}`)
      return signal.reason.exitStatus
    }
    throw explain(error, push, token)
  }
}

/** The server has not taken this batch; the cause says why. */
class BatchRefused extends Error {
  override readonly name = 'BatchRefused'
  readonly batch: Batch

  constructor(batch: Batch, cause: unknown) {
    super('the batch was not taken', { cause })
    this.batch = batch
  }
}

type Push = ReturnType<typeof createPush>

function createPush(input: FileInput, sender: BatchSender, isPipe: boolean) {
  const { label } = input.source
  const startedAt = performance.now()
  let acknowledged = 0
  /** Of those, the ones that an earlier push had appended. */
  let repeated = 0
  /** Of the collection, now. */
  let itemCount = 0

  /** Compresses the batch at once, and sends it when everything before it is acknowledged. */
  async function sendAfter(earlier: Promise<void>, batch: Batch): Promise<void> {
    const [packed] = await Promise.all([sender.pack(batch), earlier])
    try {
      const answer = await sender.send(packed)
      itemCount = answer.itemCount
      if (answer.isRepeated) repeated += batch.count
    } catch (error) {
      throw new BatchRefused(batch, error)
    }
    acknowledged += batch.count
  }

  return {
    label,
    /** Sends what is read, in order, and reads ahead meanwhile. Calls `begin` when the first batch was read without an error. */
    run: async (batches: AsyncIterable<Batch>, begin: () => Promise<void>): Promise<void> => {
      const { source } = input
      const progress = startProgress(label, source.totalBytes)
      const ahead = new ReadAhead()
      let readItemCount = 0
      let latest: Promise<void> | undefined
      try {
        for await (const batch of batches) {
          readItemCount += batch.count
          // What was read and not sent yet counts for nothing.
          const show = () => progress.update(source.readBytes * (acknowledged / readItemCount), acknowledged)
          latest = sendAfter(latest ?? begin(), batch).then(show)
          await ahead.add(latest, batch.body.length)
        }
        if (latest === undefined) await begin()
      } finally {
        // An error here is about earlier items, and is thrown in place of a later one.
        await ahead.end().finally(() => progress.stop())
      }
    },
    /** The facts of `summary`. `items` is null if no response had the current count. */
    facts: () => {
      const items = repeated === acknowledged ? null : itemCount
      return { acknowledged, repeated, items, duration_ms: msSince(startedAt) }
    },
    /** What a push that is done says. */
    summary: (): string => {
      if (acknowledged === 0) return `0 items sent; ${label} has none.`
      const rate = formatRate(acknowledged, performance.now() - startedAt)
      const done = `${counted(acknowledged, 'item')} acknowledged in ${rate}`
      const count = `the collection has ${counted(itemCount, 'item')}`
      if (repeated === 0) return `${done}; ${count}.`
      // The answer to a repeated batch has the count of then.
      const [share, now] =
        repeated === acknowledged ? ['All were', ''] : [`${formatCount(repeated)} of them were`, `; ${count}`]
      const advice = 'Even if they were deleted since, they are not appended again: for that, push a copy of the file.'
      return `${done}${now}. ${share} appended by an earlier push in the last 24 hours. ${advice}`
    },
    /** How far a push came that failed: sentences that can follow any message. */
    standing: (): string => {
      const none = acknowledged === 0
      const done = none ? 'No item is acknowledged.' : `The first ${counted(acknowledged, 'item')} are acknowledged.`
      if (isPipe)
        return `${done} A pipe cannot be read again: check what the collection has, and send the rest from a file.`
      const condition = none ? '' : ', with the same file and token, to continue'
      return `${done} Run the same command again within 24 hours${condition}: nothing is appended twice.`
    },
  }
}

function explain(error: unknown, push: Push, token: string | undefined): unknown {
  if (error instanceof InputError) return inputFailure(error, push.label, push.standing())
  const { batch, cause } = error instanceof BatchRefused ? error : { batch: undefined, cause: error }
  const known = explainFailure(cause)
  if (known === undefined) return cause
  const message = batch === undefined ? known.message : refusalText(known.message, batch, push)
  return new Failure(known.exitStatus, hideSecret(message, token), { cause })
}

function refusalText(reason: string, batch: Batch, push: Push): string {
  return `${placeOf(batch).replace(/^i/, 'I')} not accepted. ${nameInFile(reason, batch)} ${push.standing()}`
}
