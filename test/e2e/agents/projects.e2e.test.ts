import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

describe('a project', () => {
  let world: World
  let dashboard: Api
  let path: string

  beforeAll(async () => {
    world = await World.start()
    dashboard = await world.dashboard()
    path = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}`
  })
  afterAll(() => world.stop())

  const patch = (body: object) => dashboard.post(path, body, { method: 'PATCH' })

  it('can be read, and renamed without losing its allowed origins', async () => {
    const before = (await dashboard.get(path)).body
    expect(before).toMatchObject({ name: expect.any(String), allowed_origins: ['*'] })
    const allowed_origins = ['https://app.example']
    await patch({ allowed_origins })
    const { status, body } = await patch({ name: 'Renamed' })
    expect({ status, body }).toMatchObject({ status: 200, body: { name: 'Renamed', allowed_origins } })
    expect((await dashboard.get(path)).body).toEqual(body)
    expect(JSON.stringify(body)).not.toContain('secret')
    expect((await dashboard.get('/api/projects/prj_01m7yttzjhsxjpptb3mj7638ba')).status).toBe(404)
  })

  it('lets only pages of its allowed origins read the answers to client tokens', async () => {
    const { body: tenant } = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
    const given = { tenant_id: tenant.id, external_user_id: 'ada' }
    const { token } = (await world.api.post('/v1/client-tokens', given)).body
    const readable = async (origin: string) => {
      const { headers } = await world.as(token).get('/v1/sessions', { headers: { origin } })
      return headers.get('access-control-allow-origin')
    }
    await patch({ allowed_origins: ['https://shop.example'] })
    await vi.waitFor(async () => expect(await readable('https://shop.example')).toBe('https://shop.example'), patience)
    expect(await readable('https://other.example')).toBeNull()
  })
})
