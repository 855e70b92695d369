import { describe, expect, it } from 'vitest'
import { AnswerMemory } from '#outgoing/answer-memory.ts'

/** Bytes of each response that are not counted. */
const free = 64 * 1024
const max = 1_000_000

describe('the memory budget of buffered responses', () => {
  it('counts the bytes of a response beyond the first 64 KB until its call ends', () => {
    const room = new AnswerMemory(max)
    const reservation = room.reserve('a')
    expect(reservation.grow(free)).toBe(true)
    expect(room.bytes).toBe(0)
    expect(reservation.grow(500)).toBe(true)
    expect(room.bytes).toBe(500)
    reservation.leave()
    reservation.leave()
    expect(room.bytes).toBe(0)
  })

  it('limits one project to three quarters and leaves the rest to others', () => {
    const room = new AnswerMemory(max)
    const [first, second, other] = [room.reserve('a'), room.reserve('a'), room.reserve('b')]
    expect(first.grow(free + 500_000)).toBe(true)
    expect(second.grow(free + 300_000)).toBe(false)
    expect(other.grow(free + 300_000)).toBe(true)
    expect(room.bytes).toBe(800_000)
    expect(other.grow(300_000)).toBe(false)
    first.leave()
    expect(other.grow(300_000)).toBe(true)
  })

  it('lets one response exceed the whole budget if no other response uses it', () => {
    const room = new AnswerMemory(max)
    const reservation = room.reserve('a')
    expect(reservation.grow(free + 3 * max)).toBe(true)
    expect(room.reserve('b').grow(free + 1)).toBe(false)
    expect(reservation.grow(max)).toBe(true)
    reservation.leave()
    expect(room.bytes).toBe(0)
  })
})
