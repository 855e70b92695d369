import { describe, expect, it } from 'vitest'
import type { Call, Principal } from '#actors/call/call.ts'
import { withLimits } from '#actors/call/reach.ts'
import { operations } from '#actors/capabilities.ts'
import { isObject } from '#runtime/schema.ts'
import { permissions } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import {
  groupOf,
  includesEntry,
  isReading,
  type KeyScopes,
  operationGroups,
  tenancyOf,
} from '#specs/reach/key-scopes.ts'
import { subjectPlaces } from '#specs/reach/subject-places.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import { sampleOf } from '#test/specs/samples.ts'
import { principals, serve } from './serving.ts'

const declared: readonly Operation[] = Object.values(operations)
const byKeys = declared.filter(({ access }) => access.kinds.includes('secret_key'))

let reached: Call<unknown, unknown, unknown> | null = null
const record = async (call: Call<unknown, unknown, unknown>) => {
  reached = call
  throw new Error('reached')
}
const { send } = serve(declared, Object.fromEntries(declared.map(({ id }) => [id, record])))

const keyOf = (scopes: KeyScopes): Principal => ({ ...principals.secret_key, ...withLimits(scopes) })

/** Credentials that can be limited: keys of projects and of agents, and tokens that a limited key minted. */
const limitable = ['secret_key', 'agent_key', 'client_token'] as const
const limitedAs = (kind: (typeof limitable)[number], scopes: KeyScopes): Principal => {
  const limits = withLimits(scopes)
  if (kind === 'client_token') return { ...principals.client_token, permissions: [...permissions], ...limits }
  const reach = { ...principals.agent_key.reach, models: new Set(['small-1', 'large-1']) }
  return kind === 'agent_key' ? { ...principals.agent_key, reach, ...limits } : { ...principals.secret_key, ...limits }
}
const callsOf = limitable.flatMap((kind) =>
  declared
    .filter(({ access }) => access.kinds.includes(kind))
    .map((operation) => ({ kind, operation, id: operation.id })),
)

interface Wanted {
  readonly method?: string
  readonly target: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

const answerTo = async (as: Principal, { body, method = body === undefined ? 'GET' : 'POST', ...sent }: Wanted) => {
  reached = null
  const { status, json } = await send({ ...sent, method, body, as })
  if (reached !== null) return 'reached'
  const { error, param, details } = Object(json)
  // A2A has the code in a detail of the error
  const [info] = error?.details ?? error?.data ?? []
  if (info !== undefined) return `${status} ${info.metadata.code} ${info.metadata.param}`
  return `${status} ${error?.code ?? error} ${error?.param ?? param ?? details?.param}`
}

const requiredOf = ({ body }: Operation): object => {
  const { properties = {}, required = [] } = body?.json ?? {}
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
}

const targetOf = ({ paths }: Operation) => paths[0].replace('{model}', 'small-1').replaceAll(/\{\w+\}/g, 'some_id')

describe('the operations of a key', () => {
  it('have a group, each that a key can call', () => {
    expect(byKeys.filter((operation) => groupOf(operation) === null).map(({ id }) => id)).toEqual([])
  })

  it.each(callsOf)(
    '$id is refused to a $kind of every other group, and to a reading one if it changes anything',
    async ({ kind, operation }) => {
      const { method } = operation
      const wanted = { method, target: targetOf(operation), headers: { 'content-type': 'application/json' } }
      const isRefused = async (granted: readonly string[]) =>
        (await answerTo(limitedAs(kind, { operations: granted }), wanted)).startsWith('403')
      const own = groupOf(operation) ?? ''
      const others = operationGroups.filter((group) => group !== own)
      expect(await isRefused(others)).toBe(true)
      expect(await isRefused(['read'])).toBe(!isReading(operation))
      expect(await isRefused([`${own}:read`])).toBe(!isReading(operation))
      for (const granted of ['write', own, `${own}:write`])
        expect([granted, await isRefused([granted])]).toEqual([granted, false])
    },
  )

  it('include what a key that is made with it may be limited to', () => {
    const includes = (granted: string, entry: string) => includesEntry(new Set([granted]), entry)
    for (const entry of ['read', 'write', 'runs', 'runs:read']) expect(includes('write', entry)).toBe(true)
    for (const entry of ['runs', 'runs:read', 'runs:write']) expect(includes('runs', entry)).toBe(true)
    expect(includes('read', 'runs:read')).toBe(true)
    for (const [granted, entry] of [
      ['read', 'runs'],
      ['runs', 'write'],
      ['runs', 'read'],
      ['runs:read', 'runs'],
      ['runs:read', 'models:read'],
    ] as const)
      expect([granted, entry, includes(granted, entry)]).toEqual([granted, entry, false])
  })

  it('are named by the refusal', async () => {
    const session = { target: '/v1/sessions', body: {} }
    expect(await answerTo(keyOf({ operations: ['sessions:read'] }), session)).toBe('403 insufficient_scope operations')
    const { json } = await send({ method: 'POST', ...session, as: keyOf({ operations: ['read'] }) })
    expect(Object(json).error.message).toBe('The scopes of the key do not include sessions:write.')
  })
})

/** One object with the fields of both; where both have an object, with its fields of both. */
const merged = (one: object, other: object): object =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => {
      const [a, b] = [Object(one)[name], Object(other)[name]]
      return [name, isObject(a) && isObject(b) ? merged(a, b) : (b ?? a)]
    }),
  )

