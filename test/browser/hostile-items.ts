/** Items that try to run, to mislead, or to break the page that shows them. */

export const MARKUP = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '</td></tr></table><script>alert(1)</script>',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  '<!--',
  ']]>',
  '</script><script>alert(1)</script>',
  '<iframe src="https://evil.example/"></iframe>',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>body{display:none}</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '$' + '{alert(1)}',
  '{{constructor.constructor("alert(1)")()}}',
]

export const LINKS = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  '\u0000javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'http://',
  'https://user:password@evil.example/',
  'https://evil.example/"onclick="alert(1)',
  'blob:https://evil.example/1',
  'file:///etc/passwd',
  '//evil.example/',
]

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '"',
  "'",
  'a"b\'c`d',
  '<b>bold</b>',
  '\u202egnirts',
  '\ud800',
  '\n',
  'x'.repeat(1000),
]

const TEXTS = [
  '\u202eabc\u202d def \u2066ghi\u2069',
  'x'.repeat(5_000),
  'two words '.repeat(500),
  '\ud83d\ude00'.repeat(1000),
  '\ud800',
  '\u0000\u0001\u001b[31mred',
  '\u2028\u2029',
  'مرحبا',
  '=1+1',
  '',
]

/** As JSON texts, with numeric keys. */
export function hostileItems(): string[] {
  const fields = [
    ...MARKUP.map((text) => ({ text, [text]: text })),
    ...LINKS.map((link) => ({ link })),
    ...TEXTS.map((text) => ({ text })),
    Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`column_${index}`, index])),
    { list: Array.from({ length: 2000 }, (_, index) => index) },
  ].map((item) => JSON.stringify(item).slice(1, -1))
  const raw = [
    ...NAMES.map((name) => `${JSON.stringify(name)}:1`),
    '"__proto__":{"isPolluted":true}',
    '"twice":1,"twice":2',
    '"spaced" : { "a" : [ 1 ,\t2 ] } , "next" : "x" ',
    '"big":123456789012345678901234567890,"small":1e-400,"huge":1e999,"zero":-0',
    '"date":"2026-02-31"',
    '"date":"9999-99-99T99:99:99Z"',
    `"deep":${'['.repeat(400)}1${']'.repeat(400)}`,
    `"deep":${'{"a":'.repeat(400)}1${'}'.repeat(400)}`,
    '"empty":{},"none":[]',
    '"escaped":"\\u003cscript\\u003ealert(1)\\u003c/script\\u003e"',
  ]
  return [...fields, ...raw].map((body, index) => `{"id":${index + 1},${body}}`)
}
