import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'

const longest = 7_000_000

/** A sixth of this heap has room for six such chats at a time. */
const nodeOptions = '--max-old-space-size=256'

describe('many concurrent long bodies', () => {
  let world: World

  beforeAll(async () => {
    world = await World.start({ env: { NODE_OPTIONS: nodeOptions } })
  }, 120_000)
  afterAll(() => world.stop())

  const chat = async (text: string): Promise<number> => {
    const messages = [{ role: 'user', content: text }]
    const { status, headers } = await world.api.post('/v1/chat/completions', { model: 'simulated-1', messages })
    if (status === 503) expect(headers.get('retry-after')).toBe('1')
    return status
  }

  const memoryTaken = async (): Promise<number> => {
    const { body } = await world.api.get('/metrics')
    return Number(/^troupe_body_bytes (\S+)$/m.exec(String(body))?.[1])
  }

  it('wait for memory or get a 503 with Retry-After, while short requests are served', async () => {
    const text = 'x'.repeat(longest)
    const long = Promise.all(Array.from({ length: 24 }, () => chat(text)))
    expect(await chat('Hi')).toBe(200)
    const statuses = await long
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(statuses).toContain(200)
    await expect.poll(memoryTaken).toBe(0)
    expect(await chat(text)).toBe(200)
  })

  it('of the tool server are counted while they arrive', async () => {
    const [declared, sent] = [1_000_000, 600_000]
    const head = `POST /mcp HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${world.secretKey}\r\n`
    const sender = connect(world.port, '127.0.0.1', () => {
      sender.write(`${head}content-length: ${declared}\r\n\r\n`)
      sender.write(' '.repeat(sent))
    })
    await expect.poll(memoryTaken).toBe(sent)
    sender.destroy()
    await expect.poll(memoryTaken).toBe(0)
  })
})
