/** Runs a push: reads the settings, sends the batches, and reports. */

import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { counted, hideSecret } from '../../../contract/message-text.ts'
import { InputError } from '../../../items/input-error.ts'
import { readItems } from '../../../items/read-items.ts'
import { explainFailure, retryText } from '../../client-failure.ts'
import { Failure, inputFailure } from '../../failure.ts'
import { Interrupted, Interruption } from '../../interruption.ts'
import { formatRate, print, printError, printNote } from '../../output.ts'
import { startProgress } from '../../progress.ts'
import { ReadAhead } from '../../read-ahead.ts'
import { parseTarget, readToken } from '../../remote-collection.ts'
import type { SettingValues } from '../../setting-values.ts'
import { formatOfFile, openSource, type Source } from '../../source.ts'
import { type Batch, cutBatches, nameInFile, placeOf } from './batch.ts'
import { type BatchSender, createSender } from './sender.ts'

/** Answers the exit status. */
export async function runPush(address: string, file: string, settings: SettingValues): Promise<number> {
  const { url, name, isLoopback } = parseTarget(address)
  const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
  const format = settings.get('format') ?? (file === '-' ? 'ndjson' : formatOfFile(file))
  using interruption = new Interruption()
  const { signal } = interruption
  const source = await openSource(file, signal)
  const isPipe = source.totalBytes === undefined
  using sender = createSender({
    url: url.href,
    token,
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
  const push = createPush(source, sender)
  try {
    const batches = cutBatches(
      readItems(source, { format, itemBytes: settings.get('itemBytes') }),
      settings.get('batch'),
    )
    await push.run(batches)
    await print(`${name}: ${push.summary()}`)
    return 0
  } catch (error) {
    if (signal.reason instanceof Interrupted) {
      printError(`reams: ${signal.reason.message}. ${push.standing()}`)
      return signal.reason.exitStatus
    }
    throw explain(error, push, token)
  } finally {
    source.close()
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

function createPush(source: Source, sender: BatchSender) {
  const { label, totalBytes } = source
  const startedAt = performance.now()
  let acknowledged = 0
  /** Of the collection, now. */
  let itemCount = 0

  /** Compresses the batch at once, and sends it when everything before it is acknowledged. */
  async function sendAfter(earlier: Promise<void>, batch: Batch): Promise<void> {
    const packed = await sender.pack(batch)
    await earlier
    try {
      itemCount = await sender.send(packed)
    } catch (error) {
      throw new BatchRefused(batch, error)
    }
    acknowledged += batch.count
  }

  return {
    label,
    /** Sends what is read, in order, and reads ahead meanwhile. */
    run: async (batches: AsyncIterable<Batch>): Promise<void> => {
      const progress = startProgress(label, totalBytes)
      const ahead = new ReadAhead()
      let readItemCount = 0
      let latest = Promise.resolve()
      try {
        for await (const batch of batches) {
          readItemCount += batch.count
          // What was read and not sent yet counts for nothing.
          const show = () => progress.update(source.readBytes * (acknowledged / readItemCount), acknowledged)
          latest = sendAfter(latest, batch).then(show)
          await ahead.add(latest, batch.body.length)
        }
      } finally {
        // An error here is about earlier items, and is thrown in place of a later one.
        await ahead.end().finally(() => progress.stop())
      }
    },
    /** What a push that is done says. */
    summary: (): string => {
      if (acknowledged === 0) return `0 items sent; ${label} has none.`
      const done = `acknowledged in ${formatRate(acknowledged, performance.now() - startedAt)}`
      return `${counted(acknowledged, 'item')} ${done}; the collection has ${counted(itemCount, 'item')}.`
    },
    /** How far a push came that failed: sentences that can follow any message. */
    standing: (): string => {
      const none = acknowledged === 0
      const done = none ? 'No item is acknowledged.' : `The first ${counted(acknowledged, 'item')} are acknowledged.`
      if (totalBytes === undefined)
        return `${done} A pipe cannot be read again: check what the collection has, and send the rest from a file.`
      const condition = none ? '' : ', with the same file and token, to continue'
      return `${done} Run the same command again within 24 hours${condition}: nothing is appended twice.`
    },
  }
}

function explain(error: unknown, push: Push, token: string | undefined): unknown {
  if (error instanceof InputError) return inputFailure(error, push.label, push.standing())
  if (!(error instanceof BatchRefused)) return error
  const { batch, cause } = error
  const known = explainFailure(cause)
  if (known === undefined) return cause
  const place = placeOf(batch).replace(/^i/, 'I')
  const message = `${place} not accepted. ${nameInFile(known.message, batch)} ${push.standing()}`
  return new Failure(known.exitStatus, hideSecret(message, token), { cause })
}
