import { expect, it, vi } from 'vitest'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import { erasedActors } from '#runtime/erasure/erased-actors.ts'
import type { Storage } from '#storage/ports.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { openProbe, owner } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

// time is virtual, but slow on a busy machine
vi.setConfig({ testTimeout: 300_000 })

const id = 'prb_derived'
const long = (n: number): string => `${n} `.padEnd(40_000, 'x')
const writes = new Set(['append', 'settle', 'forget', 'insert', 'replace', 'project', 'put', 'remove'])

/** A store whose process is killed before or after its write of this number; no call is answered from then on. */
const killedAt = (inner: Storage, at: number, isAfter: boolean) => {
  const state = { count: 0, isDead: false }
  const never = () => new Promise<never>(() => {})
  const guarded = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...given: readonly unknown[]): Promise<unknown> => {
          if (state.isDead) return never()
          const isLast = writes.has(String(name)) && ++state.count === at
          if (!isLast) return Reflect.apply(method, target, given)
          state.isDead = true
          if (isAfter) await Reflect.apply(method, target, given)
          return never()
        }
      },
    })
  const { commits, records, blobs } = inner
  return { state, storage: { ...inner, commits: guarded(commits), records: guarded(records), blobs: guarded(blobs) } }
}

const stores = {
  memory: async (now: () => number) => openMemoryStorage({ now }),
  sqlite: async (now: () => number) => openSqliteStorage({ path: ':memory:', now }),
}

/** Starts a process; `live` creates the actor, changes its long context, erases it, and does the first again. */
const started = async (storage: Storage, clock: VirtualClock) => {
  const tidy = eraseActor({ storage, clock }).run
  const probe = await openProbe({ storage, clock, tidy, atOnce: true })
  const make = () => {
    const made = { ...owner, createdAt: clock.now() }
    return probe.host.create({ kind: probeDefinition, id, owner: made, input: {}, cause: `made ${clock.now()}` })
  }
  const change = async (from: number) => {
    for (let n = from; n < from + 4; n++) {
      await probe.deliver(id, { type: 'keep', text: long(n) })
      await clock.advance(1_200)
    }
  }
  return { ...probe, make, change }
}

it.each(drawnOf(Object.entries(stores), 2))(
  'a kill at any write leaves a whole actor, and few blobs of it, in %s',
  async (_, open) => {
    let isDone = false
    for (let at = 3; !isDone; at++) {
      for (const isAfter of [false, true]) {
        const clock = new VirtualClock()
        const inner = await open(clock.now)
        await inner.records.prepare([erasedActors])
        const { storage, state } = killedAt(inner, at, isAfter)
        const live = async () => {
          const first = await started(storage, clock)
          await first.make()
          await first.change(0)
          await first.deliver(id, { type: 'tidy' })
          await clock.advance(10_000)
          await first.make()
          await first.change(10)
          await clock.advance(40_000)
          isDone = true
        }
        const living = live()
        for (let n = 0; n < 120 && !state.isDead && !isDone; n++) {
          await calm()
          await clock.advance(1_000)
        }
        if (isDone) await living
        const next = await started(inner, clock)
        await clock.advance(60_000)
        const head = await inner.commits.head(id)
        if (head === null) await next.make()
        await next.change(20)
        await next.deliver(id, { type: 'count' })
        await clock.advance(60_000)
        const last = await started(inner, clock)
        const found = await last.find(id)
        expect([at, isAfter, found.parked, Reflect.get(found.state.snapshot.context, 'blob') === long(23)]).toEqual([
          ...[at, isAfter, undefined, true],
        ])
        expect((await inner.blobs.hashes(owner.project, null, 100)).length).toBeLessThanOrEqual(5)
        await inner.close()
      }
    }
  },
)
