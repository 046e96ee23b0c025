/** The explorer: pages for people who open an address of the service in a browser. */

import type { Problem } from '../contract/problem.ts'
import { type Asset, type Assets, makeAssets } from './assets.ts'
import { type CollectionContent, collectionPage } from './collection-page.ts'
import { documentOf, type Page } from './document.ts'
import { entryPage, type ListedFacts } from './entry-page.ts'
import { type ItemContent, itemPage } from './item-page.ts'
import { problemPage } from './problem-page.ts'

export interface Explorer {
  /** The file that pages load from this path, if they do. */
  asset(path: string): Asset | undefined
  entry(baseUrl: string, collections: readonly ListedFacts[], isComplete: boolean): string
  collection(baseUrl: string, content: CollectionContent): string
  item(baseUrl: string, content: ItemContent): string
  problem(baseUrl: string, problem: Problem): string
}

/** One for all services of the process: it depends on nothing but the program itself. */
let made: Assets | undefined

/** The files are read when the first page is made. */
export function createExplorer(): Explorer {
  const assets = (): Assets => {
    made ??= makeAssets()
    return made
  }
  const inDocument = (baseUrl: string, page: Page) => documentOf(baseUrl, assets(), page)
  return {
    asset: (path) => Object.values(assets()).find((asset: Asset) => asset.path === path),
    entry: (baseUrl, collections, isComplete) => inDocument(baseUrl, entryPage(baseUrl, collections, isComplete)),
    collection: (baseUrl, content) => inDocument(baseUrl, collectionPage(baseUrl, content)),
    item: (baseUrl, content) => inDocument(baseUrl, itemPage(baseUrl, content)),
    problem: (baseUrl, problem) => inDocument(baseUrl, problemPage(baseUrl, problem)),
  }
}
