import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Troupe } from '#client/index.ts'
import { mintToken } from '#client/server/index.ts'
import { pngOf } from '#src/parsing/documents/scans/png.ts'
import { closePages, openBrowser } from '#test/e2e/pages/open-browser.ts'
import { World } from '#test/e2e/world.ts'
import { bundled, type PageServer, servePage } from './bundled.ts'

let [world, server, browser]: [World, PageServer, Browser] = Object(Array(3))
beforeAll(async () => {
  world = await World.start()
  browser = await openBrowser()
  const tenant = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
  const owner = { tenant_id: tenant.body.id, external_user_id: 'ada' }
  const made = await world.api.post('/v1/agents', { name: 'Shop', config: { model: 'simulated-1' } })
  const troupe = new Troupe({ baseUrl: world.url, key: world.secretKey })
  const code = await bundled('examples/chat/images.tsx')
  const html = `<!doctype html><title>Chat</title><body data-base-url="${world.url}" data-agent_id="${made.body.id}"><div id="root"></div><script type="module" src="/code.js"></script>`
  server = await servePage({ html, code }, () => mintToken(troupe, { ...owner, permissions: ['sessions:turn'] }))
})
afterEach(() => closePages(browser))
afterAll(async () => {
  server.close()
  await world.stop()
})

const png = (width: number, height: number) =>
  pngOf({ width, height, channels: 1, data: new Uint8Array(width * height) })

const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer })

/** Widths of the images of messages, as the page has drawn them. */
const drawn = (page: Page) =>
  page.locator('li img').evaluateAll((images) => images.map((image) => Object(image).naturalWidth))

describe('the example of a chat with images', () => {
  it('attaches images, removes one, sends the others, and shows them from the server after a reload', async () => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(server.url)
    await page.getByLabel('Images').setInputFiles([file('a.png', png(64, 48)), file('b.png', png(32, 24))])
    await page.getByRole('button', { name: 'Remove a.png' }).click()
    await page.getByRole('button', { name: 'Remove b.png' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    const answer = page.getByRole('listitem').last()
    await expect.poll(() => answer.textContent()).toContain('Image 1 is a PNG of 32 × 24 pixels.')
    expect(await page.getByRole('button', { name: /Remove/ }).count()).toBe(0)
    await expect.poll(() => drawn(page)).toEqual([32])
    const [session] = (await world.api.get('/v1/sessions?limit=1')).body.data
    await page.goto(`${server.url}/?again#${session.id}`)
    await expect.poll(() => drawn(page)).toEqual([32])
    expect(await page.locator('li img').getAttribute('src')).toMatch(/^blob:/)
  })

  it('says which file is no image, and keeps the others', async () => {
    const page = await (await browser.newContext()).newPage()
    await page.goto(server.url)
    const files = [file('terms.pdf', Buffer.from('%PDF-1.7')), file('b.png', png(32, 24))]
    await page.getByLabel('Images').setInputFiles(files)
    await page.getByRole('button', { name: 'Remove b.png' }).waitFor()
    expect(await page.getByRole('status').textContent()).toMatch(/^terms\.pdf is no image/)
  })
})
