import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { quoted } from '../../src/explorer/page-parts.ts'

it('a quoted address is one word for a shell, and names the same place', () => {
  for (const url of ["http://a.example/it's?a=b&c=d", 'http://a.example/$(id)`id`;#!*', "http://a.example/'''"]) {
    const word = execFileSync('sh', ['-c', `printf %s ${quoted(url)}`], { encoding: 'utf8' })
    assert.equal(decodeURIComponent(word), decodeURIComponent(url))
  }
})
