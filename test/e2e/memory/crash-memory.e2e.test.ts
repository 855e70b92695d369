import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'

const timeout = 120_000

describe.each(either('mongo'))('memory and kill -9 on $store', ({ store }) => {
  let world: World

  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  const contents = async (userId: string) => {
    const found: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await world.api.get(`/v1/memory/list?userId=${userId}&limit=100${cursor}`)
      found.push(...body.memories.map(({ content }: { content: string }) => content))
      if (body.nextCursor === null) return found
      cursor = `&cursor=${body.nextCursor}`
    }
  }

  it('keeps every acknowledged batch, and stores none twice when it is sent again', { timeout }, async () => {
    const batches = Array.from({ length: 40 }, (_, n) => ({
      key: randomUUID(),
      memories: Array.from({ length: 25 }, (_item, item) => ({ content: `Fact ${item} of batch ${n} is stored` })),
    }))
    const send = async ({ key, memories }: (typeof batches)[number]) => {
      const extra = { headers: { 'idempotency-key': key } }
      const { status } = await world.api.post('/v1/memory/write/batch', { userId: 'ada', memories }, extra)
      return status === 201
    }
    const sent = batches.map((batch) => send(batch).catch(() => false))
    await Promise.race(sent)
    await world.crash()
    const acknowledged = await Promise.all(sent)
    await world.restart()
    const stored = new Set(await contents('ada'))
    for (const [n, batch] of batches.entries())
      if (acknowledged[n] === true) for (const { content } of batch.memories) expect(stored).toContain(content)
    for (const batch of batches) await vi.waitFor(async () => expect(await send(batch)).toBe(true), patience)
    const all = await contents('ada')
    expect(all.toSorted()).toEqual(batches.flatMap(({ memories }) => memories.map(({ content }) => content)).toSorted())
  })

  it('writes an exchange once whose write was in progress', { timeout }, async () => {
    const receipts: string[] = []
    for (let n = 0; n < 10; n++) {
      const facts = [{ subject: `Friend ${n}`, relation: 'lives_in', object: `Town ${n}` }]
      const { body } = await world.api.post('/v1/memory/remember', { userId: 'bob', user: 'x', facts, wait: false })
      receipts.push(body.request_id)
    }
    await world.crash()
    await world.restart()
    for (const receipt of receipts)
      await vi.waitFor(async () => {
        const { body } = await world.api.get(`/v1/memory/writes/${receipt}`)
        expect(body).toMatchObject({ status: 'success', written: 1 })
      }, patience)
    expect((await contents('bob')).toSorted()).toEqual(
      receipts.map((_, n) => `Friend ${n} lives in Town ${n}`).toSorted(),
    )
  })
})
