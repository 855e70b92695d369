import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'
import { type EverythingServer, startEverythingServer } from './everything-server.ts'

describe('the resources and prompts of a remote server', () => {
  let world: World
  let everything: EverythingServer
  let path: string

  beforeAll(async () => {
    everything = await startEverythingServer()
    world = await World.start({ tools: [everything] })
    const made = await world.api.post('/v1/mcp/servers', { name: 'All', url: everything.url })
    path = `/v1/mcp/servers/${made.body.id}`
  })
  afterAll(async () => {
    await world.stop()
    await everything.stop()
  })

  const uriOf = async (): Promise<string> => {
    const { resources } = (await world.api.get(`${path}/resources`)).body
    return resources.find(({ mime_type }: { mime_type: string }) => mime_type?.startsWith('text/')).uri
  }

  it('are stored with the snapshot of its tools', async () => {
    const { body } = await world.api.get(`${path}/resources`)
    expect(body).toMatchObject({ left_out: 0, unread: [], snapshot_at: expect.any(String) })
    expect(body.resources.length).toBeGreaterThan(0)
    expect(body.resource_templates).toContainEqual(
      expect.objectContaining({ uri_template: expect.stringContaining('{') }),
    )
    const { prompts } = (await world.api.get(`${path}/prompts`)).body
    const filled = prompts.find((prompt: { arguments: object[] }) => prompt.arguments.length > 0)
    expect(filled.arguments[0]).toMatchObject({ name: expect.any(String), required: expect.any(Boolean) })
  })

  it('are read from the server', async () => {
    const uri = await uriOf()
    const read = await world.api.post(`${path}/resources/read`, { uri })
    expect(read, JSON.stringify(read.body)).toMatchObject({ status: 200, body: { contents: [{ uri, blob: null }] } })
    expect(read.body.contents[0].text.length).toBeGreaterThan(0)
    const { prompts } = (await world.api.get(`${path}/prompts`)).body
    const { name } = prompts.find((prompt: { arguments: object[] }) => prompt.arguments.length === 0)
    const filled = await world.api.post(`${path}/prompts/fill`, { name })
    expect(filled, JSON.stringify(filled.body)).toMatchObject({
      status: 200,
      body: { messages: [{ role: 'user', text: expect.any(String) }] },
    })
  })

  it('are refused by the server when unknown, and its status stays active', async () => {
    const read = await world.api.post(`${path}/resources/read`, { uri: 'nowhere://at/all' })
    expect(read).toMatchObject({ status: 502, body: { error: { code: 'mcp_server_failed' } } })
    expect(read.body.error.message).toContain('request_refused')
    const filled = await world.api.post(`${path}/prompts/fill`, { name: 'none' })
    expect(filled.body.error).toMatchObject({ code: 'mcp_server_failed' })
    expect((await world.api.get(path)).body).toMatchObject({ status: 'active', error: null })
  })

  it('are not found by another project, and not read from a disabled server', async () => {
    const other = await World.start()
    const uri = await uriOf()
    for (const [verb, body] of [
      ['resources', undefined],
      ['prompts', undefined],
      ['resources/read', { uri }],
      ['prompts/fill', { name: 'simple-prompt' }],
    ] as const) {
      const answer = await other.api.fetch(`${path}/${verb}`, body)
      expect(answer.status, verb).toBe(404)
    }
    await other.stop()
    await world.api.fetch(path, undefined, { method: 'DELETE' })
    expect(await world.api.post(`${path}/resources/read`, { uri })).toMatchObject({ status: 409 })
    expect((await world.api.get(`${path}/resources`)).status).toBe(200)
  })
})
