import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { html, Site, to } from '#test/support/site.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

const shell = process.env.HEADLESS_SHELL_PATH ?? process.env.CHROMIUM_PATH
const sentence = 'The harbour of the town was built in the spring, and ships have come there since, with timber. '

/** A page whose text is made by its script. */
const made = (name: string, more = '') =>
  html(`<!doctype html><title>Shell</title><div id=root></div><script>
    document.title = ${JSON.stringify(name)}
    root.innerHTML = '<main><h1>${name}</h1>' + ${JSON.stringify(`<p>${name}: ${sentence.repeat(4)}</p>`)} + '</main>'
    ${more}
  </script>`)

describe.skipIf(shell === undefined)('pages made by scripts', () => {
  let site: Site
  let world: World

  beforeAll(async () => {
    site = await Site.open()
    world = await World.start({
      env: { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host, CHROMIUM_PATH: shell ?? '', WEB_HOST_DELAY_MS: '0' },
    })
  })
  beforeEach(() => {
    site.pages.clear()
    site.pages.set('/robots.txt', { body: 'User-agent: *\nDisallow: /denied' })
    site.requested.length = 0
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  const post = (verb: string, body: object) => world.api.post(`/api/v1/web/${verb}`, { timeoutMs: 20_000, ...body })

  const crawl = (body: object) => world.api.post('/api/v1/web/crawl', body)

  it('are extracted as they show, by default only if they have almost no text', async () => {
    site.pages.set('/made', made('Made'))
    site.pages.set(
      '/plain',
      html(`<title>Plain</title><main><p>${sentence.repeat(4)}</p></main><script>document.title = 'x'</script>`),
    )
    const { body } = await post('extract', { url: site.url('/made') })
    expect(body).toMatchObject({ title: 'Made', metadata: { rendered: true }, untrusted: true })
    expect(body.content).toContain('Made: The harbour')
    for (const { text, start, end } of body.evidenceSpans) expect(body.content.slice(start, end)).toBe(text)
    expect(site.requested.at(-1)?.headers['user-agent']).toMatch(/Chrome\/.* TroupeBot\/1\.0/)
    const plain = (await post('extract', { url: site.url('/plain') })).body
    expect([plain.title, plain.metadata.rendered]).toEqual(['Plain', undefined])
    const never = (await post('extract', { url: site.url('/made'), render: false })).body
    expect([never.content, never.title]).toEqual(['', 'Shell'])
    const always = (await post('extract', { url: site.url('/plain'), render: true })).body
    expect([always.title, always.metadata.rendered]).toEqual(['x', true])
  })

  it('are fetched as HTML with their shadow roots and frames, and without what they hide', async () => {
    site.pages.set('/frame', html('<p>text of a frame</p>'))
    const more = `
      const card = document.createElement('x-card')
      document.body.append(card, document.createElement('iframe'))
      card.attachShadow({ mode: 'open' }).innerHTML = '<p>text of a root &lt;b&gt;</p><a href="/shady">link</a>'
      document.querySelector('iframe').src = '/frame'
      document.body.insertAdjacentHTML('beforeend', '<p style="display:none">hidden words</p>')`
    site.pages.set('/made', made('Made', more))
    const still = (await post('fetch', { url: site.url('/made') })).body
    expect([still.rendered, still.body.includes('<script')]).toEqual([false, true])
    const { status, body } = await post('fetch', { url: site.url('/made'), render: true })
    expect([status, body.rendered, body.mimeType, body.charset]).toEqual([200, true, 'text/html', 'utf-8'])
    for (const part of ['<h1>Made</h1>', 'text of a frame', 'text of a root &lt;b>', site.url('/shady')])
      expect(body.body).toContain(part)
    expect(body.body).not.toMatch(/hidden words|<script/)
  })

  it('are crawled through the links that their scripts make, if the crawl requests it', async () => {
    site.pages.set('/', made('Start', `root.insertAdjacentHTML('beforeend', '<a href="/next">next</a>')`))
    site.pages.set('/next', made('Next'))
    const still = (await crawl({ seeds: [site.url('/')] })).body
    expect(still.pages).toMatchObject([{ status: 'skipped', reason: 'no_text' }])
    const { body } = await crawl({ seeds: [site.url('/')], render: 'auto' })
    expect(body.pages.map(({ status }: { status: string }) => status)).toEqual(['indexed', 'indexed'])
    const found = (await world.api.post('/api/v1/web/search', { query: 'Next harbour' })).body
    expect(found.results.map(({ url }: { url: string }) => url)).toContain(site.url('/next'))
    const { id } = (await world.api.post('/api/v1/web/crawls', { seeds: [site.url('/next')], render: true })).body
    await vi.waitFor(async () => {
      const job = (await world.api.get(`/api/v1/web/crawls/${id}`)).body
      expect(job).toMatchObject({ status: 'completed', indexed: 1 })
    }, patience)
  })

  it('are not rendered past robots.txt, private addresses or errors', async () => {
    site.pages.set('/denied', made('Denied'))
    site.pages.set('/to-denied', html(`<script>location.href = '/denied'</script>`))
    site.pages.set('/to-denied-late', to('/denied'))
    site.pages.set('/to-private', html(`<script>location.href = 'http://169.254.169.254/latest/meta-data/'</script>`))
    site.pages.set('/gone', { ...made('Gone'), status: 410 })
    const codeOf = async (path: string) => (await post('extract', { url: site.url(path), render: true })).body.error
    expect(await codeOf('/denied')).toBe('robots_denied')
    expect(await codeOf('/to-denied')).toBe('robots_denied')
    expect(await codeOf('/to-denied-late')).toBe('robots_denied')
    expect(await codeOf('/to-private')).toBe('unsafe_url')
    expect(await codeOf('/gone')).toBe('fetch_failed')
    expect(site.paths()).not.toContain('/denied')
  })

  it('submit nothing and load no pictures, but may call their own server', async () => {
    site.pages.set('/data', { headers: { 'content-type': 'application/json' }, body: '{"text":"from the server"}' })
    site.pages.set(
      '/busy',
      html(`<div id=root></div><form id=f method=post action=/submitted></form><img src=/picture.png><script>
        navigator.sendBeacon('/beacon', 'x')
        new WebSocket('ws://' + location.host + '/socket')
        fetch('/data', { method: 'POST' }).then((r) => r.json()).then(({ text }) => { root.textContent = text })
        setTimeout(() => f.submit(), 100)
      </script>`),
    )
    const { body } = await post('extract', { url: site.url('/busy'), render: true })
    expect(body.content).toContain('from the server')
    expect(site.paths().filter((path) => /submitted|picture|beacon/.test(path))).toEqual([])
    expect(site.upgrades).toBe(0)
  })

  it.each<readonly [string, string, string]>([
    ['spins', '<p id=root></p><script>for (;;);</script>', 'fetch_timeout'],
    ['spins later', '<p id=root></p><script>onload = () => setTimeout(() => { for (;;); })</script>', 'fetch_timeout'],
    [
      'opens 1,000 windows',
      '<p>x</p><script>for (let n = 0; n < 1000; n++) window.open("/w" + n, "w" + n)</script>',
      'fetch_failed|response_too_large|fetch_timeout',
    ],
    ['grows to 10 MB', '<p id=root></p><script>root.textContent = "x".repeat(1e7)</script>', 'response_too_large'],
    [
      'has 10,000 frames',
      '<p>some words</p><script>for (let n = 0; n < 10000; n++) document.body.append(document.createElement("iframe"))</script>',
      'read|fetch_timeout',
    ],
    ['reloads for ever', '<p>some words</p><script>location.reload()</script>', 'read|fetch_timeout|fetch_failed'],
    ['shows dialogs', '<p>some words</p><script>alert(1); confirm(2); onbeforeunload = () => "x"</script>', 'read'],
  ])('end in time when a page %s', async (_what, page, code) => {
    // what ends by itself ends before its limit, which a busy machine would meet
    const timeoutMs = code.includes('fetch_timeout') ? 2_500 : 20_000
    site.pages.set('/hostile', html(page))
    const from = performance.now()
    const { body } = await post('extract', { url: site.url('/hostile'), render: true, timeoutMs })
    expect(body.error ?? 'read').toMatch(new RegExp(`^(?:${code})$`))
    const tookMs = performance.now() - from
    // the time to render, 5 s beyond it, and the start of a browser
    site.pages.set('/usual', html('<p>words</p>'))
    await expectWithin(timeoutMs + 5_000 + 8_000, tookMs, () =>
      post('extract', { url: site.url('/usual'), render: true, timeoutMs: 30_000 }),
    )
    expect((await processTree('--troupe-job=req_'))?.pids).toEqual([])
  })
})
