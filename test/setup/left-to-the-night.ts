import { shareOf } from './at-night.ts'
import { seedOf } from './seed.ts'

/**
 * Files that a whole run in CI leaves to the night, where `npm run nightly -- stores` runs them, as `npm test -- <path>`
 * does at any time. Each is the expensive one of several that test its subject
 * (specs/decisions/0329-what-ci-leaves-to-the-night.md names those by day).
 */
const files = [
  'test/e2e/browser/many-jobs.e2e.test.ts',
  'test/e2e/crash/crash-storm.e2e.test.ts',
  'test/e2e/knowledge/vector-search.e2e.test.ts',
  'test/e2e/load/socket-frames-at-once.e2e.test.ts',
  'test/e2e/pages/console-long-names.e2e.test.ts',
  'test/packages/python/types.e2e.test.ts',
]

/**
 * Files that kill or load a server at moments that no run has twice: of these a whole run in CI has a third, others at each
 * run, and each night all (specs/decisions/0329-what-ci-leaves-to-the-night.md).
 */
const drawn = [
  'test/e2e/cluster/cluster-rolling.e2e.test.ts',
  'test/e2e/knowledge/provider-embedder.e2e.test.ts',
  'test/e2e/tenant-deletion.e2e.test.ts',
  'test/e2e/keys/master-key.e2e.test.ts',
  'test/e2e/load/many-streams.e2e.test.ts',
  'test/e2e/connections/refresh-crash.e2e.test.ts',
  'test/e2e/load/kept-by-collections.e2e.test.ts',
  'test/e2e/memory/embedded-anew.e2e.test.ts',
  'test/e2e/crash/skill-publication.e2e.test.ts',
  'test/e2e/knowledge/knowledge-crash.e2e.test.ts',
]
const drawnEach = 3

/** Every file that some run by day leaves out. */
export const notEachDay: readonly string[] = [...files, ...drawn]

/** The files that a run with this environment leaves out. */
export const leftToTheNight = ({
  BY_DAY,
  TEST_SEED,
}: Readonly<Record<string, string | undefined>>): readonly string[] => {
  if (BY_DAY === undefined) return []
  const share = shareOf(drawn, drawnEach, seedOf(TEST_SEED))
  return notEachDay.filter((file) => !share.includes(file))
}
