/** Creates a client for a service, or for one collection by its URL. */

import { collectionUrl } from '../contract/link.ts'
import { urlFlaw, withoutSlash } from '../contract/url.ts'
import { type ClientOptions, settingsOf } from './client-options.ts'
import { Collection } from './collection.ts'
import { Requester } from './requester.ts'

export interface Client {
  /** A collection under the base URL. No request is sent yet. */
  collection<Item = unknown>(name: string): Collection<Item>
}

/** `baseUrl` is that of the service, such as https://api.example.com/v1. Throws a TypeError if it cannot be used. */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  const base = checkedUrl(baseUrl, 'https://api.example.com/v1')
  const requester = new Requester(base, settingsOf(options))
  return {
    collection: (name) => {
      if (/^\.{0,2}$/.test(name)) throw new TypeError(`Invalid name of a collection: "${name}".`)
      return new Collection(collectionUrl(base, encodeURIComponent(name)), requester)
    },
  }
}

/** `url` is that of the collection itself, such as https://api.example.com/v1/events. */
export function openCollection<Item = unknown>(url: string, options: ClientOptions = {}): Collection<Item> {
  const checked = checkedUrl(url, 'https://api.example.com/v1/events')
  return new Collection(checked, new Requester(checked, settingsOf(options)))
}

function checkedUrl(text: string, example: string): string {
  const flaw = urlFlaw(text)
  if (flaw !== undefined) throw new TypeError(`${flaw}. Expected one such as ${example}.`)
  return withoutSlash(new URL(text))
}
