import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LoopbackServer } from '#test/support/loopback-server.ts'
import { World } from '../world.ts'
import { begun, ended } from './jobs-of.ts'

/** A site that closes the connection of each request that changes something, without a response. */
class ClosingSite extends LoopbackServer {
  readonly changes: string[] = []

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const _part of request);
    if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(page)
      return
    }
    this.changes.push(request.url ?? '')
    response.socket?.destroy()
  }
}

const page = `<!doctype html><html lang="en"><title>Shop</title>
<form method="post" action="/form"><button id="form">Buy</button></form>
<button id="fetch">Buy</button><p id="sent" hidden>Sent</p>
<script>document.getElementById('fetch').onclick = () =>
  fetch('/fetch', { method: 'POST', body: 'one' }).catch(() => { document.getElementById('sent').hidden = false })
</script></html>`

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('a browser job', () => {
  let site: ClosingSite
  let world: World
  beforeAll(async () => {
    site = await new ClosingSite().listening()
    const env = { CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host }
    world = await World.start({ env })
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  it.each([
    ['form', [{ type: 'click', selector: '#form' }]],
    [
      'fetch',
      [
        { type: 'click', selector: '#fetch' },
        { type: 'waitFor', selector: '#sent' },
      ],
    ],
  ])('sends a %s once if the site closes the connection without a response', async (kind, actions) => {
    const job = await ended(world.api, await begun(world.api, { url: site.url('/'), actions }))
    expect(job).toMatchObject({ submitted: true, attempts: 1 })
    expect(site.changes.filter((path) => path === `/${kind}`)).toHaveLength(1)
  })
})
