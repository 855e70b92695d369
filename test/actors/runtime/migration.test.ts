import { expect, it } from 'vitest'
import type { MachineDefinition } from '#machines/definition.ts'
import type { Commit, Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { forever, logOf, openProbe, owner, probeRows, type Run, typesOf } from './probe.ts'
import { probeDefinition } from './probe-machine.ts'

const id = 'prb_1'

/** A probe as version 1 left it: waiting, with a reminder, an event in its log and user data in its context. */
const left = (change: Partial<Commit> = {}): Commit => {
  const name = 'xstate.after.wait.probe.waiting'
  return {
    actor: id,
    seq: 4,
    shard: 1,
    epoch: 1,
    at: 1_000,
    project: owner.project,
    tenant: owner.tenant,
    machine: 'probe@1',
    cause: 'before',
    nonce: 'before',
    event: { type: 'wait' },
    events: [{ sequence: 1, event_type: 'said', payload: {} }],
    last_sequence: 1,
    effects: [],
    messages: [],
    snapshot: {
      value: 'waiting',
      context: { count: 3, waitMs: 5, blob: 'old', like: { $blob: null, value: { $blob: 'mine' } } },
      user: owner.user,
      created_at: 7,
      text_from: 0,
    },
    reminders: { [name]: { due: Date.UTC(2026, 0, 2), event: { type: name }, n: 4 } },
    in_flight: {},
    open: false,
    due: Date.UTC(2026, 0, 2),
    ...change,
  }
}

const storeWith = async (...commits: readonly Commit[]): Promise<Storage> => {
  const storage = openMemoryStorage()
  await storage.commits.append(commits)
  return storage
}

const version3: MachineDefinition = {
  ...probeDefinition,
  version: 3,
  migrations: {
    1: (state) => ({ ...state, context: { ...state.context, blob: 'y'.repeat(10_000) } }),
    2: (state) => ({ ...state, context: { ...state.context, count: Number(state.context.count) * 100 } }),
  },
}

it('migrates an actor from an older version through every version to the newest in one commit', async () => {
  const storage = await storeWith(left())
  const probe = await openProbe({ storage, definition: version3 })
  const { state, owner: whose } = await probe.find(id)
  expect(state.snapshot.value).toBe('waiting')
  expect(state.snapshot.context).toEqual({ count: 300, waitMs: 5, blob: 'y'.repeat(10_000), like: { $blob: 'mine' } })
  expect(whose).toMatchObject({ tenant: owner.tenant, user: owner.user, createdAt: 7 })
  expect(await storage.commits.head(id)).toMatchObject({
    seq: 5,
    machine: 'probe@3',
    event: { type: '$migrated', from: 'probe@1' },
    events: [],
    last_sequence: 1,
  })
})

it('keeps reminders and user data across a migration and a restart', async () => {
  const storage = await storeWith(left())
  await (await openProbe({ storage, definition: version3 })).find(id)
  const next = await openProbe({ storage, definition: version3 })
  expect((await next.find(id)).state.snapshot.context).toMatchObject({ count: 300, like: { $blob: 'mine' } })
  await next.clock.leap(2 * 24 * 3600 * 1000)
  expect(typesOf(await logOf(storage, id))).toEqual(['said', 'woke'])
  expect((await storage.commits.head(id))?.snapshot).toMatchObject({ context: { blob: { $blob: expect.any(String) } } })
})

it('passes reminders and in-flight effects to the migration, and continues with those it returns', async () => {
  const flight = { name: 'work', params: { policy: 'idempotent' }, policy: 'idempotent' } as const
  const storage = await storeWith(left({ in_flight: { 'prb_1:4:0': flight, 'prb_1:4:1': flight } }))
  const seen: unknown[] = []
  const definition: MachineDefinition = {
    ...probeDefinition,
    version: 2,
    migrations: {
      1: (state, { reminders, inFlight }) => {
        seen.push(reminders, inFlight)
        const later = Object.entries(reminders).map(([name, each]) => [name, { ...each, due: each.due + 1000 }])
        return { ...state, reminders: Object.fromEntries(later), inFlight: { 'prb_1:4:1': flight } }
      },
    },
  }
  const ran: string[] = []
  const work: Run = async (_params, context) => {
    ran.push(context.idempotencyKey)
    return forever(_params, context)
  }
  const probe = await openProbe({ storage, definition, work })
  await probe.find(id)
  const { reminders, in_flight, due } = left({ in_flight: { 'prb_1:4:0': flight, 'prb_1:4:1': flight } })
  expect(seen).toEqual([reminders, in_flight])
  expect(await storage.commits.head(id)).toMatchObject({ in_flight: { 'prb_1:4:1': flight }, due: (due ?? 0) + 1000 })
  expect(ran).toEqual(['prb_1:4:1'])
})

it('resumes an effect that a migration has started, although the process ends before its result', async () => {
  const flight = { name: 'work', params: { policy: 'idempotent' }, policy: 'idempotent' } as const
  const faulty = new FaultyStorage(await storeWith(left()))
  const definition: MachineDefinition = {
    ...probeDefinition,
    version: 2,
    migrations: { 1: (state) => ({ ...state, inFlight: { 'prb_1:4:9': flight } }) },
  }
  await (await openProbe({ storage: faulty.storage, definition })).find(id)
  faulty.crash()
  const ran: string[] = []
  const work: Run = async (_params, { idempotencyKey }) => {
    ran.push(idempotencyKey)
    return { event: { type: 'worked' } }
  }
  const next = await openProbe({ storage: faulty.inner, definition, work })
  await next.clock.advance(1000)
  expect(ran).toEqual(['prb_1:4:9'])
})

it('migrates once when two hosts load the actor at the same time', async () => {
  const storage = await storeWith(left())
  const hosts = [await openProbe({ storage, definition: version3 }), await openProbe({ storage, definition: version3 })]
  const found = await Promise.all(hosts.map((host) => host.find(id)))
  expect(found.map((each) => each.state.snapshot.context.count)).toEqual([300, 300])
  const log = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((seq) => storage.commits.at(id, seq)))
  expect(log.filter((commit) => commit?.event.type === '$migrated')).toHaveLength(1)
  // whichever process migrated it: the later one has fenced the earlier one off
  expect(await storage.commits.head(id)).toMatchObject({ epoch: Math.max(...hosts.map(({ host }) => host.epoch)) })
})

