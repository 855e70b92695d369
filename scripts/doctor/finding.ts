/** Result of one check. `advice` says what to do about it. */
export interface Finding {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly says: string
  readonly advice?: string
}

export const ok = (name: string, says: string): Finding => ({ name, status: 'ok', says })

/** Result of a check of something that works, but not as it should. */
export const warning = (name: string, says: string, advice: string): Finding => ({
  name,
  status: 'warning',
  says,
  advice,
})

/** Result of a check when the server will not start, or part of it will not work. */
export const failed = (name: string, says: string, advice: string): Finding => ({
  name,
  status: 'failed',
  says,
  advice,
})

/** Message of an error's cause, else of the error itself; the name when the message is empty. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const reason = error.cause instanceof Error ? error.cause : error
  if (reason instanceof AggregateError) return reasonOf(reason.errors[0])
  return reason.message || reason.name
}
