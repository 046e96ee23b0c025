/** Skips a test for which this machine lacks a program. CI can install every program, so the test fails there. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

export function skipOutsideCi(t: TestContext, lack: string): void {
  assert.notEqual(process.env['CI'], 'true', lack)
  t.skip(lack)
}
