import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findChromium } from '#actors/browser/engine/find-chromium.ts'
import { type VisitEnd, visit } from '#actors/browser/engine/visit.ts'
import { jobRequest } from '#actors/browser/jobs/job-request.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { newId } from '#runtime/ids.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { atNight } from '#test/setup/at-night.ts'
import { openPrivateNames, privateAddresses } from '#test/support/private-addresses.ts'
import { html, Site } from '#test/support/site.ts'
import { patience } from '../patience.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('private addresses', () => {
  const names = openPrivateNames()
  let canary: Server
  let datagrams: Datagrams
  let reached: string[] = []
  /** Hosts that a browser requested from the proxy. */
  const attempted = new Set<string>()
  let control: Site
  let guard: SsrfGuard
  let probes: readonly string[] = []

  beforeAll(async () => {
    canary = createServer((_request, response) => response.end('words of the canary'))
    canary.on('connection', () => reached.push('canary'))
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const address = canary.address()
    probes = privateAddresses(typeof address === 'object' && address !== null ? address.port : 0)
    datagrams = createSocket('udp4', () => reached.push('datagram'))
    datagrams.bind(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
    await once(datagrams, 'listening')
    control = await Site.open({ '/': html('<p>control page</p>', { 'access-control-allow-origin': '*' }) })
    guard = openSsrfGuard({
      allowedPrivateHosts: [],
      allowedContentHosts: [control.host],
      connectTimeoutMs: 4_000,
      lookup: names.lookup,
    })
  })
  beforeEach(() => {
    reached = []
    names.again()
  })
  afterAll(async () => {
    datagrams.close()
    await guard.close()
    await control.close()
    await new Promise((resolve) => canary.close(resolve))
  })

  const requestFor = (url: string) =>
    jobRequest(guard.content, {
      ...{ url, screenshot: false, waitUntil: 'domcontentloaded', timeoutMs: patience.timeout, actions: [] },
    })
  const visited = (request: ReturnType<typeof requestFor>, signal = new AbortController().signal): Promise<VisitEnd> =>
    visit(
      {
        guard: {
          ...guard.content,
          connect: async (target) => {
            attempted.add(target.hostname)
            const socket = await guard.content.connect(target)
            if (`${target.hostname}:${target.port}` !== control.host) reached.push(`${target.hostname}:${target.port}`)
            return socket
          },
        },
        path: () => findChromium(process.env.CHROMIUM_PATH ?? null),
        limits: { maxMemoryBytes: 2 ** 31, maxBytes: 50_000_000 },
        now: Date.now,
      },
      {
        ...{ id: newId('job'), request, state: null, signal },
        ...{ submitting: async () => true, stepped: async () => {}, handOver: async () => null },
      },
    )

  it('are not reached by a job with such a URL, while a public page is opened', async () => {
    const left: ReturnType<typeof requestFor>[] = []
    for (const probe of probes) {
      try {
        left.push(requestFor(probe))
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        expect(['invalid_url', 'unsafe_url']).toContain(error.code)
      }
    }
    // URLs refused as text never reach a browser; the others are host names, of which one of each kind is visited
    expect(left.length).toBeLessThan(40)
    const kinds = ['loop', 'six', 'rebinding', 'mixed', 'metadata', 'zero']
    const chosen = left.filter(({ url }) => kinds.some((kind) => url.startsWith(`http://${kind}.example`)))
    expect(chosen).toHaveLength(kinds.length)
    for (const request of chosen) expect(await visited(request)).toHaveProperty('failed')
    expect(reached).toEqual([])
    const end = await visited(requestFor(control.url('/')))
    expect('visited' in end && end.visited.read.content).toContain('control page')
  }, 240_000)

  it('are not reached from within a page by any means, each of which reaches an allowed address', async () => {
    const tried = async (urls: readonly string[], milliseconds: number, signal?: AbortSignal) => {
      control.pages.set('/tries', html(triesOf(urls), { 'access-control-allow-origin': '*' }))
      const request = requestFor(control.url('/tries'))
      const actions = [{ type: 'waitFor', milliseconds } as const]
      return visited({ ...request, wait_until: 'domcontentloaded', timeout_ms: 180_000, actions }, signal)
    }
    // spellings that parse to the same address are equal to a browser
    const distinct = [...new Set(probes.flatMap((url) => (URL.parse(url) !== null ? [new URL(url).href] : [])))]
    // all of them each night only: a page that tries that much is slow
    const chosen = !atNight ? distinct.filter((_, n) => n % 10 === 0) : distinct
    for (let at = 0; at < chosen.length; at += probesAtOnce) {
      const end = await tried(chosen.slice(at, at + probesAtOnce), 5_000)
      expect(end, JSON.stringify(end).slice(0, 300)).toHaveProperty('visited')
    }
    expect(reached).toEqual([])
    expect(attempted.size, 'pages did try').toBeGreaterThan(8)
    const over = new AbortController()
    const visit = tried([control.url('/')], 120_000, over.signal)
    const missing = () => {
      const found = new Set(control.requested.map(({ path }) => path.slice(1)))
      return means.filter((name) => !found.has(name) && !socketMeans.includes(name))
    }
    await expect.poll(missing, patience).toEqual([])
    await expect.poll(() => control.upgrades, patience).toBeGreaterThanOrEqual(2)
    over.abort()
    await visit
  }, 580_000)
})

