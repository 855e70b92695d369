import { describe, expect, it } from 'vitest'
import { checkedRedirectUris, isOwnRedirect, redirectTo } from '#actors/accounts/oauth/redirect-uris.ts'

describe('redirect URIs', () => {
  it.each([
    'https://app.example/callback?tab=1',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/cb',
    'http://localhost:3000/',
    'com.example.app:/oauth',
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ])('may be %s', (uri) => {
    expect(checkedRedirectUris([uri])).toEqual([uri])
  })

  it.each([
    'http://app.example/callback',
    'http://localhost.evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1@evil.example/cb',
    'https://user:pass@app.example/cb',
    'https://app.example/cb#part',
    'javascript:alert(1)',
    'javascript://app.example/%0aalert(1)',
    'JAVASCRIPT://app.example/%0aalert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://app.example/x',
    'unknownapp://callback',
    'https://app.example/a b',
    ' https://app.example/',
    'https://app.example/\n',
    'https://app.exämple/',
    '//app.example/cb',
    '',
    7,
    `https://app.example/${'a'.repeat(2048)}`,
  ])('may not be %s', (uri) => {
    expect(() => checkedRedirectUris([uri])).toThrow(expect.objectContaining({ code: 'invalid_redirect_uri' }))
  })

  it.each([[undefined], [[]], ['https://app.example'], [Array(21).fill('https://app.example/')]])(
    'are a list of 1 to 20: %s',
    (given) => {
      expect(() => checkedRedirectUris(given)).toThrow(expect.objectContaining({ code: 'invalid_redirect_uri' }))
    },
  )

  it('match exactly, and on this machine at any port', () => {
    const own = ['https://app.example/cb', 'http://127.0.0.1:1/cb', 'http://localhost/cb?a=1']
    const isOwn = (uri: string) => isOwnRedirect(own, uri)
    expect(['https://app.example/cb', 'http://127.0.0.1:50123/cb', 'http://localhost:9/cb?a=1'].map(isOwn)).toEqual([
      ...[true, true, true],
    ])
    const foreign = [
      ...[
        'https://app.example/cb/',
        'https://app.example/cb?x=1',
        'https://app.example:8443/cb',
        'https://evil.example/cb',
      ],
      ...['https://app.example/cb/../evil', 'https://APP.example/cb', 'http://127.0.0.1:1/cb2', 'http://[::1]:1/cb'],
      ...['http://localhost:9/cb', 'http://127.0.0.1@evil.example/cb', 'http://127.0.0.1:1/cb#x', 'javascript:1'],
    ]
    expect(foreign.filter(isOwn)).toEqual([])
  })

  it('keep their own parameters, except those of an answer', () => {
    const uri = 'https://app.example/cb?tab=1&code=old&iss=https%3A%2F%2Fevil.example'
    expect(redirectTo(uri, { code: 'new&x=1', iss: 'https://us.example', state: undefined })).toBe(
      'https://app.example/cb?tab=1&code=new%26x%3D1&iss=https%3A%2F%2Fus.example',
    )
    expect(redirectTo('cursor://anysphere/cb', { code: 'c' })).toBe('cursor://anysphere/cb?code=c')
  })
})
