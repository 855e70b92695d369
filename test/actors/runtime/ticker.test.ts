import { describe, expect, it } from 'vitest'
import { Ticker } from '#runtime/ticker.ts'
import { ManualTime } from '#test/transport/http/fakes.ts'

const fail = (): void => {}

describe('ticker', () => {
  it('runs one timer for all members, and only while there are members', () => {
    const time = new ManualTime()
    const ticker = new Ticker(1000, time.every)
    let [first, second] = [0, 0]
    const one = { place: -1, tick: () => void first++, fail }
    const two = { place: -1, tick: () => void second++, fail }
    expect(time.running).toBe(false)
    ticker.add(one)
    ticker.add(two)
    time.pass(2)
    ticker.delete(one)
    time.pass(1)
    expect([first, second, time.running]).toEqual([2, 3, true])
    ticker.delete(two)
    ticker.delete(two)
    time.pass(1)
    expect(time.running).toBe(false)
    ticker.add(one)
    time.pass(1)
    expect(first).toBe(3)
  })

  it('tolerates a member that removes itself during a tick', () => {
    const time = new ManualTime()
    const ticker = new Ticker(1000, time.every)
    let ticks = 0
    const leaver = { place: -1, tick: () => ticker.delete(leaver), fail }
    ticker.add(leaver)
    ticker.add({ place: -1, tick: () => void ticks++, fail })
    time.pass(2)
    expect(ticks).toBe(2)
  })
  it('removes a member whose tick throws, and still visits the others', () => {
    const time = new ManualTime()
    const ticker = new Ticker(1000, time.every)
    const failed: unknown[] = []
    let ticks = 0
    const planted = new Error('planted')
    const thrower = {
      place: -1,
      tick: () => {
        throw planted
      },
      fail: (error: unknown) => void failed.push(error),
    }
    ticker.add(thrower)
    ticker.add({ place: -1, tick: () => void ticks++, fail })
    time.pass(2)
    expect([failed, ticks]).toEqual([[planted], 2])
  })
})
