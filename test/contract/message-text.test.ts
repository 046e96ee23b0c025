import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  counted,
  excerpt,
  formatCount,
  hideSecret,
  makeVisible,
  quoted,
  shorten,
} from '../../src/contract/message-text.ts'

describe('a text in a message', () => {
  it('is cut after 100 characters, never within one', () => {
    assert.equal(shorten('x'.repeat(100)), 'x'.repeat(100))
    assert.equal(shorten('x'.repeat(101)), `${'x'.repeat(100)}…`)
    assert.equal(shorten('😀'.repeat(100)), '😀'.repeat(100))
    assert.equal(shorten('😀'.repeat(101)), `${'😀'.repeat(100)}…`)
    assert.equal(quoted('x'.repeat(100)), `"${'x'.repeat(100)}"`)
    assert.equal(quoted(`"${'x'.repeat(100)}`), `"\\"${'x'.repeat(99)}…"`)
  })

  it('shows characters that a terminal would act upon or hide', () => {
    assert.equal(
      makeVisible('\t\n\r\0\x1b[31m\x7f\u202e\udb40\udc01\ud800 é😀'),
      '\\t\\n\\r\\u0000\\u001b[31m\\u007f\\u202e\\u{e0001}\\ud800 é😀',
    )
  })

  it('shows the text around a place far from the beginning, and cuts no character in two', () => {
    const bytes = new TextEncoder().encode(`${'é'.repeat(100)}here${'y'.repeat(200)}`)
    assert.equal(excerpt(bytes, 0, bytes.length, 200), `…${'é'.repeat(20)}here${'y'.repeat(76)}…`)
    assert.equal(excerpt(bytes, 0, bytes.length, 201), `…${'é'.repeat(19)}here${'y'.repeat(77)}…`)
    assert.equal(excerpt(bytes, 0, bytes.length, 79), `${'é'.repeat(100)}…`)
    assert.equal(excerpt(bytes, 200, 204), 'here')
  })
})

describe('a figure in a message', () => {
  it('has commas between thousands', () => {
    const figures = { 0: '0', 999: '999', 1000: '1,000', 123456: '123,456', 1234567.6: '1,234,568' }
    for (const [figure, text] of Object.entries(figures)) assert.equal(formatCount(Number(figure)), text)
  })

  it('counts one item, and any other number of items', () => {
    assert.deepEqual(
      [0, 1, 2, 1000].map((count) => counted(count, 'item')),
      ['0 items', '1 item', '2 items', '1,000 items'],
    )
  })
})

describe('a secret in a text', () => {
  const secret = 'postgres-password'

  it('is hidden, also where it lost its end', () => {
    assert.equal(hideSecret(`a ${secret} b ${secret}`, secret), 'a … b …')
    assert.equal(hideSecret('a postgres-pass', secret), 'a …')
    assert.equal(hideSecret('a postgres-post', secret), 'a …ost')
  })

  it('leaves other texts as they are', () => {
    assert.equal(hideSecret('a postgre b', secret), 'a postgre b')
    assert.equal(hideSecret(secret, undefined), secret)
  })
})
