import type { BrowserJobContext, BrowserWait } from '#machines/browser-job/browser-job.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { statusOf } from '#machines/index.ts'
import { timestampOf, timestampOrNull } from '#records/row-times.ts'
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
  const { request, submitted, waiting, attempts, steps, error, started_at_ms, ended_at_ms, peak_memory_bytes } = context
  return {
    id,
    status: statusOf(browserJobDefinition, state.snapshot) ?? 'cancelled',
    url: request.url,
    ...{ submitted, attempts, error, waiting: waitOf(waiting), ...stuckOf(resident) },
    createdAt: timestampOf(owner.createdAt),
    startedAt: timestampOrNull(started_at_ms),
    endedAt: timestampOrNull(ended_at_ms),
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
export const jobSummary = ({ id, created_at, data }: BrowserJobRow) => {
  const { status, url, submitted, waiting, error, started_at_ms, ended_at_ms } = data
  return {
    ...{ id, status, url, submitted, error, waiting: waitOf(waiting ?? null) },
    createdAt: timestampOf(created_at),
    startedAt: timestampOrNull(started_at_ms),
    endedAt: timestampOrNull(ended_at_ms),
  }
}
