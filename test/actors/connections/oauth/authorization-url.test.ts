import { expect, it } from 'vitest'
import { OAuthClient } from '#actors/connections/oauth/oauth-client.ts'
import type { OAuthServer } from '#actors/connections/oauth/oauth-server.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'

const request = { state: 's1', verifier: 'v'.repeat(43), redirectUri: 'https://troupe.example/cb', scopes: ['read'] }

it("parameters that a server's URL has already are replaced, and others are kept", async () => {
  const guard = openSsrfGuard({ allowedPrivateHosts: [] })
  const had =
    'redirect_uri=https://evil.example/&redirect_uri=x&state=old&client_id=other&response_type=token&scope=all' +
    '&code_challenge=c&code_challenge_method=plain&prompt=consent&audience=a&audience=b'
  const server: OAuthServer = {
    authorizationUrl: `https://provider.example/auth?${had}`,
    tokenUrl: 'https://provider.example/token',
    revocationUrl: null,
    issuer: 'https://provider.example',
    scopes: [],
    parameters: {},
    clientId: 'troupe',
    clientSecret: 'secret',
    auth: 'client_secret_basic',
  }
  const url = new URL(await new OAuthClient(server, guard).authorizationUrl(request))
  const all = (name: string) => url.searchParams.getAll(name)
  expect(all('redirect_uri')).toEqual(['https://troupe.example/cb'])
  expect([all('state'), all('client_id'), all('response_type'), all('scope')]).toEqual([
    ['s1'],
    [server.clientId],
    ['code'],
    ['read'],
  ])
  expect([all('code_challenge_method'), all('code_challenge').length]).toEqual([['S256'], 1])
  expect([all('prompt'), all('audience')]).toEqual([['consent'], ['a', 'b']])
  await guard.close()
})
