/** `reams push URL FILE|-`: appends the items of a file to a collection of any server, over HTTP. */

import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { DEFAULT_RETRY } from '../client/retry.ts'
import { hideSecret } from '../contract/message-text.ts'
import { InputError } from '../items/input-error.ts'
import type { InputFormat } from '../items/read-items.ts'
import { type PushTarget, parseTarget } from './collection-target.ts'
import type { CliCommand } from './command.ts'
import { Failure } from './failure.ts'
import { formatOfFile } from './file-name.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { print, printError } from './output.ts'
import { startProgress } from './progress.ts'
import { PushConnection } from './push/connection.ts'
import { notePath } from './push/note.ts'
import { NoteFile } from './push/note-file.ts'
import { PushSender } from './push/sender.ts'
import { pushSource } from './push/source.ts'
import { PushState } from './push/state.ts'
import { PushStopped, standing } from './push/stopped.ts'
import { type PushResult, pushSummary } from './push/summary.ts'
import { settleUnanswered } from './push/unanswered.ts'
import { readToken } from './read-token.ts'
import type { SettingValues } from './setting-values.ts'
import { openSource, type Source } from './source.ts'

export const PUSH: CliCommand = {
  name: 'push',
  group: 'Load and change',
  usage: 'URL FILE|- [options]',
  summary: 'send a file to a collection over HTTP',
  description: `Appends the items of a file to a collection, over HTTP, in batches. What is
lost on the way is sent again, and nothing is doubled. A note beside the file,
FILE.push-….json, says what was sent: after a crash the same command goes on
behind it, and later it sends what is new in the file. Delete the note to send
the whole file again. REAMS_TOKEN can hold the token.`,
  operands: [
    { syntax: '<URL>', description: 'the collection' },
    { syntax: '<FILE>', description: '.ndjson, .jsonl, .json or .csv, also gzip; - is stdin' },
  ],
  settings: ['format', 'itemBytes', 'tokenFile', 'unanswered', 'batch', 'retries', 'pushTimeout'],
  examples: [
    { line: 'reams push https://x.example/events new.ndjson', purpose: 'append a file' },
    { line: 'zcat *.gz | reams push https://x.example/events -', purpose: 'from a pipe, no note' },
  ],
  run: runPush,
}

async function runPush([url = '', file = '']: readonly string[], settings: SettingValues): Promise<number> {
  const target = parseTarget(url)
  const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
  const format = settings.get('format') ?? (file === '-' ? 'ndjson' : formatOfFile(file))
  using interruption = new Interruption()
  const { signal } = interruption
  const source = await openSource(file, signal)
  try {
    const noteFile = await noteFileOf(file, source, target)
    using _lock = noteFile?.lock()
    const state = PushState.open(target.url.href, token ?? '', noteFile)
    return await push({ target, token, format, source, state, settings, signal })
  } finally {
    source.close()
  }
}

/** Beside the file itself, also where it is reached by a link. */
async function noteFileOf(file: string, source: Source, { url }: PushTarget): Promise<NoteFile | undefined> {
  if (source.totalBytes === undefined) {
    printError(
      `reams: ${source.label} cannot be read again: if this push ends early, it cannot be resumed. A file can.`,
    )
    return undefined
  }
  const real = await realpath(file)
  const shown = real === resolve(file) ? file : real
  return new NoteFile(notePath(real, url.href), notePath(shown, url.href))
}

interface Push {
  readonly target: PushTarget
  readonly token: string | undefined
  readonly format: InputFormat
  readonly source: Source
  readonly state: PushState
  readonly settings: SettingValues
  readonly signal: AbortSignal
}

async function push(job: Push): Promise<number> {
  const { source, state, token, signal } = job
  const startedAt = performance.now()
  try {
    const result = await sendAll(job)
    state.close()
    await print(
      pushSummary(job.target.name, source.label, state, { ...result, durationMs: performance.now() - startedAt }),
    )
    return 0
  } catch (error) {
    closeAnyway(state)
    if (signal.reason instanceof Interrupted) {
      printError(`reams: ${signal.reason.message}. ${standing(state)}`)
      return signal.reason.exitStatus
    }
    throw explain(error, source.label, state, token)
  }
}

/** When this fails too, less is noted than is known, which doubles nothing: the first error is the one to tell. */
function closeAnyway(state: PushState): void {
  try {
    state.close()
  } catch {}
}

async function sendAll({
  target,
  token,
  format,
  source,
  state,
  settings,
  signal,
}: Push): Promise<Omit<PushResult, 'durationMs'>> {
  const url = target.url.href
  const sentBefore = settleUnanswered(state, settings.get('unanswered'), source.label, url)
  using connection = new PushConnection(target.url, settings.get('pushTimeout') * 1000)
  const policy = { ...DEFAULT_RETRY, retries: settings.get('retries') }
  const sender = new PushSender(connection, { url, token, policy, signal, onWait: (text) => say(text, token) })
  const progress = startProgress(source.label, source.totalBytes)
  try {
    const itemCount = await pushSource(source, state, sender, {
      format,
      itemBytes: settings.get('itemBytes'),
      batchItems: settings.get('batch'),
      isPacked: !target.isLoopback,
      sentBefore,
      progress,
    })
    return { sentBefore, itemCount }
  } finally {
    progress.stop()
  }
}

/** The progress bar, if there is one, is drawn again below. */
function say(text: string, token: string | undefined): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  printError(`reams: ${hideSecret(text, token)}`)
}

function explain(error: unknown, label: string, state: PushState, token: string | undefined): unknown {
  if (error instanceof InputError) {
    const separator = error.line === undefined ? ': ' : ', '
    return new Failure(1, `${label}${separator}${error.message}. ${standing(state)}`, { cause: error })
  }
  if (!(error instanceof PushStopped)) return error
  return new Failure(error.exitStatus, `${hideSecret(error.message, token)} ${standing(state)}`, { cause: error.cause })
}
