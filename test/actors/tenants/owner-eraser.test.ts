import { describe, expect, it } from 'vitest'
import { auditLog } from '#actors/audit/kinds.ts'
import { definitions, kinds } from '#actors/capabilities.ts'
import { sessionRows } from '#actors/sessions/kinds.ts'
import { tenants, tenantUsers } from '#actors/tenants/kinds.ts'
import { OwnerEraser } from '#actors/tenants/owner-eraser.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { definitionOf } from '#machines/definition-of.ts'
import { idempotencyKeys } from '#records/idempotent.ts'
import type { EraserParts } from '#runtime/erasure/erase-listed.ts'
import { readStoredState, revive } from '#runtime/step/actor-state.ts'
import { nextStep } from '#runtime/step/step.ts'
import { readHistories } from '#scripts/histories/history.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RecordKind, StoredRecord } from '#storage/ports.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { commitOf, recordOf } from '#test/storage/samples.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const project = 'prj_1'
const tenant = { project, tenant: 'ten_1', user: null }
const ada = { ...tenant, user: 'ada' }

const open = (deliver: EraserParts['host']['deliver'] = () => Promise.reject(new ServiceError('not_found'))) => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  const host = { deliver, drop: () => {}, rows: { shown: async () => {} } }
  const owned = new OwnerEraser({ storage, host, clock, kinds, actorRows: [sessionRows] })
  const put = (kind: RecordKind, id: string, change: Partial<StoredRecord>) =>
    storage.records.insert(kind, recordOf(id, { data: {}, ...change }))
  return { clock, storage, owned, put }
}

/** What an erasure of the tenant leaves: its audit log, and the row that marks it as being deleted. */
const stays = [auditLog, tenants]

describe('an erasure of a tenant', () => {
  it.each(kinds.map((kind) => [kind.name, kind] as const))('covers every record of the kind %s', async (_, kind) => {
    const { owned, put, storage } = open()
    await put(kind, 'own', { tenant: 'ten_1' })
    await put(kind, 'of-a-user', { tenant: 'ten_1', user: 'ada' })
    await put(kind, 'other', { tenant: 'ten_2' })
    await put(kind, 'project', {})
    expect(await owned.erase(tenant)).toEqual({})
    expect(await storage.records.left(kind, tenantScope(project, 'ten_1'))).toBe(
      stays.some((each) => each === kind) ? 2 : 0,
    )
    expect(await storage.records.left(kind, tenantScope(project, 'ten_2'))).toBe(1)
    expect(await storage.records.get(kind, projectScope(project), 'project')).not.toBeNull()
  })

  it('removes commits that no actor handles, and blobs once no actor needs them', async () => {
    const { owned, storage } = open()
    await storage.commits.append([commitOf('ses_1', 1, { tenant: 'ten_1' }), commitOf('ses_2', 1, { tenant: 'ten_2' })])
    for (const name of ['ten_1.ses_1.aa', 'ten_1.bb', 'ten_2.cc', 'dd']) await storage.blobs.put(project, name, 'x')
    expect(await owned.erase(tenant)).toEqual({})
    expect(await storage.commits.head('ses_1')).toBeNull()
    expect(await storage.commits.head('ses_2')).not.toBeNull()
    expect(await storage.blobs.hashes(project, null, 10)).toEqual(['dd', 'ten_2.cc'])
  })

  it('reports the collections that are not empty until the actors have removed themselves', async () => {
    const { owned, put, storage } = open(async () => ({ commit: null, duplicate: false }))
    await storage.commits.append([commitOf('ses_1', 1, { tenant: 'ten_1' })])
    await storage.blobs.put(project, 'ten_1.ses_1.aa', 'x')
    await put(tenants, 'ten_1', { tenant: 'ten_1' })
    expect(await owned.erase(tenant)).toEqual({ actors: 1, blobs: 1 })
    await storage.commits.forget('ses_1')
    expect(await owned.erase(tenant)).toEqual({})
  })

  it('removes a parked actor without its cooperation', async () => {
    const { owned, storage } = open(() => Promise.reject(new ServiceError('actor_parked')))
    await storage.commits.append([commitOf('ses_1', 1, { tenant: 'ten_1' })])
    expect(await owned.erase(tenant)).toEqual({})
    expect(await storage.commits.head('ses_1')).toBeNull()
  })

  it('removes stored answers of requests that named the tenant, from any caller', async () => {
    const { owned, put, storage } = open()
    await put(idempotencyKeys, 'idk_1', { data: { about_tenant: 'ten_1', about_user: null } })
    await put(idempotencyKeys, 'idk_2', { data: { about_tenant: 'ten_2', about_user: null } })
    expect(await owned.left(tenant)).toEqual({ requests: 1 })
    expect(await owned.erase(tenant)).toEqual({})
    expect(await storage.records.get(idempotencyKeys, projectScope(project), 'idk_2')).not.toBeNull()
  })
})

