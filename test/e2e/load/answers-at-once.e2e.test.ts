import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'

const message = { role: 'assistant', content: 'x'.repeat(30_000_000) }
const answer = Buffer.from(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message }] }))

/** An eighth of this heap has room for one such answer at a time. */
const nodeOptions = '--max-old-space-size=256'

describe('many concurrent long answers of providers', () => {
  const provider = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
  let world: World

  beforeAll(async () => {
    await once(provider.listen(0, '127.0.0.1'), 'listening')
    const { port }: AddressInfo = Object(provider.address())
    const host = `127.0.0.1:${port}`
    world = await World.start({ tools: [{ host }], env: { NODE_OPTIONS: nodeOptions } })
    const own = { name: 'Ours', provider: 'rack', base_url: `http://${host}/v1`, api_key: 'sk-0123456789abcdef' }
    expect((await world.api.post('/v1/provider-connections', own)).status).toBe(201)
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    provider.close()
  })

  it('are passed on or refused with 503, and the process stays alive', async () => {
    const chat = async (): Promise<number> => {
      const messages = [{ role: 'user', content: 'Hi' }]
      return (await world.api.post('/v1/chat/completions', { model: 'rack/m', messages })).status
    }
    const statuses = await Promise.all(Array.from({ length: 16 }, chat))
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(statuses).toContain(200)
    expect(await chat()).toBe(200)
  })
})
