import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from './api.ts'
import { endsTurn, isEvent } from './stream-reader.ts'
import { refundTool, startToolServer, type ToolServer } from './tool-server.ts'
import { either, World } from './world.ts'

const value = 'Bearer vendor-value-7421'
const masked = { Authorization: '[masked]' }
const prompt = 'You know the vendor recipe 9913.'
const input = 'Please use issue_refund for order 1042'

describe.each(either('mongo'))('headers of http tools on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  let api: Api

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
    api = world.api
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const ok = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body
  }
  const withHeaders = (more: object = {}) => refundTool(tool, { headers: { Authorization: value }, ...more })
  const configOf = (...tools: readonly object[]) => ({ model: 'simulated-1', system_prompt: prompt, tools })
  const headersShown = (config: { readonly tools: readonly { readonly headers: unknown }[] }) =>
    config.tools.map(({ headers }) => headers)
  const sent = () => tool.calls.map(({ headers }) => headers.authorization)

  it('are sent to the tool, masked in answers, and not in the store in plain text', async () => {
    const session = await api.createSession()
    const turn = await api.turn(session, { input, tools: [withHeaders()], pause_on_tool_calls: false })
    await turn.until(endsTurn)
    expect(sent()).toEqual([value])
    const agent = await ok(api.post('/v1/agents', { name: 'Vendor', config: configOf(withHeaders()) }))
    const version = await ok(
      api.post(`/v1/agents/${agent.id}/versions`, { version: '1.0.0', config: configOf(withHeaders()) }),
    )
    const read = await ok(api.get(`/v1/agents/${agent.id}`))
    const listed = (await ok(api.get('/v1/agents'))).data
    for (const { config } of [agent, version, read, ...listed]) expect(headersShown(config)).toEqual([masked])
    expect(JSON.stringify([agent, version, read, listed])).not.toContain('headers_ref')
    expect(await world.mentions('vendor-value-7421')).toEqual({})
  })

  it('are kept when the masked config is written back, and are refused for another URL', async () => {
    const { id } = await ok(api.post('/v1/agents', { name: 'Vendor', config: configOf(withHeaders()) }))
    const { config } = await ok(api.get(`/v1/agents/${id}`))
    await ok(api.post(`/v1/agents/${id}`, { config }, { method: 'PATCH' }))
    const before = tool.calls.length
    const session = await api.createSession({ agent_id: id })
    await (await api.turn(session, { input, pause_on_tool_calls: false })).until(endsTurn)
    expect(sent().slice(before)).toEqual([value])
    const [own] = config.tools
    const moved = { ...config, tools: [{ ...own, url: 'https://collector.example.com/tool' }] }
    const refused = await api.post(`/v1/agents/${id}`, { config: moved }, { method: 'PATCH' })
    expect([refused.status, refused.body.error]).toMatchObject([
      422,
      { code: 'invalid_field', param: 'config.tools[0].headers.Authorization' },
    ])
    const forged = { ...own, headers_ref: 'thd_0' }
    expect((await api.post('/v1/agents', { name: 'Vendor', config: configOf(forged) })).status).toBe(422)
  })

  it("are not in a tenant's export, nor are the prompts of the agent's author", async () => {
    const { id } = await ok(api.post('/v1/agents', { name: 'Vendor', config: configOf(withHeaders()) }))
    const gated = configOf(withHeaders({ needsApproval: true }))
    await ok(api.post(`/v1/agents/${id}/versions`, { version: '1.0.0', config: gated, visibility: 'public' }))
    await ok(api.post(`/v1/agents/${id}/versions/1.0.0/publish`, {}))
    const tenant = (await ok(api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' }))).id
    const overlays = {
      system_prompt_append: 'And the vendor addition 5512.',
      tools: [withHeaders({ needsApproval: true })],
    }
    const installed = await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: id, overlays }))
    expect(headersShown(installed.overlays)).toEqual([masked])
    const run = await ok(
      api.post(`/v1/agents/${id}/runs`, { tenant_id: tenant, installation_id: installed.id, input: { prompt: input } }),
    )
    const events = await api.stream(`/v1/runs/${run.id}/events`, undefined, {
      headers: { accept: 'text/event-stream' },
    })
    await events.until(isEvent('run.requires_action'))
    events.stop()
    const exported = await (await api.fetch(`/v1/tenants/${tenant}/export`, {})).text()
    const { actions, installations, runs } = JSON.parse(exported)
    expect([actions.length, installations.length, runs.length]).toEqual([1, 1, 1])
    for (const text of ['vendor-value-7421', 'vendor recipe 9913', 'vendor addition 5512', 'thd_']) {
      expect(exported, text).not.toContain(text)
    }
    const waiting = actions[0].id
    const before = tool.calls.length
    await ok(api.post(`/v1/actions/${waiting}/approve`, {}))
    await tool.called(before + 1)
    expect(sent().at(-1)).toBe(value)
  })
})
