import { newId } from '../actors/runtime/index.ts'

const acceptable = /^[A-Za-z0-9_-]{8,128}$/

/** The id of a request: the caller's own (`X-Request-Id`) if it is safe to log and echo, otherwise a new one. */
export const requestId = (given: string | undefined): string =>
  given !== undefined && acceptable.test(given) ? given : newId('req')
