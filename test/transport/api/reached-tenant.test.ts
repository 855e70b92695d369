import { expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { wholeReach } from '#test/support/whole-reach.ts'
import { principals, serve } from './serving.ts'

const used: readonly Operation[] = [
  operations['sessions.create'],
  operations['sessions.turns'],
  operations['runs.create'],
  operations['sessions.list'],
  operations['chat_completions.create'],
]
const { send } = serve(used, Object.fromEntries(used.map(({ id }) => [id, () => Promise.reject(new Error('reached'))])))

const agentKey: Principal = {
  ...principals.agent_key,
  reach: {
    ...wholeReach,
    models: new Set(['own-1', 'own-2']),
    toolServers: new Set(['mcp_own']),
    serves: async (tenant) => tenant === 'ten_own',
  },
}

interface Wanted {
  readonly target: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: Principal
}

const errorOf = async ({ as = agentKey, ...sent }: Wanted) => {
  const { status, json } = await send({ method: sent.body === undefined ? 'GET' : 'POST', as, ...sent })
  const { code, param } = Object(Object(json).error)
  return status === 500 ? 'reached' : `${status} ${code} ${param}`
}

const chat = (body: object) => ({
  target: '/v1/chat/completions',
  body: { model: 'own-1', messages: [{ role: 'user', content: 'Hi' }], ...body },
})
const tenants = { own: { 'x-tenant-id': 'ten_own' }, other: { 'x-tenant-id': 'ten_other' } }

it.each<[string, Wanted]>([
  ['404 not_found tenant_id', { target: '/v1/sessions', body: { tenant_id: 'ten_other' } }],
  ['404 not_found X-Tenant-Id', { target: '/v1/sessions', body: {}, headers: tenants.other }],
  ['404 not_found tenant_id', { target: '/v1/sessions?tenant_id=ten_other' }],
  ['404 not_found X-Tenant-Id', { ...chat({}), headers: tenants.other }],
  ['403 secret_key_required external_user_id', { target: '/v1/sessions', body: { external_user_id: 'ada' } }],
  [
    '403 secret_key_required X-External-User-Id',
    { target: '/v1/sessions', body: {}, headers: { 'x-external-user-id': 'ada' } },
  ],
  ['403 secret_key_required memory', chat({ memory: { userId: 'ada' } })],
  ['403 secret_key_required memory', { ...chat({ memory: true, user: 'ada' }) }],
  [
    '403 secret_key_required memory.sessionId',
    { ...chat({ memory: { userId: 'ada', scope: 'session', sessionId: 'ses_x' } }), headers: tenants.own },
  ],
  ['403 secret_key_required model', chat({ model: 'other-1' })],
  ['403 secret_key_required models[1]', chat({ models: ['own-2', 'other-1'] })],
  [
    '403 secret_key_required memory.extract.model',
    { ...chat({ memory: { userId: 'ada', extract: { model: 'other-1' } } }), headers: tenants.own },
  ],
  [
    '403 secret_key_required tools[0].server_id',
    { target: '/v1/sessions/ses_1/turns', body: { input: 'x', tools: [{ type: 'mcp', server_id: 'mcp_other' }] } },
  ],
  [
    '403 secret_key_required tools[0].server_label',
    { target: '/v1/sessions/ses_1/turns', body: { input: 'x', tools: [{ type: 'mcp', server_label: 'other' }] } },
  ],
])("an agent's key receives %s for what it does not reach", async (error, wanted) => {
  expect(await errorOf(wanted)).toBe(error)
  expect(await errorOf({ ...wanted, as: principals.secret_key })).toBe('reached')
})

it.each<Wanted>([
  { target: '/v1/sessions', body: { tenant_id: 'ten_own', external_user_id: 'ada' } },
  { target: '/v1/sessions', body: { external_user_id: 'ada' }, headers: tenants.own },
  // whose agent and tenant the use-case checks
  { target: '/v1/sessions', body: { installation_id: 'ins_1', external_user_id: 'ada' } },
  { target: '/v1/sessions?tenant_id=ten_own' },
  { ...chat({ models: ['own-2'], memory: { userId: 'ada' } }), headers: tenants.own },
  { target: '/v1/sessions/ses_1/turns', body: { input: 'x', tools: [{ type: 'mcp', server_id: 'mcp_own' }] } },
  {
    target: '/v1/sessions/ses_1/turns',
    body: { input: 'x', tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://tool.example' }] },
  },
])("an agent's key reaches what belongs to its agent: %o", async (wanted) => {
  expect(await errorOf(wanted)).toBe('reached')
})
