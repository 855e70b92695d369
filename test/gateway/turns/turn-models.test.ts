import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAdmission } from '#gateway/call/admission.ts'
import { actorCaller } from '#gateway/call/caller.ts'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import { openChats } from '#gateway/chat/open-chats.ts'
import { metered } from '#gateway/turns/metered.ts'
import { GatewayTurns } from '#gateway/turns/turn-models.ts'
import { costOf } from '../call/cost-of.ts'
import { openUpstream, refusal, type Upstream, whole } from '../call/scripted-upstream.ts'
import { anthropic, google, openAi } from '../call/wire-samples.ts'
import { openRoutingWorld, type RoutingWorldOptions } from '../routing/routing-world.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await openUpstream()
})
afterAll(() => upstream.close())

/** Turns over the stored routes of a project and the real guard. */
const open = async (options: RoutingWorldOptions = {}) => {
  const world = await openRoutingWorld({ allowed: [new URL(upstream.url).host], ...options })
  const { chats } = openChats({
    ...{ routes: world.routes, guard: world.guard, now: Date.now, counted: () => {}, policy: { backoffMs: 1 } },
    admission: openAdmission,
    redaction: { policyOf: () => null, forLog: (body) => body },
    ledger: {
      record: () => {
        throw new Error('the rows of turns follow from their commits')
      },
      flush: () => Promise.resolve(),
    },
  })
  const close = async (): Promise<void> => {
    await chats.close()
    await world.close()
  }
  return { ...world, turns: new GatewayTurns({ chats }), close }
}
type World = Awaited<ReturnType<typeof open>>

const request = (model: string): ModelRequest => ({
  model,
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  idempotencyKey: 'ses_1:4:0',
})

const whose = actorCaller({ project: 'prj_a', tenant: null, user: null }, null)

/** The model call of a turn, and its usage row. */
const sendRequest = async ({ turns }: World, model: string) => {
  const answer = await turns.call(request(model), whose, { onDelta: () => {}, signal: new AbortController().signal })
  const row = metered({ operation: 'session.turn', agentId: null, ...answer.charge })
  return { answer, row, received: upstream.received[0] }
}

describe('a turn', () => {
  it('uses the connection of its project without a charge', async () => {
    const world = await open({ keys: { openai: { apiKey: 'sk-ours' } } })
    await world.connect({ key: 'sk-theirs', base_url: `${upstream.url}/v1` })
    upstream.script(whole(openAi.text))
    const { answer, row, received } = await sendRequest(world, 'gpt-4o-mini')
    expect(answer.text).toBe('Hello wörld 🌍')
    expect(received).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-theirs' },
      body: { model: 'gpt-4o-mini' },
    })
    expect(row).toMatchObject({
      billing_mode: 'byok',
      service_charge_usd: '0',
      provider: 'openai',
      model: 'gpt-4o-mini',
    })
    expect(row.provider_cost_usd).toBe(costOf('gpt-4o-mini', answer.usage))
    await world.close()
  })

  it.each([
    [anthropic, 'claude-haiku-4-5', '/v1/messages', 'x-api-key', 'sk-theirs'],
    [
      google,
      'gemini-2.5-flash',
      '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
      'x-goog-api-key',
      'sk-theirs',
    ],
  ] as const)('uses the format of $id with the key of the project', async (sample, model, path, header, key) => {
    const world = await open()
    await world.connect({ provider: sample.id, api_format: sample.id, key: 'sk-theirs', base_url: upstream.url })
    upstream.script(whole(sample.text))
    const { answer, row, received } = await sendRequest(world, model)
    expect(answer.text).toBe('Hello wörld 🌍')
    expect(received?.path.split('?')[0]).toBe(path)
    expect(received?.headers[header]).toBe(key)
    expect(row).toMatchObject({ billing_mode: 'byok', service_charge_usd: '0' })
    await world.close()
  })

  it('uses a custom provider, whose cost is unknown', async () => {
    const world = await open()
    const id = await world.register({ name: 'Rack', base_url: `${upstream.url}/v1`, models: ['gpt-4o-mini'] })
    upstream.script(whole(openAi.text))
    const { row, received } = await sendRequest(world, 'rack')
    expect(received?.headers.authorization).toBeUndefined()
    expect(row).toMatchObject({
      ...{ provider: `custom:${id}`, model: 'gpt-4o-mini', billing_mode: 'custom' },
      ...{ provider_cost_usd: null, service_charge_usd: '0', price_snapshot: null },
    })
    await world.close()
  })

  it('uses another provider with the key of the installation, which is charged', async () => {
    const world = await open({ keys: { groq: { apiKey: 'gsk', baseUrl: `${upstream.url}/openai/v1` } } })
    upstream.script(whole(openAi.text))
    const { row, received, answer } = await sendRequest(world, 'groq/openai/gpt-oss-120b')
    expect(received).toMatchObject({ path: '/openai/v1/chat/completions', headers: { authorization: 'Bearer gsk' } })
    const cost = costOf('groq/openai/gpt-oss-120b', answer.usage)
    expect(cost).not.toBeNull()
    expect(row).toMatchObject({
      billing_mode: 'managed',
      provider: 'groq',
      provider_cost_usd: cost,
      service_charge_usd: cost,
    })
    await world.close()
  })

  it('sends nothing to a private address that a project configured', async () => {
    const world = await open({ allowed: [] })
    await world.connect({ base_url: `${upstream.url}/v1` })
    await world.connect({ provider: 'anthropic', api_format: 'anthropic', base_url: upstream.url })
    upstream.script(whole(openAi.text))
    for (const model of ['gpt-4o', 'claude-haiku-4-5']) {
      await expect(sendRequest(world, model), model).rejects.toMatchObject({ code: 'provider_unavailable' })
    }
    expect(upstream.received).toEqual([])
    await world.close()
  })

  it('fails with the error of its model when no provider serves it', async () => {
    const world = await open({ keys: { openai: { apiKey: 'sk-ours' } } })
    await expect(sendRequest(world, 'llama-4')).rejects.toMatchObject({ code: 'model_not_found' })
    await expect(sendRequest(world, 'claude-haiku-4-5')).rejects.toMatchObject({ code: 'provider_not_configured' })
    await world.close()
  })

  it('falls back to the key of the installation when the connection fails and allows that, and is charged then', async () => {
    const world = await open({ keys: { openai: { apiKey: 'sk-ours', baseUrl: `${upstream.url}/v1` } } })
    await world.connect({ key: 'sk-theirs', base_url: `${upstream.url}/v1`, fallback_to_managed: true })
    const oops = refusal(503, { message: 'oops' })
    upstream.script(oops, oops, whole(openAi.text))
    const { answer, row } = await sendRequest(world, 'gpt-4o-mini')
    expect(upstream.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-theirs',
      'Bearer sk-theirs',
      'Bearer sk-ours',
    ])
    expect(row).toMatchObject({ billing_mode: 'managed', service_charge_usd: costOf('gpt-4o-mini', answer.usage) })
    await world.close()
  })
})
