import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { webCrawlDefinition } from '#machines/web-crawl/web-crawl-definition.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import { pageOf } from '#records/pages.ts'
import { timestampOf, timestampOrNull } from '#records/row-times.ts'
import { rowOf } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { newIdFor, type Resident, rowRecord, stuckOf } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { backgroundCrawl } from '#specs/resources/web/web-limits.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import { type WebCrawlRow, webCrawlRows } from '../kinds.ts'
import { crawlView, requirePages } from './crawl-use-case.ts'
import { postponedHosts } from './postponed-pages.ts'

export type CrawlJobRequests = Pick<Services, 'host' | 'now' | 'records'>

const kind = webCrawlDefinition
const againS = 30

/** Use-cases that start, read and cancel background crawls. */
export const crawlJobUseCases = ({ host, records, now }: CrawlJobRequests): UseCasesOf<'web_crawls'> => {
  const table = new Table(records, webCrawlRows, now)
  const find = async (scope: Scope, id: string): Promise<Resident> => host.find(scope, kind, id)
  const shown = (resident: Resident) => ({
    ...view(rowOf(webCrawlRows, rowRecord(resident))),
    ...stuckOf(resident),
  })
  return {
    'web_crawls.create': async (call) => {
      const { scope, body, idempotency } = call
      requirePages('seeds', body.seeds)
      const limit: CountedLimit = {
        max: backgroundCrawl.open,
        rows: host.rows,
        count: () => table.count(projectScope(scope.project), { status: 'crawling' }),
        full: tooManyCrawls,
      }
      const id = newIdFor(call, kind.idPrefix, host.newActorId)
      const owner = { project: scope.project, tenant: null, user: null, createdAt: now() }
      const input = { crawl_id: id, request: body }
      const cause = idempotency?.cause ?? newId('req')
      await CountedLimits.at(records).within(`crawls ${scope.project}`, limit, () =>
        host.create({ kind, id, owner, input, cause }),
      )
      return shown(await find(projectScope(scope.project), id))
    },
    'web_crawls.list': async ({ scope, query: { status, ...page } }) => {
      await host.rows.shown()
      const where = status === undefined ? {} : { status }
      return pageOf(table, projectScope(scope.project), {
        query: { ...page, where },
        shown: { idPrefix: kind.idPrefix, view },
      })
    },
    'web_crawls.get': async ({ scope, params }) => shown(await find(projectScope(scope.project), params.crawl_id)),
    'web_crawls.cancel': async ({ scope, params, idempotency }) => {
      const own = projectScope(scope.project)
      const crawl = await find(own, params.crawl_id)
      await host.deliverTo(crawl, { event: { type: 'cancel', at: now() }, cause: idempotency?.cause ?? newId('req') })
      return shown(await find(own, params.crawl_id))
    },
  }
}

const tooManyCrawls = (): ServiceError =>
  new ServiceError('rate_limit_exceeded', {
    retryAfterS: againS,
    message: `A project can have at most ${backgroundCrawl.open} crawls in progress.`,
  })

const view = ({ id, created_at, data }: WebCrawlRow): ResultOf<'web_crawls.get'> => {
  const { status, request, progress, error, ended_at_ms } = data
  const { seeds, maxPages, maxDepth } = request
  return {
    ...{ id, status, seeds, maxPages, maxDepth, error },
    ...crawlView(progress ?? { waiting: [], pages: [], discovered: 0 }),
    waitingFor: postponedHosts(progress?.waiting ?? []).map(({ until_ms, ...host }) => ({
      ...host,
      until: timestampOf(until_ms),
    })),
    createdAt: timestampOf(created_at),
    endedAt: timestampOrNull(ended_at_ms),
  }
}
