import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenConsole } from '../pages/open-console.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the documentation', () => {
  let console: OpenConsole
  let page: Page

  beforeAll(async () => {
    console = await OpenConsole.start()
    page = console.page
  })
  afterAll(() => console?.stop())

  const open = (path: string) => page.goto(`${console.world.url}${path}`)

  it.each(['/docs', '/docs/tool-server', '/docs/reference/sessions', '/docs/platform-walkthrough'])(
    'has no faults on desktop and phone screens, and loads nothing from elsewhere: %s',
    async (path) => {
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      await open(path)
      expect(await console.faults(`docs${path.replaceAll('/', '-')}`)).toEqual([])
      expect(requests.filter((url) => !url.startsWith(console.world.url))).toEqual([])
      expect(console.complaints).toEqual([])
    },
  )

  it('finds pages and operations by keyboard', async () => {
    await open('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('approve tool call')
    await page.getByRole('status').filter({ hasText: 'found' }).waitFor()
    expect(await console.faults('docs-search')).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/reference\/\w+#\w+\.approve$/)
    await page.getByRole('searchbox').fill('sqlite')
    await page.getByRole('link', { name: /./ }).and(page.locator('#found a')).first().waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('#found').isHidden()).toBe(true)
    expect(console.complaints).toEqual([])
  })

  it.each([
    '<img src=x onerror=document.title=1>',
    '(a+)+$',
    '\\',
    '*'.repeat(5000),
    '\u202E',
    '%00',
    '__proto__',
    '👩‍🚀',
  ])('shows nothing but text for the query %s', async (query) => {
    await open(`/docs?q=${encodeURIComponent(query)}`)
    await page.getByRole('searchbox').waitFor()
    await page.getByRole('searchbox').fill(query)
    expect(await page.locator('#found img').count()).toBe(0)
    expect(await page.title()).toBe('Documentation · Troupe')
    expect(console.complaints).toEqual([])
  })

  it('answers with entity tags and the policy of the console, and 404 for no page', async () => {
    const { url } = console.world
    const first = await fetch(`${url}/docs/reference/sessions`)
    const tag = first.headers.get('etag') ?? ''
    expect(first.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const headers = { 'if-none-match': tag }
    expect((await fetch(`${url}/docs/reference/sessions`, { headers })).status).toBe(304)
    for (const path of ['/docs/none', '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/README.md'])
      expect((await fetch(`${url}${path}`)).status).toBe(404)
  })
})
