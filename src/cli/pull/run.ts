/** Runs a pull, from the settings to its last word. */

import { setFlagsFromString } from 'node:v8'
import { type Collection, openCollection } from '../../client/index.ts'
import { type PushTarget, parseTarget } from '../collection-target.ts'
import { Interrupted, Interruption } from '../interruption.ts'
import { isReaderGone, printError } from '../output.ts'
import { readToken } from '../read-token.ts'
import type { SettingValues } from '../setting-values.ts'
import { explainPull, PullStopped } from './failure.ts'
import { createPullFetch, type PullFetch } from './fetch.ts'
import type { PullJob, PullOutcome } from './job.ts'
import { outputOf, type PullOutput } from './output.ts'
import { PullReport, type ReportOptions } from './report.ts'
import { pullToFile } from './to-file.ts'
import { pullToStream } from './to-stream.ts'

/**
 * What is left of a page is small and many: by itself V8 lets it pile up to several times of what is in use before it
 * looks for it, and the memory of a long pull would grow for a long time.
 */
const COLLECT_EARLY = '--heap-growing-percent=20'

/** Answers the exit status. */
export async function runPull(text: string, settings: SettingValues): Promise<number> {
  setFlagsFromString(COLLECT_EARLY)
  const target = parseTarget(text)
  const output = await outputOf(settings)
  const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
  using report = new PullReport(reportOptions(target, output, token, settings))
  using interruption = new Interruption()
  using pullFetch = createPullFetch(!target.isLoopback)
  const { signal } = interruption
  const collection = collectionOf(target, token, pullFetch, settings, report)
  const subject = { url: target.url.href, format: output.format, columns: output.columns, isPacked: output.isPacked }
  const job = { subject, collection, signal, report }
  try {
    const outcome = await pull(job, output, settings)
    await report.done({ url: subject.url, name: target.name, output, durationMs: report.elapsedMs, ...outcome })
    return 0
  } catch (error) {
    report.stop()
    const { cause, standing } = error instanceof PullStopped ? error : { cause: error, standing: '' }
    if (signal.reason instanceof Interrupted) {
      printError(`reams: ${signal.reason.message}. ${standing}`.trimEnd())
      return signal.reason.exitStatus
    }
    // As in `| head`.
    if (!output.isFile && isReaderGone(cause)) return 0
    throw explainPull(cause, { standing, token, path: output.path })
  }
}

function reportOptions(
  { name }: PushTarget,
  { path }: PullOutput,
  token: string | undefined,
  settings: SettingValues,
): ReportOptions {
  const isQuiet = settings.get('quiet')
  // Not into the midst of the items.
  const hasBar = !isQuiet && !(path === undefined && process.stdout.isTTY)
  return { label: path ?? name, token, isQuiet, isJson: settings.get('json'), hasBar }
}

function pull(job: PullJob, output: PullOutput, settings: SettingValues): Promise<PullOutcome> {
  const { path, isFile, isThere } = output
  if (path === undefined || !isFile) return pullToStream(job, output)
  const [isResumed, isForced] = [settings.get('resume'), settings.get('force')]
  return pullToFile({ ...job, path, isThere, isResumed, isForced })
}

function collectionOf(
  { url }: PushTarget,
  token: string | undefined,
  { fetch }: PullFetch,
  settings: SettingValues,
  { onRetry }: PullReport,
): Collection {
  return openCollection(url.href, {
    fetch,
    token,
    concurrency: settings.get('concurrency'),
    timeoutMs: settings.get('pullTimeout') * 1000,
    pageBytes: settings.get('answerBytes'),
    allowedOrigins: settings.get('allowOrigin'),
    retry: { retries: settings.get('retries') },
    onRetry,
  })
}
