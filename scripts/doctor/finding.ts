/** What one check found. `advice` says what to do about it. */
export interface Finding {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly says: string
  readonly advice?: string
}

export const ok = (name: string, says: string): Finding => ({ name, status: 'ok', says })

/** Works, but not as it should be run. */
export const warning = (name: string, says: string, advice: string): Finding => ({
  name,
  status: 'warning',
  says,
  advice,
})

/** The server will not start, or part of it will not work. */
export const failed = (name: string, says: string, advice: string): Finding => ({
  name,
  status: 'failed',
  says,
  advice,
})

/** An error's message, with a code where it has one. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const reason = error.cause instanceof Error ? error.cause : error
  if (reason instanceof AggregateError) return reasonOf(reason.errors[0])
  return reason.message || reason.name
}
