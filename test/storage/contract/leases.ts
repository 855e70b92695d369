import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Lease, LeaseStore, LeaseTable, Member } from '#storage/cluster-ports.ts'
import type { Storage } from '#storage/ports.ts'

/** A store and its clock. */
export interface LeaseSubject {
  readonly storage: Storage
  /** Advances the clock of the store; omitted if time passes by itself. */
  readonly tick?: () => void
}

const long = 60_000
const short = 300

const claim = (shard: number, epoch: number, leftMs = 0) => ({ shard, epoch, leftMs })

const inShard = ({ leases }: LeaseTable, shard: number): Lease | undefined =>
  leases.find((lease) => lease.shard === shard)

/** Contract of `LeaseStore`. Each test uses its own shards and processes. */
export const leaseContract = (name: string, open: () => Promise<LeaseSubject>): void => {
  describe(`${name} leases`, () => {
    let opened: LeaseSubject | undefined
    let made = 0
    const subject = (): LeaseSubject => {
      if (!opened) throw new Error('the store is not open')
      return opened
    }
    const store = (): LeaseStore => {
      const { leases } = subject().storage
      if (!leases) throw new Error('the store has no leases')
      return leases
    }
    const member = (change: Partial<Member> = {}): Member => {
      const process = `process-${++made}`
      return { process, node: '$node', address: '127.0.0.1:7000', draining: false, startedAt: 5, ...change }
    }
    const look = async (holds: (table: LeaseTable) => boolean): Promise<void> => {
      subject().tick?.()
      expect(holds(await store().read())).toBe(true)
    }
    const until = (holds: (table: LeaseTable) => boolean): Promise<void> =>
      vi.waitFor(() => look(holds), { timeout: 60_000, interval: 20 })
    const ranOut = (shard: number) => until((table) => (inShard(table, shard)?.leftMs ?? 0) <= 0)
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.storage.close())

    it('grants a shard that was never held to one of several concurrent claimants', async () => {
      const members = Array.from({ length: 5 }, () => member())
      const taken = await Promise.all(
        members.map((self) => store().acquire(self, [claim(1, 0)], { floor: 0, ms: long })),
      )
      expect(taken.flat()).toHaveLength(1)
      const [lease] = taken.flat()
      expect(lease).toMatchObject({ shard: 1, epoch: 1, address: '127.0.0.1:7000' })
      expect(lease?.leftMs).toBeGreaterThan(0)
      expect(lease?.leftMs).toBeLessThanOrEqual(long)
      expect(inShard(await store().read(), 1)?.holder).toBe(lease?.holder)
    })

    it('acquires each lease separately, and returns the acquired ones', async () => {
      const [first, second] = [member(), member()]
      await store().acquire(first, [claim(10, 0), claim(12, 0)], { floor: 0, ms: long })
      const taken = await store().acquire(second, [claim(10, 1), claim(11, 0), claim(12, 0), claim(13, 0)], {
        floor: 0,
        ms: long,
      })
      expect(taken.map(({ shard }) => shard)).toEqual([11, 13])
      expect((await store().renew(first, long)).map(({ shard }) => shard)).toEqual([10, 12])
      expect(await store().acquire(second, [], { floor: 0, ms: long })).toEqual([])
    })

    it('protects a lease from other processes until it expires by the clock of the store', async () => {
      const [first, second] = [member(), member()]
      await store().acquire(first, [claim(20, 0)], { floor: 0, ms: long })
      expect(await store().acquire(second, [claim(20, 1)], { floor: 0, ms: long })).toEqual([])
      await store().acquire(first, [claim(21, 0)], { floor: 0, ms: short })
      await ranOut(21)
      expect(inShard(await store().read(), 21)).toMatchObject({ holder: first.process, epoch: 1 })
      expect(await store().acquire(second, [claim(21, 1)], { floor: 0, ms: long })).toMatchObject([
        { shard: 21, holder: second.process, epoch: 2 },
      ])
      expect(await store().renew(first, long)).toMatchObject([{ shard: 20 }])
    })

    it('grants an expired lease to one of several concurrent claimants', async () => {
      await store().acquire(member(), [claim(22, 0)], { floor: 0, ms: 1 })
      await ranOut(22)
      const taken = await Promise.all(
        Array.from({ length: 5 }, () => store().acquire(member(), [claim(22, 1)], { floor: 0, ms: long })),
      )
      expect(taken.flat()).toMatchObject([{ shard: 22, epoch: 2 }])
    })

    it('breaks an unexpired lease for one of the processes that break it', async () => {
      const [holder, ...others] = [member(), member(), member()]
      await store().acquire(holder, [claim(30, 0)], { floor: 0, ms: long })
      const taken = await Promise.all(
        others.map((self) => store().acquire(self, [claim(30, 1, long)], { floor: 0, ms: long })),
      )
      expect(taken.flat()).toMatchObject([{ shard: 30, epoch: 2 }])
      expect(await store().renew(holder, long)).toEqual([])
    })

    it('breaks no lease that was renewed since it was read', async () => {
      const [holder, other] = [member(), member()]
      await store().acquire(holder, [claim(31, 0)], { floor: 0, ms: long })
      const leftMs = inShard(await store().read(), 31)?.leftMs
      await store().renew(holder, 2 * long)
      expect(await store().acquire(other, [claim(31, 1, leftMs)], { floor: 0, ms: long })).toEqual([])
      expect(await store().renew(holder, long)).toMatchObject([{ shard: 31, epoch: 1 }])
      expect(await store().acquire(other, [claim(31, 1, long)], { floor: 0, ms: long })).toMatchObject([{ epoch: 2 }])
    })

    it('refuses a late claim whose epoch is outdated', async () => {
      const [first, second] = [member(), member()]
      await store().acquire(first, [claim(40, 0)], { floor: 0, ms: long })
      await store().release(first.process, [40])
      await store().acquire(second, [claim(40, 1)], { floor: 0, ms: long })
      expect(await store().acquire(first, [claim(40, 0, long)], { floor: 0, ms: long })).toEqual([])
      expect(await store().acquire(first, [claim(40, 1, long)], { floor: 0, ms: long })).toEqual([])
      expect(await store().acquire(first, [claim(40, 3, long)], { floor: 0, ms: long })).toEqual([])
      expect(inShard(await store().read(), 40)).toMatchObject({ holder: second.process, epoch: 2 })
    })

    it('starts an epoch at the floor, or one above the last if that is higher', async () => {
      const [first, second] = [member(), member()]
      expect(await store().acquire(first, [claim(50, 0)], { floor: 9, ms: long })).toMatchObject([{ epoch: 9 }])
      await store().release(first.process, [50])
      expect(await store().acquire(second, [claim(50, 9)], { floor: 3, ms: long })).toMatchObject([{ epoch: 10 }])
    })

    it('keeps the highest level of the releases that have held a lease', async () => {
      const [first, second] = [member(), member()]
      expect(await store().acquire(first, [claim(55, 0)], { floor: 0, ms: long, level: 7 })).toMatchObject([
        { level: 7 },
      ])
      await store().release(first.process, [55])
      expect(await store().acquire(second, [claim(55, 1)], { floor: 0, ms: long, level: 5 })).toMatchObject([
        { level: 7 },
      ])
      expect(inShard(await store().read(), 55)?.level).toBe(7)
    })

    it('frees released leases for any process at once, and keeps their epoch', async () => {
      const [first, second] = [member(), member()]
      await store().acquire(first, [claim(60, 0), claim(61, 0)], { floor: 0, ms: long })
      await store().release(first.process, [60])
      const freed = inShard(await store().read(), 60)
      expect(freed).toMatchObject({ holder: null, address: null, epoch: 1 })
      expect(freed?.leftMs).toBeLessThanOrEqual(0)
      expect((await store().renew(first, long)).map(({ shard }) => shard)).toEqual([61])
      expect(await store().acquire(second, [claim(60, 1)], { floor: 0, ms: long })).toHaveLength(1)
    })

    it('keeps a lease that has a new holder when its last holder releases it', async () => {
      const [first, second] = [member(), member()]
      await store().acquire(first, [claim(62, 0)], { floor: 0, ms: long })
      await store().acquire(second, [claim(62, 1, long)], { floor: 0, ms: long })
      await store().release(first.process, [62])
      await store().leave(first.process)
      expect(inShard(await store().read(), 62)).toMatchObject({ holder: second.process, epoch: 2 })
    })

    it('renews all leases of a process at once, including expired ones that no other took, and no others', async () => {
      const [self, other] = [member(), member()]
      await store().acquire(self, [claim(70, 0), claim(71, 0), claim(72, 0)], { floor: 0, ms: short })
      await store().acquire(other, [claim(73, 0)], { floor: 0, ms: short })
      await ranOut(73)
      await store().acquire(other, [claim(71, 1)], { floor: 0, ms: long })
      expect(await store().renew(self, long)).toMatchObject([
        { shard: 70, epoch: 1 },
        { shard: 72, epoch: 1 },
      ])
      const table = await store().read()
      expect(inShard(table, 70)?.leftMs).toBeGreaterThan(short)
      expect(inShard(table, 73)?.leftMs).toBeLessThanOrEqual(0)
    })

    it('returns from a renewal a lease whose acquisition response was lost', async () => {
      const self = member()
      void (await store().acquire(self, [claim(74, 0)], { floor: 4, ms: long }))
      expect(await store().renew(self, long)).toMatchObject([{ shard: 74, epoch: 4, holder: self.process }])
    })

    it('lists a member as it last announced itself, until it stops', async () => {
      const self = member()
      const seen = async () => (await store().read()).members.filter(({ process }) => process === self.process)
      expect(await seen()).toEqual([])
      await store().renew(self, long)
      expect(await seen()).toEqual([self])
      // retried if the machine paused until the member was no longer listed
      await vi.waitFor(
        async () => {
          await store().renew({ ...self, draining: true }, short)
          expect(await seen()).toEqual([{ ...self, draining: true }])
        },
        { timeout: 60_000 },
      )
      await until(({ members }) => members.every(({ process }) => process !== self.process))
    })

    it('removes a member that leaves, and frees its leases', async () => {
      const self = member()
      await store().renew(self, long)
      await store().acquire(self, [claim(80, 0), claim(81, 0)], { floor: 0, ms: long })
      await store().leave(self.process)
      const table = await store().read()
      expect(table.members.map(({ process }) => process)).not.toContain(self.process)
      expect([80, 81].map((shard) => inShard(table, shard)?.holder)).toEqual([null, null])
      await store().leave(self.process)
    })
  })
}
