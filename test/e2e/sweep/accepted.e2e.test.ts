import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import { sampleOf } from '#test/specs/samples.ts'
import type { Api } from '../api.ts'
import { noBrowser } from '../browser/no-browser.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'
import { bodyFor, prefixesByName } from './declared-places.ts'
import { type Estate, makeEstate, ownId } from './estate.ts'
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts'
import { pathOf } from './requests.ts'

/* Whatever a request may say is refused, or changes what is answered or sent on. Nothing here is written for one operation. */

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
const prefixes = prefixesByName(declared)

/** Parameters by which a list is walked. */
const walking = new Set(['limit', 'cursor', 'page', 'after', 'starting_after', 'order', 'event_names'])

const filtered = guarded
  .filter(({ method, answer }) => method === 'GET' && answer.kind === 'json')
  .flatMap((operation) =>
    Object.entries(operation.query)
      .filter(([name]) => !walking.has(name))
      .map(([name, { json }]) => ({ id: operation.id, name, json, operation })),
  )

/** Values of a filter, of which one at least leaves something out. */
const valuesOf = (name: string, schema: JsonSchema): readonly string[] => {
  const words = schema.enum ?? schema.items?.enum
  if (words !== undefined) return words.map(String)
  if (schema.type === 'boolean') return ['true', 'false']
  if (name === 'from') return ['2100-01-01']
  if (name === 'to') return ['2000-01-01']
  if (schema.type === 'integer') return [String(schema.minimum ?? 1), String(schema.maximum ?? 999)]
  return ['nothing-has-this']
}

const plain = (text: string): string =>
  text
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"')
    .replaceAll(/\b[a-z]{2,5}_[0-9a-zA-Z_-]{20,}/g, 'id')
    .replaceAll(/\b[a-z]+-[0-9a-zA-Z]{20,}\b/g, 'id')
    .replaceAll(/"created(_at)?":\s*\d+/g, '"created":0')

describe('what is accepted', { timeout: 240_000 }, () => {
  let world: World
  let tool: ToolServer
  let upstream: RecordingUpstream
  let estate: Estate

  beforeAll(async () => {
    tool = await startToolServer()
    upstream = await startRecordingUpstream()
    world = await World.start({ tools: [tool, upstream], env: noBrowser })
    const dashboard = await world.dashboard()
    const project: string = (await dashboard.get('/api/projects')).body.data[0].id
    estate = await makeEstate({ world, tool, api: world.api, dashboard, project, operations: guarded }, 'own')
    await world.api.post('/v1/provider-connections', {
      ...{ name: 'recorded', provider: 'recorded', base_url: upstream.url, api_key: 'key' },
    })
    await world.api.post('/v1/provider-connections', {
      ...{ name: 'claude', provider: 'claude', base_url: upstream.url, api_key: 'key', api_format: 'anthropic' },
    })
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
    await upstream.close()
  })

  const apiFor = ({ access }: Operation): Api => (access.kinds.includes('secret_key') ? world.api : estate.dashboard)
  const own = (name: string): string => ownId(estate, prefixes, name)

  const answerTo = async (operation: Operation, query: string, body?: unknown): Promise<string> => {
    const path = pathOf(operation, own) + query
    upstream.sent()
    const response = await apiFor(operation).fetch(path, body, { method: operation.method })
    const text = plain(await response.text())
    const headers = [...response.headers.keys()].sort().join()
    return `${response.status} ${headers} ${text}\nsent ${plain(upstream.sent())}`
  }

  it.each(filtered)('$id is narrowed by $name', async ({ id, operation, name, json }) => {
    const all = await answerTo(operation, '')
    if (isEmpty(all) || elsewhere[`${id} ${name}`] !== undefined) return expect(all).not.toBe('')
    const narrowed = await Promise.all(valuesOf(name, json).map((value) => answerTo(operation, `?${name}=${value}`)))
    expect(
      narrowed.some((each) => each !== all),
      all,
    ).toBe(true)
  })

  const bodied = guarded.filter(
    (operation) => operation.body !== null && !takesForms(operation) && operation.method !== 'DELETE',
  )
  const fields = bodied
    .flatMap((operation) =>
      Object.entries(operation.body?.json.properties ?? {})
        .filter(([name, schema]) => operation.body?.json.required?.includes(name) !== true && !saysOneThing(schema))
        .map(([name]) => name)
        .map((name) => ({ id: operation.id, operation, name })),
    )
    // what is suspended or inactive serves nothing after that
    .toSorted((one, other) => Number(ending.has(one.name)) - Number(ending.has(other.name)))
  const judged = new Set<string>()

  it.each(fields)('$id does something with $name, or refuses it', async ({ id, operation, name }) => {
    const schema = operation.body?.json.properties?.[name] ?? {}
    const base = bodies[id] ?? { ...bodyFor(operation, null, own), ...served(operation) }
    const without = await answerTo(operation, '', base)
    const again = await answerTo(operation, '', base)
    if (isEmpty(without) || without !== again) return expect(operation.id).toBe(id)
    judged.add(id)
    const answers: string[] = []
    for (const value of candidates(schema)) answers.push(await answerTo(operation, '', { ...base, [name]: value }))
    const place = elsewhere[`${id} ${name}`]
    if (place === undefined) expect([name, answers.every((each) => each === without)], without).toEqual([name, false])
    else expect(readFileSync(place, 'utf8')).toContain(name)
  })

  it('was seen of every API that passes fields on, and of most resources', () => {
    expect([...judged].sort()).toEqual(expect.arrayContaining(Object.keys(bodies).sort()))
    expect(judged.size).toBeGreaterThan(25)
  })
})

