import { describe, expect, it } from 'vitest'
import { changesTarget } from '#actors/connections/connection-config.ts'
import { boundTo, credentialAddress, isBelow, mayReceive } from '#outgoing/credential-address.ts'

const own = 'https://api.example.com/own'

describe('the address of a credential', () => {
  it.each([
    'https://api.example.com:443/own',
    'HTTPS://API.Example.COM/own',
    `${own}/`,
    `${own}//`,
    'https://api.example.com/other/../own',
    'https://api.example.com/./own#part',
    'https://ada:pw@api.example.com/own',
    'https://api.example.com\\own',
  ])('is the same for %s', (url) => {
    expect(credentialAddress(url)).toBe(own)
  })

  it.each([
    'http://api.example.com/own',
    'https://api.example.com:8443/own',
    'https://api.example.com./own',
    'https://api.example.com.evil.example/own',
    'https://api.example.com@evil.example/own',
    'https://аpi.example.com/own',
    'https://api.example.com/',
    'https://api.example.com/Own',
    'https://api.example.com/own2',
    'https://api.example.com/own/deeper',
    'https://api.example.com/own?tenant=b',
    'https://api.example.com/%6fwn',
    'https://api.example.com//own',
    'https://api.example.com/own/..',
    'https://api.example.com/own%2f',
    'https://api.example.com/own;b',
  ])('is another one for %s', (url) => {
    expect(credentialAddress(url)).not.toBe(own)
    expect(mayReceive(boundTo(own), url)).toBe(false)
  })

  it('is one for an international name in both of its forms', () => {
    expect(credentialAddress('https://bücher.example/v1')).toBe(credentialAddress('https://xn--bcher-kva.example/v1/'))
  })

  it('is the origin for credentials of releases that stored no more', () => {
    const { origin } = boundTo(own)
    expect(mayReceive({ origin }, 'https://api.example.com/moved')).toBe(true)
    expect(mayReceive({ origin }, 'https://evil.example/own')).toBe(false)
  })

  it.each([
    ['/users', true],
    ['', true],
    ['/a/../users', true],
    ['/..', false],
    ['/../own2/x', false],
    ['/%2E%2e/other', false],
    ['/a/..\\..\\other', false],
    ['2', false],
    ['.evil.example/x', false],
  ])('has %s below it: %s', (path, isInside) => {
    expect(isBelow(new URL(own + path), own)).toBe(isInside)
  })
})

describe('a change of the config of a connection', () => {
  const before = { token_url: `${own}/token`, authorization_url: `${own}/auth`, client_id: 'c' }
  const fields = ['authorization_url', 'token_url', 'client_id'] as const

  it.each([
    [{ token_url: `${own}/token/` }, false],
    [{ token_url: `${own}/token2` }, true],
    [{ token_url: `${own}/token?tenant=b` }, true],
    [{ authorization_url: 'https://api.example.com/other/auth' }, true],
    [{ revocation_url: `${own}/token` }, false],
    [{ revocation_url: 'https://api.example.com/other/revoke' }, true],
    [{ client_id: 'd' }, true],
  ])('leads elsewhere: %j %s', (change, expected) => {
    expect(changesTarget(before, { ...before, ...change }, fields)).toBe(expected)
  })
})
