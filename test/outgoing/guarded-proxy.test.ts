import { once } from 'node:events'
import { request as startRequest } from 'node:http'
import { connect, createServer as createTcpServer, type LookupFunction } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { GuardedProxy } from '#outgoing/guarded-proxy.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { html, Site } from '../support/site.ts'

/** Resolves every name to this machine, as a rebinding name does, and nowhere.test to no address. */
const lookup: LookupFunction = (hostname, options, callback) => {
  if (hostname === 'nowhere.test') {
    callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), '')
    return
  }
  const found = [{ address: '127.0.0.1', family: 4 }]
  if (options.all === true) callback(null, found)
  else callback(null, '127.0.0.1', 4)
}

describe('a guarded proxy', () => {
  let site: Site
  let guard: SsrfGuard
  const open: GuardedProxy[] = []

  beforeAll(async () => {
    site = await Site.open({ '/page': html('<h1>Here</h1>'), '/large': { body: 'x'.repeat(3_000_000) } })
    guard = openSsrfGuard({
      allowedPrivateHosts: [],
      allowedContentHosts: [site.host, `allowed.test:${site.port}`],
      lookup,
    })
  })
  afterEach(async () => {
    for (const proxy of open.splice(0)) await proxy.close()
  })
  afterAll(async () => {
    await site.close()
    await guard.close()
  })

  const opened = async (maxBytes = 10_000_000): Promise<GuardedProxy> => {
    const proxy = await GuardedProxy.open({ guard: guard.content, maxBytes })
    open.push(proxy)
    return proxy
  }

  /** Status and body of a plain request through the proxy; null if the proxy closes the connection. */
  const fetched = (proxy: GuardedProxy, url: string, method = 'GET') =>
    new Promise<{ readonly status: number; readonly body: string } | null>((resolve) => {
      const { hostname, port } = new URL(proxy.url)
      const request = startRequest({ host: hostname, port, method, path: url, agent: false }, (response) => {
        let body = ''
        response.on('data', (part) => {
          body += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.on('error', () => resolve(null))
      })
      request.on('error', () => resolve(null))
      request.end()
    })

  /** First line of the response to a CONNECT request. */
  const tunnel = async (proxy: GuardedProxy, target: string): Promise<string> => {
    const { hostname, port } = new URL(proxy.url)
    const socket = connect(Number(port), hostname)
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return String(answer).split('\r\n', 1).join('')
  }

  it('forwards requests to allowed hosts', async () => {
    const proxy = await opened()
    expect(await fetched(proxy, site.url('/page'))).toEqual({ status: 200, body: '<h1>Here</h1>' })
    expect(await fetched(proxy, `http://allowed.test:${site.port}/page`)).toMatchObject({ status: 200 })
    expect(await tunnel(proxy, site.host)).toBe('HTTP/1.1 200 Connection Established')
    expect(proxy.refusalOf(site.url('/page'))).toBeUndefined()
  })

  it('uses a connection of the browser for one request, so that the browser sends none again', async () => {
    const { hostname, port } = new URL((await opened()).url)
    const socket = connect(Number(port), hostname)
    const host = `host: ${site.host}\r\nproxy-connection: keep-alive\r\n\r\n`
    socket.write(`GET ${site.url('/page')} HTTP/1.1\r\n${host}`)
    let text = ''
    for await (const part of socket) text += part
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
  })

  it.each([
    ['an address of this machine', '127.0.0.1:9', 'unsafe_url'],
    ['an address of the cloud', '169.254.169.254:80', 'unsafe_url'],
    ['a private address', '10.0.0.1:80', 'unsafe_url'],
    ['an IPv6 address of this machine', '[::1]:80', 'unsafe_url'],
    ['an IPv4 address within IPv6', '[::ffff:127.0.0.1]:80', 'unsafe_url'],
    ['a name that leads to this machine', 'rebound.test:80', 'unsafe_url'],
    ['a name without an address', 'nowhere.test:80', 'dns_unavailable'],
  ])('reaches nothing at %s, and reports the reason', async (_what, host, refusal) => {
    const proxy = await opened()
    expect(await fetched(proxy, `http://${host}/`)).toBeNull()
    expect(await tunnel(proxy, host)).toBe('HTTP/1.1 403 Forbidden')
    expect(proxy.refusalOf(`http://${host}/`)).toBe(refusal)
  })

  it('closes all connections once more bytes than allowed have arrived', async () => {
    const proxy = await opened(1_000_000)
    expect(await fetched(proxy, site.url('/large'))).toBeNull()
    expect(proxy.bytes).toBeLessThan(1_200_000)
    expect(await fetched(proxy, site.url('/page'))).toBeNull()
    expect(proxy.refusalOf(site.url('/page'))).toBe('response_too_large')
  })

  it.each(['constructor', '__proto__', 'toString'])('forwards a header named %s', async (name) => {
    const proxy = await opened()
    const { hostname, port } = new URL(proxy.url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${site.url('/page')} HTTP/1.1\r\nhost: ${site.host}\r\n${name}: 1\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('keeps the refusals of the last 1,000 hosts only', async () => {
    const proxy = await opened()
    for (let n = 0; n < 1_001; n++) await tunnel(proxy, `10.0.${n >> 8}.${n & 255}:80`)
    expect(proxy.refusalOf('http://10.0.0.0/')).toBeUndefined()
    expect(proxy.refusalOf('http://10.0.0.1/')).toBe('unsafe_url')
  })

  it('survives servers that do not speak HTTP, and invalid targets', async () => {
    const server = createTcpServer((socket) => socket.end('SSH-2.0-x\r\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const own = openSsrfGuard({ allowedPrivateHosts: [], allowedContentHosts: ['127.0.0.1'] })
    const proxy = await GuardedProxy.open({ guard: own.content, maxBytes: 1_000_000 })
    open.push(proxy)
    expect(await fetched(proxy, `http://127.0.0.1:${port}/`)).toBeNull()
    expect(await fetched(proxy, '/no-target')).toBeNull()
    expect(await tunnel(proxy, ':::')).toBe('HTTP/1.1 403 Forbidden')
    expect(await fetched(proxy, site.url('/page'))).toMatchObject({ status: 200 })
    server.close()
    await own.close()
  })
})
