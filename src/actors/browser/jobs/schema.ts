import { requestValidator } from '#specs/dsl/validate.ts'
import type { BodyOf } from '#specs/index.ts'
import { browserJobs } from '#specs/resources/web/browse.ts'
import type { PageRead } from '../engine/read-page.ts'
import type { AccessibilitySnapshot } from '../engine/snapshot.ts'

/*
 * What our own commits and blobs hold comes back as the type that was written: the job's machine and its effect
 * alone write them.
 */

/** A result as its blobs hold it. */
export interface StoredResult extends PageRead {
  readonly url: string
  readonly snapshot: AccessibilitySnapshot | null
  readonly retrieved_at_ms: number
}

/** A result, read back. */
export const storedResult = (text: string): StoredResult => JSON.parse(text) as StoredResult

const jobBodies = requestValidator(browserJobs['browser_jobs.create'])

/** A request for a job that a model wrote. @throws {ServiceError} as requests of the API do */
export const jobBody = (value: object): BodyOf<'browser_jobs.create'> => {
  const body: unknown = structuredClone(value)
  jobBodies.body(body)
  return body as BodyOf<'browser_jobs.create'>
}
