/** Waits until a server is done with what it was asked before: this answer comes behind it. */

export async function untilAnswered(url: string, signal: AbortSignal): Promise<void> {
  await (await fetch(url, { signal })).arrayBuffer()
}
