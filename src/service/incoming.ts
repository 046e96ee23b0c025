/** What the service wants to know of a request. A `Request` will do, and so will less. */

export interface Incoming {
  readonly method: string
  readonly url: string
  readonly headers: Pick<Headers, 'get' | 'has'>
  readonly body: Request['body']
  arrayBuffer(): Promise<ArrayBuffer>
}
