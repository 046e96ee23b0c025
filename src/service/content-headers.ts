/** The headers that go with every body. */

export function contentHeaders(type: string, length: number): Record<string, string> {
  return { 'Content-Type': type, 'Content-Length': String(length), 'X-Content-Type-Options': 'nosniff' }
}