const probesAtOnce = 12
const means = [
  ...['fetch', 'xhr', 'image', 'style', 'css', 'script', 'frame', 'refresh', 'object', 'video', 'prefetch', 'beacon'],
  ...['events', 'worker', 'keepalive', 'socket', 'workersocket', 'import', 'font'],
]
/** Counted as upgrades and not as requests by the site. */
const socketMeans = ['socket', 'workersocket']

/** A page that tries every means for each URL; the name of the means is appended to a URL that ends in a slash. */
const triesOf = (urls: readonly string[]): string => `<title>Tries</title><body><script>
  const urls = ${JSON.stringify(urls).replaceAll('<', '\\u003c')}
  const at = (url, name) => (url.endsWith('/') ? url + name : url)
  const put = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields))
  const tries = (url) => [
    () => fetch(at(url, 'fetch'), { mode: 'no-cors' }),
    () => fetch(at(url, 'keepalive'), { mode: 'no-cors', keepalive: true }),
    () => { const x = new XMLHttpRequest(); x.open('GET', at(url, 'xhr')); x.send() },
    () => put('img', { src: at(url, 'image') }),
    () => put('link', { rel: 'stylesheet', href: at(url, 'style') }),
    () => put('style', { textContent: '@import url("' + at(url, 'css') + '"); @font-face { font-family: f; src: url("' + at(url, 'font') + '") } body { font-family: f }' }),
    () => put('script', { src: at(url, 'script') }),
    () => put('script', { type: 'module', textContent: 'import ' + JSON.stringify(at(url, 'import')) }),
    () => put('iframe', { src: at(url, 'frame') }),
    () => put('iframe', { srcdoc: '<meta http-equiv=refresh content="0;url=' + at(url, 'refresh') + '">' }),
    () => put('object', { data: at(url, 'object') }),
    () => put('video', { src: at(url, 'video'), preload: 'auto' }),
    () => put('link', { rel: 'prefetch', href: at(url, 'prefetch') }),
    () => put('link', { rel: 'preconnect', href: url }),
    () => put('link', { rel: 'dns-prefetch', href: url }),
    () => navigator.sendBeacon(at(url, 'beacon'), 'x'),
    () => new EventSource(at(url, 'events')),
    () => new Worker(URL.createObjectURL(new Blob(['fetch(' + JSON.stringify(at(url, 'worker')) + ', { mode: "no-cors" }); new WebSocket(' + JSON.stringify(at(url, 'workersocket').replace(/^http/i, 'ws')) + ')']))),
    () => new WebSocket(at(url, 'socket').replace(/^http/i, 'ws')),
    () => new WebTransport(url.replace(/^http:/i, 'https:')),
    async () => {
      const to = /[/][/]([^/]+)/.exec(url)[1]
      const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:' + to, 'turn:' + to + '?transport=udp', 'turn:' + to + '?transport=tcp'], username: 'u', credential: 'c' }] })
      peer.createDataChannel('x')
      await peer.setLocalDescription(await peer.createOffer())
    },
  ]
  for (const url of urls) for (const attempt of tries(url)) { try { attempt()?.catch?.(() => {}) } catch {} }
</script> words`
