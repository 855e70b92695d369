import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError, callApi, errorOf, headOf, pathOf } from '../../console/api.ts'
import { operations } from '../../console/operations.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

describe("the console's client", () => {
  it('builds declared paths with escaped ids and query values', () => {
    expect(
      pathOf('prj_1', 'project_actors.events', { params: { actor_id: 'a/b' }, query: { after: 3, limit: 2 } }),
    ).toBe('/api/projects/prj_1/actors/a%2Fb/events?after=3&limit=2')
    expect(pathOf('prj_1', 'stuck.list', { query: { limit: 5 } })).toBe('/v1/stuck?limit=5')
    expect(pathOf(null, 'nodes.list')).toBe('/api/nodes')
  })

  it('leaves empty query parameters out', () => {
    expect(pathOf('prj_1', 'observation.actors', { query: { state: '', tenant_id: undefined, machine: 'run' } })).toBe(
      '/api/projects/prj_1/actors?machine=run',
    )
  })

  it('sends the project in a header if the path does not contain it', () => {
    expect(headOf('prj_1', 'stuck.list', undefined)).toEqual({ method: 'GET', headers: { 'x-project-id': 'prj_1' } })
    expect(headOf('prj_1', 'observation.fleet', undefined)).toEqual({ method: 'GET', headers: {} })
    expect(headOf(null, 'auth.login', { a: 1 })).toEqual({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    })
  })

  it('reads the code and the message of each error format', () => {
    expect(errorOf(404, { error: { code: 'not_found', message: 'No.' } })).toMatchObject({ code: 'not_found' })
    expect(errorOf(400, { error: 'Bad name.' })).toMatchObject({ code: 'unreadable', message: 'Bad name.' })
    expect(errorOf(502, null)).toMatchObject({ status: 502, message: 'The server responded with status 502.' })
  })

  it('throws an unreachable error when no answer comes', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')))
    await expect(callApi(null, 'auth.me')).rejects.toThrow(ApiError)
    await expect(callApi(null, 'auth.me')).rejects.toMatchObject({ status: 0, code: 'unreachable' })
  })

  it('does not include operations that only a key may call', () => {
    const ids = Object.keys(operations)
    expect(ids).toContain('actions.approve')
    expect(ids).not.toContain('client_tokens.create')
    expect(ids).not.toContain('sessions.approve')
  })
})
