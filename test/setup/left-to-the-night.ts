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

/** The files that a run with this environment leaves out. */
export const leftToTheNight = ({ BY_DAY }: Readonly<Record<string, string | undefined>>): readonly string[] =>
  BY_DAY === undefined ? [] : files
