import { describe, expect, it } from 'vitest'
import { discardCause, type OperatorVerb } from '#runtime/step/system-steps.ts'
import { stuckRows } from '#runtime/stuck/stuck.ts'
import { stuckOf } from '#runtime/stuck/stuck-field.ts'
import type { Storage, StoredEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import {
  forever,
  logOf,
  openProbe,
  owner,
  type Probe,
  type ProbeOptions,
  probeRows,
  type Run,
  typesOf,
} from '../probe.ts'

const id = 'prb_1'
const idempotent: StoredEvent = { type: 'work', policy: 'idempotent' }
const effectId = `${id}:2:0`

/** A probe whose clock is not behind that of the store, as rows of stuck work expire. */
const opened = ({ clock = new VirtualClock(Date.now()), ...options }: ProbeOptions = {}) =>
  openProbe({ ...options, clock })

/** The stuck work that operators see, once it is written. */
const stuckIn = async ({ host, storage }: Probe) => {
  await calm()
  await host.rows.settled()
  const rows = await storage.records.list(stuckRows, projectScope(owner.project), { limit: 100 })
  return rows.map(({ data }) => data)
}

let decisions = 0
const decide = ({ host }: Probe, verb: OperatorVerb, stuck: { kind: string; subject: string }, event?: StoredEvent) =>
  host.deliver(id, {
    event: { type: `$${verb}`, stuck, by: { kind: 'dashboard', id: 'mem_1' }, ...(event && { event }) },
    cause: verb === 'discard' ? `$discard:${stuck.kind}:${stuck.subject}` : `${verb}/${++decisions}`,
  })

const throws: Run = () => Promise.reject(new Error('this never works'))
const outputsOf = async (storage: Storage) => (await logOf(storage, id)).map(({ payload }) => payload.output)

describe('an effect that throws three times', () => {
  const thrown = async (work: Run = throws) => {
    const probe = await opened({ work })
    await probe.create(id)
    await probe.deliver(id, idempotent)
    await probe.clock.advance(60_000)
    return probe
  }

  it('parks its actor with the reason, and is not started again, not even after a restart', async () => {
    let begun = 0
    const work: Run = (params, context) => throws(params, context).finally(() => begun++)
    const probe = await thrown(work)
    expect(begun).toBe(3)
    const parked = { kind: 'parked_actor', actor: id, machine: 'probe', subject: effectId, attempts: 3 }
    expect(await stuckIn(probe)).toEqual([{ ...parked, reason: 'Error: this never works' }])
    await expect(probe.deliver(id, { type: 'count' })).rejects.toMatchObject({ code: 'actor_parked' })
    expect(stuckOf(await probe.find(id))).toEqual({ stuck: 'Error: this never works' })
    const next = await opened({ storage: probe.storage, clock: probe.clock, work })
    await next.clock.advance(60_000)
    await expect(next.deliver(id, { type: 'count' })).rejects.toMatchObject({ code: 'actor_parked' })
    expect(begun).toBe(3)
    expect(await stuckIn(next)).toMatchObject([parked])
  })

  it('is started again when an operator retries it', async () => {
    let works = false
    const probe = await thrown(async (params, context) =>
      works ? { event: { type: 'worked', output: 'at last' } } : throws(params, context),
    )
    works = true
    await decide(probe, 'retry', { kind: 'parked_actor', subject: effectId })
    await calm()
    expect(await outputsOf(probe.storage)).toEqual(['at last'])
    expect(await stuckIn(probe)).toEqual([])
  })

  it('ends with the event that an operator provides, or without one if it is discarded', async () => {
    const skipped = await thrown()
    const stuck = { kind: 'parked_actor', subject: effectId }
    await expect(decide(skipped, 'skip', stuck)).rejects.toMatchObject({ code: 'missing_field' })
    await decide(skipped, 'skip', stuck, { type: 'worked', output: 'given' })
    expect(await outputsOf(skipped.storage)).toEqual(['given'])
    const discarded = await thrown()
    await decide(discarded, 'discard', stuck)
    expect((await discarded.find(id)).state.inFlight).toEqual({})
    await discarded.deliver(id, { type: 'count' })
    expect(typesOf(await logOf(discarded.storage, id))).toEqual(['counted'])
    expect(await stuckIn(discarded)).toEqual([])
  })

  it('cannot be decided twice', async () => {
    const probe = await thrown()
    await decide(probe, 'skip', { kind: 'poison_result', subject: 'prb_1:9:0' }, { type: 'worked' }).catch(() => {})
    await decide(probe, 'skip', { kind: 'parked_actor', subject: effectId }, { type: 'worked' })
    const again = decide(probe, 'skip', { kind: 'overdue_effect', subject: effectId }, { type: 'worked' })
    await expect(again).rejects.toMatchObject({ code: 'invalid_transition' })
  })
})

describe('an effect that kills the process each time', () => {
  /** Starts processes on a store until one survives; `kill` decides whether this run of an effect ends the process. */
  const restarts = async (actors: readonly string[], kill: (actor: string) => boolean) => {
    const inner = openMemoryStorage()
    const begun: string[] = []
    let faulty = new FaultyStorage(inner)
    const work: Run = async (params, context) => {
      begun.push(context.actor)
      if (kill(context.actor)) faulty.crash()
      return faulty.crashed ? forever(params, context) : { event: { type: 'worked', output: 'done' } }
    }
    // in the first process every effect is running when one of them ends it
    const first = await opened({ storage: faulty.storage, work: forever })
    for (const actor of actors) {
      await first.create(actor)
      await first.deliver(actor, idempotent)
    }
    await calm()
    faulty.crash()
    for (let starts = 0; starts < 20; starts++) {
      faulty = new FaultyStorage(inner)
      const starting = opened({ storage: faulty.storage, clock: first.clock, work })
      await first.clock.advance(60_000)
      if (!faulty.crashed) return { probe: await starting, begun }
    }
    throw new Error('no process lives')
  }

  it('parks its actor after four starts, and all other effects complete', async () => {
    const actors = Array.from({ length: 40 }, (_, at) => `prb_${at}`)
    const { probe, begun } = await restarts(actors, (actor) => actor === 'prb_20')
    // plus one start in the process that ran all of them
    expect(1 + begun.filter((actor) => actor === 'prb_20').length).toBe(4)
    expect(await stuckIn(probe)).toMatchObject([{ kind: 'parked_actor', actor: 'prb_20', attempts: 4 }])
    for (const actor of actors.filter((each) => each !== 'prb_20')) {
      expect((await logOf(probe.storage, actor)).map(({ payload }) => payload.output)).toEqual(['done'])
    }
  })

  it('parks nothing if processes are killed from outside, however often in quick succession', async () => {
    const inner = openMemoryStorage()
    const clock = new VirtualClock(Date.now())
    const actors = ['prb_a', 'prb_b', 'prb_c']
    for (let kill = 0; kill < 12; kill++) {
      const faulty = new FaultyStorage(inner)
      const probe = await opened({ storage: faulty.storage, clock, work: forever })
      for (const actor of kill === 0 ? actors : []) {
        await probe.create(actor)
        await probe.deliver(actor, idempotent)
      }
      await clock.advance(1000)
      faulty.crash()
    }
    const work: Run = async () => ({ event: { type: 'worked', output: 'done' } })
    const probe = await opened({ storage: inner, clock, work })
    await clock.advance(30_000)
    expect(await stuckIn(probe)).toEqual([])
    for (const actor of actors)
      expect((await logOf(inner, actor)).map(({ payload }) => payload.output)).toEqual(['done'])
  })

  it('is not counted if processes shut down cleanly', async () => {
    const storage = openMemoryStorage()
    let probe = await opened({ storage, work: forever })
    await probe.create(id)
    await probe.deliver(id, idempotent)
    for (let starts = 0; starts < 6; starts++) {
      const drained = probe.runtime.drain(10)
      await probe.clock.advance(10_000)
      await drained
      probe = await opened({ storage, clock: probe.clock, work: forever })
      await calm()
    }
    expect((await probe.find(id)).state.inFlight[effectId]?.failures).toBeUndefined()
    expect(probe.host.effects.running).toBe(1)
  })
})

it('an effect that is missing from the catalogue is reported as stuck', async () => {
  const storage = openMemoryStorage()
  const probe = await opened({ storage, work: forever })
  await probe.create(id)
  await probe.deliver(id, idempotent)
  const head = await storage.commits.head(id)
  if (head === null) throw new Error('it is there')
  const flight = { name: 'gone', params: {}, policy: 'idempotent' } as const
  await storage.commits.append([
    { ...head, seq: head.seq + 1, cause: 'older', nonce: 'older', in_flight: { [effectId]: flight } },
  ])
  const next = await opened({ storage, clock: probe.clock })
  expect(await stuckIn(next)).toMatchObject([{ kind: 'poison_result', reason: 'Error: there is no effect probe.gone' }])
})

describe('a result on which its machine throws', () => {
  const poisoned = async () => {
    let begun = 0
    const work: Run = async () => {
      begun++
      return { event: { type: 'guard' } }
    }
    const probe = await opened({ work })
    await probe.create(id)
    await probe.deliver(id, { type: 'work', policy: 'at_most_once' })
    await probe.clock.advance(3_600_000)
    return { probe, begun: () => begun }
  }

  it('is reported as stuck and its effect is not run again', async () => {
    const { probe, begun } = await poisoned()
    expect(begun()).toBe(1)
    expect(await stuckIn(probe)).toMatchObject([{ kind: 'poison_result', actor: id, subject: effectId }])
  })

  it('is replaced by the event that an operator provides', async () => {
    const { probe } = await poisoned()
    await decide(probe, 'skip', { kind: 'poison_result', subject: effectId }, { type: 'worked', output: 'given' })
    expect(await outputsOf(probe.storage)).toEqual(['given'])
    expect(await stuckIn(probe)).toEqual([])
  })
})

describe('a message on which its receiver throws', () => {
  const [to, sound] = ['prb_to', 'prb_sound']
  const messages = [
    { to, event: { type: 'guard' } },
    { to, event: { type: 'count', n: 1 } },
  ]
  const subject = `${id}:2:m0`

  const sent = async () => {
    const probe = await opened()
    for (const each of [id, to, sound]) await probe.create(each)
    await probe.deliver(id, { type: 'send', messages })
    await probe.clock.advance(5000)
    return probe
  }

  it('is kept with its reason, and does not block other messages', async () => {
    const probe = await sent()
    expect(await stuckIn(probe)).toMatchObject([{ kind: 'poison_message', actor: id, subject }])
    expect(typesOf(await logOf(probe.storage, to))).toEqual(['counted'])
    const next = await opened({ storage: probe.storage, clock: probe.clock })
    expect(await stuckIn(next)).toMatchObject([{ kind: 'poison_message', actor: id, subject }])
  })

  it('is delivered again when an operator retries it, and is stuck again', async () => {
    const probe = await sent()
    await decide(probe, 'retry', { kind: 'poison_message', subject })
    await probe.clock.advance(1000)
    expect(await stuckIn(probe)).toMatchObject([{ kind: 'poison_message', subject }])
  })

  it('cannot be skipped, as its sender waits for no event', async () => {
    const probe = await sent()
    const skip = decide(probe, 'skip', { kind: 'poison_message', subject }, { type: 'count', n: 9 })
    await expect(skip).rejects.toMatchObject({ code: 'invalid_transition' })
    expect(typesOf(await logOf(probe.storage, id))).not.toContain('counted')
  })

  it('stays discarded once it was, also after a restart', async () => {
    const probe = await sent()
    await decide(probe, 'discard', { kind: 'poison_message', subject })
    expect(await stuckIn(probe)).toEqual([])
    expect(await probe.host.commitOf(id, discardCause('poison_message', subject))).not.toBeNull()
    const next = await opened({ storage: probe.storage, clock: probe.clock })
    await next.clock.advance(60_000)
    expect(await stuckIn(next)).toEqual([])
    expect((await next.storage.commits.open({ limit: 100 })).filter(({ actor }) => actor === id)).toEqual([])
  })
})

it('messages to a parked receiver do not block those to another receiver', async () => {
  const probe = await opened({ tidy: throws })
  for (const each of [id, 'prb_parked', 'prb_sound']) await probe.create(each)
  await probe.deliver('prb_parked', { type: 'tidy' })
  await probe.clock.advance(60_000)
  const messages = Array.from({ length: 200 }, (_, n) => [
    { to: 'prb_parked', event: { type: 'count', n } },
    { to: 'prb_sound', event: { type: 'count', n } },
  ]).flat()
  await probe.deliver(id, { type: 'send', messages })
  await probe.clock.advance(1000)
  const counted = (await logOf(probe.storage, 'prb_sound')).map(({ payload }) => payload.n)
  expect(counted).toEqual(Array.from({ length: 200 }, (_, n) => n))
})

it('a reminder on which its machine throws is reported, and can be discarded by an operator', async () => {
  const probe = await opened()
  await probe.create(id)
  await probe.deliver(id, { type: 'wait', ms: 1000 })
  const [name] = Object.keys((await probe.find(id)).state.reminders)
  if (name === undefined) throw new Error('it has a reminder')
  const resident = await probe.find(id)
  const { [name]: reminder } = resident.state.reminders
  if (reminder === undefined) throw new Error('it has a reminder')
  const poison = { ...reminder, event: { type: 'guard' } }
  resident.state = { ...resident.state, reminders: { [name]: poison } }
  await probe.clock.advance(60_000)
  expect(await stuckIn(probe)).toMatchObject([{ kind: 'failing_reminder', actor: id, subject: name }])
  await decide(probe, 'discard', { kind: 'failing_reminder', subject: name })
  expect((await probe.find(id)).state.reminders).toEqual({})
  expect(await stuckIn(probe)).toEqual([])
})

it('an effect that runs for half an hour is reported until it ends', async () => {
  let end = (): void => {}
  const work: Run = () =>
    new Promise((resolve) => {
      end = () => resolve({ event: { type: 'worked', output: 'late' } })
    })
  const probe = await opened({ work })
  await probe.create(id)
  await probe.deliver(id, idempotent)
  await probe.clock.advance(29 * 60_000)
  expect(await stuckIn(probe)).toEqual([])
  await probe.clock.advance(2 * 60_000)
  expect(await stuckIn(probe)).toMatchObject([{ kind: 'overdue_effect', actor: id, subject: effectId }])
  end()
  await probe.clock.advance(2000)
  expect(await stuckIn(probe)).toEqual([])
})

describe('a row that the store refuses', () => {
  const refusing = async () => {
    const inner = openMemoryStorage()
    let refuses = true
    const project: Storage['records']['project'] = async (rows) => {
      if (refuses && rows.some(({ kind, record }) => kind === probeRows && record.id === id))
        throw new Error('too large')
      return inner.records.project(rows)
    }
    const records = new Proxy(inner.records, {
      get: (target, name) => {
        const method: unknown = name === 'project' ? project : Reflect.get(target, name)
        return typeof method === 'function' ? method.bind(target) : method
      },
    })
    const probe = await opened({ storage: { ...inner, records } })
    await probe.create(id)
    await probe.create('prb_2')
    await probe.clock.advance(1000)
    return {
      probe,
      accept: () => {
        refuses = false
      },
      row: (each: string) => inner.records.get(probeRows, projectScope(owner.project), each),
    }
  }

  it('blocks no other row and no list', async () => {
    const { probe, row } = await refusing()
    await probe.host.rows.shown()
    expect(await row('prb_2')).not.toBeNull()
    expect(await stuckIn(probe)).toMatchObject([{ kind: 'refused_row', actor: id, subject: id }])
  })

  it('leaves its commit open, and is written when an operator retries it', async () => {
    const { probe, row, accept } = await refusing()
    await probe.clock.advance(60_000)
    expect((await probe.storage.commits.open({ limit: 100 })).map(({ actor }) => actor)).toEqual([id])
    accept()
    await decide(probe, 'retry', { kind: 'refused_row', subject: id })
    await probe.host.rows.settled()
    expect(await row(id)).not.toBeNull()
    expect(await stuckIn(probe)).toEqual([])
  })
})