const one = keyOf({ tenants: ['ten_1'] })
const two = keyOf({ tenants: ['ten_1', 'ten_2'] })
const inTenant = (tenant: string) => ({ 'x-tenant-id': tenant })

describe('the tenants of a key', () => {
  const owned = byKeys.filter((operation) => tenancyOf(operation) === 'owned' && !takesForms(operation))
  it.each(owned.filter(({ id }) => id !== 'tenants.list'))('$id never leaves them', async (operation) => {
    const { method, body } = operation
    const target = targetOf(operation).replace('/tenants/some_id', '/tenants/ten_3')
    const wanted = { method, target, ...(body !== null && { body: requiredOf(operation) }) }
    const answers = [
      await answerTo(two, wanted),
      await answerTo(two, { ...wanted, headers: inTenant('ten_3') }),
      await answerTo(one, { ...wanted, headers: inTenant('ten_3') }),
    ]
    expect(answers).toEqual(answers.map(() => expect.stringMatching(/^403 insufficient_scope/)))
  })

  const named = callsOf
    .filter(
      ({ kind, operation }) => kind !== 'client_token' && tenancyOf(operation) === 'owned' && !takesForms(operation),
    )
    .flatMap((call) =>
      subjectPlaces(call.operation)
        .filter(({ subject }) => subject === 'tenant')
        .map(({ part, name }) => ({ ...call, part, name })),
    )
  it.each(named)('of a $kind bound the $part $name of $id', async ({ kind, operation, part, name }) => {
    const { method } = operation
    const as = limitedAs(kind, { tenants: ['ten_1', 'ten_2'] })
    const path = targetOf(operation).replace('/tenants/some_id', part === 'path' ? '/tenants/ten_3' : '/tenants/ten_1')
    const target = part === 'query' ? `${path}?${name}=ten_3` : path
    const model = operation.body?.json.properties?.model && { model: 'small-1' }
    const body = { ...requiredOf(operation), ...model, ...(part === 'body' && { [name]: 'ten_3' }) }
    const headers = part === 'header' ? inTenant('ten_3') : {}
    const wanted = { method, target, headers, ...(operation.body !== null && { body }) }
    expect(await answerTo(as, wanted)).toBe(`403 insufficient_scope ${name}`)
  })

  it('are looked for in every place where an operation names one', () => {
    expect(new Set(named.map(({ part }) => part))).toEqual(new Set(['header', 'path', 'query', 'body']))
    expect(named.length).toBeGreaterThan(60)
  })

  const ofProject = byKeys.filter((operation) => tenancyOf(operation) === 'project')
  it.each(ofProject)('do not include the project, so $id is refused', async (operation) => {
    const wanted = { method: operation.method, target: targetOf(operation) }
    for (const as of [one, two]) expect(await answerTo(as, wanted)).toMatch(/^403/)
  })

  it('are named by the refusal', async () => {
    const body = { tenant_id: 'ten_3' }
    expect(await answerTo(two, { target: '/v1/sessions', body })).toBe('403 insufficient_scope tenant_id')
    expect(await answerTo(two, { target: '/v1/sessions', body: {} })).toBe('403 insufficient_scope X-Tenant-Id')
    expect(await answerTo(two, { target: '/v1/runs?tenant_id=ten_3' })).toBe('403 insufficient_scope tenant_id')
    expect(await answerTo(one, { target: '/v1/webhooks' })).toBe('403 insufficient_scope tenants')
    const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    expect(await answerTo(two, { target: '/v1/chat/completions', body: chat })).toBe(
      '403 insufficient_scope X-Tenant-Id',
    )
  })

  it('bound the scope of each call: the only one is implied', async () => {
    for (const [as, headers] of [
      [one, {}],
      [two, inTenant('ten_2')],
    ] as const) {
      expect(await answerTo(as, { target: '/v1/sessions/ses_1', headers })).toBe('reached')
      expect(reached).toMatchObject({ scope: { tenant: headers['x-tenant-id'] ?? 'ten_1' } })
    }
    await answerTo(one, {
      target: '/v1/chat/completions',
      body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(reached).toMatchObject({ scope: { tenant: 'ten_1' } })
    await answerTo(two, { target: '/v1/tenants' })
    expect(reached).toMatchObject({
      scope: { tenant: null, among: { tenants: ['ten_1', 'ten_2'], untenanted: false } },
    })
  })
})

/** A body that names a model at a place such as `memory.extract.model` or `models[]`. */
const naming = (place: string, model: string): object => {
  const [step = '', ...rest] = place.split('.')
  const field = step.replace('[]', '')
  const inner = rest.length === 0 ? model : naming(rest.join('.'), model)
  return { [field]: field === step ? inner : [inner] }
}

describe('the models of a key', () => {
  const limited = keyOf({ models: ['small-1'] })
  const places = callsOf
    .filter(({ operation }) => !takesForms(operation))
    .flatMap((call) =>
      subjectPlaces(call.operation)
        .filter(({ part, subject, name }) => part === 'body' && subject === 'model' && !name.startsWith('scopes.'))
        .map(({ name }) => ({ ...call, name })),
    )
  it.each(places)('of a $kind are required for $name of $id', async ({ kind, operation, name }) => {
    const { method } = operation
    const whole = { ...requiredOf(operation), ...(operation.body?.json.properties?.model && { model: 'small-1' }) }
    const config = name.startsWith('config.') && name !== 'config.model' ? { config: { model: 'small-1' } } : {}
    const given: Readonly<Record<string, unknown>> = { ...whole, ...config }
    const check = { type: 'model', instructions: 'Judge.', action: 'block', model: 'large-1' }
    const body = name === 'checks[].model' ? { ...given, checks: [check] } : merged(given, naming(name, 'large-1'))
    const answer = await answerTo(limitedAs(kind, { models: ['small-1'] }), {
      method,
      target: targetOf(operation),
      body,
    })
    const place = name.replace('[]', '[0]')
    // some fields only a secret key may set at all
    const codes = kind === 'secret_key' ? ['insufficient_scope'] : ['insufficient_scope', 'secret_key_required']
    expect(codes.map((code) => `403 ${code} ${place}`)).toContain(answer)
  })

  it('are looked for in every place where an operation names one', () => {
    expect(places.length).toBeGreaterThan(40)
  })

  it.each<[string, Wanted]>([
    ['model', { target: '/v1/embeddings', body: { model: 'large-1', input: 'x' } }],
    ['models[0]', { target: '/v1/embeddings', body: { model: 'small-1', models: ['large-1'], input: 'x' } }],
    ['model', { target: '/v1/sessions/ses_1/turns', body: { input: 'x', model: 'large-1' } }],
    ['config.model', { target: '/v1/agents', body: { name: 'a', config: { model: 'large-1' } } }],
    [
      'overlays.model',
      { target: '/v1/agent-installations', body: { tenant_id: 't', agent_id: 'a', overlays: { model: 'large-1' } } },
    ],
  ])('are required for %s', async (param, wanted) => {
    expect(await answerTo(limited, wanted)).toBe(`403 insufficient_scope ${param}`)
    expect(await answerTo(principals.secret_key, wanted)).toBe('reached')
  })
})
