import { expect, it } from 'vitest'
import { atNight } from '#test/setup/at-night.ts'
import { drawnSeeds } from './scenario-suite.ts'
import { simulate } from './simulation.ts'

/** Seeds that run with compaction each night, and how many are tried until all signs are seen. */
const [ofNight, most] = [500, 40]

/** Runs so many seeds, and more until their traces show all signs. */
const compacted = async (seeds: number, nodes: number, signs: readonly RegExp[]) => {
  const broken: string[] = []
  let missing = signs
  for (const [at, seed] of drawnSeeds(most, ofNight).entries()) {
    if (at >= seeds && missing.length === 0) break
    const { violations, trace } = await simulate(seed, { nodes, compaction: true })
    for (const violation of violations) broken.push(`${seed}: ${violation}`)
    const lines = trace.join('\n')
    missing = missing.filter((sign) => !sign.test(lines))
  }
  return { broken, missing }
}

it('keeps all guarantees while deltas are merged and processes die during a merge', async () => {
  const signs = [/a merge is cut in the middle/, / merged [1-9]/]
  expect(await compacted(atNight ? 20 : 4, 1, signs)).toEqual({ broken: [], missing: [] })
}, 300_000)

it('keeps all guarantees on several processes, which merge the same deltas after a takeover', async () => {
  expect(await compacted(atNight ? 8 : 2, 3, [/ merged [1-9]/])).toEqual({ broken: [], missing: [] })
}, 300_000)
