/** Operations of which each test file got an answer; files and ids are sorted. */
export type CalledOperations = Readonly<Record<string, readonly string[]>>

/** Path of the recording, from the root of the project. */
export const recordingPath = 'specs/called-operations.json'

const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

/** Parses the lines `file, tab, operation` that a test run wrote; operations that are not declared are skipped. */
export const calledIn = (lines: string, declared: readonly string[]): CalledOperations => {
  const known = new Set(declared)
  const pairs = lines.split('\n').flatMap((line) => {
    const [file = '', operation = ''] = line.split('\t')
    return known.has(operation) ? [{ file, operation }] : []
  })
  const files = sorted(pairs.map(({ file }) => file))
  const of = (file: string) => sorted(pairs.filter((pair) => pair.file === file).map(({ operation }) => operation))
  return Object.fromEntries(files.map((file) => [file, of(file)]))
}

/**
 * Returns the recording after a run in which some files passed: their calls replace those recorded before. Files that
 * no longer exist are removed.
 */
export const mergedRecording = (
  kept: CalledOperations,
  called: CalledOperations,
  { passed, exists }: { readonly passed: readonly string[]; readonly exists: (file: string) => boolean },
): CalledOperations => {
  const stays = Object.entries(kept).filter(([file]) => !passed.includes(file) && exists(file))
  const changes = Object.entries(called).filter(([file]) => passed.includes(file))
  return Object.fromEntries([...stays, ...changes].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Formats the recording with one line per file, so that changes of different tests merge. */
export const recordingText = (recording: CalledOperations): string =>
  `{\n${Object.entries(recording)
    .map(([file, operations]) => `  ${JSON.stringify(file)}: ${JSON.stringify(operations)}`)
    .join(',\n')}\n}\n`

/**
 * Compares the recording with a run of every test: returns one finding per operation that the recording names and no
 * test called. For these, specs/coverage.md would claim too much.
 */
export const recordingFindings = (kept: CalledOperations, called: CalledOperations): readonly string[] =>
  missingIn(idsOf(called), idsOf(kept)).map(
    (id) => `${recordingPath} names ${id}, and no test had an answer of it: ${remedy}`,
  )

/**
 * Returns a note for each operation that tests called and the recording does not name. This is not a fault of the
 * change, since another test may be newer than the recording.
 */
export const recordingNotes = (kept: CalledOperations, called: CalledOperations): readonly string[] =>
  missingIn(idsOf(kept), idsOf(called)).map((id) => `${recordingPath} does not name ${id}, which tests call: ${remedy}`)

const remedy = "npm run record-calls -- <the test's path>"

const idsOf = (recording: CalledOperations) => sorted(Object.values(recording).flat())

const missingIn = (some: readonly string[], all: readonly string[]) => all.filter((id) => !some.includes(id))
