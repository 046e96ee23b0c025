/** What stands behind the method: ordinary targets with what they answer, and odd ones. */

import { type Dice, texts, words } from '../dice.ts'
import { EVENT_COUNT, EVENTS, LOG, SECRETS, type Site, STILL, VENUES } from '../site.ts'

export interface Target {
  readonly text: string
  /** To whoever may read everything. */
  readonly statuses: readonly number[]
  readonly shows?: string
}

const PAGES = [...words(`1 2 3 03 0000000001 99 2147483648 9007199254740993`), '', '9'.repeat(26), '7'.repeat(900)]
const NO_PAGES = words(`0 00 -1 +1 1.5 1e3 abc %201 1%20 %D9%A1 %ff 1%00 1,2 0x1 % 1&page=2`)
const OTHER_QUERIES = ['', '', '', '&x=1', '&x', '&=&&', '&%=%zz', '&page2=7'] as const

const FOUND = words(`/ /${SECRETS}/7 /-/health /-/openapi.json /-/problems/conflict`)
const NOT_FOUND = words(`
  /-/problems/none /-/explorer/nothing.js /nothing /${EVENTS}/ /${EVENTS}/1/2 /${LOG}/1 /${EVENTS}/%zz /Events
`)

/** A target that every client could send. */
export function ordinaryTarget(dice: Dice, site: Site): Target {
  const target = dice.chance(60) ? pageTarget(dice) : otherTarget(dice)
  // A proxy may have taken the path of the base URL off, or not.
  return { ...target, text: (dice.chance(50) ? site.basePath : '') + target.text }
}

function otherTarget(dice: Dice): Target {
  const item = `/${EVENTS}/${dice.between(1, EVENT_COUNT)}`
  const text = dice.of([...FOUND, ...NOT_FOUND, item, `/-/json${item}`])
  if (text.endsWith(item)) return { text, statuses: [200, 404] }
  return { text, statuses: [FOUND.includes(text) ? 200 : 404] }
}

function pageTarget(dice: Dice): Target {
  const name = dice.of([EVENTS, EVENTS, LOG, STILL, SECRETS, VENUES])
  const isGood = dice.chance(75)
  const query = dice.chance(20) ? '' : `?page=${dice.of(isGood ? PAGES : NO_PAGES)}${dice.of(OTHER_QUERIES)}`
  const isRefused = !isGood && query !== '' && name !== VENUES
  const prefix = dice.chance(10) ? '/-/json' : ''
  return { text: `${prefix}/${name}${query}`, ...(isRefused ? { statuses: [400] } : { statuses: [200], shows: name }) }
}

const ODD_TARGETS = [
  ...words(`
    * ? # // //events /// /events//1 /./events /../events /events/.. /events/../../../etc/passwd
    /events/%2e%2e /%2e%2e/events /..%2f..%2fetc/passwd /events%2F1 /%65vents /events% /events%0 /events%00
    /%c0%ae/events /events/%ff%fe /events#there /events?page=2#there /events?page=1?page=2 /@ /events@tag
    /events@0123456789abcdef.. /- /-/ /--/health /-/json/ /-/json//events /-/explorer/../health
    /-/explorer/%2e%2e /-/problems/__proto__ /-/problems/constructor /__proto__ /constructor/prototype /;/
    /events;page=2 /{events} /<script> /"events" /^ events events/1 http:// http:///events
    http://example.com http://example.com/events http://127.0.0.1:1/events?page=2 https://example.com/events
    HTTP://EXAMPLE.COM/events http://user:password@example.com/events http://[::1]:8080/events
    http://[::1/events http://example.com:99999/events http:/events http:events ftp://example.com/events
    file:///etc/passwd javascript:alert(1) example.com:443 :80 [::1]:80 /| /events\\1 /\\\\events /\` /\u00e9
    /events?q=\u00ff\u00fe /\u007f /\t /\u0000 /events\u0000 /events\u0001?page=1
  `),
  ...texts(`/a b | /events HTTP/1.1 HTTP/1.1 | http://ex ample.com/events`),
  '',
]

/** What a target should not be. */
export function oddTarget(dice: Dice): string {
  if (dice.chance(60)) return dice.of(ODD_TARGETS)
  const bytes = dice.bytes(dice.between(1, 30)).filter((byte) => byte !== 10 && byte !== 13)
  return dice.of([
    `/events?${'x'.repeat(dice.of([8_000, 16_000, 16_384, 20_000, 70_000]))}`,
    `/events${'/a'.repeat(dice.between(10, 4_000))}`,
    `/events?${'page=1&'.repeat(dice.between(2, 1_500))}`,
    `/events/${'%41'.repeat(dice.between(1, 2_000))}`,
    `/${'a'.repeat(dice.between(60, 70))}`,
    `/${String.fromCharCode(...bytes)}`,
  ])
}
