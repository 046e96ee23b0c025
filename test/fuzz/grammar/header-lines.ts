/** Header lines: ordinary ones, which change nothing but the form of an answer, and odd ones. */

import { type Dice, words } from '../dice.ts'
import { TOKENS, UNKNOWN_TOKEN } from '../site.ts'

/** Any of these can stand in any read. */
export const ORDINARY_LINES = [
  'Accept: application/json',
  'Accept: application/hal+json, application/json;q=0.5',
  'Accept: */*',
  'Accept: text/html, image/gif, */*; q=.2',
  'Accept: ',
  'Accept: ;;;,,q=',
  'Accept-Encoding: gzip',
  'Accept-Encoding: gzip, deflate, br',
  'Accept-Encoding: identity;q=0, *;q=0',
  'Accept-Encoding: gzip;q=1e9, x-gzip;q=-1',
  'Accept-Language: de',
  'Range: bytes=0-10',
  'If-Range: "x"',
  'If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT',
  'If-None-Match: "x"',
  'If-None-Match: W/"x", "y"',
  'If-None-Match: "',
  'If-None-Match: ,,,',
  'If-Match: "x"',
  'Connection: keep-alive',
  'Connection: Keep-Alive, x-thing',
  'X-Forwarded-Host: evil.example',
  'Forwarded: host=evil.example;proto=javascript',
  'Cookie: a=b; c=d',
  'User-Agent: fuzz',
  'X-Empty:',
  'X-Blanks:   \t  value \t',
  `X-Long: ${'x'.repeat(2_000)}`,
  'x-lower:value',
  'Sec-Fetch-Mode: navigate',
] as const

/** What a browser sends that navigates. */
export const BROWSER_LINE = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** Odd, but no end of a head, and nothing about a body. */
const ODD_LINES = [
  ': no name',
  ':',
  'no colon',
  ' leading: blank',
  'Name : blank before the colon',
  'Na me: blank within',
  'N\u00e4me: umlaut',
  'X-Latin: \u00e9\u00ff',
  'X-Control: a\u0001b',
  'X-Nul: a\u0000b',
  'X-Delete: \u007f',
  'X-Bare-Carriage-Return: a\rb',
  'X-Bare-Line-Feed: a\nb: c',
  'X-Fold: a\r\n b',
  'X-Fold: a\r\n\tb\r\n c',
  '(comment): x',
  '__proto__: x',
  'constructor: x',
  'Connection: close',
  'Connection: close, keep-alive',
  'Connection: \u0000',
  'Connection: host, authorization',
  'Connection: upgrade',
  'Keep-Alive: timeout=-1, max=0',
  'Proxy-Connection: keep-alive',
  'TE: trailers, deflate;q=0.5',
  'Trailer: Content-Length',
  'Host: second.example',
  'HTTP/1.1 200 OK',
  'GET /events HTTP/1.1',
  `X-Forwarded-For: ${'1.2.3.4, '.repeat(300)}`,
  `Accept: ${'a/b,'.repeat(2_000)}`,
  `Accept-Encoding: ${'gzip;q=0.1,'.repeat(800)}`,
  `If-None-Match: ${'"x",'.repeat(2_000)}`,
  `X-Half: ${'x'.repeat(15_500)}`,
  `X-Whole: ${'x'.repeat(16_400)}`,
  `X-Huge: ${'x'.repeat(200_000)}`,
] as const

export function oddLines(dice: Dice): string[] {
  if (dice.chance(5)) return dice.times(dice.between(50, 3_000), (index) => `X-${index}: ${'y'.repeat(dice.below(20))}`)
  return [dice.of(ODD_LINES), ...dice.some(ODD_LINES, 2)]
}

/** Values of Host besides the server's own. */
export const ODD_HOSTS = [
  ...words(`
    a evil.example evil.example:80 localhost LOCALHOST localhost. 127.0.0.1 127.0.0.1:1 127.0.0.1:99999
    127.0.0.1:-1 127.0.0.1: 127.1 2130706433 [::1] [::1]:80 [::1 ::1 [fe80::1%25eth0] user@127.0.0.1
    user:password@localhost 127.0.0.1/events 127.0.0.1?x 127.0.0.1#x a,127.0.0.1 xn-- %31 * ..
  `),
  '',
  ' ',
  '127.0.0.1\\x',
  'a b',
  'a, b',
  '\u00fc.example',
  'a'.repeat(300),
  '\u0000',
  '\u0001',
]

/** Values of Authorization that let nobody in. */
export function badAuthorization(dice: Dice): string {
  const { writer, expired, revoked } = TOKENS
  const good = writer.token
  return dice.of([
    `Bearer ${expired.token}`,
    `Bearer ${revoked.token}`,
    `Bearer ${UNKNOWN_TOKEN}`,
    `Bearer ${good}x`,
    `Bearer ${good.slice(0, -1)}`,
    `Bearer ${good.toUpperCase()}`,
    `Bearer ${flipped(good, dice.below(good.length))}`,
    `Bearer ${good}, Bearer ${good}`,
    `Bearer "${good}"`,
    `Bearer=${good}`,
    `Bearer\t${good}x`,
    `Bearer`,
    `Bearer `,
    `Basic ${Buffer.from(`writer:${good}`).toString('base64')}`,
    `Digest username="${good}"`,
    `Token ${good}`,
    good,
    'Bearer __proto__',
    "Bearer ' OR 1=1 --",
    `Bearer reams_${'%41'.repeat(43)}`,
    `Bearer ${'x'.repeat(4_000)}`,
    `Bearer reams_${'-'.repeat(43)}`,
  ])
}

/** With another letter at one place. */
function flipped(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)
}

export const BAD_IDEMPOTENCY_KEYS = ['', 'a b', 'é', 'x'.repeat(256), 'a\tb', '\u0001'] as const
