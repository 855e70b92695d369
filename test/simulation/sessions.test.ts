import { expect, it } from 'vitest'
import { failedSeeds } from './failed-seeds.ts'
import { faultlessSuite, scenarioSuite } from './scenario-suite.ts'

/** Seeds whose traces show all of it together: a rare kind needs many of the others. */
const showing = [29, 2, 17, 30]
const runs = scenarioSuite({ scenario: 'sessions', nodes: 1, failed: failedSeeds })

it('cover crashes, stalls, outages, turns that wait, tools and deletions', async () => {
  const kinds = [/ crashes/, / stalls for/, /the store is away/, /\$fenced/, /refused/, /unanswered/, /overtaken/]
  const acts = [/ approves .*: done/, / rejects .*: done/, / cancels .*: done/, / deletes .*: done/, /tool called for/]
  const later = [/the clock of \w+ jumps/, /the store is killed, and forgets [1-9]/, /ses_poisoned\d+:\d+ \$fenced/]
  const ends = [/\.expiry\./, /eight days pass/, /action_already_resolved/, /probes .*: not_found/, /resumes /]
  expect(await runs.missing([...kinds, ...acts, ...later, ...ends], { showing, first: 80 })).toEqual([])
}, 300_000)

faultlessSuite('sessions')
