import type { UseCases } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { isBusy } from '#machines/index.ts'
import { actorOf } from '#records/audit-note.ts'
import { contextOf, newId } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Scope } from '#storage/index.ts'
import type { JobBlobs } from '../jobs/job-blobs.ts'
import { jobView } from '../jobs/job-view.ts'
import { LivePages } from './live-questions.ts'
import { liveStream } from './live-stream.ts'

export interface HandOverParts extends Pick<Services, 'log' | 'now'> {
  readonly host: Pick<Host, 'find' | 'deliverTo' | 'question'>
  readonly blobs: JobBlobs
}

type HandOverUseCases = Pick<UseCases, 'browser_jobs.continue' | 'browser_jobs.live' | 'browser_jobs.input'>

const kind = browserJobDefinition

/**
 * Use-cases of the page of a job that waits for a person: watch it, use it, and continue the job
 * (specs/decisions/0175-browser-jobs.md).
 */
export const handOverUseCases = ({ host, blobs, log, now }: HandOverParts): HandOverUseCases => {
  const find = (scope: Scope, id: string): Promise<Resident> => host.find(scope, kind, id)
  const live = new LivePages(host)
  return {
    'browser_jobs.continue': async (call) => {
      const { scope, params, body, idempotency } = call
      const job = await find(scope, params.jobId)
      const event = { type: 'continue', by: actorOf(call), ...body, at: now() } as const
      await host.deliverTo(job, { event, cause: idempotency?.cause ?? newId('req') })
      return jobView(blobs, await find(scope, params.jobId))
    },
    'browser_jobs.live': async ({ scope, params: { jobId } }) => {
      const { owner } = requireWait(await find(scope, jobId))
      const viewer = newId('req')
      const first = await live.frame(jobId, viewer, 0)
      if (first === null) throw notWaiting()
      const stream = liveStream({
        first,
        next: (after) => live.frame(jobId, viewer, after),
        left: () => void live.leave(jobId, viewer).catch(() => {}),
        ended: async () => endOf(await find(scope, jobId)),
        failed: (error) => log.warn({ actorId: jobId, err: error }, 'live view broken off'),
      })
      return { stream, tenant: owner.tenant, replayed: false }
    },
    'browser_jobs.input': async ({ scope, params, body: { events } }) => {
      const { id } = requireWait(await find(scope, params.jobId))
      if (!(await live.input(id, newId('req'), events))) throw notWaiting()
      return { accepted: events.length }
    },
  }
}

/** Requires that the job waits for a person. @throws {ServiceError} `invalid_transition` */
const requireWait = (job: Resident): Resident => {
  if (contextOf(kind, job.state.snapshot).waiting === null) throw notWaiting()
  return job
}

const notWaiting = (): ServiceError =>
  new ServiceError('invalid_transition', { message: 'The job is not waiting for a person.' })

/** Returns why the page is no longer available; null while the job waits for a person. */
const endOf = (job: Resident): 'continued' | 'ended' | null => {
  if (contextOf(kind, job.state.snapshot).waiting !== null) return null
  return isBusy(kind, job.state.snapshot) ? 'continued' : 'ended'
}