it('delivers the messages of a commit that another process wrote during the migration', async () => {
  const faulty = new FaultyStorage(await storeWith(left()))
  const definition: MachineDefinition = { ...probeDefinition, version: 2, migrations: { 1: (state) => state } }
  const message = { id: `${id}:5:m0`, to: id, event: { type: 'count' } }
  const late = left({ seq: 5, cause: 'late', nonce: 'late', events: [], open: true, messages: [message] })
  const written: unknown[] = []
  faulty.hold(({ seq, machine }) =>
    seq === 5 && machine === 'probe@2' && written.length === 0
      ? faulty.inner.commits.append([late]).then((outcome) => void written.push(outcome))
      : undefined,
  )
  const probe = await openProbe({ storage: faulty.storage, definition })
  await probe.find(id)
  await probe.host.delivered(id)
  expect(written).toEqual([['done']])
  expect((await probe.find(id)).state.snapshot.context.count).toBe(4)
})

const throwing: MachineDefinition = {
  ...probeDefinition,
  version: 2,
  migrations: {
    1: () => {
      throw new Error('a migration throws')
    },
  },
}

it.each([
  ['of an unknown version', left({ machine: 'probe@7' }), probeDefinition],
  ['of a version without a migration to the newest', left(), { ...probeDefinition, version: 2 }],
  [
    'in a state that its machine does not have',
    left({ snapshot: { ...left().snapshot, value: 'lost' } }),
    probeDefinition,
  ],
  [
    'in such a state, which an earlier process wrote',
    left({ epoch: 0, snapshot: { ...left().snapshot, value: 'lost' } }),
    probeDefinition,
  ],
  ['without a snapshot', left({ snapshot: {} }), probeDefinition],
  ['whose blob is missing', left({ snapshot: { value: 'idle', context: { $blob: 'gone' } } }), probeDefinition],
  ['whose log has a hole', left({ events: [] }), probeDefinition],
  ['whose migration throws', left(), throwing],
] as const)(
  'parks an actor %s: it refuses events and reads, and its log stays unchanged',
  async (_, commit, definition) => {
    const storage = await storeWith(commit)
    const probe = await openProbe({ storage, definition })
    await expect(probe.deliver(id, { type: 'count' })).rejects.toMatchObject({ code: 'actor_parked' })
    await expect(probe.find(id)).rejects.toMatchObject({ code: 'actor_parked' })
    await probe.clock.leap(10 * 24 * 3600 * 1000)
    expect((await storage.commits.head(id))?.seq).toBe(4)
  },
)

it('does not reveal a parked actor to another project', async () => {
  const probe = await openProbe({ storage: await storeWith(left({ machine: 'probe@7' })) })
  const foreign = probe.host.find(projectScope('prj_2'), probeDefinition, id)
  await expect(foreign).rejects.toMatchObject({ code: 'not_found' })
})

it('starts although an actor with open work is parked, and serves the other actors', async () => {
  const storage = await storeWith(
    left({ seq: 1, open: true, machine: 'probe@7' }),
    left({ seq: 1, actor: 'prb_2', open: true, messages: [{ id: 'm', to: id, event: { type: 'count' } }] }),
  )
  const probe = await openProbe({ storage })
  await probe.deliver('prb_2', { type: 'count' })
  expect(typesOf(await logOf(storage, 'prb_2'))).toEqual(['said', 'counted'])
  await probe.host.rows.settled()
  expect(await storage.records.count(probeRows, projectScope(owner.project))).toBe(1)
})
