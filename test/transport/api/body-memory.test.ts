import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BodyMemory, type BodyReservation } from '#transport/api/body/body-memory.ts'

const leave = (seat: BodyReservation): void => {
  seat.done()
  seat.done()
}

describe('room for long bodies', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const entered = async (room: BodyMemory, project: string, bytes: number): Promise<BodyReservation> =>
    await room.enter(project, bytes)

  /** What has come in so far, by the names that were given. */
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

  it('is there at once while bodies fit, and one that does not waits until another has left', async () => {
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

  it('is kept until both the answer has ended and nothing runs for the request', async () => {
    const room = new BodyMemory(100)
    const seat = await entered(room, 'a', 60)
    seat.done()
    expect(room.bytes).toBe(60)
    seat.done()
    expect(room.bytes).toBe(0)
  })

  it('is refused as overloaded to one that has waited for five seconds, who is not let in later', async () => {
    const room = new BodyMemory(100)
    const first = await entered(room, 'a', 100)
    const { inside, wait } = queue(room)
    wait('second', 'b', 10)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(inside).toEqual(['second: overloaded'])
    leave(first)
    expect(room.bytes).toBe(0)
  })

  it('is given in the order of coming: a small one does not pass a large one that waits', async () => {
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

  it('is left to other projects by a quarter, and given past one that has its share', async () => {
    const room = new BodyMemory(100)
    await entered(room, 'a', 70)
    const { inside, wait } = queue(room)
    wait('more of a', 'a', 10)
    wait('of b', 'b', 25)
    await vi.advanceTimersByTimeAsync(0)
    expect(inside).toEqual(['of b'])
  })

  it('is had alone by a body that is larger than all of it', async () => {
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

  it('comes free as far as a body is shorter than was taken for it', async () => {
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

  it('makes a thousand wait at most', async () => {
    const room = new BodyMemory(100)
    await entered(room, 'a', 100)
    for (let at = 0; at < 1_000; at++) void entered(room, 'b', 20).catch(() => {})
    await expect(entered(room, 'b', 20)).rejects.toMatchObject({ code: 'overloaded' })
    await vi.advanceTimersByTimeAsync(5_000)
  })
})
