/** Runs a mirror: reads the settings, opens both sides, and says what went wrong. */

import { createSocketFetch } from '../../../check/http/socket-fetch.ts'
import type { ClientOptions } from '../../../client/client-options.ts'
import { isCollectionName, NAME_RULE } from '../../../contract/name.ts'
import { withoutSlash } from '../../../contract/url.ts'
import { Mirror, type MirrorEvent } from '../../../mirror/mirror.ts'
import { HistoryLost, MirrorError } from '../../../mirror/mirror-error.ts'
import { Origin } from '../../../mirror/origin.ts'
import { explainFailure } from '../../client-failure.ts'
import { Failure } from '../../failure.ts'
import { Interrupted, Interruption } from '../../interruption.ts'
import { existingHead, withStore } from '../../open-store.ts'
import { msSince, printError, report as printReport } from '../../output.ts'
import { parseTarget, readCa, readToken } from '../../remote-collection.ts'
import { durationMs } from '../../setting-kind.ts'
import type { SettingValues } from '../../setting-values.ts'
import { mirrorLimits } from './limits.ts'
import { MirrorReport } from './report.ts'

/** How long a server may keep a request waiting, at most. */
const MAX_WAIT_SECONDS = 30

/** What is tried again soon is told by the mirror itself. */
const RETRIES = 2

/** Answers the exit status. */
export async function runMirror(text: string, settings: SettingValues): Promise<number> {
  const { url, name: own, isLoopback } = parseTarget(text)
  if (own.includes('@'))
    throw new Failure(
      2,
      `${url.href} is a state of a collection, or its changes. Mirror the collection, ${url.href.replace(/@.*$/, '')}; \`reams pull\` copies one state.`,
    )
  const name = settings.get('mirrorName') ?? own
  if (!isCollectionName(name))
    throw new Failure(
      2,
      `${url.href} is not the URL of a collection: its last part, "${name}", is no name (${NAME_RULE}). Choose one with --name, or check the URL.`,
    )
  using interruption = new Interruption()
  using http = createSocketFetch({ encoding: isLoopback ? 'identity' : 'gzip', ca: readCa(settings.get('ca')) })
  const { signal } = interruption
  const client: ClientOptions = {
    fetch: http.fetch,
    timeoutMs: settings.get('pullTimeout') * 1000,
    pageBytes: settings.get('answerBytes'),
    allowedOrigins: settings.get('allowOrigin'),
    retry: { retries: RETRIES },
  }
  // A token that was replaced in its file meanwhile is taken from there.
  const open = async () => {
    const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
    return new Origin(withoutSlash(url), { ...client, token }, signal)
  }
  const origin = await open()
  await using report = await MirrorReport.open(name, origin.url, settings)
  const options = {
    name,
    keyField: settings.get('key'),
    everyMs: durationMs(settings.get('mirrorEvery')),
    // An answer that comes at the end of its time must not be too late.
    waitSeconds: Math.min(MAX_WAIT_SECONDS, Math.floor(settings.get('pullTimeout') / 2)),
    isOnce: settings.get('once'),
    itemBytes: settings.get('itemBytes'),
    limits: mirrorLimits(settings),
    open,
  }
  const startedAt = performance.now()
  let hasStarted = false
  try {
    await withStore(settings.get('store'), { create: true }, async (store) => {
      const reportReady = async () => {
        const items = (await existingHead(store, name)).live
        await printReport(settings, { ...report.facts(), items, duration_ms: msSince(startedAt) }, undefined)
      }
      let ready: Promise<void> | undefined
      const onEvent = (event: MirrorEvent) => {
        report.add(event)
        // A mirror without --once has no other end than a signal.
        if (event.kind === 'current' && settings.get('json')) ready ??= reportReady()
      }
      const mirror = new Mirror(store, origin, { ...options, onEvent }, signal)
      try {
        await mirror.run()
        await ready
      } finally {
        hasStarted = mirror.hasStarted
      }
    })
  } catch (error) {
    if (signal.reason instanceof Interrupted) return interrupted(signal.reason, hasStarted, settings.get('once'))
    throw explained(error)
  }
  return 0
}

/** Without --once that is how a mirror ends. */
function interrupted({ message, exitStatus }: Interrupted, hasStarted: boolean, isOnce: boolean): number {
  if (hasStarted && !isOnce) return 0
  const standing = hasStarted
    ? 'The mirror stays where it is; the same command goes on from there'
    : 'There is no mirror yet; the same command begins again'
  printError(`reams: ${message}. ${standing}.`)
  return exitStatus
}

function explained(error: unknown): unknown {
  if (error instanceof MirrorError) return new Failure(error.kind === 'usage' ? 2 : 1, error.message, { cause: error })
  if (error instanceof HistoryLost) return new Failure(1, error.message, { cause: error })
  const known = explainFailure(error)
  return known === undefined ? error : new Failure(known.exitStatus, known.message, { cause: error })
}
