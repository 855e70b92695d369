import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { noBrowser } from './browser/no-browser.ts'
import { populate } from './tenant-life.ts'
import { startToolServer, type ToolServer } from './tool-server.ts'
import { either, World } from './world.ts'

/** Each poll reads the whole database. The deletion waits for up to a minute between rounds, and starts removing logs five seconds after a start. */
const patience = { timeout: 180_000, interval: 1000 }
const limit = { timeout: 600_000 }

/** The name of a tenant that no test, and no earlier attempt of one, has created. */
const newName = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`

describe.each(either('mongo'))('a tenant on $store', ({ store }) => {
  let world: World
  let tool: ToolServer

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool], env: noBrowser })
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  /** Occurrences of a text by table or collection, without the audit log, which stays. */
  const traces = async (text: string): Promise<Record<string, number>> => {
    const { audit_log: _mongo, records_audit_log: _sqlite, ...left } = await world.mentions(text)
    return left
  }

  /**
   * The same for the id of an actor. The bare id is kept for an hour, so that a late write is recognised as one; usage rows
   * contain it without its user.
   */
  const actorTraces = async (id: string): Promise<Record<string, number>> => {
    const { erased_actors: _mongo, records_erased_actors: _sqlite, ...lasting } = await traces(id)
    // ids of ended streams: removed some minutes later by the job that merges their parts
    const { ended_streams: _waiting, records_ended_streams: _waits, ...left } = lasting
    const { usage: _used, records_usage: _alsoUsed, ...rest } = left
    return rest
  }

  const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0)

  const killed = async (): Promise<void> => {
    await world.crash()
    await world.restart()
  }

  const remove = async (path: string) => {
    const response = await world.api.fetch(path, undefined, { method: 'DELETE' })
    return { status: response.status, body: await response.json() }
  }

  it(
    'is deleted with all its data, and nothing else, although the server is killed three times meanwhile',
    limit,
    async () => {
      const doomed = await populate(world, tool, newName('doomed'))
      const spared = await populate(world, tool, newName('spared'))
      await vi.waitFor(
        async () =>
          expect(await traces(doomed.tenant)).toHaveProperty(
            store === 'mongo' ? 'webhook_deliveries' : 'records_webhook_deliveries',
          ),
        patience,
      )
      const all = await traces(doomed.tenant)
      expect(Object.keys(all).length).toBeGreaterThan(9)
      const deleted = await remove(`/v1/tenants/${doomed.tenant}`)
      expect(deleted).toMatchObject({ status: 200, body: { id: doomed.tenant, status: 'deleting', deleted: true } })
      await killed()
      await vi.waitFor(async () => expect(total(await traces(doomed.tenant))).toBeLessThan(total(all)), patience)
      await killed()
      await vi.waitFor(async () => expect(Object.keys(await traces(doomed.tenant)).length).toBeLessThan(3), patience)
      await killed()
      await vi.waitFor(async () => expect(await traces(doomed.tenant)).toEqual({}), patience)
      expect((await world.api.get(`/v1/tenants/${doomed.tenant}`)).status).toBe(404)
      for (const id of doomed.sessions) expect(await actorTraces(id)).toEqual({})
      expect(await traces(doomed.installation)).toEqual({})
      for (const run of spared.runs) expect((await world.api.get(`/v1/runs/${run}`)).body.status).toBe('completed')
      expect((await world.as(spared.token).get('/v1/sessions')).body.data).toHaveLength(2)
      const { body } = await world.api.get(`/v1/audit-log?tenant_id=${doomed.tenant}&limit=100`)
      const actions = body.data.map(({ action }: { action: string }) => action)
      expect(actions).toContain('tenant.deletion_started')
      expect(actions.filter((action: string) => action === 'tenant.deleted')).toHaveLength(1)
    },
  )

  it(
    'is refused while it is suspended or being deleted, but can be read and deleted by the project',
    limit,
    async () => {
      const external_id = newName('closed')
      const { tenant, sessions, runs, agent, token, installation } = await populate(world, tool, external_id)
      const client = world.as(token)
      const [session = ''] = sessions
      const refusals = async () => {
        // at once: while the tenant is being deleted, there is no more time than that takes
        const answers = await Promise.all([
          client.get('/v1/sessions'),
          client.post('/v1/sessions'),
          world.api.post(`/v1/sessions/${session}/turns`, { input: 'hello' }),
          world.api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' }),
          world.api.post(`/v1/agents/${agent}/runs`, { tenant_id: tenant, input: { prompt: 'hi' } }),
          world.api.post(`/v1/agents/${agent}/runs`, { installation_id: installation, input: { prompt: 'hi' } }),
          world.api.post('/v1/actions', { tool: 'x', arguments: {}, tenant_id: tenant }),
          world.api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }),
        ])
        return answers.map(({ status, body }) => `${status} ${body.error?.code}`)
      }
      const patch = (body: object) => world.api.fetch(`/v1/tenants/${tenant}`, body, { method: 'PATCH' })
      expect((await patch({ status: 'suspended' })).status).toBe(200)
      expect(await refusals()).toEqual(Array.from({ length: 8 }, () => '403 tenant_suspended'))
      expect((await world.api.get(`/v1/runs/${runs[0]}`)).status).toBe(200)
      expect((await patch({ status: 'active' })).status).toBe(200)
      expect((await client.get('/v1/sessions')).status).toBe(200)
      await remove(`/v1/tenants/${tenant}`)
      // its installation may already be deleted
      const answers = (await refusals()).slice(3).filter((answer) => answer !== '404 not_found')
      expect(answers.length).toBeGreaterThanOrEqual(4)
      expect(new Set(answers)).toEqual(new Set(['403 tenant_deleting']))
      expect((await patch({ name: 'again' })).status).toBe(403)
      const limit = await world.api.post('/v1/limits', { subject: 'tenant', subject_id: tenant })
      expect([limit.status, limit.body.error?.code]).toEqual([403, 'tenant_deleting'])
      expect((await world.api.post('/v1/tenants', { external_id, name: 'again' })).body.error.code).toBe(
        'tenant_deleting',
      )
      await vi.waitFor(async () => expect((await world.api.get(`/v1/tenants/${tenant}`)).status).toBe(404), patience)
      expect((await client.get('/v1/sessions')).status).toBe(401)
      const again = await world.api.post('/v1/tenants', { external_id, name: 'again' })
      expect(again).toMatchObject({ status: 201, body: { status: 'active' } })
      expect(again.body.id).not.toBe(tenant)
    },
  )

  it(
    'deletes one user with their data despite a kill, and keeps the other users and the usage rows',
    limit,
    async () => {
      const { tenant, sessions, token } = await populate(world, tool, newName('home'))
      const user = `/v1/tenants/${tenant}/users`
      const used = async () => (await world.api.get(`/v1/usage/events?tenant_id=${tenant}&limit=100`)).body.data
      const before = await used()
      expect(before.map((row: { external_user_id: string }) => row.external_user_id)).toContain('ada')
      expect(await remove(`${user}/ada?hard=true`)).toMatchObject({ status: 200, body: { deleted: true } })
      const again = () => world.api.fetch(`${user}/ada`, { display_name: 'another' }, { method: 'PUT' })
      expect((await again()).status).toBe(409)
      await killed()
      const [ofAda, waitsOfAda, ofBob] = sessions
      for (const id of [ofAda, waitsOfAda]) {
        await vi.waitFor(async () => expect(await actorTraces(id ?? '')).toEqual({}), patience)
      }
      expect((await world.as(token).get('/v1/sessions')).status).toBe(401)
      expect((await world.api.get(`${user}/ada`)).status).toBe(404)
      expect((await world.api.get(`/v1/sessions/${ofBob}`)).status).toBe(200)
      const after = await used()
      expect(after.map(({ id }: { id: string }) => id)).toEqual(before.map(({ id }: { id: string }) => id))
      expect(after.map((row: { external_user_id: string }) => row.external_user_id)).not.toContain('ada')
      const put = await vi.waitFor(async () => {
        const answer = await again()
        expect(answer.status).toBe(201)
        return answer.json()
      }, patience)
      expect(put).toMatchObject({ external_user_id: 'ada', display_name: 'another', metadata: {} })
    },
  )
})
