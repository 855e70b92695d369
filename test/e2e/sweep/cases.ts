/** One assertion of a sweep; `check` throws when it fails. */
export interface Case {
  readonly title: string
  readonly check: () => Promise<void>
}

/** Number of cases checked at a time. */
const atOnce = 8

/**
 * Checks all cases, several at a time. A sweep has thousands, and a separate test for each would cost the runner more
 * than the request does.
 *
 * @returns a text with the title for each failed case: the test expects none.
 */
export const failuresOf = async (cases: readonly Case[]): Promise<readonly string[]> => {
  const failures: string[] = []
  const left = cases.values()
  const checkOn = async (): Promise<void> => {
    for (const { title, check } of left)
      await check().catch((error: unknown) => failures.push(`${title}: ${messageOf(error)}`))
  }
  await Promise.all(Array.from({ length: atOnce }, checkOn))
  return failures
}

/** Sends a request once for each of its subjects and ids, and returns the same answer again. */
export const oncePerId = <S extends object, T>(send: (subject: S, id: string) => Promise<T>) => {
  const answers = new Map<S, Map<string, Promise<T>>>()
  return (subject: S, id: string): Promise<T> => {
    const known = answers.get(subject) ?? new Map<string, Promise<T>>()
    const answer = known.get(id) ?? send(subject, id)
    answers.set(subject, known.set(id, answer))
    return answer
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
