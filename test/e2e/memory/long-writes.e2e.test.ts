import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { World } from '../world.ts'

const timeout = 240_000

describe('memory of large requests and users', () => {
  const probe = new LoopProbe()
  let world: World
  beforeAll(async () => {
    world = await World.start({ env: probe.env })
  })
  afterAll(async () => {
    await world.stop()
    probe.close()
  })

  let sent = 0
  const post = async (path: string, body: object) => {
    const { status } = await world.api.post(`/v1/memory/${path}`, body)
    expect(status).toBeLessThan(300)
  }
  const heldMs = async (request: () => Promise<void>) => {
    const seen = await probe.heldMs(world, request)
    expect(Math.min(...seen)).toBeLessThan(limitOf(seen))
  }
  const memoriesWith = (count: number, fact: (n: number, at: number) => object) =>
    Array.from({ length: count }, (_, n) => ({
      content: `Note ${sent++} of ${n}`,
      facts: Array.from({ length: 32 }, (_fact, at) => fact(n, at)),
    }))

  it('does not block other requests while 50 memories with 32 facts each are compared', { timeout }, async () => {
    const facts = (n: number, at: number) => ({ subject: 'Hub', relation: 'knows', object: `Person ${n} ${at}` })
    const write = (single: boolean) => () =>
      post('write/batch', { userId: 'ada', memories: memoriesWith(50, (n, at) => ({ ...facts(n, at), single })) })
    await heldMs(write(false))
    await heldMs(write(true))
  })

  describe('does not block other requests while 32 KB of statements are read', () => {
    const statements = (unit: (n: number) => string) => {
      let text = ''
      for (let n = sent++ * 10_000; text.length < 32_000; n++) text += `${unit(n)} `
      return text
    }
    const texts = {
      'of facts': () => statements((n) => `I moved to Oslo${n} last week, and my sister Anna works at Acme${n}.`),
      'of few words': () => statements((n) => (n % 99 === 0 ? `I am x${n}.` : 'I am x.')),
    }
    const long = (path: string, body: object) => post(path, { userId: `eva ${path}`, ...body })
    const requests = {
      write: (content: string) => long('write', { content }),
      remember: (user: string) => long('remember', { user }),
      'remember, dry': (user: string) => long('remember', { user, dry_run: true }),
      update: async (content: string) => {
        const { body } = await world.api.post('/v1/memory/write', { userId: 'zoe', content: `Note ${sent++}` })
        const { status } = await world.api.post(`/v1/memory/${body.id}`, { content }, { method: 'PATCH' })
        expect(status).toBe(200)
      },
    }
    for (const [name, text] of Object.entries(texts))
      it.each(Object.entries(requests))(`${name}, by %s`, { timeout }, (_, request) => heldMs(() => request(text())))
  })

  it('does not block other requests while 500 long memories are imported', { timeout }, async () => {
    const memories = () =>
      Array.from({ length: 500 }, (_, n) => ({ content: `Note ${sent++} ${`says word${n} and more `.repeat(300)}` }))
    await heldMs(() => post('import', { userId: 'bob', memories: memories() }))
  })

  it('does not block other requests when the graph of 20,000 facts is built for a search', { timeout }, async () => {
    for (let batch = 0; batch < 13; batch++)
      await post('write/batch', {
        userId: 'eve',
        memories: memoriesWith(50, (n, at) => ({ subject: 'Hub', relation: 'knows', object: `P ${batch} ${n} ${at}` })),
      })
    await heldMs(async () => {
      await post('write', { userId: 'eve', content: `Note ${sent++}` })
      await post('search', { userId: 'eve', query: 'Who knows the Hub?' })
    })
  })
})
