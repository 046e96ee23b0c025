import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatKeyFields, joinKey, keyFieldNames, keyFieldsFlaw } from '../../src/contract/key.ts'

/** Full of what has a meaning of its own. */
const part = fc.string({ unit: fc.constantFrom(',', '\\', 'a', 'b', 'é', '😀') })

describe('the text that names key fields', () => {
  it('names one field, or several separated by commas', () => {
    const texts: Record<string, string[]> = {
      id: ['id'],
      'tenant,id': ['tenant', 'id'],
      ' a , b c ': [' a ', ' b c '],
      'a\\,b': ['a,b'],
      'a\\\\,b': ['a\\', 'b'],
      'a\\\\\\,b,c': ['a\\,b', 'c'],
      '__proto__,é😀': ['__proto__', 'é😀'],
    }
    for (const [text, names] of Object.entries(texts)) {
      assert.deepEqual(keyFieldNames(text), names)
      assert.equal(formatKeyFields(names), text)
      assert.equal(keyFieldsFlaw(text), undefined)
    }
  })

  it('is read as far as possible where a backslash is no escape', () => {
    assert.deepEqual(keyFieldNames('a\\b,c\\'), ['a\\b', 'c\\'])
  })

  it('is refused with the reason, and with what is expected', () => {
    const flaws: Record<string, string> = {
      '': 'a name is empty',
      ',': 'a name is empty',
      'a,': 'a name is empty',
      ',a': 'a name is empty',
      'a,,b': 'a name is empty',
      'a,b,a': 'the field "a" is named twice',
      'a\\,b,a\\,b': 'the field "a,b" is named twice',
      'a\\': 'a backslash comes before neither a comma nor a backslash',
      'a\\b': 'a backslash comes before neither a comma nor a backslash',
      'a,\\\\\\': 'a backslash comes before neither a comma nor a backslash',
      'a,\ud800': 'no item can have a field with a lone surrogate in its name',
    }
    const expected =
      'expected the name of a field, or several names separated by commas; a comma or a backslash in a name is written \\, or \\\\'
    for (const [text, flaw] of Object.entries(flaws)) assert.equal(keyFieldsFlaw(text), `${flaw}; ${expected}`, text)
  })

  it('comes back as the names that it was made of', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (names) => {
        assert.deepEqual(keyFieldNames(formatKeyFields(names)), names)
      }),
    )
  })
})

describe('the key of several fields', () => {
  it('is their values joined by commas, with those of the values escaped; of one field it is the value', () => {
    assert.equal(joinKey(['x,y', '7']), 'x\\,y,7')
    assert.equal(joinKey(['a\\', 'b']), 'a\\\\,b')
    assert.equal(joinKey(['', '']), ',')
    assert.equal(joinKey(['x,y\\']), 'x,y\\')
  })

  it('is another one if and only if the values are', () => {
    const values = fc.tuple(part, part, part)
    fc.assert(
      fc.property(values, values, (these, those) => {
        assert.equal(joinKey(these) === joinKey(those), these.join('\0') === those.join('\0'))
      }),
    )
  })
})
