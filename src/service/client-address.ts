/** The address that a request comes from: that of the connection, or what a trusted proxy says about it. */

import { BlockList, isIP } from 'node:net'
import type { Incoming } from './incoming.ts'

/** What `trustedProxies` takes, in words that follow "expected". */
export const NETWORK_RULE = 'an address or a network such as 10.0.0.0/8, 192.0.2.7 or fd00::/8'

/** Whether the text is an IP address, or a network with the length of its prefix. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...others] = text.split('/')
  const version = addressVersion(address)
  if (version === undefined || others.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 'ipv4' ? 32 : 128))
}

/**
 * The address of the client; empty where nobody knows it. Each proxy appends the address that it was called from to
 * X-Forwarded-For, so the list is read from the right for as long as the last speaker is trusted. The rest is what the
 * client wrote itself. Throws a TypeError for an invalid network.
 */
export function createAddressOf(trustedProxies: readonly string[]): (request: Incoming) => string {
  if (trustedProxies.length === 0) return ({ remoteAddress }) => plainAddress(remoteAddress ?? '')
  const trusted = networksOf(trustedProxies)
  return ({ remoteAddress, headers }) => {
    let client = remoteAddress ?? ''
    if (!isIn(trusted, client)) return plainAddress(client)
    for (const said of headers.get('x-forwarded-for')?.split(',').reverse() ?? []) {
      const address = withoutPort(said.trim())
      if (addressVersion(address) === undefined) break
      client = address
      if (!isIn(trusted, client)) break
    }
    return plainAddress(client)
  }
}

/** `::ffff:1.2.3.4` in any of its forms: leading zeros, all groups, or the address in hexadecimal. */
const MAPPED = /^(?:::|(?:0{1,4}:){5})ffff:(?:([\d.]+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i

/** An IPv4 address in its own form, also if it is mapped to IPv6, as a socket for both versions has it. */
export function plainAddress(address: string): string {
  const [, dotted, high, low] = MAPPED.exec(address) ?? []
  if (dotted !== undefined) return dotted
  if (high === undefined || low === undefined) return address
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}

function networksOf(texts: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const text of texts) {
    if (!isNetwork(text)) throw new TypeError(`Invalid trusted proxy "${text}": expected ${NETWORK_RULE}.`)
    const [address = '', prefix] = text.split('/')
    const version = addressVersion(address)
    if (prefix === undefined) networks.addAddress(address, version)
    else networks.addSubnet(address, Number(prefix), version)
  }
  return networks
}

function isIn(networks: BlockList, address: string): boolean {
  const version = addressVersion(address)
  return version !== undefined && networks.check(address, version)
}

/** Addresses with a zone, such as fe80::1%eth0, mean nothing to other machines. */
function addressVersion(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = address.includes('%') ? 0 : isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

/** Some proxies add the port: 192.0.2.7:50001, [2001:db8::1]:50001. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/** Names a client for counting. Those of IPv6 by their first 64 bits: every host has all the addresses of such a network. */
export function countedName(address: string): string {
  const [plain = ''] = address.split('%', 1)
  if (isIP(plain) !== 6) return address
  // In lower case, with zeros left out in one way only.
  const { hostname } = new URL(`http://[${plain}]`)
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}
