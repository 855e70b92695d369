/** One thing that a sweep holds to be so; `check` throws when it is not. */
export interface Case {
  readonly title: string
  readonly check: () => Promise<void>
}

/** How many cases are under way at a time. */
const atOnce = 8

/**
 * Checks all cases, several at a time. A sweep has thousands, and a test of its own for each would cost the runner more
 * than the request does.
 *
 * @returns what is not so, a text for each case by its title: the test expects none.
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
