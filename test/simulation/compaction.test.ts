import { expect, it } from 'vitest'
import { atNight } from '#test/setup/at-night.ts'
import { simulate } from './simulation.ts'

const compacted = async (seeds: number, nodes: number) => {
  const broken: string[] = []
  const trace: string[] = []
  for (let seed = 1; seed <= seeds; seed++) {
    const result = await simulate(seed, { nodes, compaction: true })
    for (const violation of result.violations) broken.push(`${seed}: ${violation}`)
    trace.push(...result.trace)
  }
  return { broken, trace: trace.join('\n') }
}

it('keeps all guarantees while deltas are merged and processes die during a merge', async () => {
  const { broken, trace } = await compacted(atNight ? 20 : 10, 1)
  expect(broken).toEqual([])
  expect(trace).toMatch(/a merge is cut in the middle/)
  expect(trace).toMatch(/ merged [1-9]/)
}, 300_000)

it('keeps all guarantees on several processes, which merge the same deltas after a takeover', async () => {
  const { broken, trace } = await compacted(atNight ? 8 : 4, 3)
  expect(broken).toEqual([])
  expect(trace).toMatch(/ merged [1-9]/)
}, 300_000)
