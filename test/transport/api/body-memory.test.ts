import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BodyMemory, type BodyReservation } from '#transport/api/body/body-memory.ts'
import { type MemoryOwner, memoryOwner } from '#transport/api/body/memory-owner.ts'
import { principals } from './serving.ts'

const { secret_key, agent_key, client_token } = principals

/** A secret key of a project. */
const secret = (project: string, keyId = 'key_1'): MemoryOwner =>
  memoryOwner({ ...secret_key, project, keyId }, () => '')

/** A visitor with a public key of a project. */
const visitor = (project: string, address = '192.0.2.1', keyId = 'key_public'): MemoryOwner =>
  memoryOwner({ ...agent_key, keyType: 'public', project, keyId }, () => address)

const user = (project: string, name: string): MemoryOwner =>
  memoryOwner({ ...client_token, project, user: name }, () => '192.0.2.1')

describe('the memory budget for long bodies', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const entered = async (memory: BodyMemory, owner: MemoryOwner, bytes: number): Promise<BodyReservation> =>
    await memory.enter(owner, bytes)

  /** Outcomes so far, by the given names. */
  const queue = (memory: BodyMemory) => {
    const inside: string[] = []
    const reservations = new Map<string, BodyReservation>()
    const wait = (name: string, owner: MemoryOwner, bytes: number): void => {
      void entered(memory, owner, bytes).then(
        (reservation) => {
          inside.push(name)
          reservations.set(name, reservation)
        },
        (error) => void inside.push(`${name}: ${error.code}`),
      )
    }
    return { inside, reservations, wait }
  }

  /** A body that has arrived in part. */
  const arriving = async (memory: BodyMemory, owner: MemoryOwner, { of, arrived }: { of: number; arrived: number }) => {
    const reservation = await memory.admit(owner, of)
    const refusals: Error[] = []
    reservation.onRefused((error) => void refusals.push(error))
    reservation.arrived(arrived)
    return { reservation, refusals }
  }

  it('admits bodies while they fit, and queues a body that does not fit until another has left', async () => {
    const memory = new BodyMemory(100)
    const first = await entered(memory, secret('a'), 60)
    const { inside, wait } = queue(memory)
    wait('second', secret('b'), 50)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual([])
    first.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['second'])
    expect(memory.bytes).toBe(50)
  })

  it('holds the bytes of a body until its response has ended and nothing runs for its request', async () => {
    const memory = new BodyMemory(100)
    const reservation = await entered(memory, secret('a'), 60)
    reservation.done()
    expect(memory.bytes).toBe(60)
    reservation.done()
    expect(memory.bytes).toBe(0)
  })

  it('refuses a body as overloaded after five seconds in the queue, and does not admit it later', async () => {
    const memory = new BodyMemory(100)
    const first = await entered(memory, secret('a'), 100)
    const { inside, wait } = queue(memory)
    wait('second', secret('b'), 10)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(inside).toEqual(['second: overloaded'])
    first.leave()
    expect(memory.bytes).toBe(0)
  })

  it('admits the bodies of one credential in order, and those of others past them', async () => {
    const memory = new BodyMemory(100)
    const first = await entered(memory, secret('a'), 60)
    const { inside, wait } = queue(memory)
    wait('large', secret('a'), 30)
    wait('small', secret('a'), 5)
    wait('of another key', secret('a', 'key_2'), 5)
    wait('of another project', secret('b'), 10)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['of another key', 'of another project'])
    first.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(inside.slice(2)).toEqual(['large', 'small'])
  })

  it('leaves a quarter to other projects, whose bodies pass those of a project at its share', async () => {
    const memory = new BodyMemory(100)
    await entered(memory, secret('a'), 70)
    const { inside, wait } = queue(memory)
    wait('more of a', secret('a'), 10)
    wait('of b', secret('b'), 20)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['of b'])
  })

  it('keeps a part for bodies that are shorter than the share of their project', async () => {
    const memory = new BodyMemory(80_000_000)
    const long = Array.from({ length: 20 }, (_, at) => memory.tryEnter(secret(`p${at}`), 8_000_000))
    expect(long.filter((reservation) => reservation !== null)).toHaveLength(9)
    for (let at = 0; at < 5; at++) expect(memory.tryEnter(secret(`other ${at}`), 100_000)).not.toBeNull()
  })

  it('gives browsers a small share: of one visitor, of one key, and of all browsers of a project', async () => {
    const memory = new BodyMemory(1_000)
    const max = (owner: MemoryOwner): number => {
      let count = 0
      while (memory.tryEnter(owner, 1) !== null) count++
      return count
    }
    const [first, second] = [max(visitor('a')), max(visitor('a', '192.0.2.2'))]
    expect(first).toBeLessThan(100)
    expect(second).toBeGreaterThan(30)
    for (let at = 3; at < 100; at++) max(visitor('a', `192.0.2.${at}`))
    expect(memory.bytes).toBeLessThan(190)
    expect(max(visitor('a', '192.0.2.1', 'key_other'))).toBeGreaterThan(10)
    for (let at = 0; at < 100; at++) max(user('a', `user ${at}`))
    expect(memory.bytes).toBeLessThan(380)
    expect(max(secret('a'))).toBeGreaterThan(200)
  })

  it('admits a body larger than the whole budget once no other is admitted', async () => {
    const memory = new BodyMemory(100)
    const first = await entered(memory, secret('a'), 10)
    const { inside, wait } = queue(memory)
    wait('larger', secret('b'), 500)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual([])
    first.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['larger'])
  })

  it('counts the bytes of a body as they arrive, and its declared length only against its own credential', async () => {
    const memory = new BodyMemory(100)
    const { reservation } = await arriving(memory, secret('a'), { of: 60, arrived: 5 })
    expect(memory.bytes).toBe(5)
    const { inside, wait } = queue(memory)
    wait('of b', secret('b'), 70)
    wait('more of a', secret('a'), 20)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['of b'])
    reservation.hold(8)
    await vi.advanceTimersByTimeAsync(0)
    expect([memory.bytes, inside]).toEqual([78, ['of b']])
  })

  it('refuses the newest body of the caller with the most arriving bytes when these use up the memory', async () => {
    const memory = new BodyMemory(100)
    const old = await arriving(memory, secret('a'), { of: 30, arrived: 30 })
    const newest = await arriving(memory, secret('a'), { of: 30, arrived: 20 })
    const small = await arriving(memory, secret('b'), { of: 40, arrived: 30 })
    small.reservation.arrived(39)
    expect([old, newest, small].map(({ refusals }) => refusals.length)).toEqual([0, 1, 0])
    expect(newest.refusals[0]).toMatchObject({ code: 'overloaded' })
    newest.reservation.leave()
    expect(memory.bytes).toBe(69)
    old.reservation.leave()
    small.reservation.leave()
    expect(memory.bytes).toBe(0)
  })

  it('never refuses a body that is alone, and refuses none that has arrived', async () => {
    const memory = new BodyMemory(100)
    const alone = await arriving(memory, secret('a'), { of: 500, arrived: 500 })
    expect(alone.refusals).toEqual([])
    alone.reservation.hold(500)
    const { inside, wait } = queue(memory)
    wait('other', secret('b'), 1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect([alone.refusals, inside]).toEqual([[], ['other: overloaded']])
  })

  it('frees the bytes by which a body is shorter than expected', async () => {
    const memory = new BodyMemory(100)
    const reservation = await entered(memory, secret('a'), 100)
    const { inside, wait } = queue(memory)
    wait('second', secret('b'), 50)
    reservation.hold(30)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['second'])
    reservation.leave()
    expect(memory.bytes).toBe(50)
  })

  it('queues at most 250 bodies of a secret key, 32 of a browser, and a thousand in total', async () => {
    const memory = new BodyMemory(100)
    await entered(memory, secret('a'), 100)
    const fill = async (owner: MemoryOwner): Promise<number> => {
      for (let waiting = 0; ; waiting++) {
        try {
          const reservation = memory.enter(owner, 20)
          if (reservation instanceof Promise) void reservation.catch(() => {})
        } catch {
          return waiting
        }
      }
    }
    expect(await fill(secret('b'))).toBe(250)
    expect(await fill(visitor('b'))).toBe(32)
    for (const project of ['c', 'd']) expect(await fill(secret(project))).toBe(250)
    expect(await fill(secret('e'))).toBe(1_000 - 3 * 250 - 32)
    await vi.advanceTimersByTimeAsync(5_000)
  })
})
