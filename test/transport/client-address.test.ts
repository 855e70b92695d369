import { describe, expect, it } from 'vitest'
import type { TrustedProxies } from '#src/config.ts'
import { clientAddressReader } from '#transport/client-address.ts'

const read = (trusted: TrustedProxies | null, remoteAddress: string, forwarded?: string): string =>
  clientAddressReader(trusted)({
    remoteAddress,
    header: (name) => (name === 'x-forwarded-for' ? forwarded : undefined),
  })

const networks = (...each: readonly string[]): TrustedProxies => ({ networks: each })

describe('the address of a client', () => {
  it('is that of the connection if no proxy is trusted, whatever the request says', () => {
    expect(read(null, '203.0.113.7', '198.51.100.1')).toBe('203.0.113.7')
  })

  it('has one notation, however the system writes it', () => {
    expect(read(null, '0000:0000:0000:0000:0000:ffff:cb00:7107')).toBe('203.0.113.7')
    expect(read(null, '::ffff:203.0.113.7')).toBe('203.0.113.7')
    expect(read(null, '2001:0db8:0000:0000:0000:0000:0000:0007')).toBe('2001:db8::7')
    expect(read(null, '')).toBe('')
  })

  it('is what a trusted proxy reports', () => {
    expect(read(networks('10.0.0.0/8'), '10.0.0.1', '198.51.100.1')).toBe('198.51.100.1')
    expect(read(networks('2001:db8::/32'), '2001:db8::1', '2001:db9::2')).toBe('2001:db9::2')
  })

  it('is that of the connection if that is not a trusted proxy, whatever the header says', () => {
    expect(read(networks('10.0.0.0/8'), '203.0.113.7', '198.51.100.1')).toBe('203.0.113.7')
    expect(read(networks('10.0.0.0/8'), '2001:db8::1', '198.51.100.1')).toBe('2001:db8::1')
  })

  it('is the nearest one that is not a trusted proxy, not what the client wrote before it', () => {
    expect(read(networks('10.0.0.0/8'), '10.0.0.1', '1.2.3.4, 198.51.100.1, 10.0.0.2')).toBe('198.51.100.1')
  })

  it('is the first one if all are trusted, and that of the proxy if the header is missing', () => {
    expect(read(networks('10.0.0.0/8'), '10.0.0.1', '10.0.0.9, 10.0.0.2')).toBe('10.0.0.9')
    expect(read(networks('10.0.0.0/8'), '10.0.0.1')).toBe('10.0.0.1')
    expect(read(networks('10.0.0.0/8'), '10.0.0.1', '')).toBe('10.0.0.1')
  })

  it('is counted back from the connection if the number of proxies is known', () => {
    expect(read({ hops: 1 }, '10.0.0.1', '1.2.3.4, 198.51.100.1')).toBe('198.51.100.1')
    expect(read({ hops: 2 }, '10.0.0.1', '1.2.3.4, 198.51.100.1, 192.0.2.9')).toBe('198.51.100.1')
    expect(read({ hops: 3 }, '10.0.0.1', '198.51.100.1')).toBe('198.51.100.1')
  })

  it('may have a port', () => {
    expect(read({ hops: 1 }, '10.0.0.1', '198.51.100.1:4711')).toBe('198.51.100.1')
    expect(read({ hops: 1 }, '10.0.0.1', '[2001:db8::7]:4711')).toBe('2001:db8::7')
  })

  it('is the nearest valid one if an entry is invalid', () => {
    expect(read({ hops: 2 }, '10.0.0.1', '198.51.100.1, unknown')).toBe('10.0.0.1')
    expect(read({ hops: 2 }, '10.0.0.1', '7')).toBe('10.0.0.1')
  })
})
