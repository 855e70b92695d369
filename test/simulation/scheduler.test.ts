import { expect, it } from 'vitest'
import { Random } from './world/random.ts'
import { Scheduler } from './world/scheduler.ts'

const orderOf = async (seed: number): Promise<string> => {
  const scheduler = new Scheduler(new Random(seed), 0)
  let order = ''
  for (const name of ['a', 'b', 'c', 'd', 'e']) scheduler.after(5, () => (order += name))
  await scheduler.run(() => false, 10)
  return order
}

it('lets the seed choose the order of work due at the same time, and repeats it for the same seed', async () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 20; seed++) {
    expect(await orderOf(seed)).toBe(await orderOf(seed))
    orders.add(await orderOf(seed))
  }
  expect(orders.size).toBeGreaterThan(10)
})

it('runs work in order of time, settles promises in between, and runs nothing that was cancelled', async () => {
  const random = new Random(1)
  const scheduler = new Scheduler(random, 0)
  const seen: number[] = []
  const delays = Array.from({ length: 200 }, () => random.between(0, 50))
  for (const ms of delays) scheduler.after(ms, () => void Promise.resolve().then(() => seen.push(scheduler.now())))
  scheduler.after(7, () => seen.push(-1))()
  await scheduler.run(() => false, 100)
  expect(seen).toEqual(delays.toSorted((a, b) => a - b))
  expect(scheduler.now()).toBe(100)
})
