/** Which operations each test file had answers of; the files and the ids sorted. */
export type CalledOperations = Readonly<Record<string, readonly string[]>>

/** Where the recording is kept, from the root of the project. */
export const recordingPath = 'specs/called-operations.json'

const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort()

/** Reads the lines `file, tab, operation` that a test run wrote, of the operations that are declared. */
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

/** The recording after a run in which some files passed: what they called now in place of what they did. Files that are gone drop out. */
export const mergedRecording = (
  kept: CalledOperations,
  called: CalledOperations,
  { passed, exists }: { readonly passed: readonly string[]; readonly exists: (file: string) => boolean },
): CalledOperations => {
  const stays = Object.entries(kept).filter(([file]) => !passed.includes(file) && exists(file))
  const changes = Object.entries(called).filter(([file]) => passed.includes(file))
  return Object.fromEntries([...stays, ...changes].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The recording as text: a line a file, so that two changes of different tests merge. */
export const recordingText = (recording: CalledOperations): string =>
  `{\n${Object.entries(recording)
    .map(([file, operations]) => `  ${JSON.stringify(file)}: ${JSON.stringify(operations)}`)
    .join(',\n')}\n}\n`

/**
 * What a run of every test found wrong with the recording: operations that it names and no test called. specs/coverage.md
 * would claim more than is so.
 */
export const recordingFindings = (kept: CalledOperations, called: CalledOperations): readonly string[] =>
  missingIn(idsOf(called), idsOf(kept)).map(
    (id) => `${recordingPath} names ${id}, and no test had an answer of it: ${remedy}`,
  )

/** What the recording could claim and does not: operations that tests called. A newer test is no fault of the change. */
export const recordingNotes = (kept: CalledOperations, called: CalledOperations): readonly string[] =>
  missingIn(idsOf(kept), idsOf(called)).map((id) => `${recordingPath} does not name ${id}, which tests call: ${remedy}`)

const remedy = "npm run record-calls -- <the test's path>"

const idsOf = (recording: CalledOperations) => sorted(Object.values(recording).flat())

const missingIn = (some: readonly string[], all: readonly string[]) => all.filter((id) => !some.includes(id))
