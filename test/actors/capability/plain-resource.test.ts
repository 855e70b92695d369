import { describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import { plainResource } from '#actors/capability/plain-resource.ts'
import type { TypedKind } from '#records/schema.ts'
import { newId } from '#runtime/ids.ts'
import { secretKeyOnly } from '#specs/access.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { nullable, string } from '#specs/dsl/schema.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

type LabelData = { readonly name: string; readonly colour: string | null }

const kind: TypedKind<LabelData> = {
  name: 'labels',
  unique: [{ fields: ['name'] }],
  filters: ['colour'],
  outbox: true,
}

const declaration = defineResource('labels', {
  path: '/v1/labels',
  key: 'label_id',
  idPrefix: 'lab',
  title: 'Label',
  fields: { name: string(), colour: nullable(string()) },
  writable: ['name', 'colour'],
  access: secretKeyOnly,
  operations: { list: {}, create: {}, get: {}, update: {}, delete: {} },
})

const labels = {
  declaration,
  kind,
  uniqueField: 'name',
}

const [ours, theirs] = [newId('prj'), newId('prj')]

const callOf = (change: Partial<Call<unknown, unknown, unknown>>): Call<unknown, unknown, unknown> => ({
  principal: { kind: 'secret_key', project: ours, keyId: 'key_1' },
  scope: projectScope(ours),
  params: {},
  query: { limit: 20 },
  body: undefined,
  requestId: 'req_1',
  remoteAddress: '10.0.0.1',
  idempotency: null,
  after: null,
  accept: '',
  files: [],
  signal: new AbortController().signal,
  ...change,
})

const open = async () => {
  const { records } = openMemoryStorage()
  await records.prepare([kind])
  const useCases: Readonly<Record<string, (call: Call<unknown, unknown, unknown>) => Promise<unknown>>> = plainResource(
    labels,
  ).open({ records, now: Date.now }).useCases
  const call = async (verb: string, change: Partial<Call<unknown, unknown, unknown>> = {}) =>
    useCases[`labels.${verb}`]?.(callOf(change))
  const create = (body: object, change: Partial<Call<unknown, unknown, unknown>> = {}) =>
    call('create', { body, ...change }).then((made) => JSON.parse(JSON.stringify(made)))
  const messages = async (id: string) => (await records.get(kind, projectScope(ours), id))?.outbox ?? []
  return { call, create, messages }
}

describe('a plain resource', () => {
  it('is created, read, updated and deleted', async () => {
    const { call, create } = await open()
    const made = await create({ name: 'urgent', colour: 'red' })
    expect(made).toMatchObject({ id: expect.stringMatching(/^lab_/), name: 'urgent', colour: 'red' })
    const params = { label_id: made.id }
    expect(await call('get', { params })).toEqual(made)
    expect(await call('update', { params, body: { colour: null } })).toMatchObject({ name: 'urgent', colour: null })
    expect(await call('delete', { params })).toEqual({ id: made.id, deleted: true })
    await expect(call('get', { params })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of another project is not found by any verb', async () => {
    const { call, create } = await open()
    const { id } = await create({ name: 'urgent' })
    const foreign = { params: { label_id: id }, scope: projectScope(theirs), body: { name: 'mine' } }
    for (const verb of ['get', 'update', 'delete'])
      await expect(call(verb, foreign)).rejects.toMatchObject({ code: 'not_found' })
    expect(await call('list', { scope: projectScope(theirs) })).toMatchObject({ data: [] })
    expect(await call('get', { params: { label_id: id } })).toMatchObject({ name: 'urgent' })
  })

  it('is listed newest first in pages, by its filters', async () => {
    const { call, create } = await open()
    for (const name of ['a', 'b', 'c']) await create({ name, colour: name === 'b' ? 'red' : 'blue' })
    const first = await call('list', { query: { limit: 2 } })
    expect(first).toMatchObject({ data: [{ name: 'c' }, { name: 'b' }], next_cursor: expect.any(String) })
    const { next_cursor: cursor } = JSON.parse(JSON.stringify(first))
    expect(await call('list', { query: { limit: 2, cursor } })).toMatchObject({
      data: [{ name: 'a' }],
      next_cursor: null,
    })
    expect(await call('list', { query: { limit: 20, colour: 'red' } })).toMatchObject({ data: [{ name: 'b' }] })
  })

  it('is created once by a request that is repeated after a crash', async () => {
    const { call, create } = await open()
    const idempotency = { cause: 'c', fingerprint: 'f', seed: newId('x').slice(2) }
    const [first, again] = [await create({ name: 'a' }, { idempotency }), await create({ name: 'a' }, { idempotency })]
    expect(again).toEqual(first)
    expect(await call('list')).toMatchObject({ data: [{ id: first.id }] })
  })

  it('is refused with the name of the field if a unique key is taken', async () => {
    const { create } = await open()
    await create({ name: 'a' })
    await expect(create({ name: 'a' })).rejects.toMatchObject({ code: 'already_exists', details: { param: 'name' } })
  })

  it('writes an audit line with each change, in the same document', async () => {
    const { call, create, messages } = await open()
    const { id } = await create({ name: 'a' })
    await call('update', { params: { label_id: id }, body: { colour: 'red' } })
    const actions = (await messages(id)).map(({ event }) => event.action)
    expect(actions).toEqual(['label.created', 'label.updated'])
  })

  it('needs no more than its declaration', () => {
    const { name, kinds, operations } = plainResource({ declaration })
    expect(name).toBe('labels')
    expect(kinds).toEqual([{ name: 'labels', filters: [], outbox: true }])
    expect(operations).toBe(declaration)
  })

  it('that declares an additional verb is refused when it opens', () => {
    const odd = defineResource('labels', {
      path: '/v1/labels',
      key: 'label_id',
      idPrefix: 'lab',
      title: 'Label',
      fields: { name: string(), colour: nullable(string()) },
      writable: ['name', 'colour'],
      access: secretKeyOnly,
      operations: { list: {}, create: {} },
      transitions: { paint: { summary: 'Paint a label' } },
    })
    const { records } = openMemoryStorage()
    const resource = plainResource({ ...labels, declaration: odd })
    expect(() => resource.open({ records, now: Date.now })).toThrow('labels.paint is no verb of a plain resource')
  })
})
