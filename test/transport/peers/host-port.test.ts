import { describe, expect, it } from 'vitest'
import { addressOf, addressText } from '#transport/peers/host-port.ts'

describe('an address', () => {
  it.each([
    ['127.0.0.1:80', { host: '127.0.0.1', port: 80 }],
    ['node-1.internal:65535', { host: 'node-1.internal', port: 65_535 }],
    ['[::1]:7000', { host: '::1', port: 7000 }],
  ])('%s is parsed and written unchanged', (text, place) => {
    expect(addressOf(text)).toEqual(place)
    expect(addressText(place)).toBe(text)
  })

  it.each(['', ':80', 'host', 'host:', 'host:0', 'host:65536', '::1:80', 'host:80x'])('%j is invalid', (text) => {
    expect(addressOf(text)).toBeUndefined()
  })
})
