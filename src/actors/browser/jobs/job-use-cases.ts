import type { UseCases } from '#actors/call/use-cases.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { pageOf } from '#records/pages.ts'
import { Table } from '#records/table.ts'
import type { Host } from '#runtime/host.ts'
import { newId, newIdFor } from '#runtime/ids.ts'
import type { Resident } from '#runtime/resident.ts'
import { contextOf } from '#runtime/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxOpenJobs } from '#specs/resources/web/browse-limits.ts'
import { projectScope, type Scope } from '#specs/scope.ts'
import type { Storage } from '#storage/ports.ts'
import { ChromiumMissing } from '../engine/find-chromium.ts'
import { browserJobRows } from '../kinds.ts'
import type { JobBlobs } from './job-blobs.ts'
import { jobRequest } from './job-request.ts'
import { type JobView, jobSummary, jobView } from './job-view.ts'

/** What requests for jobs need. */
export interface JobParts {
  readonly host: Host
  readonly storage: Pick<Storage, 'records'>
  readonly blobs: JobBlobs
  readonly guard: Pick<SsrfGuard, 'check'>
  /** @throws {ChromiumMissing} */
  readonly path: () => Promise<string>
  /** ms since the epoch. */
  readonly now: () => number
}

type JobUseCases = Pick<UseCases, Extract<keyof UseCases, `browser_jobs.${string}`>>

const kind = browserJobDefinition
const queueAgainS = 30

/** Browser jobs: start, read, cancel (specs/decisions/0175-browser-jobs.md). */
export const jobUseCases = (parts: JobParts): JobUseCases => {
  const { host, storage, blobs, now } = parts
  const table = new Table(storage.records, browserJobRows, now)
  const find = (scope: Scope, id: string): Promise<Resident> => host.find(scope, kind, id)
  return {
    'browser_jobs.create': async (call) => {
      const { scope, body, idempotency } = call
      const request = jobRequest(parts.guard, body)
      await requireChromium(parts)
      await host.rows.shown()
      if ((await table.count(projectScope(scope.project), { open: true })) >= maxOpenJobs)
        throw new ServiceError('browser_queue_full', { retryAfterS: queueAgainS })
      const id = newIdFor(call, kind.idPrefix, host.newActorId)
      const owner = { project: scope.project, tenant: scope.tenant, user: null, createdAt: now() }
      await host.create({ kind, id, owner, input: { job_id: id, request }, cause: idempotency?.cause ?? newId('req') })
      return shown(await find(scope, id))
    },
    'browser_jobs.list': async ({ scope, query: { status, ...page } }) => {
      await host.rows.shown()
      const where = status === undefined ? {} : { status }
      return pageOf(table, scope, { query: { ...page, where }, shown: { idPrefix: kind.idPrefix, view: jobSummary } })
    },
    'browser_jobs.get': async ({ scope, params }) => shown(await find(scope, params.jobId)),
    'browser_jobs.cancel': async ({ scope, params, idempotency }) => {
      const job = await find(scope, params.jobId)
      await host.deliverTo(job, { event: { type: 'cancel', at: now() }, cause: idempotency?.cause ?? newId('req') })
      return shown(await find(scope, params.jobId))
    },
    'browser_jobs.picture': async ({ scope, params }) => {
      const job = await find(scope, params.jobId)
      const { steps } = contextOf(kind, job.state.snapshot)
      const picture = /^\d{1,3}$/.test(params.index) ? steps[Number(params.index)]?.picture : undefined
      const text = picture === undefined || picture === null ? null : await blobs.get(job.owner, [picture])
      if (text === null) throw new ServiceError('not_found', { param: 'index' })
      return { contentType: 'image/webp', bytes: Buffer.from(text, 'base64') }
    },
  }

  function shown(job: Resident): Promise<JobView> {
    return jobView(blobs, job)
  }
}

const unavailable = (cause: ChromiumMissing): ServiceError =>
  new ServiceError('browser_unavailable', { message: cause.message, cause })

/** A machine without a browser takes no job: it says so at once. */
const requireChromium = async ({ path }: Pick<JobParts, 'path'>): Promise<void> => {
  try {
    await path()
  } catch (error) {
    if (error instanceof ChromiumMissing) throw unavailable(error)
    throw error
  }
}
