import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BodyMemory, type BodyReservation } from '#transport/api/body/body-memory.ts'

const leave = (seat: BodyReservation): void => {
  seat.done()
  seat.done()
}

describe('the memory budget for long bodies', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const entered = async (room: BodyMemory, project: string, bytes: number): Promise<BodyReservation> =>
    await room.enter(project, bytes)

  /** Outcomes so far, by the given names. */
  const queue = (room: BodyMemory) => {
    const inside: string[] = []
    const seats = new Map<string, BodyReservation>()
    const wait = (name: string, project: string, bytes: number): void => {
      void entered(room, project, bytes).then(
        (seat) => {
          inside.push(name)
          seats.set(name, seat)
        },
        (error) => void inside.push(`${name}: ${error.code}`),
      )
    }
    return { inside, seats, wait }
  }

  it('admits bodies while they fit, and queues a body that does not fit until another has left', async () => {
    const room = new BodyMemory(100)
    const first = await entered(room, 'a', 60)
    const { inside, wait } = queue(room)
    wait('second', 'b', 50)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual([])
    leave(first)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['second'])
    expect(room.bytes).toBe(50)
  })

  it('holds the bytes of a body until its response has ended and nothing runs for its request', async () => {
    const room = new BodyMemory(100)
    const seat = await entered(room, 'a', 60)
    seat.done()
    expect(room.bytes).toBe(60)
    seat.done()
    expect(room.bytes).toBe(0)
  })

  it('refuses a body as overloaded after five seconds in the queue, and does not admit it later', async () => {
    const room = new BodyMemory(100)
    const first = await entered(room, 'a', 100)
    const { inside, wait } = queue(room)
    wait('second', 'b', 10)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(inside).toEqual(['second: overloaded'])
    leave(first)
    expect(room.bytes).toBe(0)
  })

  it('admits bodies in order: a small one does not pass a large one in the queue', async () => {
    const room = new BodyMemory(100)
    const first = await entered(room, 'a', 60)
    const { inside, seats, wait } = queue(room)
    wait('large', 'b', 90)
    wait('small', 'c', 20)
    leave(first)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['large'])
    leave(seats.get('large') ?? first)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['large', 'small'])
  })

  it('leaves a quarter to other projects, whose bodies pass those of a project at its share', async () => {
    const room = new BodyMemory(100)
    await entered(room, 'a', 70)
    const { inside, wait } = queue(room)
    wait('more of a', 'a', 10)
    wait('of b', 'b', 25)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['of b'])
  })

  it('admits a body larger than the whole budget once no other is admitted', async () => {
    const room = new BodyMemory(100)
    const first = await entered(room, 'a', 10)
    const { inside, wait } = queue(room)
    wait('larger', 'b', 500)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual([])
    leave(first)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['larger'])
  })

  it('frees the bytes by which a body is shorter than expected', async () => {
    const room = new BodyMemory(100)
    const seat = await entered(room, 'a', 100)
    const { inside, wait } = queue(room)
    wait('second', 'b', 50)
    seat.hold(30)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['second'])
    leave(seat)
    expect(room.bytes).toBe(50)
  })

  it('queues at most a thousand bodies', async () => {
    const room = new BodyMemory(100)
    await entered(room, 'a', 100)
    for (let at = 0; at < 1_000; at++) void entered(room, 'b', 20).catch(() => {})
    await expect(entered(room, 'b', 20)).rejects.toMatchObject({ code: 'overloaded' })
    await vi.advanceTimersByTimeAsync(5_000)
  })
})
