/** Runs a pull: reads the settings, downloads, and reports. */

import { createSocketFetch } from '../../../check/http/socket-fetch.ts'
import { HttpError, InvalidPage, openCollection, type Sink } from '../../../client/index.ts'
import { hideSecret } from '../../../contract/message-text.ts'
import { parseCollectionPath } from '../../../contract/state-tag.ts'
import { explainFailure } from '../../client-failure.ts'
import { Failure } from '../../failure.ts'
import { createFormat, outputFormat } from '../../files/item-format.ts'
import { type OutputTarget, openStream, outputTarget } from '../../files/output-target.ts'
import { explainWriting } from '../../files/part-file.ts'
import { Interrupted, Interruption } from '../../interruption.ts'
import { isReaderGone, printError } from '../../output.ts'
import { parseTarget, readCa, readToken } from '../../remote-collection.ts'
import type { SettingValues } from '../../setting-values.ts'
import { createReport, type PullJob, type PullOutcome, provenOutcome } from './report.ts'
import { PullStopped, pullToFile } from './to-file.ts'

/** Answers the exit status. */
export async function runPull(text: string, settings: SettingValues): Promise<number> {
  const { url, name, isLoopback } = parseTarget(text)
  const target = await outputTarget(settings.get('output'))
  const { path, isPacked } = target
  const { format, columns } = outputFormat(target, settings)
  if (path === undefined && settings.get('resume'))
    throw new Failure(2, '--resume needs a file: name it with -o FILE, as in the interrupted pull.')
  const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
  using report = createReport({ url: url.href, name, format, path, token, settings })
  using interruption = new Interruption()
  using http = createSocketFetch({ encoding: isLoopback ? 'identity' : 'gzip', ca: readCa(settings.get('ca')) })
  const { signal } = interruption
  const collection = openCollection(url.href, {
    fetch: http.fetch,
    token,
    concurrency: settings.get('concurrency'),
    timeoutMs: settings.get('pullTimeout') * 1000,
    pageBytes: settings.get('answerBytes'),
    allowedOrigins: settings.get('allowOrigin'),
    retry: { retries: settings.get('retries') },
    onRetry: report.onRetry,
  })
  try {
    const isChanges = parseCollectionPath(name)?.isChanges ?? false
    const subject = { url: url.href, format, columns, isPacked, isChanges }
    const job = { subject, collection, signal, report, isLive: settings.get('noSnapshot') }
    await report.done(await pull(job, target, settings))
    return 0
  } catch (error) {
    report[Symbol.dispose]()
    const { cause, kept } = error instanceof PullStopped ? error : { cause: error, kept: '' }
    if (signal.reason instanceof Interrupted) {
      printError(`reams: ${signal.reason.message}. ${kept}`.trimEnd())
      return signal.reason.exitStatus
    }
    // As in `| head`.
    if (!target.isFile && isReaderGone(cause)) return 0
    const known = explainFailure(explainWriting(cause, path ?? 'Standard output'))
    if (known === undefined) throw cause
    const message = [known.message, isOfSnapshot(cause, url) ? NO_SNAPSHOT : '', kept].filter(Boolean).join(' ')
    // A server can repeat the token in what it answers.
    throw new Failure(known.exitStatus, hideSecret(message, token), { cause })
  }
}

const NO_SNAPSHOT = '--no-snapshot reads it without one.'

/** Whether the server can do without what failed: nothing else is read from another path. */
function isOfSnapshot(error: unknown, { pathname }: URL): boolean {
  const isFailed = (error instanceof HttpError && error.status >= 500) || error instanceof InvalidPage
  return isFailed && new URL(error.url).pathname !== pathname
}

function pull(job: PullJob, target: OutputTarget, settings: SettingValues): Promise<PullOutcome> {
  const { path, isFile } = target
  if (path === undefined || !isFile) return pullToStream(job, target)
  return pullToFile({ ...job, path, isResumed: settings.get('resume'), isForced: settings.get('force') })
}

async function pullToStream(
  { subject, collection, signal, report, isLive }: PullJob,
  target: OutputTarget,
): Promise<PullOutcome> {
  await using stream = await openStream(target, signal)
  const format = createFormat(subject)
  const written = { format, items: 0, bytes: 0 }
  const sink: Sink = {
    page: async (page, { first }) => {
      const lines = page.ndjson(first)
      const text = format.render(lines, written.items)
      written.items += page.length - first
      written.bytes += lines.length
      if (text.length > 0) await stream.write(text)
    },
    restart: async () => {
      if (written.items > 0) throw new Failure(1, CHANGED)
    },
  }
  const onProgress = report.follow(0, () => written.bytes)
  const outcome = provenOutcome(written, await collection.pull(sink, { signal, live: isLive, onProgress }))
  await stream.write(format.end(written.items))
  return outcome
}

const CHANGED =
  'The collection changed while it was read, so items may be missing or duplicated in the output. Pull it into a file instead, which starts over by itself: -o FILE'
