/** From a CPU profile of V8 to the time that each function took itself. */

export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
  /** Which node was running at each sample, and how many microseconds passed since the one before. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface CallFrame {
  /** Empty for a function without a name. */
  readonly functionName: string
  /** Empty for what is not JavaScript. */
  readonly url: string
  readonly lineNumber: number
}

export interface SelfTime {
  readonly name: string
  /** File and line, without the path to it. */
  readonly place: string
  /** Of the time in which something ran. */
  readonly share: number
}

const IDLE = '(idle)'

/** Of the last so many seconds, without the start of the program; the largest first. One function is one, whoever called it. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile, lastSeconds: number): SelfTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map<string, { name: string; place: string; micros: number }>()
  let passed = 0
  for (let index = samples.length - 1; index >= 0 && passed < lastSeconds * 1e6; index--) {
    passed += timeDeltas[index] ?? 0
    const frame = frames.get(samples[index] ?? 0)
    if (frame === undefined || frame.functionName === IDLE) continue
    const [name, place] = [frame.functionName || '(anonymous)', placeOf(frame)]
    const known = functions.get(`${name} ${place}`) ?? { name, place, micros: 0 }
    known.micros += timeDeltas[index] ?? 0
    functions.set(`${name} ${place}`, known)
  }
  const busy = [...functions.values()].reduce((sum, { micros }) => sum + micros, 0)
  return [...functions.values()]
    .map(({ name, place, micros }) => ({ name, place, share: micros / busy }))
    .sort((a, b) => b.share - a.share)
}

/** Whose functions took which share. */
export function sharesByOwner(times: readonly SelfTime[]): Map<string, number> {
  const shares = new Map<string, number>()
  for (const { place, share } of times) shares.set(ownerOf(place), (shares.get(ownerOf(place)) ?? 0) + share)
  return shares
}

function ownerOf(place: string): string {
  if (place.startsWith('src/')) return 'Reams, and SQLite which it calls'
  return place.startsWith('node_modules/') ? 'packages' : 'Node.js, writing to sockets included'
}

/** Lines count from 0 in a profile. */
function placeOf({ url, lineNumber }: CallFrame): string {
  if (url === '') return ''
  return `${url.replace(/^.*\/(?=src\/|node_modules\/)/, '')}:${lineNumber + 1}`
}
