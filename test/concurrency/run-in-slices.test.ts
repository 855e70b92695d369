import { describe, expect, it } from 'vitest'
import { inShares, runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'

/** Keeps the processor busy. */
const spin = (ms: number): void => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

function* busy(steps: number, seen: string[], name: string): SlicedWork<string> {
  for (let step = 0; step < steps; step++) {
    spin(3)
    seen.push(name)
    yield
  }
  return name
}

describe('long work split across turns of the event loop', () => {
  it('lets other tasks run between its shares', async () => {
    const seen: string[] = []
    const work = runInSlices(busy(12, seen, 'work'))
    const other = new Promise<void>((resolve) => setTimeout(() => resolve(void seen.push('other'))))
    expect(await work).toBe('work')
    await other
    expect(seen.indexOf('other')).toBeLessThan(seen.lastIndexOf('work'))
  })

  it('lets other tasks run between the items of a sequence, which are ready at once', async () => {
    const seen: string[] = []
    const other = new Promise<void>((resolve) => setTimeout(() => resolve(void seen.push('other'))))
    for await (const item of inShares([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])) {
      spin(3)
      seen.push(`item ${item}`)
    }
    await other
    expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('item 12'))
  })

  it('runs one share per turn of the loop, however much work is pending', async () => {
    const seen: string[] = []
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const work = names.map((name) => runInSlices(busy(9, seen, name)))
    const turns: number[] = []
    const watch = setInterval(() => turns.push(seen.length))
    await Promise.all(work)
    clearInterval(watch)
    // the first share of each runs synchronously within the call
    const max = Math.max(...turns.slice(1).map((length, at) => length - (turns[at] ?? 0)))
    expect(turns.length).toBeGreaterThan(names.length)
    expect(max).toBeLessThan(2 * names.length)
  })

  it('fails with the error that its steps throw', async () => {
    const failing = function* (): SlicedWork<void> {
      spin(10)
      yield
      throw new RangeError('too long')
    }
    await expect(runInSlices(failing())).rejects.toThrow(RangeError)
  })
})
