import {
  type BrowserJobContext,
  type BrowserWait,
  type browserJobFields,
  shownJobFields,
} from '#machines/browser-job/browser-job.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { statusOf } from '#machines/index.ts'
import type { FieldsOf } from '#machines/row-fields.ts'
import { timestampOf, timestampOrNull } from '#records/row-times.ts'
import { shownFields } from '#records/schema.ts'
import { contextOf } from '#runtime/index.ts'
import { type Resident, stuckOf } from '#runtime/internal.ts'
import type { ResultOf } from '#specs/index.ts'
import type { BrowserJobRow } from '../kinds.ts'
import type { JobBlobs } from './job-blobs.ts'
import { storedResult } from './schema.ts'

/** A job as the API returns it. */
export type JobView = ResultOf<'browser_jobs.get'>

/** Returns the job of an actor. @throws {StoreUnavailable} */
export const jobView = async (blobs: JobBlobs, resident: Resident): Promise<JobView> => {
  const { id, owner, state } = resident
  const context = contextOf(browserJobDefinition, state.snapshot)
  const { request, attempts, steps, peak_memory_bytes } = context
  const status = statusOf(browserJobDefinition, state.snapshot) ?? 'cancelled'
  return {
    ...shownJob({ id, status, url: request.url, created_at: owner.createdAt }, context),
    ...{ attempts, ...stuckOf(resident) },
    steps: steps.map(({ type, selector, status, url, duration_ms, picture, ...step }, index) => ({
      ...{ index, type, selector, status, url },
      startedAt: timestampOf(step.started_at_ms),
      durationMs: duration_ms,
      note: step.note ?? null,
      screenshot: picture === null ? null : `/v1/web/browse/${id}/steps/${index}/screenshot`,
    })),
    result: await resultOf(blobs, owner, context),
    peakMemoryBytes: peak_memory_bytes,
  }
}

const waitOf = (wait: BrowserWait | null): JobView['waiting'] =>
  wait === null
    ? null
    : { message: wait.message, since: timestampOf(wait.since_ms), expires_at: timestampOf(wait.expires_at_ms) }

const resultOf = async (
  blobs: JobBlobs,
  owner: { readonly project: string },
  { result }: BrowserJobContext,
): Promise<JobView['result']> => {
  const text = result === null ? null : await blobs.get(owner, result.document)
  if (text === null || result === null) return null
  const { retrieved_at_ms, ...document } = storedResult(text)
  const screenshot = result.screenshot.length === 0 ? null : await blobs.get(owner, result.screenshot)
  return {
    ...document,
    retrievedAt: timestampOf(retrieved_at_ms),
    screenshot: screenshot === null ? null : `data:image/webp;base64,${screenshot}`,
    untrusted: true,
  }
}

/** Returns the job of a list row. */
export const jobSummary = ({ id, created_at, data }: BrowserJobRow) =>
  shownJob({ id, created_at, status: data.status, url: data.url }, data)

/** What a job and its list row have in common in the API. */
const shownJob = (
  { created_at, ...facts }: Pick<JobView, 'id' | 'status' | 'url'> & { readonly created_at: number },
  job: FieldsOf<typeof browserJobFields, BrowserJobContext>,
) => ({
  ...facts,
  ...shownFields(shownJobFields, job),
  // rows of earlier releases do not have the field
  waiting: waitOf(job.waiting ?? null),
  createdAt: timestampOf(created_at),
  startedAt: timestampOrNull(job.started_at_ms),
  endedAt: timestampOrNull(job.ended_at_ms),
})
