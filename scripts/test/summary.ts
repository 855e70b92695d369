/**
 * Results of a test run. `failures` names each failed test and each file that could not be run, `retried` each test
 * that passed only when it was repeated.
 */
export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly string[]
  readonly retried: readonly string[]
}

/**
 * Reads vitest's JSON report. Whatever would let a broken run look green counts as a failure: a file that could not be
 * loaded, a run without a report or without any test, an error between tests that only the exit code shows.
 *
 * @param report the report's text; null when none was written.
 * @param exitCode vitest's exit code; null when a signal ended it.
 */
export function summarise(report: string | null, exitCode: number | null): Summary {
  if (report === null) return broken('vitest wrote no report', exitCode)
  const files = listOf(parse(report), 'testResults')
  const count = { passed: 0, skipped: 0 }
  const failures: string[] = []
  const retried: string[] = []
  for (const file of files) {
    const tests = listOf(file, 'assertionResults')
    const failed = tests.filter((test) => textOf(test, 'status') === 'failed')
    failures.push(...failed.map((test) => textOf(test, 'fullName')))
    if (failed.length === 0 && textOf(file, 'status') === 'failed')
      failures.push(`${textOf(file, 'name')} (whole file)`)
    const passed = tests.filter((test) => textOf(test, 'status') === 'passed')
    count.passed += passed.length
    retried.push(
      ...passed.filter((test) => listOf(test, 'failureMessages').length > 0).map((test) => textOf(test, 'fullName')),
    )
    count.skipped += tests.filter((test) => ['skipped', 'pending', 'todo'].includes(textOf(test, 'status'))).length
  }
  if (failures.length === 0 && exitCode !== 0)
    return { ...broken('vitest failed outside a test', exitCode), ...count, retried }
  if (failures.length === 0 && count.passed === 0) return broken('no test ran', exitCode)
  return { ...count, failed: failures.length, failures, retried }
}

/** The files of vitest's JSON report in which nothing failed, by their absolute paths; none without a report. */
export const passedFilesOf = (report: string | null): readonly string[] =>
  (report === null ? [] : listOf(parse(report), 'testResults'))
    .filter((file) => textOf(file, 'status') === 'passed')
    .map((file) => textOf(file, 'name'))

/** `N passed, N failed`, with `, N skipped` when any was. */
export function resultLine(summary: Summary): string {
  const line = `${summary.passed} passed, ${summary.failed} failed`
  return summary.skipped > 0 ? `${line}, ${summary.skipped} skipped` : line
}

const broken = (why: string, exitCode: number | null): Summary => ({
  passed: 0,
  failed: 1,
  skipped: 0,
  failures: [`${why} (exit code ${exitCode})`],
  retried: [],
})

function parse(text: string): unknown {
  return JSON.parse(text)
}

function listOf(value: unknown, field: string): readonly unknown[] {
  const found = fieldOf(value, field)
  return Array.isArray(found) ? found : []
}

function textOf(value: unknown, field: string): string {
  const found = fieldOf(value, field)
  return typeof found === 'string' ? found : ''
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined
}
