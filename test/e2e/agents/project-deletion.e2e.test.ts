import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { populate } from '../tenant-life.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { either, World } from '../world.ts'

/** Each poll reads the whole database. */
const patience = { timeout: 120_000, interval: 1000 }
const limit = { timeout: 300_000 }

describe.each(either('mongo'))('a project on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  let dashboard: Api

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
    dashboard = await world.dashboard()
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const newProject = async (name: string) => {
    const { body: project } = await dashboard.post('/api/projects', { name })
    const { body: key } = await dashboard.post(`/api/projects/${project.id}/keys`, { name: 'server' })
    return { id: String(project.id), key: String(key.key) }
  }

  /** Occurrences of a text by table or collection, without the bare ids of actors and streams, which are kept for a while. */
  const traces = async (text: string): Promise<Record<string, number>> => {
    const { erased_actors: _erased, records_erased_actors: _alsoErased, ...left } = await world.mentions(text)
    const { ended_streams: _ended, records_ended_streams: _alsoEnded, ...rest } = left
    return rest
  }

  const killed = async (): Promise<void> => {
    await world.crash()
    await world.restart()
    dashboard = await world.dashboard()
  }

  it('is deleted with all its data despite kills, and its keys are refused at once', limit, async () => {
    const mark = `mark-${randomUUID().slice(0, 8)}`
    const doomed = await newProject(`Doomed ${mark}`)
    const spared = await newProject('Spared')
    const api = world.as(doomed.key)
    const within = { api, as: (token: string) => world.as(token) }
    const lived = await populate(within, tool, mark)
    await api.post('/v1/chat/completions', {
      model: 'simulated-1',
      messages: [{ role: 'user', content: `hi ${mark}` }],
    })
    const memory = { userId: 'ada', content: `Ada likes ${mark}` }
    expect((await api.post('/v1/memory/write', memory)).status).toBe(201)
    const other = world.as(spared.key)
    const kept = await populate({ api: other, as: within.as }, tool, `kept-${randomUUID().slice(0, 8)}`)
    const path = `/api/projects/${doomed.id}`
    expect(Object.keys(await traces(doomed.id)).length).toBeGreaterThan(12)

    const wrong = await dashboard.post(`${path}/delete`, { name: 'Doomed' })
    expect(wrong).toMatchObject({ status: 422, body: { error: { code: 'invalid_field', param: 'name' } } })
    const deleted = await dashboard.post(`${path}/delete`, { name: `Doomed ${mark}` })
    expect(deleted).toMatchObject({ status: 202, body: { id: doomed.id, status: 'deleting', deletion: { rounds: 0 } } })
    expect((await api.get('/v1/sessions')).status).toBe(401)
    expect((await world.as(lived.token).get('/v1/sessions')).status).toBe(401)
    const changed = await dashboard.post(`${path}/keys`, { name: 'another' })
    expect(changed).toMatchObject({ status: 409, body: { error: { code: 'project_deleting' } } })
    await killed()
    await vi.waitFor(async () => expect((await traces(doomed.id)).commits ?? 0).toBeLessThan(20), patience)
    await killed()
    await vi.waitFor(async () => expect((await dashboard.get(path)).status).toBe(404), patience)
    await vi.waitFor(async () => expect(await traces(mark)).toEqual({}), patience)
    const { audit_log = 0, records_audit_log = 0, ...left } = await traces(doomed.id)
    expect(left).toEqual({})
    // who deleted it, and that it is deleted
    expect(audit_log + records_audit_log).toBe(2)
    for (const id of [...lived.sessions, ...lived.runs, lived.agent, lived.tenant]) expect(await traces(id)).toEqual({})
    expect((await other.get(`/v1/sessions/${kept.sessions[0]}`)).status).toBe(200)
    for (const run of kept.runs) expect((await other.get(`/v1/runs/${run}`)).body.status).toBe('completed')
  })

  it(
    "shows members the progress of its deletion, and cannot be deleted if it is the organisation's last",
    limit,
    async () => {
      const { body: projects } = await dashboard.get('/api/projects?limit=100')
      const [last, ...more] = projects.data.toReversed()
      for (const { id, name } of more) {
        expect((await dashboard.post(`/api/projects/${id}/delete`, { name })).status).toBe(202)
        const { status, body } = await dashboard.get(`/api/projects/${id}`)
        if (status === 200) expect(body).toMatchObject({ status: 'deleting', deletion: { left: expect.any(Object) } })
      }
      const refused = await dashboard.post(`/api/projects/${last.id}/delete`, { name: last.name })
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'last_project' } } })
      for (const { id } of more)
        await vi.waitFor(async () => expect((await dashboard.get(`/api/projects/${id}`)).status).toBe(404), patience)
      expect((await dashboard.get(`/api/projects/${last.id}`)).body).toMatchObject({ status: 'active', deletion: null })
    },
  )
})
