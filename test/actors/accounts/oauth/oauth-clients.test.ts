import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OAuthClients } from '#actors/accounts/oauth/oauth-clients.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { LoopbackServer } from '#test/support/loopback-server.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const dayMs = 24 * 3_600_000
const app = { client_name: 'App', redirect_uris: ['https://app.example/cb'] }

/** A site with one document, which counts its requests. */
class Site extends LoopbackServer {
  document: unknown = null
  requests = 0

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests += 1
    response.writeHead(request.url === '/client.json' ? 200 : 404).end(JSON.stringify(this.document))
  }
}

const open = (guard: Pick<SsrfGuard, 'request'> = openSsrfGuard({ allowedPrivateHosts: [] })) => {
  const clock = { now: 1_800_000_000_000 }
  const now = () => clock.now
  const { records } = openMemoryStorage({ now })
  return { clock, clients: new OAuthClients({ records, guard, limits: new LocalLimits({ steady: now }), now }) }
}

describe('registered apps', () => {
  it('are known by their id, and have no logo, link or secret', async () => {
    const { clients } = open()
    const made = await clients.register(
      { ...app, logo_uri: 'https://evil.example/x.svg', client_secret: 's' },
      '1.2.3.4',
    )
    expect(made).toEqual({ id: expect.stringMatching(/^ocl_/), name: 'App', redirect_uris: app.redirect_uris })
    expect(await clients.find(made.id)).toEqual({ ...made, host: null })
  })

  it('are forgotten after a day unless a member granted them something', async () => {
    const { clients, clock } = open()
    const [unused, used] = [await clients.register(app, '1.1.1.1'), await clients.register(app, '1.1.1.1')]
    await clients.keep({ ...used, host: null })
    clock.now += dayMs
    await expect(clients.find(unused.id)).rejects.toMatchObject({ code: 'invalid_client' })
    expect(await clients.find(used.id)).toMatchObject({ id: used.id })
  })

  it('are limited per address, an IPv6 network counting as one, and together', async () => {
    const { clients, clock } = open()
    for (let n = 0; n < 20; n += 1) await clients.register(app, `2001:db8::${n}`)
    await expect(clients.register(app, '2001:db8::ffff')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      retryAfterS: expect.any(Number),
    })
    for (let n = 0; n < 980; n += 1) await clients.register(app, `10.0.${n >> 8}.${n & 255}`)
    await expect(clients.register(app, '192.0.2.1')).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    clock.now += 2 * 3_600_000
    expect(await clients.register(app, '2001:db8::1')).toMatchObject({ name: 'App' })
  })

  it.each([
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['Safe\u202Egnp.exe\u0000\u200b', 'Safegnp.exe'],
    ['\ud800', '\ufffd'],
    ['a'.repeat(200), 'a'.repeat(128)],
    [' \n ', 'An app without a name'],
    [{ evil: true }, 'An app without a name'],
  ])('are named by plain text only: %s', async (client_name, name) => {
    expect(await open().clients.register({ ...app, client_name }, '1.1.1.1')).toMatchObject({ name })
  })

  it.each([
    [null],
    [[]],
    ['x'],
    [{ ...app, redirect_uris: ['javascript:alert(1)'] }],
    [{ ...app, grant_types: ['client_credentials'] }],
    [{ ...app, response_types: ['token'] }],
  ])('are refused with the metadata %j', async (given) => {
    await expect(open().clients.register(given, '1.1.1.1')).rejects.toMatchObject({ name: 'OAuthError' })
  })
})

describe('apps with a document', () => {
  const guard = openSsrfGuard({ allowedPrivateHosts: ['127.0.0.1'] })
  let site: Site
  let url = ''

  beforeAll(async () => {
    site = await new Site().listening()
    url = site.url('/client.json')
  })
  afterAll(async () => {
    await guard.close()
    await site.close()
  })

  it('are known by its host, and read again after five minutes', async () => {
    site.document = { ...app, client_id: url }
    const { clients, clock } = open(guard)
    const known = { id: url, host: site.host, name: 'App', redirect_uris: app.redirect_uris }
    expect(await clients.find(url)).toEqual(known)
    await clients.find(url)
    expect(site.requests).toBe(1)
    clock.now += 5 * 60_000
    await clients.find(url)
    expect(site.requests).toBe(2)
  })

  it.each<[string, (own: string) => unknown]>([
    ['names another client', () => ({ ...app, client_id: 'https://other.example/client.json' })],
    ['names none', () => app],
    ['requires a secret', (own) => ({ ...app, client_id: own, token_endpoint_auth_method: 'client_secret_basic' })],
    ['has a secret', (own) => ({ ...app, client_id: own, client_secret: 's' })],
    [
      'has a redirect URI that is not permitted',
      (own) => ({ ...app, client_id: own, redirect_uris: ['javascript:1'] }),
    ],
    ['is a list', (own) => [own]],
    ['is too long', (own) => ({ ...app, client_id: own, more: 'x'.repeat(20_000) })],
  ])('are refused if it %s', async (_why, documentOf) => {
    site.document = documentOf(url)
    await expect(open(guard).clients.find(url)).rejects.toMatchObject({ name: 'OAuthError' })
  })

  it('are refused if there is none', async () => {
    await expect(open(guard).clients.find(site.url('/none.json'))).rejects.toThrow('answers with 404')
  })

  it.each([
    'http://app.example/client.json',
    'https://app.example/',
    'https://app.example/a?b=1',
    'https://app.example/a#b',
    'https://user@app.example/a',
    'https://app.example/a/../b',
    'HTTPS://APP.example/a',
    'https://',
  ])('cannot have the id %s', async (id) => {
    await expect(open(guard).clients.find(id)).rejects.toThrow('must be https')
  })

  it.each([
    ...['http://127.0.0.1:9/c.json', 'https://10.0.0.1/c', 'https://169.254.169.254/latest/meta-data'],
    ...['https://[::1]/c', 'http://localhost:9/c'],
  ])('are not fetched from the private address %s, and the refusal does not say why', async (id) => {
    await expect(open().clients.find(id)).rejects.toThrow('The document at the client_id cannot be read.')
  })
})
