import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { FieldPacket } from 'mysql2'
import { readMysqlOptions } from '../../src/tables/mysql-options.ts'
import { jsonWriter } from '../../src/tables/mysql-values.ts'

const [TIMESTAMP, TIME, DATETIME] = [7, 11, 12]

it('times have the decimals of their column, which the driver leaves out where they are zeros', () => {
  const cases = [
    [DATETIME, 6, '2026-01-02 03:04:05.5', '"2026-01-02T03:04:05.500000"'],
    [DATETIME, 3, '2026-01-02 03:04:05', '"2026-01-02T03:04:05.000"'],
    [DATETIME, 0, '2026-01-02 03:04:05', '"2026-01-02T03:04:05"'],
    [TIMESTAMP, 6, '2026-01-02 03:04:05.123456', '"2026-01-02T03:04:05.123456Z"'],
    [TIME, 6, '-01:02:03.25', '"-01:02:03.250000"'],
    [TIME, 31, '01:02:03.25', '"01:02:03.25"'],
  ] as const
  for (const [columnType, decimals, value, json] of cases)
    assert.equal(jsonWriter({ columnType, decimals } as FieldPacket)(value), json)
})

it('each ssl-mode says whether TLS is used, the certificate is verified, and so is its host', () => {
  const sslOf = (mode: string) => readMysqlOptions(`mysql://reader@db.example/shop?ssl-mode=${mode}`).ssl
  assert.equal(sslOf('DISABLED'), undefined)
  for (const [mode, rejectUnauthorized, verifyIdentity] of [
    ['PREFERRED', false, false],
    ['REQUIRED', false, false],
    ['VERIFY_CA', true, false],
    ['VERIFY_IDENTITY', true, true],
  ] as const)
    assert.deepEqual({ ...sslOf(mode) }, { rejectUnauthorized, verifyIdentity }, mode)
})
