import { expect, it } from 'vitest'
import { failedRunSeeds } from './failed-seeds.ts'
import { faultlessSuite, scenarioSuite } from './scenario-suite.ts'

/** Seeds whose traces show all of it together: a rare kind needs many of the others. */
const showing = [20, 16, 1]
const runs = scenarioSuite({ scenario: 'runs', nodes: 1, failed: failedRunSeeds })

it('cover delegation by models and callers, decisions, and ends of all kinds', async () => {
  const acts = [/ cancels run_.*: done/, / deletes run_.*: done/, / delegates .*: done/, / delegates .*: \w+_\w+/]
  const steps = [/ child_prepared by/, / child_ended by/, / slot_granted by/, / slot_returned by/, / runs_picked by/]
  const more = [/ (cancel|expire) by run_/, /after\.expiry\.run/, /after\.duration/, /tool called for/, /notice:evt_/]
  const reads = [/ probes run_.*: not_found/, / reads run_.*: done/, / approves .*: done/, / rejects .*: done/]
  expect(await runs.missing([...acts, ...steps, ...more, ...reads], { showing, first: 60 })).toEqual([])
}, 300_000)

faultlessSuite('runs')
