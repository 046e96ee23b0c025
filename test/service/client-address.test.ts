import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countedName, createAddressOf } from '../../src/service/client-address.ts'
import { incomingOf } from '../../src/service/incoming.ts'

type Case = readonly [remoteAddress: string | null, forwarded: string | undefined, client: string]

function check(trusted: readonly string[], cases: readonly Case[]): void {
  const addressOf = createAddressOf(trusted)
  for (const [remoteAddress, forwarded, client] of cases) {
    const headers = new Headers(forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded })
    const request = { ...incomingOf(new Request('http://a.example/', { headers })), remoteAddress }
    assert.equal(countedName(addressOf(request)), client, `${remoteAddress} ${forwarded}`)
  }
}

describe('the address of a client', () => {
  it('is that of the connection, for counting an IPv6 address by its first 64 bits', () => {
    check(
      [],
      [
        ['192.0.2.7', undefined, '192.0.2.7'],
        ['192.0.2.7', '198.51.100.1', '192.0.2.7'],
        ['::ffff:192.0.2.7', undefined, '192.0.2.7'],
        ['::FFFF:c000:207', undefined, '192.0.2.7'],
        ['0:0:0:0:0:ffff:192.0.2.7', undefined, '192.0.2.7'],
        ['0000:0000:0000:0000:0000:ffff:c000:0207', undefined, '192.0.2.7'],
        ['::ffff:0:c000:207', undefined, '0:0:0:0::/64'],
        ['2001:db8::ffff:c000:207', undefined, '2001:db8:0:0::/64'],
        ['::1', undefined, '0:0:0:0::/64'],
        ['2001:db8::1', undefined, '2001:db8:0:0::/64'],
        ['2001:db8::2:3:4:5', undefined, '2001:db8:0:0::/64'],
        ['2001:DB8:0:1::', undefined, '2001:db8:0:1::/64'],
        ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
        ['fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
        [null, '198.51.100.1', ''],
      ],
    )
  })

  it('is what a trusted proxy says, the last one first, and never what the client says itself', () => {
    check(
      ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
      [
        ['192.0.2.7', '198.51.100.1', '192.0.2.7'],
        ['192.0.2.1', '198.51.100.1', '198.51.100.1'],
        ['::ffff:192.0.2.1', '198.51.100.1', '198.51.100.1'],
        ['fd00::9', '2001:db8::7', '2001:db8:0:0::/64'],
        ['10.1.2.3', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
        ['10.1.2.3', '203.0.113.9, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
        ['10.1.2.3', '203.0.113.9,198.51.100.1 ,\t192.0.2.1', '198.51.100.1'],
        ['10.1.2.3', '10.4.4.4, 10.5.5.5', '10.4.4.4'],
        ['10.1.2.3', undefined, '10.1.2.3'],
        ['10.1.2.3', '198.51.100.1:50001', '198.51.100.1'],
        ['10.1.2.3', '[2001:db8::7]:50001', '2001:db8:0:0::/64'],
        ['10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
        ['10.1.2.3', '[::ffff:c633:6401]:50001', '198.51.100.1'],
        ['10.1.2.3', '203.0.113.9, 198.51.100.1, ::ffff:a09:909', '198.51.100.1'],
        ['::ffff:a01:203', '198.51.100.1', '198.51.100.1'],
        [null, '198.51.100.1', ''],
      ],
    )
  })

  it('is that of the last proxy to be understood, if the header is malformed', () => {
    const malformed = [
      ...['', ',', ', ,', 'unknown', '_hidden', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4'],
      ...['1.2.3.4:x', '1.2.3.4:123456', '[::1', '::1]', '[1.2.3.4', '[]', ':::', '12345::', 'fe80::1%eth0'],
      ...[
        '"198.51.100.1"',
        'for=198.51.100.1',
        '198.51.100.1/24',
        '198.51.100.1;',
        '198.51.100.1 x',
        '1'.repeat(9_000),
      ],
    ]
    check(
      ['10.0.0.0/8'],
      malformed.flatMap((text) => [
        ['10.1.2.3', text, '10.1.2.3'],
        ['10.1.2.3', `198.51.100.1, ${text}`, '10.1.2.3'],
        ['10.1.2.3', `${text}, 10.6.6.6`, '10.6.6.6'],
        ['10.1.2.3', `${text}, 198.51.100.1`, '198.51.100.1'],
      ]),
    )
  })

  for (const network of ['', 'proxy', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0/8', 'fe80::1%eth0'])
    it(`cannot be told by "${network}"`, () =>
      assert.throws(() => createAddressOf([network]), {
        name: 'TypeError',
        message: `Invalid trusted proxy "${network}": expected an address or a network such as 10.0.0.0/8, 192.0.2.7 or fd00::/8.`,
      }))
})
