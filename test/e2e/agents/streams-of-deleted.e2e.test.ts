import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionSocket } from '#specs/resources/sessions.ts'
import { noteCalled } from '#test/support/called-operations.ts'
import { Api } from '../api.ts'
import { isEvent } from '../stream-reader.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { stores, World } from '../world.ts'
import { openSocket } from './session-socket.ts'

/** A process removes no log in its first five seconds. */
const limit = { timeout: 60_000 }

/** A session with the token that follows it, and the function that deletes it. */
interface Doomed {
  readonly session: string
  readonly token: string
  readonly remove: () => Promise<unknown>
}

describe.each(stores)('a stream on $store', ({ store }) => {
  let world: World
  let tool: ToolServer

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const remove = async (path: string): Promise<void> =>
    expect((await world.api.fetch(path, undefined, { method: 'DELETE' })).status, path).toBeLessThan(300)

  const ofSession = async (): Promise<Doomed> => {
    const session = await world.api.createSession()
    return { session, token: world.secretKey, remove: () => remove(`/v1/sessions/${session}`) }
  }

  const ofTenant = async (): Promise<Doomed> => {
    const { body: tenant } = await world.api.post('/v1/tenants', { external_id: 'doomed', name: 'Acme' })
    const session = await world.api.createSession({ tenant_id: tenant.id })
    return { session, token: world.secretKey, remove: () => remove(`/v1/tenants/${tenant.id}`) }
  }

  const ofProject = async (): Promise<Doomed> => {
    const dashboard = await world.dashboard()
    const { body: project } = await dashboard.post('/api/projects', { name: 'Doomed' })
    const path = `/api/projects/${project.id}`
    const { body: key } = await dashboard.post(`${path}/keys`, { name: 'server' })
    const session = await new Api(world.url, { authorization: `Bearer ${key.key}` }).createSession()
    const removeProject = async () =>
      expect((await dashboard.post(`${path}/delete`, { name: 'Doomed' })).status).toBe(202)
    return { session, token: key.key, remove: removeProject }
  }

  it.each([
    ['session', ofSession],
    ['tenant', ofTenant],
  ])('of a %s that is deleted ends with the reason deleted, by SSE and by WebSocket', limit, async (_name, doom) => {
    const doomed = await doom()
    const stream = await world.as(doomed.token).stream(`/v1/sessions/${doomed.session}/stream`)
    const socket = await openSocket(world, doomed)
    noteCalled([sessionSocket.id])
    await doomed.remove()
    expect((await stream.until(isEvent('stream.ended'))).data).toEqual({ reason: 'deleted' })
    expect(await stream.ended).toBe('done')
    const last = { event: 'stream.ended', data: { reason: 'deleted' } }
    expect(await socket.closed).toEqual({ code: 1000, reason: 'session deleted', last })
    await expect(openSocket(world, doomed)).rejects.toThrow('refused')
  })

  it('of a project that is deleted ends as deleted, or with its keys, and never as interrupted', limit, async () => {
    const doomed = await ofProject()
    const stream = await world.as(doomed.token).stream(`/v1/sessions/${doomed.session}/stream`)
    const socket = await openSocket(world, doomed)
    await doomed.remove()
    const reason = expect.stringMatching(/^(?:deleted|credential_ended)$/)
    expect((await stream.until(isEvent('stream.ended'))).data).toEqual({ reason })
    const { code, last } = await socket.closed
    expect([1000, 1008]).toContain(code)
    expect(last).toEqual({ event: 'stream.ended', data: { reason } })
  })

  it('of a turn in progress ends with the reason deleted when its session is deleted', limit, async () => {
    const session = await world.api.createSession()
    const turn = await world.api.stream(`/v1/sessions/${session}/turns`, { input: 'slow please' })
    await turn.until(isEvent('turn.started'))
    await remove(`/v1/sessions/${session}`)
    const { data, event } = await turn.until(isEvent('stream.ended', 'turn.completed'))
    expect([event, data.reason]).toEqual(['stream.ended', 'deleted'])
    expect(await turn.ended).toBe('done')
  })
})
