import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { endsTurn, type Frame, isEvent } from '../stream-reader.ts'
import { either, World } from '../world.ts'

const model = 'simulated-context-3000'
const paragraph = 'The quick brown fox jumps over the lazy dog and goes home. '.repeat(30)

describe.each(either('sqlite'))('a session longer than the context window of its model, on $store', ({ store }) => {
  let world: World
  let api: Api

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
  })
  afterAll(() => world.stop())

  const agentOf = async (context?: object): Promise<string> => {
    const config = { model, ...(context !== undefined && { context }) }
    const { status, body } = await api.post('/v1/agents', { name: 'Long', config })
    expect(status, JSON.stringify(body)).toBe(200)
    return body.id
  }
  /** Runs turns. @returns the events of shortening their conversation. */
  const take = async (session: string, count: number) => {
    const shortened: Frame[] = []
    for (let turn = 1; turn <= count; turn++) {
      const stream = await api.turn(session, { input: `${paragraph} Number ${turn}; reply exactly: fine` })
      const last = await stream.until(endsTurn)
      expect(last.event, JSON.stringify(last.data)).toBe('turn.completed')
      shortened.push(...stream.frames.filter(isEvent('context.compacted')))
    }
    return shortened
  }

  it('continues without its oldest turns, also after a restart, while a chat of that length is refused', async () => {
    const chat = { model, messages: [{ role: 'user', content: paragraph.repeat(10) }] }
    const refused = await api.post('/v1/chat/completions', chat)
    expect([refused.status, refused.body.error.code]).toEqual([400, 'context_length_exceeded'])
    const session = await api.createSession({ agent_id: await agentOf() })
    const before = await take(session, 8)
    expect(before.length).toBeGreaterThan(0)
    expect(before[0]?.data).toMatchObject({ strategy: 'truncate', summary: null })
    await world.noteCalled()
    await world.crash()
    await world.restart()
    expect((await take(session, 4)).length).toBeGreaterThan(0)
  })

  it('has a summary of the oldest turns if its agent is configured so, which is metered with the turn', async () => {
    const session = await api.createSession({ agent_id: await agentOf({ strategy: 'summarize', keep_turns: 2 }) })
    const [shortened] = await take(session, 8)
    expect(shortened?.data).toMatchObject({ strategy: 'summarize', summary: expect.stringMatching(/\S/) })
    const { data } = (await api.get('/v1/usage/events?limit=100')).body
    const own = data.filter((row: { session_id: string }) => row.session_id === session)
    expect(own.length).toBeGreaterThan(8)
    const { total_cost } = (await api.get(`/v1/sessions/${session}`)).body
    const costs = own.map((row: { provider_cost_usd: string }) => Number(row.provider_cost_usd))
    expect(total_cost).toBeCloseTo(
      costs.reduce((sum: number, cost: number) => sum + cost, 0),
      9,
    )
  })

  it.each([{ strategy: 'forget' }, { keep_turns: 0 }, { max_tokens: 1 }, { turns: 3 }])(
    'cannot have the invalid context policy %j',
    async (context) => {
      const { status, body } = await api.post('/v1/agents', { name: 'Long', config: { model, context } })
      expect([status, body.error.param]).toEqual([422, expect.stringMatching(/^config\.context/)])
    },
  )
})
