import { afterEach, beforeEach, expect, it } from 'vitest'
import { keyLimitsOf } from '#gateway/call/pools/key-limits.ts'
import { ManagedProviders } from '#gateway/routing/managed-providers.ts'
import { callOf, secretOf } from '#test/actors/agents/harness.ts'
import { type ConnectionsWorld, openConnectionsWorld } from '../routing/connections-world.ts'
import { world as openLimits } from './limited-world.ts'

let world: ConnectionsWorld
let limited: Awaited<ReturnType<typeof openLimits>>

beforeEach(async () => {
  world = await openConnectionsWorld()
  limited = await openLimits()
})
afterEach(() => world.close())

const connect = async (project: string) => {
  const given = { name: 'Mine', provider: 'openai', api_key: 'sk-of-both-projects', requests_per_minute: 1 }
  const usual = { is_active: true, fallback_to_managed: false, weight: 1 }
  const call = callOf({}, {}, { ...usual, ...given }, secretOf(project))
  return (await world.useCases['provider_connections.create'](call)).id
}
const admitted = async (project: string, model = 'gpt-4o') => {
  const [route] = await world.routing.routes.resolve(project, model, 'chat')
  if (route === undefined) throw new Error('no route')
  return 'settle' in (await limited.admission.admitKey({ route, requests: 1, tokens: () => ({ max: 1 }) }))
}

it('the connections of two projects with the same key have windows of their own, over all their models', async () => {
  await connect('prj_a')
  await connect('prj_b')
  expect(await admitted('prj_a')).toBe(true)
  expect(await admitted('prj_a', 'gpt-4o-mini')).toBe(false)
  expect(await admitted('prj_b')).toBe(true)
  expect(await admitted('prj_b')).toBe(false)
})

it('a limit that is changed applies to what is already taken, and null removes it', async () => {
  const connection_id = await connect('prj_a')
  const change = (requests_per_minute: number | null) =>
    world.useCases['provider_connections.update'](
      callOf({ connection_id }, {}, { requests_per_minute }, secretOf('prj_a')),
    )
  expect(await admitted('prj_a')).toBe(true)
  expect(await change(2)).toMatchObject({ requests_per_minute: 2, tokens_per_minute: null })
  expect([await admitted('prj_a'), await admitted('prj_a')]).toEqual([true, false])
  expect(await change(null)).toMatchObject({ requests_per_minute: null })
  const [route] = await world.routing.routes.resolve('prj_a', 'gpt-4o', 'chat')
  expect(route?.keyLimits).toBeUndefined()
  expect(keyLimitsOf({ tokens_per_minute: 5 })).toEqual({ requestsPerMinute: null, tokensPerMinute: 5 })
})

it("an operator's keys have a window each, which all projects share", async () => {
  const limits = { requests_per_minute: 2 }
  const keys = { openai: { apiKey: 'a', limits }, groq: { apiKey: 'b', limits }, mistral: { apiKey: 'c' } }
  const managed = new ManagedProviders({ keys, simulated: 'off' })
  const isAdmitted = async (provider: string) => {
    const endpoint = managed.of(provider)
    if (endpoint === undefined) throw new Error('no key')
    return 'settle' in (await limited.admission.admitKey({ route: { ...endpoint, model: 'm' }, requests: 1 }))
  }
  const all = await Promise.all(['openai', 'openai', 'openai', 'groq', 'mistral', 'mistral', 'mistral'].map(isAdmitted))
  expect(all).toEqual([true, true, false, true, true, true, true])
  await limited.clock.advance(60_000)
  expect(await isAdmitted('openai')).toBe(false)
  await limited.clock.advance(1_000)
  expect(await isAdmitted('openai')).toBe(true)
})
