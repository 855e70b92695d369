import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTcpServer, type LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '#actors/browser/engine/find-chromium.ts'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import { maxContentLength } from '#actors/browser/engine/read-page.ts'
import { maxWindows } from '#actors/browser/engine/tabs.ts'
import { type VisitEnd, type VisitParts, type VisitRequest, visit } from '#actors/browser/engine/visit.ts'
import type { BrowserRequest } from '#machines/browser-job/browser-job.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { newId } from '#runtime/ids.ts'
import { patience } from '../patience.ts'
import { hearMessages } from './heard-messages.ts'

/** Resolves a name to a public address at the first lookup, and to this machine from then on. */
const rebound = (): LookupFunction => {
  const hits = new Map<string, number>()
  return (hostname, options, callback) => {
    const times = hits.get(hostname) ?? 0
    hits.set(hostname, times + 1)
    const isPublic = hostname !== 'allowed.test' && times === 0
    // a public address at which nothing answers in a test
    const address = isPublic ? '93.184.215.14' : '127.0.0.1'
    if (options.all === true) callback(null, [{ address, family: 4 }])
    else callback(null, address, 4)
  }
}

const plain: BrowserRequest = {
  ...{ url: '', actions: [], screenshot: false, snapshot_tokens: null, wait_until: 'load' },
  ...{ timeout_ms: 60_000, width: 800, height: 600, profile: null },
}

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('a browser visit', () => {
  /** Requests that reached the addresses that no page may reach. */
  const reached: string[] = []
  const pages = new Map<string, string>()
  const requested: string[] = []
  /** Called when the path is requested from the site. */
  const onRequest = new Map<string, () => void>()
  /** Messages received over WebSockets. */
  const messages: string[] = []
  const closers: (() => void)[] = []
  let guard: SsrfGuard
  let site = ''
  let target = ''
  let control = ''

  const listening = async (name: (request: IncomingMessage) => void) => {
    const server = createServer((request, response) => {
      name(request)
      const page = pages.get(request.url ?? '')
      response.setHeader('access-control-allow-origin', '*')
      if (request.url === '/sw.js') response.setHeader('content-type', 'text/javascript')
      else response.setHeader('content-type', 'text/html; charset=utf-8')
      if (request.url?.startsWith('/to-private')) response.writeHead(302, { location: `http://${target}/redirect` })
      response.end(page ?? '')
    })
    server.on('upgrade', (request, socket) => {
      name(request)
      if (request.url === '/echo') return hearMessages(request, socket, (text) => messages.push(text))
      socket.destroy()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = server.address()
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  beforeAll(async () => {
    site = await listening(({ method, url = '' }) => {
      requested.push(`${method} ${url}`)
      onRequest.get(url)?.()
    })
    target = await listening(({ url }) => reached.push(`${url}`))
    control = await listening(({ url }) => requested.push(`control ${url}`))
    const [, targetPort] = target.split(':')
    const [, controlPort] = control.split(':')
    // QUIC, STUN and DNS use datagrams; a raw connection is not HTTP
    const datagrams = createSocket('udp4', () => reached.push('udp'))
    datagrams.bind(Number(targetPort), '127.0.0.1')
    await once(datagrams, 'listening')
    closers.push(() => datagrams.close())
    const raw = createTcpServer((socket) => {
      reached.push('tcp')
      socket.destroy()
    }).listen(0, '127.0.0.2')
    await once(raw, 'listening')
    closers.push(() => raw.close())
    guard = openSsrfGuard({
      allowedPrivateHosts: [],
      allowedContentHosts: [site, control, `allowed.test:${controlPort}`],
      connectTimeoutMs: 1_000,
      lookup: rebound(),
    })
  })
  afterAll(async () => {
    for (const close of closers) close()
    await guard.close()
  })

  const visited = (
    request: Partial<BrowserRequest>,
    more: Partial<VisitRequest & VisitParts> = {},
  ): Promise<VisitEnd> => {
    const parts: VisitParts = {
      guard: guard.content,
      path: () => findChromium(process.env.CHROMIUM_PATH ?? null),
      limits: { maxMemoryBytes: 2 ** 31, maxBytes: 50_000_000 },
      now: Date.now,
      ...more,
    }
    return visit(parts, {
      ...{ id: newId('job'), state: null, signal: new AbortController().signal },
      request: { ...plain, ...request },
      submitting: async () => true,
      stepped: async () => {},
      handOver: async () => null,
      ...more,
    })
  }

  /** For tests that do not depend on the full browser. Tests of its traffic use all features of a desktop browser. */
  const inShell = { path: () => findChromium(process.env.HEADLESS_SHELL_PATH ?? null) }

  /** Opens the page and gives it time for its attempts. */
  const opened = (path: string, content: string): Promise<VisitEnd> => {
    pages.set(path, content)
    const actions = [{ type: 'waitFor', milliseconds: 2_500 } as const]
    // its frames and sockets may never have loaded
    return visited({ url: `http://${site}${path}`, wait_until: 'domcontentloaded', actions })
  }

  /** A page that tries every way to reach a host. `to` is `host:port`. */
  const attempts = (to: string): string => `
    <title>Tries</title><body>
    <link rel="prefetch" href="http://${to}/prefetch"><link rel="preconnect" href="http://${to}"><link rel="dns-prefetch" href="http://${to}">
    <link rel="preload" as="image" href="http://${to}/preload"><link rel="stylesheet" href="http://${to}/style">
    <script type="speculationrules">{"prefetch":[{"source":"list","urls":["http://${to}/speculation"]}],"prerender":[{"source":"list","urls":["http://${to}/prerender"]}]}</script>
    <img src="http://${to}/image"><iframe src="http://${to}/frame"></iframe><object data="http://${to}/object"></object>
    <iframe srcdoc="<meta http-equiv=refresh content='0;url=http://${to}/inner-refresh'>"></iframe>
    <video src="http://${to}/video"></video><audio src="http://${to}/audio"></audio><script src="http://${to}/script"></script>
    <iframe src="http://${site}/to-private-frame"></iframe>
    <form id="f" action="http://${to}/form" target="hidden"></form><iframe name="hidden"></iframe>
    <script>
      const tries = [
        () => fetch('http://${to}/fetch', { mode: 'no-cors' }),
        () => fetch('http://${site}/to-private', { mode: 'no-cors' }),
        () => fetch('https://${to}/https', { mode: 'no-cors' }),
        () => { const x = new XMLHttpRequest(); x.open('GET', 'http://${to}/xhr'); x.send() },
        () => new WebSocket('ws://${to}/socket'), () => new WebSocket('wss://${to}/sockets'),
        () => new EventSource('http://${to}/events'),
        () => navigator.sendBeacon('http://${to}/beacon', 'x'),
        () => fetch('http://${to}/keepalive', { mode: 'no-cors', keepalive: true }),
        () => new Worker(URL.createObjectURL(new Blob(["fetch('http://${to}/worker', {mode: 'no-cors'}); new WebSocket('ws://${to}/worker-socket')"]))),
        () => new SharedWorker(URL.createObjectURL(new Blob(["fetch('http://${to}/shared', {mode: 'no-cors'})"]))),
        () => navigator.serviceWorker.register('/sw.js'),
        () => open('http://${to}/popup'), () => document.getElementById('f').submit(),
        () => new WebTransport('https://${to}/transport'),
        async () => { const p = new RTCPeerConnection({ iceServers: [{ urls: ['stun:${to}', 'turn:${to}?transport=udp', 'turn:${to}?transport=tcp'], username: 'u', credential: 'c' }] }); p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer()) },
        () => { const a = document.createElement('a'); a.href = '/'; a.ping = 'http://${to}/ping'; a.target = 'hidden'; document.body.append(a); a.click() },
      ]
      for (const attempt of tries) { try { const made = attempt(); made?.catch?.(() => {}) } catch {} }
    </script>`

  it('reaches no private address by anything that the page tries', async () => {
    pages.set('/sw.js', `fetch('http://${target}/service-worker', { mode: 'no-cors' })`)
    const end = await opened('/tries', attempts(target))
    expect(end, JSON.stringify(end)).toHaveProperty('visited')
    expect(reached).toEqual([])
  })

  it('reaches an allowed address with the same page', async () => {
    pages.set('/control', attempts(control))
    const over = new AbortController()
    const visiting = visited({ url: `http://${site}/control` }, { signal: over.signal })
    const expected = [
      ...['prefetch', 'style', 'image', 'frame', 'inner-refresh', 'script', 'fetch', 'xhr', 'socket', 'events'],
      ...['beacon', 'worker', 'worker-socket'],
    ]
    const found = () => expected.filter((name) => requested.includes(`control /${name}`))
    await expect.poll(found, patience).toEqual(expected)
    over.abort()
    await visiting
  })

  it.each([
    ['a meta refresh', () => `<meta http-equiv="refresh" content="0;url=http://${target}/refresh">`],
    ['a script', () => `<script>location = 'http://${target}/location'</script>`],
    ['a name that is rebound', () => '<script>location = "http://rebound.test/" </script>'],
  ])('fails when the page navigates to a private address by %s', async (_how, content) => {
    const end = await opened(`/left-${_how.length}`, content())
    expect('failed' in end && end.failed.code).toMatch(/^(?:unsafe_url|fetch_timeout|fetch_failed)$/)
    expect(reached).toEqual([])
  })

  it('fails when its URL redirects to a private address', async () => {
    const end = await visited({ url: `http://${site}/to-private-page` })
    expect('failed' in end && end.failed.code).toBe('unsafe_url')
    expect(reached).toEqual([])
  })

  it.each(['http://rebound-again.test/', 'https://rebound-again.test/'])(
    'checks the address of each connection to %s, not the name',
    async (url) => {
      // the first connection goes to a public address where nothing answers, the next would go to this machine
      await visited({ url, timeout_ms: 5_000 })
      const end = await visited({ url, timeout_ms: 5_000 })
      expect('failed' in end && end.failed.code).toBe('unsafe_url')
    },
  )

  /** A page that uses every way to change something elsewhere, each with its own path. The form navigates, so it is last. */
  const changing = (): string => {
    const worker = `fetch('http://${site}/changed/worker', { method: 'POST', mode: 'no-cors' }).finally(() => postMessage(0))`
    const ways = [
      "fetch('/changed/fetch', { method: 'PUT', body: 'x' })",
      "navigator.sendBeacon('/changed/beacon', 'x')",
      "fetch('/changed/keepalive', { method: 'POST', keepalive: true })",
      "document.getElementById('ping').click()",
      "document.getElementById('frame').srcdoc = document.getElementById('framed').innerHTML",
      `const worker = new Worker(window.URL.createObjectURL(new Blob([${JSON.stringify(worker)}])))`,
      "worker.onmessage = () => setTimeout(() => document.getElementById('form').submit(), 500)",
    ]
    return `
      <a id=ping href="#x" ping="/changed/ping">x</a><iframe id=frame></iframe>
      <template id=framed><form id=f method=post action=/changed/frame></form><script>f.submit()</script></template>
      <form id=form method=post action=/changed/form></form>
      <button id=b>x</button><script>document.getElementById('b').onclick = () => { ${ways.join('; ')} }</script>`
  }

  it.each([
    ['sends requests of every kind that change something once they are recorded', true],
    ['sends no request of any kind that changes something if it is not recorded', false],
  ])('%s', async (_, allowed) => {
    pages.set('/changes', changing())
    pages.set('/changed/form', '<p id=done>Done')
    const before = requested.length
    let requestCount = 0
    const rest = allowed ? { selector: '#done' } : { milliseconds: 2_500 }
    const actions = [{ type: 'click', selector: '#b' } as const, { type: 'waitFor', ...rest } as const]
    const submitting = async () => {
      requestCount++
      return allowed
    }
    await visited({ url: `http://${site}/changes`, actions }, { submitting })
    expect(requestCount).toBe(1)
    const changed = requested.slice(before).flatMap((each) => each.split(' /changed/').slice(1))
    const ways = ['beacon', 'fetch', 'form', 'frame', 'keepalive', 'worker']
    expect(changed.toSorted()).toEqual(allowed ? ways : [])
  })

  it.each([
    ['sends', true, 1],
    ['withholds', false, 0],
  ])('records a WebSocket message before it leaves, and %s it', async (_does, allowed, heard) => {
    pages.set(
      '/socket',
      `<script>const s = new WebSocket('ws://${site}/echo'); s.onopen = () => { s.send('one'); s.send('two') }</script>`,
    )
    const before = messages.length
    let requestCount = 0
    const submitting = async () => {
      requestCount++
      return allowed
    }
    const actions = [{ type: 'waitFor', milliseconds: 2_000 } as const]
    const end = await visited({ url: `http://${site}/socket`, actions }, { submitting })
    expect('visited' in end).toBe(true)
    expect([requestCount, messages.slice(before)]).toEqual([1, heard === 1 ? ['one', 'two'] : []])
  })

  it('limits the windows of a page that opens a hundred, and leaves no process', async () => {
    pages.set(
      '/storm',
      "<button id=b onclick=\"for (let n = 0; n < 100; n++) window.open('/w' + n, 'w' + n)\">x</button>",
    )
    const id = newId('job')
    const actions = [{ type: 'click', selector: '#b' } as const, { type: 'waitFor', milliseconds: 3_000 } as const]
    await visited({ url: `http://${site}/storm`, actions }, { id })
    expect(requested.filter((each) => /\/w\d/.test(each)).length).toBeLessThanOrEqual(maxWindows * 2)
    expect((await processTree(id))?.pids).toEqual([])
  })

  it('reads the first 500,000 characters of a page', async () => {
    pages.set('/long', `<p>${'word '.repeat(200_000)}</p>`)
    const end = await visited({ url: `http://${site}/long` }, inShell)
    const length = 'visited' in end ? end.visited.read.content.length : 0
    expect(length).toBeGreaterThan(maxContentLength - 10)
    expect(length).toBeLessThanOrEqual(maxContentLength)
  })

  it('ends a browser that exceeds its memory limit', async () => {
    const id = newId('job')
    pages.set(
      '/greedy',
      '<script>const all = []; setInterval(() => all.push(new Uint8Array(3e7).fill(1)), 20)</script>',
    )
    const limits = { maxMemoryBytes: 500_000_000, maxBytes: 50_000_000 }
    const actions = Array.from({ length: 6 }, () => ({ type: 'waitFor', milliseconds: 5_000 }) as const)
    const end = await visited({ url: `http://${site}/greedy`, actions }, { ...inShell, limits, id })
    expect('failed' in end && end.failed.code).toBe('browser_out_of_memory')
    expect(end.peakBytes).toBeGreaterThan(limits.maxMemoryBytes)
    expect((await processTree(`--troupe-job=${id}`))?.pids).toEqual([])
  })

  it('ends when its signal is aborted, and leaves no process', async () => {
    const id = newId('job')
    const abort = new AbortController()
    // the page is in its endless loop when its request arrives here
    pages.set('/busy', "<script>fetch('/is-busy'); setTimeout(() => { for (;;); }, 0)</script>")
    onRequest.set('/is-busy', () => abort.abort())
    const end = await visited({ url: `http://${site}/busy` }, { ...inShell, id, signal: abort.signal })
    expect('failed' in end && end.failed.code).toBe('cancelled')
    expect((await processTree(`--troupe-job=${id}`))?.pids).toEqual([])
  })

  it('reads lone surrogates as replacement characters', async () => {
    pages.set(
      '/halves',
      `<body><script>
      document.body.append('a \\uD800 b')
      document.title = 'x\\uD800'
    </script><a href="/x">l</a><script>document.links[0].append('\\uDFFF')</script>`,
    )
    const end = await visited({ url: `http://${site}/halves` }, inShell)
    const { title, content, links } = 'visited' in end ? end.visited.read : { title: null, content: '', links: [] }
    expect(title).toBe('x\uFFFD')
    expect(content).toContain('a \uFFFD b')
    expect(links[0]?.text).toBe('l\uFFFD')
  })
})
