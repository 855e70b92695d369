import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClientChoice, chooseClient } from '#actors/connections/discovery/choose-client.ts'
import { clientDocument } from '#actors/connections/discovery/client-metadata.ts'
import { discoverServer, discoveryFetch } from '#actors/connections/discovery/discover-server.ts'
import { type KnownClient, maxKnownClients, withClient } from '#actors/connections/discovery/known-clients.ts'
import { SignInLinks } from '#actors/connections/oauth/sign-in-links.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { MetadataServer } from './metadata-server.ts'

let server: MetadataServer
let guard: SsrfGuard

beforeEach(async () => {
  server = (await new MetadataServer().listening()).serve()
  guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
})
afterEach(async () => {
  await guard.close()
  await server.close()
})

const linksAt = (url: string) => new SignInLinks(Object(null), url)
const ours = linksAt('https://troupe.example')
const nothing = { client_id: undefined, token_auth_method: undefined, issuer: undefined }

const choose = async (more: Partial<ClientChoice> = {}): Promise<KnownClient> => {
  const wire = discoveryFetch(guard)
  const found = await discoverServer({ guard, url: server.url('/mcp'), metadataUrl: null, issuer: null }, wire)
  return chooseClient(found, { config: nothing, secret: null, known: [], links: ours, now: 0, ...more }, wire)
}

describe('our client at a discovered server', () => {
  it('is registered with a redirect URI of its own for each issuer that responses do not name', async () => {
    const client = await choose()
    expect(client).toMatchObject({ by: 'registration', client_id: 'client-1', auth: 'none', issuer: server.issuer })
    expect(client.redirect_uri).toMatch(/^https:\/\/troupe\.example\/v1\/connections\/oauth\/callback\/[\w-]{22}$/)
    expect(client.redirect_uri).not.toBe(ours.callbackFor('https://other.example'))
    expect(server.registered).toEqual([
      {
        client_name: 'Troupe',
        redirect_uris: [client.redirect_uri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        application_type: 'web',
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ])
    const local = await choose({ links: linksAt('http://127.0.0.1:3000') })
    expect(local.redirect_uri).toContain('http://127.0.0.1:3000/v1/connections/oauth/callback/')
    expect(server.registered.at(-1)).toMatchObject({ application_type: 'native' })
  })

  it('is the one registered before, as long as issuer, redirect URI and secret are valid', async () => {
    const known = [await choose()]
    expect(await choose({ known })).toMatchObject({ client_id: 'client-1' })
    expect(await choose({ known, links: linksAt('https://moved.example') })).toMatchObject({ client_id: 'client-2' })
    const elsewhere = known.map((client) => ({ ...client, issuer: 'https://other.example' }))
    expect(await choose({ known: elsewhere })).toMatchObject({ client_id: 'client-3' })
    const ended = known.map((client) => ({ ...client, secret_expires_at_ms: 5 }))
    expect(await choose({ known: ended, now: 6 })).toMatchObject({ client_id: 'client-4' })
  })

  it('is the URL of our metadata document only at a server whose responses name the issuer', async () => {
    const reads = { client_id_metadata_document_supported: true }
    server.serve({ metadata: reads })
    expect((await choose()).by).toBe('registration')
    server.serve({ metadata: { ...reads, authorization_response_iss_parameter_supported: true } })
    const client = await choose()
    expect(client).toMatchObject({
      ...{ by: 'document', client_id: 'https://troupe.example/client-metadata.json', auth: 'none' },
      ...{ redirect_uri: ours.callbackUrl, names_issuer: true },
    })
    const { client_id, redirect_uri } = client
    expect(clientDocument(ours)).toMatchObject({ client_id, redirect_uris: [redirect_uri] })
    // an address without https is no client id
    const local = linksAt('http://127.0.0.1:3000')
    expect((await choose({ links: local })).by).toBe('registration')
    expect(clientDocument(local)).toBeNull()
  })

  it('is the configured one, whose secret no other issuer gets', async () => {
    const config = { ...nothing, client_id: 'ours' }
    const client = await choose({ config, secret: 's' })
    expect(client).toMatchObject({ by: 'config', client_id: 'ours', client_secret: 's', auth: 'client_secret_basic' })
    const known = [{ ...client, issuer: 'https://first.example' }]
    await expect(choose({ config, secret: 's', known })).rejects.toMatchObject({ code: 'client_of_other_issuer' })
    const named = { ...config, issuer: server.issuer }
    expect(await choose({ config: named, secret: 's', known })).toMatchObject({ issuer: server.issuer })
    expect(server.registered).toEqual([])
  })

  it('authenticates by the method that the server supports', async () => {
    for (const method of ['client_secret_post', 'none'] as const) {
      server.serve({ metadata: { token_endpoint_auth_methods_supported: [method] } })
      expect(await choose({ config: { ...nothing, client_id: 'ours' }, secret: 's' })).toMatchObject({ auth: method })
    }
  })

  it('is kept for a limited number of issuers, one for each', async () => {
    const client = await choose()
    const issuers = Array.from({ length: maxKnownClients + 2 }, (_, n) => `https://as${n}.example`)
    const kept = [...issuers, ...issuers.slice(-1)].reduce<readonly KnownClient[]>(
      (clients, issuer) => withClient(clients, { ...client, issuer }),
      [],
    )
    expect(kept.map(({ issuer }) => issuer)).toEqual(issuers.slice(2))
  })

  it('is required where none can be registered', async () => {
    server.serve({ metadata: { registration_endpoint: undefined } })
    await expect(choose()).rejects.toMatchObject({ code: 'client_required' })
    server.serve()
    server.answers['/register'] = (response) => response.writeHead(403).end('{"error":"access_denied"}')
    await expect(choose()).rejects.toMatchObject({ code: 'registration_refused' })
  })
})
