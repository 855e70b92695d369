import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { nodeIdOf, peerHostOf } from '../src/open-cluster.ts'

const at = (address: string, change: object = {}): NetworkInterfaceInfo => ({
  address,
  netmask: '',
  mac: '',
  cidr: null,
  internal: false,
  family: 'IPv4',
  ...change,
})

const interfaces = {
  lo: [at('127.0.0.1', { internal: true })],
  eth0: [at('fe80::1', { family: 'IPv6', scopeid: 2 }), at('fd00::7', { family: 'IPv6', scopeid: 0 }), at('10.0.0.7')],
}

describe('the address at which other nodes reach this one', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', '127.0.0.1'],
    ['::1', '127.0.0.1'],
    ['0.0.0.0', '10.0.0.7'],
    ['::', '10.0.0.7'],
    ['10.0.0.9', '10.0.0.9'],
  ])('with HOST %s is %s', (host, expected) => {
    expect(peerHostOf({ peerHost: null, host }, interfaces)).toBe(expected)
  })

  it('is PEER_HOST if that is set', () => {
    expect(peerHostOf({ peerHost: 'node-a.internal', host: '0.0.0.0' }, interfaces)).toBe('node-a.internal')
  })

  it('is an address that other machines can reach, if there is one', () => {
    const { lo, eth0 } = interfaces
    expect(peerHostOf({ peerHost: null, host: '::' }, { lo, eth0: eth0.slice(0, 2) })).toBe('fd00::7')
    expect(peerHostOf({ peerHost: null, host: '::' }, { lo, eth0: eth0.slice(0, 1) })).toBe('127.0.0.1')
  })
})

it('a node without a configured id is named after its machine and process', () => {
  expect(nodeIdOf({ nodeId: 'a' })).toBe('a')
  expect(nodeIdOf({ nodeId: null })).toMatch(/^.{1,48}-\d+$/)
})
