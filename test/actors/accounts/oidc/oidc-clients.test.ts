import { expect, it } from 'vitest'
import { OidcClients } from '#actors/accounts/oidc/oidc-clients.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { readableBox } from '#test/support/open-services.ts'
import { TestProvider } from './test-provider.ts'

it('the metadata of a provider is read again after the clock was set back', async () => {
  const provider = await new TestProvider().listening()
  const guard = openSsrfGuard({ allowedPrivateHosts: [provider.host] })
  const clock = { now: Date.now() }
  const clients = new OidcClients({ guard, box: readableBox, now: () => clock.now })
  const row = Object({
    id: 'oidc_1',
    version: 1,
    data: { issuer: provider.issuer, client_id: 'c', client_secret: null },
  })
  row.data.scopes = []
  const urls = { state: 's', nonce: 'n', verifier: 'v', redirectUri: 'https://us.example/' }
  await clients.authorizationUrl(row, urls)
  clock.now -= 86_400_000
  provider.metadata = { authorization_endpoint: `${provider.issuer}/elsewhere` }
  expect(new URL(await clients.authorizationUrl(row, urls)).pathname).toBe('/elsewhere')
  await guard.close()
  await provider.close()
})
