/** What this tab knows: where the service is, and the token, which is kept here and nowhere else. */

import type { Collection } from '../../client/collection.ts'
import { openCollection } from '../../client/create-client.ts'
import { collectionUrl } from '../../contract/link.ts'

/** What the service takes for a browser that navigates (D12). */
const HTML = 'text/html, application/xhtml+xml'

export class Session {
  /** Where the service is, as this page was opened: a browser asks nobody else. Without a slash at its end. */
  readonly root: string
  /** What the service said to the token; undefined as long as it has said nothing. */
  isAccepted: boolean | undefined
  #token = ''

  constructor(root: string) {
    this.root = root.replace(/\/$/, '')
  }

  get token(): string {
    return this.#token
  }

  set token(token: string) {
    this.#token = token
    this.isAccepted = undefined
  }

  /** `path` may also be that of a snapshot, or of changes; `origin` is that of the links that the server writes. */
  collection(path: string, origin: string): Collection {
    return openCollection(collectionUrl(this.root, path), { token: this.token || undefined, allowedOrigins: [origin] })
  }

  /** A page of the explorer, whatever its status. Rejects where there is none. */
  async page(url: string, signal: AbortSignal): Promise<Document> {
    const { response, status } = await this.#ask(url, 'document', HTML, signal)
    if (!response?.getElementById('main')) throw new Error(`The server answered with status ${status}`)
    return response
  }

  /** Data as it was written. Rejects where there is none. */
  async text(url: string): Promise<string> {
    const { response, status } = await this.#ask(url, 'text', 'application/json')
    if (status !== 200) throw new Error(`The server answered with status ${status}`)
    return response
  }

  /** Not `fetch`: only this makes a document of HTML without a way from text to markup. */
  #ask(url: string, type: 'document' | 'text', accept: string, signal?: AbortSignal): Promise<XMLHttpRequest> {
    const request = new XMLHttpRequest()
    request.open('GET', url)
    request.responseType = type
    request.setRequestHeader('Accept', accept)
    const { token } = this
    if (token) request.setRequestHeader('Authorization', `Bearer ${token}`)
    signal?.addEventListener('abort', () => request.abort())
    return new Promise((resolve, reject) => {
      request.onload = () => {
        if (token && token === this.token && request.status < 500) this.isAccepted = request.status !== 401
        resolve(request)
      }
      request.onerror = () => reject(new Error(navigator.onLine ? 'The server does not answer' : 'You are offline'))
      request.send()
    })
  }
}
