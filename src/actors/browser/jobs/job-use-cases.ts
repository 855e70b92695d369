import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { pageOf } from '#records/pages.ts'
import { Table } from '#records/table.ts'
import { contextOf, newId } from '#runtime/index.ts'
import { newIdFor, type Resident } from '#runtime/internal.ts'
import type { Scope } from '#storage/index.ts'
import { browserJobRows } from '../kinds.ts'
import type { JobBlobs } from './job-blobs.ts'
import { type JobView, jobSummary, jobView } from './job-view.ts'
import { type OpenJobParts, openJob } from './open-job.ts'

export interface JobParts extends OpenJobParts {
  readonly blobs: JobBlobs
}

type JobUseCases = Pick<UseCases, `browser_jobs.${'create' | 'list' | 'get' | 'cancel' | 'picture'}`>

const kind = browserJobDefinition

/** Use-cases that start, read and cancel browser jobs (specs/decisions/0175-browser-jobs.md). */
export const jobUseCases = (parts: JobParts): JobUseCases => {
  const { host, storage, blobs, now } = parts
  const table = new Table(storage.records, browserJobRows, now)
  const find = (scope: Scope, id: string): Promise<Resident> => host.find(scope, kind, id)
  return {
    'browser_jobs.create': async (call) => {
      const { scope, body, idempotency } = call
      const id = newIdFor(call, kind.idPrefix, host.newActorId)
      const owner = { project: scope.project, tenant: scope.tenant }
      await openJob(parts, { id, owner, body, cause: idempotency?.cause ?? newId('req') })
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
      const stored = picture === undefined || picture === null ? null : await blobs.get(job.owner, [picture])
      const text = orNotFound(stored, 'index')
      return { contentType: 'image/webp', bytes: Buffer.from(text, 'base64') }
    },
  }

  function shown(job: Resident): Promise<JobView> {
    return jobView(blobs, job)
  }
}
