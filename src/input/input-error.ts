/** The error for input that cannot be read: on which line, why, and what stands there. */

export class InputError extends Error {
  override readonly name = 'InputError'
  /** Counted from 1; undefined if it is not about a line. */
  readonly line: number | undefined
  /** Which item, counted from 1; undefined if it is not about an item. */
  readonly item: number | undefined
  /** Reads well after "line 17: ". */
  readonly reason: string
  /** What stands there, shortened; '' if there is nothing to show. */
  readonly text: string

  constructor(
    reason: string,
    options: { readonly line?: number; readonly item?: number; readonly text?: string; readonly cause?: unknown } = {},
  ) {
    const { line, item, text = '', cause } = options
    const message = (line === undefined ? '' : `line ${line}: `) + reason + (text === '' ? '' : `: \`${text}\``)
    super(message, cause === undefined ? undefined : { cause })
    this.line = line
    this.item = item
    this.reason = reason
    this.text = text
  }
}