/** The only value that it takes is the one that is filled in. */
const saysOneThing = (schema: JsonSchema): boolean =>
  schema.default !== undefined && JSON.stringify(candidates(schema)) === JSON.stringify([schema.default])

const ending = new Set(['status', 'is_active', 'isActive'])

const isEmpty = (answer: string): boolean =>
  !answer.startsWith('2') || /"(data|results)":\[\]|"snapshot_at":null/.test(answer)

const message = { role: 'user', content: 'hi' }
const model = 'recorded/recorded-1'
const claude = 'claude/recorded-2'
const tools = [{ name: 'f', input_schema: { type: 'object' } }]

/** Bodies of operations whose declared fields do not say what is taken. */
const bodies: Readonly<Record<string, object>> = {
  'ai_chat.create': { model, messages: [message] },
  'chat_completions.create': { model, messages: [message] },
  'responses.create': { model, input: 'hi' },
  'messages.create': { model: claude, max_tokens: 10, messages: [message], tools },
  'messages.count_tokens': { model: claude, messages: [message], tools },
  'embeddings.create': { model, input: 'hi' },
}

/** Fields whose effect no answer shows, by the test that does. */
const elsewhere: Readonly<Record<string, string>> = {
  'usage.summary days': 'test/actors/usage/usage-range.test.ts',
  'custom_providers.update models': 'test/gateway/routing/custom-providers.test.ts',
  'ai_chat.create models': 'test/gateway/apis/ai-chat.test.ts',
  'ai_chat.create userId': 'test/gateway/apis/ai-chat.test.ts',
  'ai_chat.create user_id': 'test/gateway/apis/ai-chat.test.ts',
  'responses.create models': 'test/gateway/apis/responses.test.ts',
  'responses.create include': 'test/gateway/apis/file-search.test.ts',
  'chat_completions.create models': 'test/gateway/chat/fallbacks.test.ts',
  'messages.create thread': 'test/gateway/apis/message-threads.test.ts',
  'embeddings.create models': 'test/gateway/embeddings/embedding-calls.test.ts',
  'actions.create expires_in': 'test/e2e/crash/crash-timers.e2e.test.ts',
  'actions.approve note': 'test/actors/sessions/approvals.test.ts',
  'actions.approve tool_results': 'test/e2e/agents/own-actions.e2e.test.ts',
  'client_tokens.create permissions': 'test/actors/accounts/client-tokens.test.ts',
}

const served = ({ body }: Operation): object => (body?.json.properties?.model === undefined ? {} : { model })

/** Values that a field takes, of which one at least is not what stands there already. */
const candidates = (schema: JsonSchema): readonly unknown[] => {
  if (schema.enum !== undefined) return schema.enum
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(candidates)
  if (schema.oneOf !== undefined) return schema.oneOf.flatMap(candidates)
  const sample = sampleOf(schema)
  if (typeof sample === 'boolean') return [true, false]
  if (typeof sample === 'number') return [sample, sample + 1]
  if (typeof sample === 'string') return [sample, `${sample} x`, 'x@y.example', '2.0.0']
  return schema.additionalProperties === undefined ? [sample] : [{ key: 'value' }, { key: 1 }, { key: 0.5 }]
}
