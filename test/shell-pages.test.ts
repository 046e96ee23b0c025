import { describe } from 'node:test'
import { describeShellPages, SHORT_PAGES } from './shell-pages.ts'

describe('a page', () => describeShellPages(SHORT_PAGES))
