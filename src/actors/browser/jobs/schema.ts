import { requestValidator } from '#specs/dsl/validate.ts'
import type { BodyOf } from '#specs/index.ts'
import { browserJobs } from '#specs/resources/web/browse.ts'
import type { PageRead } from '../engine/read-page.ts'
import type { AccessibilitySnapshot } from '../engine/snapshot.ts'

/*
 * The functions below return values from our own commits and blobs as the type that was written: only the job's machine
 * and its effect write them.
 */

/** A result as stored in its blobs. */
export interface StoredResult extends PageRead {
  readonly url: string
  readonly snapshot: AccessibilitySnapshot | null
  readonly retrieved_at_ms: number
}

/** Parses a stored result. */
export const storedResult = (text: string): StoredResult => JSON.parse(text) as StoredResult

const jobBodies = requestValidator(browserJobs['browser_jobs.create'])

/** Validates the request for a job that a model wrote. @throws {ServiceError} like requests to the API */
export const jobBody = (value: object): BodyOf<'browser_jobs.create'> => {
  const body: unknown = structuredClone(value)
  jobBodies.body(body)
  return body as BodyOf<'browser_jobs.create'>
}
