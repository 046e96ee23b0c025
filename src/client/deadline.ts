/** Deadlines and pauses that a signal can end, even if the task itself ignores signals. */

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Runs a task. Rejects with the error of `onTimeout` when the time is up, and with the signal's reason when it is aborted. */
export function withDeadline<T>(
  task: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(onTimeout()), Math.min(timeoutMs, MAX_TIMER_MS))
  const unlink = onAbort(signal, (reason) => controller.abort(reason))
  let forget = () => {}
  const ended = new Promise<T>((resolve, reject) => {
    // First: the error of a task that was aborted is not the reason.
    forget = onAbort(controller.signal, reject)
    task(controller.signal).then(resolve, reject)
  })
  return ended.finally(() => {
    clearTimeout(timer)
    unlink()
    // Node.js keeps the signals of requests for a long time, and this one would keep the response alive.
    forget()
  })
}

export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        unlink()
        resolve()
      },
      Math.min(delayMs, MAX_TIMER_MS),
    )
    const unlink = onAbort(signal, (reason) => {
      clearTimeout(timer)
      reject(reason)
    })
  })
}

/** Calls back when the signal is aborted, or now if it already is. Call the result to unsubscribe. */
export function onAbort(signal: AbortSignal | undefined, callBack: (reason: unknown) => void): () => void {
  const listener = () => callBack(signal?.reason)
  if (signal?.aborted) listener()
  else signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}