describe('an erasure of a user', () => {
  it.each(kinds.map((kind) => [kind.name, kind] as const))(
    'covers what the user owns of the kind %s',
    async (_, kind) => {
      const { owned, put, storage } = open()
      await put(kind, 'own', { tenant: 'ten_1', user: 'ada' })
      await put(kind, 'of-another', { tenant: 'ten_1', user: 'bob' })
      await put(kind, 'of-the-tenant', { tenant: 'ten_1' })
      expect(await owned.erase(ada)).toEqual({})
      const left = await storage.records.left(kind, tenantScope(project, 'ten_1'))
      expect(left).toBe([...stays, usageRows, tenantUsers].some((each) => each === kind) ? 3 : 2)
    },
  )

  it('deletes each actor before its row, even if the row was added during the erasure', async () => {
    const notified: string[] = []
    const row = (id: string, change: Partial<StoredRecord> = {}) =>
      recordOf(id, { data: {}, tenant: 'ten_1', user: 'ada', ...change })
    const { owned, storage } = open(async (actor) => {
      notified.push(actor)
      // its own row goes with it, and another one is written at the same time
      const gone = row(actor, { version: 2, expires_at: 1 })
      await storage.records.project([gone, row('ses_2')].map((record) => ({ kind: sessionRows, record })))
      return { commit: null, duplicate: false }
    })
    await storage.records.insert(sessionRows, row('ses_1'))
    expect(await owned.erase(ada)).toEqual({ sessions: 1 })
    expect(notified).toEqual(['ses_1'])
    expect(await owned.erase(ada)).toEqual({})
    expect(notified).toEqual(['ses_1', 'ses_2'])
  })

  it('keeps usage rows for the invoice, without the user', async () => {
    const { owned, put, storage } = open()
    const data = { external_user_id: 'ada', input_tokens: 7 }
    await put(usageRows, 'use_1', { tenant: 'ten_1', user: 'ada', data })
    await owned.erase(ada)
    const row = await storage.records.get(usageRows, projectScope(project), 'use_1')
    expect(row).toMatchObject({ user: null, data: { external_user_id: null, input_tokens: 7 } })
  })
})

/** Kinds of actor that never belong to a tenant: the queue of a project, and the erasure of a tenant. */
const ofProjects = ['run_queue', 'erasure']

describe('an actor that a tenant can own', () => {
  const steps = readHistories().flatMap(({ machine, name, steps: made }) =>
    made.map(({ commit }, index) => ({ machine, name, step: index + 1, commit })),
  )
  const tenantOwned = steps.filter(({ machine }) => !ofProjects.some((name) => machine.startsWith(`${name}@`)))

  it.each(tenantOwned)('removes itself on a delete event ($machine $name, after step $step)', ({ commit }) => {
    const definition = definitionOf(definitions, commit.actor)
    if (definition === undefined) throw new Error(`${commit.actor} is of no known kind`)
    const snapshot = revive(definition, readStoredState(commit))
    const state = {
      seq: commit.seq,
      lastSequence: commit.last_sequence,
      skip: 0,
      snapshot,
      reminders: commit.reminders,
      inFlight: commit.in_flight,
      text: { from: 0, value: '' },
    }
    const event = { type: 'delete', by: { kind: 'system', id: null }, at: commit.at }
    const next = nextStep(definition, state, { actor: commit.actor, event, at: commit.at })
    const inFlight = next.kind === 'next' ? next.draft.inFlight : commit.in_flight
    expect(Object.values(inFlight).map(({ name }) => name)).toContainEqual(expect.stringMatching(/^erase[A-Z]/))
  })
})
