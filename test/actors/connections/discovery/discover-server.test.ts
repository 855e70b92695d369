import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { discoverServer, discoveryFetch, discoveryLimits } from '#actors/connections/discovery/discover-server.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { MetadataServer } from './metadata-server.ts'

let server: MetadataServer
let foreign: MetadataServer
let guard: SsrfGuard

beforeEach(async () => {
  server = await new MetadataServer().listening()
  foreign = (await new MetadataServer().listening()).serve()
  guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
})
afterEach(async () => {
  await guard.close()
  await server.close()
  await foreign.close()
})

const discover = (more: { metadataUrl?: string; issuer?: string; url?: string } = {}) => {
  const { metadataUrl = null, issuer = null, url = server.url('/mcp') } = more
  return discoverServer({ guard, url, metadataUrl, issuer }, discoveryFetch(guard))
}

describe('the authorization server of a resource is found', () => {
  it('by the metadata of both', async () => {
    server.serve({
      resource: { scopes_supported: ['read', 'write'] },
      metadata: {
        scopes_supported: ['read', 'offline_access'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint: server.url('/revoke'),
      },
    })
    expect(await discover()).toMatchObject({
      issuer: server.issuer,
      authorizationUrl: server.url('/authorize'),
      tokenUrl: server.url('/token'),
      revocationUrl: server.url('/revoke'),
      resource: server.url('/mcp'),
      scopes: ['read', 'write'],
      ...{ namesIssuer: true, offersOffline: true, readsClientDocuments: true, authMethods: ['none'] },
    })
    expect(server.requested).toEqual([
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
    ])
  })

  it('by the metadata that its refusal names, and by the usual places if that is absent', async () => {
    server.serve()
    server.documents['/custom.json'] = (at) => at.resource({ scopes_supported: ['custom'] })
    expect(await discover({ metadataUrl: server.url('/custom.json') })).toMatchObject({ scopes: ['custom'] })
    expect(await discover({ metadataUrl: server.url('/absent.json') })).toMatchObject({ scopes: [] })
  })

  it('by metadata at the root, of an issuer with a path, and of OpenID Connect', async () => {
    const issuer = server.url('/tenant1')
    const documents: Record<string, () => unknown> = {
      '/.well-known/oauth-authorization-server/tenant1': () => server.metadata({ issuer }),
      '/tenant1/.well-known/openid-configuration': () =>
        server.metadata({
          ...{ issuer, jwks_uri: server.url('/jwks'), subject_types_supported: ['public'] },
          id_token_signing_alg_values_supported: ['RS256'],
        }),
    }
    for (const [path, document] of Object.entries(documents)) {
      for (const known of Object.keys(server.documents)) delete server.documents[known]
      server.documents['/.well-known/oauth-protected-resource'] = (at) =>
        at.resource({ resource: at.issuer, authorization_servers: [issuer] })
      server.documents[path] = document
      expect(await discover(), path).toMatchObject({ issuer, resource: server.issuer })
    }
  })

  it('at the origin of a resource without metadata, as in the first revision', async () => {
    expect(await discover()).toMatchObject({
      ...{ issuer: server.issuer, resource: null, metadata: null },
      ...{ authorizationUrl: server.url('/authorize'), tokenUrl: server.url('/token') },
    })
    server.documents['/.well-known/oauth-authorization-server'] = (at) => at.metadata()
    expect(await discover()).toMatchObject({ issuer: server.issuer, resource: null, tokenUrl: server.url('/token') })
  })

  it('among several only if it is the configured one', async () => {
    server.serve({ resource: { authorization_servers: ['https://other.example', server.issuer] } })
    expect(await discover({ issuer: server.issuer })).toMatchObject({ issuer: server.issuer })
    await expect(discover({ issuer: 'https://third.example' })).rejects.toMatchObject({ code: 'wrong_issuer' })
  })
})

describe('no sign-in starts', () => {
  const refusals: readonly (readonly [string, () => void, string])[] = [
    [
      'for another resource',
      () => server.serve({ resource: { resource: 'https://evil.example/mcp' } }),
      'wrong_resource',
    ],
    [
      'for a resource beside the server',
      () => server.serve({ resource: { resource: server.url('/mcp-other') } }),
      'wrong_resource',
    ],
    ['for a resource that is no URL', () => server.serve({ resource: { resource: 'mcp' } }), 'metadata_invalid'],
    [
      'at a server whose metadata names another issuer',
      () => server.serve({ metadata: { issuer: 'https://attacker.example' } }),
      'wrong_issuer',
    ],
    [
      'at a server whose issuer differs by a slash',
      () => server.serve({ metadata: { issuer: `${server.issuer}/` } }),
      'wrong_issuer',
    ],
    [
      'at a private address',
      () => server.serve({ resource: { authorization_servers: [foreign.issuer] } }),
      'address_refused',
    ],
    [
      'at the metadata service of a cloud',
      () => server.serve({ resource: { authorization_servers: ['http://169.254.169.254'] } }),
      'address_refused',
    ],
    [
      'with a token endpoint at a private address',
      () => server.serve({ metadata: { token_endpoint: 'https://10.0.0.1/token' } }),
      'address_refused',
    ],
    [
      'with an authorization endpoint at a private address',
      () => server.serve({ metadata: { authorization_endpoint: 'https://192.168.0.1/authorize' } }),
      'address_refused',
    ],
    [
      'with a registration endpoint at a private address',
      () => server.serve({ metadata: { registration_endpoint: foreign.url('/register') } }),
      'address_refused',
    ],
    [
      'with an endpoint without https',
      () => server.serve({ metadata: { token_endpoint: 'http://tokens.example/token' } }),
      'endpoint_insecure',
    ],
    [
      'with an endpoint that runs a script',
      () => server.serve({ metadata: { authorization_endpoint: 'javascript:alert(1)' } }),
      'metadata_invalid',
    ],
    [
      'without PKCE',
      () => server.serve({ metadata: { code_challenge_methods_supported: ['plain'] } }),
      'pkce_unsupported',
    ],
    [
      'without a statement about PKCE',
      () => server.serve({ metadata: { code_challenge_methods_supported: undefined } }),
      'pkce_unsupported',
    ],
  ]
  it.each(refusals)('%s', async (_what, prepare, code) => {
    prepare()
    await expect(discover()).rejects.toMatchObject({ name: 'DiscoveryFailed', code })
    expect(foreign.requested).toEqual([])
  })

  const answers: readonly (readonly [string, (response: import('node:http').ServerResponse) => void, string])[] = [
    ['redirects to itself without end', (response) => response.writeHead(302, { location: '/loop' }).end(), 'metadata'],
    [
      'redirects to a private address',
      (response) =>
        response.writeHead(302, { location: foreign.url('/.well-known/oauth-protected-resource/mcp') }).end(),
      'metadata',
    ],
    ['is huge', (response) => response.end('x'.repeat(discoveryLimits.maxBytes + 1)), 'metadata_invalid'],
    ['is deeply nested', (response) => response.end('{"a":'.repeat(100)), 'metadata_invalid'],
    ['is no JSON', (response) => response.end('<html>'), 'metadata_invalid'],
    ['fails with 503', (response) => response.writeHead(503).end(), 'metadata_unreachable'],
    ['fails with 429', (response) => response.writeHead(429).end(), 'metadata_unreachable'],
    ['breaks off', (response) => void response.destroy(), 'metadata_unreachable'],
  ]
  it.each(answers)('if the metadata of the resource %s', async (_what, answer, code) => {
    server.serve()
    for (const path of ['/.well-known/oauth-protected-resource/mcp', '/loop']) server.answers[path] = answer
    await expect(discover()).rejects.toMatchObject({ code: expect.stringContaining(code) })
    expect(foreign.requested).toEqual([])
    expect(server.requested.length).toBeLessThanOrEqual(discoveryLimits.maxRequests)
    // in particular, the origin of the resource is not tried as its own authorization server
    expect(server.requested).not.toContain('/.well-known/oauth-authorization-server')
  })
})
