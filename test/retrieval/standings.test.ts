import { expect, it } from 'vitest'
import { standing, standingsIn } from '#retrieval/index.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

let state = 3
const random = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

const idOf = (): string => `p${random(90)}`
const segments = Array.from({ length: 12 }, () => ({
  ids: Array.from({ length: 20 }, idOf),
  versions: Float64Array.from({ length: 20 }, () => random(3)),
  removals: Array.from({ length: 2 }, () => [idOf(), 1] as const),
}))

const expected = () => {
  const all = segments.flatMap(({ ids, versions }) => ids.map((id, at) => ({ id, version: versions[at] ?? 0 })))
  const removed = new Set(segments.flatMap(({ removals }) => removals.map(([id]) => id)))
  return all.map(({ id, version }) => {
    const same = all.filter((each) => each.id === id)
    if (removed.has(id)) return standing.removed
    if (same.some((each) => each.version > version)) return standing.replaced
    return same.filter((each) => each.version === version).length === 1 ? standing.newest : standing.copied
  })
}

it.each([1_000, 100, 7])(
  'documents of segments stand as they do among all, with the ids of about %s in memory',
  (each) => {
    const reads = segments.map((segment) => () => segment)
    const found = atOnce(standingsIn(reads, each)).flatMap((documents) => [...documents])
    expect(found).toEqual(expected())
    expect(new Set(found).size).toBe(4)
  },
)
