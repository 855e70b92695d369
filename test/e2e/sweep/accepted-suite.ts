import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import { sampleOf } from '#test/specs/samples.ts'
import { type Api, textOf } from '../api.ts'
import { bodyFor } from './declared-places.ts'
import { declaredEstate } from './estate/parts.ts'
import type { Estate } from './estate.ts'
import { pathOf } from './requests.ts'
import type { Swept } from './sweep.ts'

/* Every parameter of a request is refused, or changes the answer or the request to a provider. The suite is generic. */

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
const { bodies, passesOn, shownBy } = declaredEstate

/** Parameters for paging through a list. */
const walking = new Set([
  'limit',
  'cursor',
  'page',
  'after',
  'starting_after',
  'after_id',
  'before_id',
  'order',
  'event_names',
])

const filtered = guarded
  .filter(({ method, answer }) => method === 'GET' && answer.kind === 'json')
  .flatMap((operation) =>
    Object.entries(operation.query)
      .filter(([name]) => !walking.has(name))
      .map(([name, { json }]) => ({ id: operation.id, name, json, operation })),
  )

/** Values of a filter, at least one of which excludes some rows. */
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

/** Tests each declared filter and field with values of its schema. */
export const accepted = (swept: () => Swept): void => {
  let estate: Estate

  beforeAll(async () => {
    const { theirs, upstream } = swept()
    estate = theirs.globex
    const connection = { base_url: upstream.url, api_key: 'key' }
    const recorded = { ...connection, name: 'recorded', provider: 'recorded' }
    const claude = { ...connection, name: 'claude', provider: 'claude', api_format: 'anthropic' }
    for (const body of [recorded, claude]) await theirs.api.post('/v1/provider-connections', body)
  })

  const apiFor = ({ access }: Operation): Api => (access.kinds.includes('secret_key') ? estate.api : estate.dashboard)
  const own = (name: string): string => estate.idOr(name)

  const answerTo = async (operation: Operation, query: string, body?: unknown): Promise<string> => {
    const path = pathOf(operation, own) + query
    const { upstream } = swept()
    upstream.sent()
    const response = await apiFor(operation).send(path, body, { method: operation.method })
    const text = plain(await textOf(response))
    const headers = Object.keys(response.headers).sort().join()
    return `${response.statusCode} ${headers} ${text}\nsent ${plain(upstream.sent())}`
  }

  it.each(filtered)('$id is narrowed by $name', async ({ id, operation, name, json }) => {
    const all = await answerTo(operation, '')
    if (isEmpty(all) || shownBy[`${id} ${name}`] !== undefined) return expect(all).not.toBe('')
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
    // last, because a suspended or inactive resource serves nothing afterwards
    .toSorted((one, other) => Number(ending.has(one.name)) - Number(ending.has(other.name)))
  const judged = new Set<string>()

  it.each(fields)('$id uses $name or refuses it', async ({ id, operation, name }) => {
    const schema = operation.body?.json.properties?.[name] ?? {}
    const body = passesOn.includes(id) ? await bodies[id]?.(estate, 0) : bodyFor(operation, null, own)
    const base = { ...body, ...served(operation) }
    const without = await answerTo(operation, '', base)
    const again = await answerTo(operation, '', base)
    if (isEmpty(without) || without !== again) return expect(operation.id).toBe(id)
    judged.add(id)
    const answers: string[] = []
    for (const value of candidates(schema)) answers.push(await answerTo(operation, '', { ...base, [name]: value }))
    const place = shownBy[`${id} ${name}`]
    if (place === undefined) expect([name, answers.every((each) => each === without)], without).toEqual([name, false])
    else expect(readFileSync(place, 'utf8')).toContain(name)
  })

  it('cover every API that passes fields on, and most resources', () => {
    expect([...judged].sort()).toEqual(expect.arrayContaining([...passesOn].sort()))
    expect(judged.size).toBeGreaterThan(25)
  })
}

/** Whether its default is the only value that the schema accepts. */
const saysOneThing = (schema: JsonSchema): boolean =>
  schema.default !== undefined && JSON.stringify(candidates(schema)) === JSON.stringify([schema.default])

const ending = new Set(['status', 'is_active', 'isActive'])

const isEmpty = (answer: string): boolean =>
  !answer.startsWith('2') || /"(data|results)":\[\]|"snapshot_at":null/.test(answer)

const model = 'recorded/recorded-1'
const claude = 'claude/recorded-2'

/** A model of the recording upstream, in the API format of the operation. */
const served = ({ body, envelope }: Operation): object =>
  body?.json.properties?.model === undefined ? {} : { model: envelope === 'anthropic' ? claude : model }

/** Valid values of a field, at least one of which differs from the current one. */
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
