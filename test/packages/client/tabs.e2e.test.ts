import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Troupe } from '#client/index.ts'
import { mintToken } from '#client/server/index.ts'
import { openBrowser } from '#test/e2e/pages/open-browser.ts'
import { atNight, World } from '#test/e2e/world.ts'
import { bundledProgram, type PageServer, servePage } from '../examples/bundled.ts'

/** A page that sends one message after the other until it is closed, and counts them. */
const program = `
import { sharedTabs, Troupe } from '@troupe/client'

const fetchToken = () => fetch('/token', { method: 'POST' }).then((answer) => answer.json())
const troupe = new Troupe({ baseUrl: document.body.dataset.baseUrl, token: sharedTabs('ada', fetchToken) })
const session = troupe.sessions.open()
const counts = { sent: 0, failed: [] }
window.counts = counts
const talk = async () => {
  while (!window.isOver) {
    try {
      const { text } = await session.send('reply exactly: answer ' + counts.sent)
      if (text !== 'answer ' + counts.sent) throw new Error('not the answer: ' + text)
      counts.sent++
    } catch (error) {
      counts.failed.push(String(error) + ' ' + error.code)
    }
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  window.isDone = true
}
talk()
`

/** Life of a token in seconds, and the time for which the tabs talk. */
const [lifeS, forMs] = [5, atNight ? 600_000 : 24_000]

let [world, server, browser]: [World, PageServer, Browser] = Object(Array(3))
const mintedAt: number[] = []
beforeAll(async () => {
  world = await World.start()
  browser = await openBrowser()
  const tenant = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
  const troupe = new Troupe({ baseUrl: world.url, key: world.secretKey })
  const owner = { tenant_id: tenant.body.id, external_user_id: 'ada' }
  const html = `<!doctype html><title>Tab</title><body data-base-url="${world.url}"><script type="module" src="/code.js"></script>`
  server = await servePage({ html, code: await bundledProgram(program) }, () => {
    mintedAt.push(performance.now())
    return mintToken(troupe, { ...owner, expires_in: lifeS })
  })
})
afterAll(async () => {
  await browser.close()
  server.close()
  await world.stop()
})

const countsOf = (page: Page): Promise<{ sent: number; failed: readonly string[] }> =>
  page.evaluate(() => Object(globalThis).counts)

it(
  `three tabs with tokens of ${lifeS} s lose no message, and fetch at most one token a life together`,
  async () => {
    const context = await browser.newContext()
    const tabs = await Promise.all([1, 2, 3].map(() => context.newPage()))
    await Promise.all(tabs.map((tab) => tab.goto(server.url)))
    await tabs[0]?.waitForTimeout(forMs)
    for (const tab of tabs) await tab.evaluate(() => Object.assign(globalThis, { isOver: true }))
    for (const tab of tabs) await tab.waitForFunction(() => Object(globalThis).isDone === true)
    const counts = await Promise.all(tabs.map(countsOf))
    console.info(`${counts.map(({ sent }) => sent)} messages, ${mintedAt.length} tokens in ${forMs / 1000} s`)
    expect(counts.flatMap(({ failed }) => failed)).toEqual([])
    for (const { sent } of counts) expect(sent).toBeGreaterThan(5)
    // a token is renewed after four fifths of its life, when a request needs one
    const gaps = mintedAt.slice(1).map((at, nth) => at - Number(mintedAt[nth]))
    expect(Math.min(...gaps)).toBeGreaterThan(0.8 * lifeS * 1000 - 1000)
    expect(mintedAt.length).toBeLessThanOrEqual(Math.ceil((forMs + 5000) / (0.8 * lifeS * 1000)) + 1)
    await context.close()
  },
  forMs + 120_000,
)
