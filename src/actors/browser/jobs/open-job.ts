import type { Services } from '#actors/capability/services.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { maxOpenJobs } from '#specs/resources/web/browse-limits.ts'
import { projectScope, type Storage } from '#storage/index.ts'
import { ChromiumMissing } from '../engine/find-chromium.ts'
import { browserJobRows } from '../kinds.ts'
import { jobRequest } from './job-request.ts'

export interface OpenJobParts extends Pick<Services, 'host' | 'now'> {
  readonly storage: Pick<Storage, 'records'>
  readonly guard: Pick<SsrfGuard, 'check'>
  /** @throws {ChromiumMissing} */
  readonly path: () => Promise<string>
}

export interface NewJob {
  readonly id: string
  readonly owner: { readonly project: string; readonly tenant: string | null }
  readonly body: BodyOf<'browser_jobs.create'>
  /** A repeated request with the same cause opens no second job. */
  readonly cause: string
}

const queueAgainS = 30

/** Opens a job, which runs in the background. @throws {ServiceError} with the codes of `browser_jobs.create` */
export const openJob = async (parts: OpenJobParts, { id, owner, body, cause }: NewJob): Promise<void> => {
  const { host, storage, now } = parts
  const request = jobRequest(parts.guard, body)
  await requireChromium(parts)
  const table = new Table(storage.records, browserJobRows, now)
  const limit: CountedLimit = {
    max: maxOpenJobs,
    rows: host.rows,
    count: () => table.count(projectScope(owner.project), { open: true }),
    full: () => new ServiceError('browser_queue_full', { retryAfterS: queueAgainS }),
  }
  const input = { job_id: id, request }
  await CountedLimits.at(storage.records).within(`jobs ${owner.project}`, limit, () =>
    host.create({
      ...{ kind: browserJobDefinition, id, input, cause },
      owner: { ...owner, user: null, createdAt: now() },
    }),
  )
}

const unavailable = (cause: ChromiumMissing): ServiceError =>
  new ServiceError('browser_unavailable', { message: cause.message, cause })

/** Refuses jobs immediately on a machine without a browser. */
const requireChromium = async ({ path }: Pick<OpenJobParts, 'path'>): Promise<void> => {
  try {
    await path()
  } catch (error) {
    if (error instanceof ChromiumMissing) throw unavailable(error)
    throw error
  }
}
