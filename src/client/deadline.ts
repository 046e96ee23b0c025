/** Waiting that ends when it is told to, whether or not what is waited for listens to signals. */

/** A timer of more than this would end at once. */
const LONGEST_MS = 2 ** 31 - 1

/** Runs a task; ends with the error of `onTimeout` when the time is up, and with the signal's reason when that is given. */
export async function withDeadline<T>(
  task: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(onTimeout()), Math.min(timeoutMs, LONGEST_MS))
  const unlink = onAbort(signal, (reason) => controller.abort(reason))
  let forget = () => {}
  const ended = new Promise<never>((_, reject) => {
    forget = onAbort(controller.signal, reject)
  })
  try {
    return await Promise.race([task(controller.signal), ended])
  } catch (error) {
    // What a task says that was told to end is not the reason.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    unlink()
    // Node.js keeps the signals of requests for long, and this one would keep the answer with it.
    forget()
  }
}

export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        unlink()
        resolve()
      },
      Math.min(delayMs, LONGEST_MS),
    )
    const unlink = onAbort(signal, (reason) => {
      clearTimeout(timer)
      reject(reason)
    })
  })
}

/** Calls back when the signal is given, or now if it was before. The result takes the call back. */
export function onAbort(signal: AbortSignal | undefined, callBack: (reason: unknown) => void): () => void {
  const listener = () => callBack(signal?.reason)
  if (signal?.aborted) listener()
  else signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}
