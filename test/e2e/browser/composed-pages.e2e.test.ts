import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { disabledFeatures } from '#actors/browser/engine/browser-flags.ts'
import { startBrowser } from '#actors/browser/engine/browser-process.ts'
import { findChromium } from '#actors/browser/engine/find-chromium.ts'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import type { ProfileState } from '#actors/browser/engine/schema.ts'
import { type VisitEnd, type VisitParts, type VisitRequest, visit } from '#actors/browser/engine/visit.ts'
import type { BrowserRequest } from '#machines/browser-job/browser-job.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { newId } from '#runtime/ids.ts'
import { atNight } from '#test/setup/at-night.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { html, Site } from '#test/support/site.ts'

const plain: BrowserRequest = {
  ...{ url: '', actions: [], screenshot: false, snapshot_tokens: null, wait_until: 'load' },
  ...{ timeout_ms: 60_000, width: 800, height: 600, profile: null },
}
const desktop = process.env.CHROMIUM_PATH ?? null
const shell = process.env.HEADLESS_SHELL_PATH ?? null

describe.skipIf(desktop === null)('a page in a browser', () => {
  let site: Site
  let other: Site
  let guard: SsrfGuard

  beforeAll(async () => {
    site = await Site.open()
    other = await Site.open()
    guard = openSsrfGuard({ allowedPrivateHosts: [], allowedContentHosts: [site.host, other.host] })
  })
  afterAll(async () => {
    await guard.close()
    await Promise.all([site.close(), other.close()])
  })

  const visited = (
    path: string,
    request: Partial<BrowserRequest> = {},
    more: Partial<VisitRequest & VisitParts> = {},
  ): Promise<VisitEnd> =>
    visit(
      {
        guard: guard.content,
        path: () => findChromium(shell),
        limits: { maxMemoryBytes: 2 ** 31, maxBytes: 50_000_000 },
        now: Date.now,
        ...more,
      },
      {
        ...{ id: newId('job'), state: null, signal: new AbortController().signal },
        request: { ...plain, url: site.url(path), ...request },
        submitting: async () => true,
        stepped: async () => {},
        handOver: async () => null,
        ...more,
      },
    )
  const read = async (path: string, request: Partial<BrowserRequest> = {}) => {
    const end = await visited(path, request)
    if ('failed' in end) throw end.failed
    return end.visited.read
  }

  it('is read with its open shadow roots and the frames of its site, in the order in which it shows them', async () => {
    site.pages.set('/frame', html('<p>text of the frame</p><a href="/framed">framed link</a>'))
    other.pages.set('/elsewhere', html('<p>text of another origin</p>'))
    site.pages.set(
      '/composed',
      html(`<title>Composed</title><p>before</p><x-card><span slot=name>slotted</span><em>never shown</em></x-card>
      <iframe src="/frame"></iframe><iframe srcdoc="<p>text of a srcdoc</p>"></iframe>
      <iframe src="${other.url('/elsewhere')}"></iframe>
      <iframe src="/frame" style="display:none"></iframe><p style="display:none">hidden words</p><p>after</p>
      <script>
        const outer = document.querySelector('x-card').attachShadow({ mode: 'open' })
        outer.innerHTML = '<p>text of a shadow root</p><slot name=name></slot><x-inner></x-inner><a href="/shady">shady link</a>'
        outer.querySelector('x-inner').attachShadow({ mode: 'open' }).innerHTML = '<p>text of an inner root</p>'
      </script>`),
    )
    const { content, links } = await read('/composed')
    const parts = [
      ...['before', 'text of a shadow root', 'slotted', 'text of an inner root', 'text of the frame'],
      ...['text of a srcdoc', 'after', 'text of another origin'],
    ]
    expect(parts.map((part) => content.indexOf(part))).toEqual(
      parts.map((part) => content.indexOf(part)).toSorted((a, b) => a - b),
    )
    for (const part of parts) expect(content).toContain(part)
    expect(content).not.toMatch(/never shown|hidden words/)
    expect(content.split('text of the frame')).toHaveLength(2)
    expect(links.map(({ text }) => text)).toEqual(expect.arrayContaining(['shady link', 'framed link']))
  })

  const nested = (levels: number) =>
    html(`<p>top</p><div id=d></div><script>
        let at = document.getElementById('d')
        for (let n = 0; n < ${levels}; n++) {
          const root = at.attachShadow({ mode: 'open' })
          root.innerHTML = '<div></div>'
          at = root.firstChild
        }
        at.append('bottom')
      </script>`)

  it('is read if it nests 200 shadow roots, or has 1,000 frames', async () => {
    site.pages.set('/deep', nested(200))
    expect((await read('/deep')).content).toMatch(/top\s+bottom/)
    // Chromium loads 1,000 of them
    const frames =
      '<script>for (let n = 0; n < 1100; n++) document.body.append(document.createElement("iframe"))</script>'
    site.pages.set('/frames', html(`<p>words of the page</p>${frames}`))
    expect((await read('/frames')).content).toContain('words of the page')
  })

  it.runIf(atNight)('fails alone if it nests 5,000 shadow roots, on which Chromium itself may crash', async () => {
    site.pages.set('/deeper', nested(5_000))
    const end = await visited('/deeper')
    expect('failed' in end ? end.failed.code : 'read').toMatch(/^(?:read|browser_crashed)$/)
  })

  it('continues in the window that a click opens, and in the page before once that is closed', async () => {
    site.pages.set(
      '/opener',
      html('<p>opener page</p><button id=b onclick="window.open(\'/popup\')">open</button><i id=i>here</i>'),
    )
    site.pages.set(
      '/popup',
      html(
        '<title>Popup</title><p>popup page</p><button id=c>more</button><script>c.onclick = () => document.body.append("clicked")</script>',
      ),
    )
    const click = (selector: string) => ({ type: 'click', selector }) as const
    const followed = await read('/opener', { actions: [click('#b'), click('#c')] })
    expect(followed).toMatchObject({ title: 'Popup', finalUrl: site.url('/popup') })
    expect(followed.content).toContain('clicked')
    site.pages.set('/popup', html('<p>popup page</p><button id=c onclick="window.close()">x</button>'))
    const back = await read('/opener', { actions: [click('#b'), click('#c'), click('#i')] })
    expect(back.content).toContain('opener page')
    site.pages.set('/pops', html('<p>this page</p><script>open("/popup"); open("/popup")</script>'))
    expect((await read('/pops', { actions: [{ type: 'waitFor', milliseconds: 500 }] })).content).toContain('this page')
  })

  it('leaves its IndexedDB in the profile, which is there the next time, unless it is too large', async () => {
    const script = (count: number) => `<p id=p>…</p><script>
      const opening = indexedDB.open('notes', 1)
      opening.onupgradeneeded = () => opening.result.createObjectStore('all')
      opening.onsuccess = () => {
        const store = opening.result.transaction('all', 'readwrite').objectStore('all')
        const reading = store.get('note')
        reading.onsuccess = () => {
          p.textContent = 'found ' + (reading.result?.text ?? 'nothing')
          store.put({ text: 'kept', more: 'x'.repeat(${count}) }, 'note')
        }
        store.transaction.oncomplete = () => { p.id = 'done' }
      }
    </script>`
    const actions = [{ type: 'waitFor', selector: '#done' }] as const
    const once = async (path: string, state: ProfileState | null) => {
      const end = await visited(path, { actions, profile: { name: 'n', save: true } }, { state })
      if ('failed' in end) throw end.failed
      return end.visited
    }
    site.pages.set('/notes', html(script(10)))
    const first = await once('/notes', null)
    expect(first.read.content).toBe('found nothing')
    const second = await once('/notes', first.state)
    expect(second.read.content).toBe('found kept')
    site.pages.set('/heap', html(script(30_000_000)))
    const heap = await once('/heap', null)
    expect(JSON.stringify(heap.state).length).toBeLessThan(256 * 1024)
  })

  it.each<readonly [string, string]>([
    ['while it loads', '<p>x</p><script>for (;;);</script>'],
    ['once it has loaded', '<p>x</p><script>onload = () => setTimeout(() => { for (;;); }, 50)</script>'],
  ])('that runs an endless script %s ends the visit within five seconds of its limit', async (_when, page) => {
    // the page keeps a processor busy until then
    const limitMs = 2_500
    const id = newId('job')
    site.pages.set('/spin', html(page))
    const from = performance.now()
    const end = await visited('/spin', { timeout_ms: limitMs }, { id })
    const tookMs = performance.now() - from
    site.pages.set('/usual', html('<p>words</p>'))
    // the start of the browser does not count
    await expectWithin(limitMs + 5_000 + 3_000, tookMs, () => visited('/usual', { timeout_ms: 60_000 }))
    expect('failed' in end && end.failed.code).toBe('fetch_timeout')
    expect((await processTree(`--troupe-job=${id}`))?.pids).toEqual([])
  })

  it('lets the browser connect to no other host than that of the page', async () => {
    const requested = new Set<string>()
    const watched = {
      check: guard.content.check,
      connect: (target: { readonly hostname: string; readonly port: number }) => {
        requested.add(`${target.hostname}:${target.port}`)
        return guard.content.connect(target)
      },
    }
    site.pages.set(
      '/form',
      html(`<form action="/form"><input name=email autocomplete=email><input name=fname autocomplete=given-name>
        <input name=street autocomplete=street-address><input name=zip autocomplete=postal-code>
        <input type=tel name=phone><textarea>Mispelt wrods</textarea><button>Go</button></form>`),
    )
    const wait = { type: 'waitFor', milliseconds: 5_000 } as const
    const actions = [
      { type: 'type', selector: '[name=email]', text: 'ann@example.com' } as const,
      ...[wait, wait],
      { type: 'click', selector: 'button' } as const,
      wait,
    ]
    const end = await visited('/form', { actions }, { guard: watched, path: () => findChromium(desktop) })
    if ('failed' in end) throw end.failed
    expect([...requested]).toEqual([site.host])
  })

  it('of a later attempt of the same job survives the end of an earlier one, as when another process has taken over', async () => {
    const mark = newId('job')
    const open = async () =>
      startBrowser({ path: await findChromium(shell), mark, maxMemoryBytes: 2 ** 31, onTooLarge: () => {} })
    const [earlier, later] = [await open(), await open()]
    await earlier.close()
    const page = await later.browser.newPage()
    expect(await page.title()).toBe('')
    await later.close()
    expect((await processTree(`--troupe-job=${mark}`))?.pids).toEqual([])
  })

  it('has all features off that Playwright turns off', async () => {
    const mark = newId('job')
    const running = await startBrowser({
      ...{ path: await findChromium(shell), mark, maxMemoryBytes: 2 ** 31, onTooLarge: () => {} },
    })
    const [pid] = (await processTree(`--troupe-job=${mark}`))?.pids ?? []
    const switches = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    await running.close()
    const off = switches.flatMap((each) => each.split('--disable-features=')[1]?.split(',') ?? [])
    expect(off.filter((feature) => !disabledFeatures.includes(feature))).toEqual([])
    expect(off).toContain('AutofillServerCommunication')
  })
})
