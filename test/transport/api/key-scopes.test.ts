import { describe, expect, it } from 'vitest'
import type { Call, Principal } from '#actors/call/call.ts'
import { withLimits } from '#actors/call/reach.ts'
import { operations } from '#actors/capabilities.ts'
import { isObject } from '#runtime/schema.ts'
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
  const { error, param } = Object(json)
  return `${status} ${error?.code ?? error} ${error?.param ?? param ?? error?.details?.param}`
}

const requiredOf = ({ body }: Operation): object => {
  const { properties = {}, required = [] } = body?.json ?? {}
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
}

const targetOf = ({ paths }: Operation) => paths[0].replaceAll(/\{\w+\}/g, 'some_id')

describe('the operations of a key', () => {
  it('have a group, each that a key can call', () => {
    expect(byKeys.filter((operation) => groupOf(operation) === null).map(({ id }) => id)).toEqual([])
  })

  it.each(byKeys)(
    '$id is refused to a key of every other group, and to a reading key if it changes anything',
    async (operation) => {
      const { method } = operation
      const wanted = { method, target: targetOf(operation), headers: { 'content-type': 'application/json' } }
      const isRefused = async (granted: readonly string[]) =>
        (await answerTo(keyOf({ operations: granted }), wanted)).startsWith('403')
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
  const places = byKeys
    .filter((operation) => !takesForms(operation))
    .flatMap((operation) =>
      subjectPlaces(operation)
        .filter(({ part, subject, name }) => part === 'body' && subject === 'model' && !name.startsWith('scopes.'))
        .map(({ name }) => ({ id: operation.id, name, operation })),
    )
  it.each(places)('are required for $name of $id', async ({ operation, name }) => {
    const { method } = operation
    const whole = { ...requiredOf(operation), ...(operation.body?.json.properties?.model && { model: 'small-1' }) }
    const config = name.startsWith('config.') && name !== 'config.model' ? { config: { model: 'small-1' } } : {}
    const given: Readonly<Record<string, unknown>> = { ...whole, ...config }
    const body = merged(given, naming(name, 'large-1'))
    expect(await answerTo(limited, { method, target: targetOf(operation), body })).toBe(
      `403 insufficient_scope ${name.replace('[]', '[0]')}`,
    )
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
