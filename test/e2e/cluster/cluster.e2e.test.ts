import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startServer } from '#scripts/services/server.ts'
import type { Api } from '../api.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { KnowledgeBase } from '../knowledge/knowledge-world.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, isDelta, isEvent, textOf } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { ClusterWorld } from './cluster-world.ts'

describe('three nodes on one MongoDB', { timeout: 120_000 }, () => {
  let world: ClusterWorld
  let tool: ToolServer
  beforeAll(async () => {
    tool = await startToolServer()
    world = await ClusterWorld.start(3, { tools: [tool] })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  it('divide the shards among themselves, each at its preferred owner', async () => {
    await world.settled()
    const { leases, members } = await world.leases()
    expect(members.map(({ node }) => node).sort()).toEqual(['node-1', 'node-2', 'node-3'])
    const shares = members.map(({ process }) => leases.filter(({ holder }) => holder === process).length)
    // 85 ± 8, as the hash distributes them
    expect(Math.min(...shares)).toBeGreaterThan(40)
  })

  it('serve any session from any node, and show acknowledged writes on all nodes at once', async () => {
    for (let n = 0; n < 9; n++) {
      const session = await world.api(n).createSession({ metadata: { n } })
      const listed = (await world.api(n + 1).get('/v1/sessions?limit=100')).body.data
      expect(listed.map(({ id }: { id: string }) => id)).toContain(session)
      const turn = await world.api(n + 1).turn(session, { input: `hello ${n}` })
      const frames = await turn.all()
      expect(frames.at(-1)).toMatchObject({ event: 'turn.completed', data: { output: `You said: hello ${n}` } })
      const next = await world.api(n + 2).turn(session, { input: 'again' })
      expect((await next.all()).at(-1)).toMatchObject({ event: 'turn.completed', data: { turn_number: 2 } })
      for (const api of world.apis) {
        expect((await api.get(`/v1/sessions/${session}`)).body).toMatchObject({ status: 'active', turn_count: 2 })
        const log = await api.log(session)
        expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
      }
    }
  })

  it('show the usage of a gateway call on every node, and share limits and budgets', async () => {
    const apis = await world.newProject()
    const api = (n: number) => apis[n % apis.length] ?? world.api(n)
    const chat = { model: 'simulated-1', messages: [{ role: 'user', content: 'hello' }], max_tokens: 5 }
    const say = async (n: number) => (await api(n).post('/v1/chat/completions', chat)).status
    for (let n = 1; n <= 6; n++) {
      expect(await say(n)).toBe(200)
      // another node is queried for its buffered calls
      await vi.waitFor(async () => {
        const { totals } = (await api(n + 1).get('/v1/usage?operation=chat')).body
        expect(totals.calls).toBe(n)
        expect((await api(n + 2).get('/v1/request-log?limit=100')).body.data).toHaveLength(n)
      }, patience)
    }
    const limit = async (body: object) => (await api(0).post('/v1/limits', { subject: 'project', ...body })).body.id
    const many = (): Promise<readonly number[]> => Promise.all(Array.from({ length: 60 }, (_, n) => say(n)))
    const id = await limit({ requests_per_minute: 40 })
    // every node knows the limit: calls accepted from here on count against it
    let taken = 0
    const knows = async (n: number): Promise<void> => {
      const { headers } = await api(n).post('/v1/chat/completions', chat)
      expect(headers.get('x-ratelimit-limit-requests')).toBe('40')
      taken++
    }
    for (const n of [0, 1, 2]) await vi.waitFor(() => knows(n), patience)
    const statuses = await many()
    // a node that waits too long for the shared counter counts locally and accepts more; without sharing, all would be accepted
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(40 - taken)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    await limit({ budget_total_usd: '0.0000000001' })
    await vi.waitFor(async () => expect(new Set(await many())).toEqual(new Set([402])), patience)
    await api(1).get(`/v1/limits/${id}`, { method: 'DELETE' })
    await vi.waitFor(async () => expect(new Set(await many())).toEqual(new Set([200])), patience)
  })

  it.each([
    ['/v1/chat/completions', 'messages', 'max_tokens'],
    ['/v1/messages', 'messages', 'max_tokens'],
    ['/v1/responses', 'input', 'max_output_tokens'],
    ['/v1/embeddings', 'input', null],
  ])('exceed a limit of tokens per minute by at most one of many parallel calls of %s', async (path, field, max) => {
    const text = 'word '.repeat(200)
    const [perMinute, oneCall] = [6000, 600]
    const bodyOf = (n: number) => ({
      ...{ model: 'simulated-1', [field]: field === 'messages' ? [{ role: 'user', content: text }] : text },
      ...(max !== null && { [max]: 200, stream: n % 2 === 1 }),
    })
    const attacked = async (): Promise<void> => {
      const apis = await world.newProject()
      await apis[0]?.post('/v1/limits', { subject: 'project', tokens_per_minute: perMinute })
      const call = async (n: number): Promise<number> => {
        const answer = await apis[n % apis.length]?.fetch(path, bodyOf(n))
        await answer?.text()
        return answer?.status ?? 0
      }
      const statuses = await Promise.all(Array.from({ length: 60 }, (_, n) => call(n)))
      expect(new Set(statuses)).toEqual(new Set([200, 429]))
      const { totals } = (await apis[1]?.get('/v1/usage'))?.body ?? expect.fail('no node')
      const used = totals.input_tokens + totals.output_tokens
      expect(used).toBeGreaterThan(perMinute / 2)
      expect(used).toBeLessThanOrEqual(perMinute + oneCall)
    }
    // nodes that do not share the limit would exceed it every time, a node that waits too long for Redis only sometimes
    await vi.waitFor(attacked, patience)
  })

  it('spend a budget that is nearly used up by parallel calls on all of them, and never exceed it', async () => {
    const apis = await world.newProject()
    const api = (n: number) => apis[n % apis.length] ?? world.api(n)
    const messages = [{ role: 'user', content: 'word '.repeat(200) }]
    const call = async (n: number): Promise<number> => {
      const body = { model: 'simulated-1', messages, max_tokens: 200, stream: n % 2 === 1 }
      const answer = await api(n).fetch('/v1/chat/completions', body)
      await answer.text()
      return answer.status
    }
    const cost = async (): Promise<number> => Number((await api(1).get('/v1/usage')).body.totals.provider_cost_usd)
    expect(await call(0)).toBe(200)
    const one = await cost()
    expect(one).toBeGreaterThan(0)
    const budget = one * 20
    const limit = { subject: 'project', budget_total_usd: budget.toFixed(12) }
    const { id } = (await api(0).post('/v1/limits', limit)).body
    for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 60 }, (_, n) => call(n)))
    await vi.waitFor(async () => expect(await Promise.all([0, 1, 2].map(call))).toEqual([402, 402, 402]), patience)
    const { spent_total_usd, reserved_usd } = (await api(2).get(`/v1/limits/${id}`)).body
    expect(Number(spent_total_usd)).toBeLessThanOrEqual(budget)
    expect(Number(spent_total_usd)).toBeGreaterThan(budget * 0.8)
    expect(Number(reserved_usd)).toBe(0)
    expect((await cost()) - one).toBeCloseTo(Number(spent_total_usd), 9)
  })

  it('know a provider connection on every node soon after it is created or deleted', async () => {
    /** Uses a new project, which no node has looked up yet. */
    const heard = async (): Promise<void> => {
      const apis = await world.newProject()
      const own = async (): Promise<readonly boolean[]> =>
        Promise.all(apis.map(async (api) => (await api.get('/v1/models?source=byok')).body.data.length > 0))
      // each node's knowledge is fresh from here on: for five seconds, and looked up again after half of them
      expect(await own()).toEqual([false, false, false])
      const soon = { timeout: 2000, interval: 50 }
      const ours = { name: 'Ours', provider: 'groq', api_key: 'key' }
      const { body } = (await apis[0]?.post('/v1/provider-connections', ours)) ?? expect.fail('no node')
      await vi.waitFor(async () => expect(await own()).toEqual([true, true, true]), soon)
      await apis[1]?.get(`/v1/provider-connections/${body.id}`, { method: 'DELETE' })
      await vi.waitFor(async () => expect(await own()).toEqual([false, false, false]), soon)
    }
    // nodes that are not notified would be late every time, a machine that stalls only sometimes
    await vi.waitFor(heard, patience)
  })

  it('find the same in a knowledge base on every node, soon after it was written on one', async () => {
    const bases = await Promise.all(world.apis.map((api) => KnowledgeBase.create(api)))
    const text = 'Parcels to Norway travel with carrier pigeons.'
    await Promise.all(bases.map((base, at) => base.add({ text, title: `Handbook ${at}` })))
    for (const base of bases) {
      const found = (api: Api) => async () => {
        const { body } = await base.as(api).search('pigeons to Norway')
        expect(body.data).toMatchObject([{ content: text }])
        return body
      }
      const [first, ...others] = await Promise.all(world.apis.map((api) => vi.waitFor(found(api), patience)))
      expect(others).toEqual([first, first])
    }
  })

  it('refuse a second turn on any node while one runs', async () => {
    const session = await world.api(0).createSession()
    const turn = await world.api(0).turn(session, { input: 'slow please' })
    await turn.until(isDelta)
    for (const api of world.apis) {
      expect((await api.post(`/v1/sessions/${session}/turns`, { input: 'now' })).status).toBe(409)
    }
    expect((await turn.all()).at(-1)?.event).toBe('turn.completed')
  })

  it('stream the same events of a running turn from every node', async () => {
    const session = await world.api(0).createSession()
    const followers = await Promise.all(world.apis.map((api) => api.follow(session, '0')))
    const turn = await world.api(1).turn(session, { input: 'slow please' })
    await turn.until(isDelta)
    for (const follower of followers) {
      await follower.until(isDelta)
      expect(follower.frames.some(endsTurn), 'it is live, not read afterwards').toBe(false)
    }
    const frames = await turn.all()
    expect(textOf(frames)).toBe(answerTo('slow please'))
    for (const follower of followers) {
      await follower.until(endsTurn)
      follower.stop()
      expect(follower.frames).toEqual(frames)
      expect(follower.frames.map(({ id }) => Number(id))).toEqual(counted(frames))
    }
  })

  it('run the tool once for ten concurrent approvals on all nodes', async () => {
    const before = tool.calls.length
    const session = await world.api(0).createSession()
    const waits = await (await world.api(1).turn(session, gatedTurn(tool))).until(isEvent('turn.paused'))
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => world.api(n).approve(session, waits.data.action_id)),
    )
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 })
      else await answer.value.ended
    }
    const follower = await world.api(2).follow(session, '0')
    expect((await follower.until(endsTurn)).event).toBe('turn.completed')
    follower.stop()
    expect(tool.calls.length - before).toBe(1)
  })

  it('cancel a turn from a node other than the one that runs it', async () => {
    const session = await world.api(0).createSession()
    const turn = await world.api(0).turn(session, { input: 'slow please' })
    await turn.until(isDelta)
    const { others } = await world.sides(session)
    for (const other of others) {
      expect((await world.at(other).post(`/v1/sessions/${session}/cancel`)).status).toBeLessThan(500)
    }
    expect((await turn.all()).at(-1)).toMatchObject({ event: 'turn.failed' })
  })

  it('refuse to start with a server without REDIS_URL, and with a node that has another master key', async () => {
    const { mongodbUrl, redisUrl, dataDir } = world.cluster
    await expect(startServer({ MONGODB_URL: mongodbUrl, DATA_DIR: dataDir })).rejects.toThrow('REDIS_URL')
    const stranger = startServer({ MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl })
    await expect(stranger).rejects.toThrow('master key')
    expect((await world.api(0).get('/readyz')).status).toBe(200)
  })
})
