import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LocalCluster } from '#scripts/cluster/local-cluster.ts'
import { atNight } from '#test/setup/at-night.ts'
import { ShardedMongo } from '#test/storage/sharded/sharded-mongo.ts'
import { noteServed } from '#test/support/called-operations.ts'
import { Api, served } from '../api.ts'
import { runTool } from '../hosted/operator-tool.ts'
import { patience } from '../patience.ts'
import { counted, isEvent } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'

const turns = atNight ? 40 : 16

describe('two processes on two shards behind a stand-in for a mongos', { timeout: 240_000 }, () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'troupe-sharded-'))
  let mongo: ShardedMongo
  let cluster: LocalCluster
  let tool: ToolServer
  let apis: readonly Api[]
  const api = (n: number): Api => apis[n % apis.length] ?? Object(null)

  beforeAll(async () => {
    ;[mongo, tool] = await Promise.all([ShardedMongo.start(), startToolServer()])
    const env = { MONGODB_URL: mongo.url, DATA_DIR: dataDir }
    const first = await runTool('store/prepare', ['--sharded'], env)
    expect(first).toMatchObject({ code: 0, said: expect.stringContaining('commits: {"actor":"hashed"}') })
    expect(first.said).toContain('project_keys: whole, on one shard')
    // by day test/storage/sharded/sharding.int.test.ts shards a store again
    if (atNight) expect(await runTool('store/prepare', ['--sharded'], env)).toEqual(first)
    cluster = await LocalCluster.start(2, {
      ...{ mongodbUrl: mongo.url, dataDir },
      env: () => ({ ALLOWED_PRIVATE_HOSTS: tool.host }),
    })
    const authorization = `Bearer ${cluster.credentials.secretKey}`
    apis = cluster.urls.map((url) => new Api(url, { authorization }))
  }, 240_000)
  afterAll(async () => {
    for (const { url } of cluster.nodes) await noteServed(url)
    await cluster.stop()
    await Promise.all([mongo.stop(), tool.close()])
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('run turns without a statement that goes to all shards, but for sweeps by time', async () => {
    const sessions = await Promise.all(Array.from({ length: 4 }, (_, n) => api(n).createSession()))
    const turn = async (n: number): Promise<void> => {
      const reader = await api(n).turn(sessions[n % sessions.length] ?? '', { input: `hello ${n}` })
      expect((await reader.all()).at(-1)?.event).toBe('turn.completed')
    }
    await turn(0)
    mongo.proxy.reset()
    const startedAt = performance.now()
    for (let n = 0; n < turns; n++) await turn(n)
    const secs = (performance.now() - startedAt) / 1000
    const { targeted, prefix, whole, broadcast, broadcasts } = mongo.proxy.traffic
    const each = (count: number): string => (count / turns).toFixed(1)
    console.info(
      `statements a turn: ${each(targeted)} with the whole shard key, ${each(prefix)} with its beginning, ` +
        `${each(whole)} to whole collections; ${(broadcast / secs).toFixed(1)} sweeps a second of both processes`,
    )
    expect(
      [...broadcasts.keys()].filter((each) => !/\(scattered: (sweep|every_project|other_release)\)$/.test(each)),
    ).toEqual([])
    expect(targeted / turns).toBeLessThan(25)
  })

  it('list and page what lies on both shards, in order, on each process', async () => {
    const made: string[] = []
    for (let n = 0; n < 12; n++) made.push(await api(n).createSession({ metadata: { n } }))
    for (const each of apis) {
      const pages = [1, 2].map((page) => each.get(`/v1/sessions?limit=6&page=${page}`))
      const listed = (await Promise.all(pages)).flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id))
      expect(listed).toEqual(made.toReversed())
    }
    for (const counts of await mongo.counts('commits', 'sessions')) expect(Math.min(...counts)).toBeGreaterThan(0)
    const { body } = await api(0).get('/v1/usage/events?limit=100')
    expect(body.data.length).toBeGreaterThanOrEqual(turns)
  })

  it('run a published agent', async () => {
    const created = async (path: string, body: object): Promise<string> => {
      const answer = await api(0).post(path, body)
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
      return answer.body.id
    }
    const config = { model: 'simulated-1' }
    const tenant_id = await created('/v1/tenants', { external_id: 'acme', name: 'Acme' })
    const agent_id = await created('/v1/agents', { name: 'Support', config })
    await created(`/v1/agents/${agent_id}/versions`, { version: '1.0.0', config })
    expect((await api(0).post(`/v1/agents/${agent_id}/versions/1.0.0/publish`)).status).toBe(200)
    const installation_id = await created('/v1/agent-installations', { tenant_id, agent_id })
    const run = await created(`/v1/agents/${agent_id}/runs`, {
      installation_id,
      external_user_id: 'ada',
      input: { prompt: 'hello' },
    })
    await vi.waitFor(async () => {
      expect((await api(1).get(`/v1/runs/${run}`)).body).toMatchObject({ status: 'completed' })
    }, patience)
    expect((await api(1).get(`/v1/runs?agent_id=${agent_id}`)).body.data).toMatchObject([{ id: run }])
  })

  it('continue a turn that waited for an approval when its process was killed, and have all of it after a restart', async () => {
    const session = await api(0).createSession()
    const before = tool.calls.length
    const turn = await api(0).turn(session, gatedTurn(tool))
    const action = String((await turn.until(isEvent('turn.paused'))).data.action_id)
    const [killed, other] = cluster.nodes
    if (killed === undefined || other === undefined) throw new Error('there are two processes')
    await killed.kill9()
    const resumed = await served((keyed) => api(1).approve(session, action, keyed))
    expect((await resumed.all()).at(-1)?.event).toBe('turn.completed')
    await killed.restart()
    for (const each of apis) {
      const log = await each.log(session)
      expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
      expect((await each.get(`/v1/sessions/${session}`)).body).toMatchObject({ status: 'active', turn_count: 1 })
    }
    expect(tool.calls.length - before).toBe(1)
  })
})
