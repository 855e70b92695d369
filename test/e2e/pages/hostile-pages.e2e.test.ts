import type { BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { html, Site } from '#test/support/site.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { openBrowser } from './open-browser.ts'
import { headed } from './open-console.ts'

const executablePath = process.env.CHROMIUM_PATH

/** Markup that a page tries to run in the console. */
const payload = `"'><img src=x onerror="window.attacked=1"><script>window.attacked=1</script><svg onload="window.attacked=1">`
const escaped = payload.replaceAll('<', '&lt;')
const path = `/${encodeURIComponent(payload)}`
/** Short enough to be shown in full where long texts are shown as their length. */
const shortPath = '/%3Cimg%20src=x%20onerror=x%3E'

let world: World
let site: Site
let context: BrowserContext
let page: Page
let project: string
const complaints: string[] = []

/** A browser is slow on a shared machine. */
const aJob = { ...patience, timeout: 240_000 }

/** Expects that the payload became no element and ran no script, and that the content policy blocked nothing. */
const isHarmless = async (): Promise<void> => {
  expect(await page.evaluate('[window.attacked, document.querySelectorAll("img[src=x], svg[onload]").length]')).toEqual(
    [undefined, 0],
  )
  expect(complaints).toEqual([])
}

const read = async (actor: string): Promise<void> => {
  await page.goto(`${world.url}/#/projects/${project}/actors/${actor}`)
  await headed(page, actor).waitFor()
}

/** Opens every tab of an actor's page. @returns their texts. */
const lookThrough = async (actor: string): Promise<string> => {
  await read(actor)
  const shown: string[] = []
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click()
    await isHarmless()
    shown.push((await page.getByRole('region', { name: 'History' }).textContent()) ?? '')
  }
  return shown.join('\n')
}

describe.skipIf(executablePath === undefined)('text of hostile pages in the console', () => {
  beforeAll(async () => {
    const said = `<!doctype html><title>${escaped}</title><main><h1>${escaped}</h1><p id="p">${escaped} ${'and more words of it. '.repeat(20)}</p></main>`
    site = await Site.open({ [path]: html(said), [shortPath]: html(said) })
    const env = { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host, CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '' }
    world = await World.start({ env })
    project = (await (await world.dashboard()).get('/api/projects')).body.data[0].id
    context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(patience.timeout)
    page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message())
      void dialog.dismiss()
    })
    await page.goto(world.url)
    await page.getByLabel('E-mail').fill(world.ownerEmail)
    await page.getByLabel('Password').fill(world.ownerPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
  }, 120_000)
  afterAll(async () => {
    await context.close()
    await world.stop()
    await site.close()
  })

  it('is shown as plain text in a browser job, next to the screenshots of its steps', async () => {
    const { body: begun } = await world.api.post('/v1/web/browse', { url: site.url(path), timeoutMs: 60_000 })
    const job = await vi.waitFor(async () => {
      const { body } = await world.api.get(`/v1/web/browse/${begun.id}`)
      expect(['queued', 'running']).not.toContain(body.status)
      return body
    }, aJob)
    expect(job.error).toBeNull()
    expect(job).toMatchObject({ status: 'completed', result: { title: payload } })
    await lookThrough(job.id)
    // on a shared machine a screenshot may not be taken in time
    const pictured = job.steps.findIndex(({ screenshot }: { screenshot: string | null }) => screenshot !== null)
    expect(pictured).toBeGreaterThanOrEqual(0)
    const picture = page.getByRole('img', { name: `Page after step ${pictured + 1}` })
    await expect.poll(() => picture.getAttribute('width'), patience).toBe('1280')
    expect(await page.getByRole('region', { name: 'History' }).textContent()).toContain('onerror')
    await isHarmless()
    expect(await page.getByRole('link', { name: 'onerror' }).count()).toBe(0)
    await page.goto(`${world.url}/#/projects/${project}/list/browser_job`)
    await page.getByRole('link').and(page.getByTitle(job.id)).waitFor()
    await isHarmless()
  }, 300_000)

  it('is shown as plain text in the log of a session whose agent read it', async () => {
    const { body: agent } = await world.api.post('/v1/agents', {
      name: 'Reader',
      config: { model: 'simulated-1', web: ['fetch'] },
    })
    const session = await world.api.createSession({ agent_id: agent.id })
    const frames = await (
      await world.api.turn(session, { input: `Use the tool web_fetch with url: "${site.url(path)}"` })
    ).all()
    expect(JSON.stringify(frames)).toContain('untrusted')
    expect(await lookThrough(session)).toContain('onerror')
  })

  it('is shown as plain text in a crawl', async () => {
    const { body } = await world.api.post('/v1/web/crawls', { seeds: [site.url(shortPath)] })
    await vi.waitFor(async () => {
      const crawl = await world.api.get(`/v1/web/crawls/${body.id}`)
      expect(crawl.body.status).toBe('completed')
    }, patience)
    expect(await lookThrough(body.id)).toContain('%3Cimg')
  })
})
