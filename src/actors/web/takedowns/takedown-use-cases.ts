import type { UseCases } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { actorOf } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { pageOf } from '#records/pages.ts'
import { rowTimes, timestampOf, timestampOrNull } from '#records/row-times.ts'
import { RowTurns } from '#records/row-turns.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import { requirePages } from '../crawl/crawl-use-case.ts'
import { type TakedownData, webTakedowns } from '../kinds.ts'
import type { PageStore } from '../store/page-store.ts'

export interface TakedownParts extends Pick<Services, 'now' | 'records'> {
  readonly store: PageStore
  /** Called when pages of the project were removed: removes what copies of the index have of them. */
  readonly dropped: (project: string) => Promise<void>
}

type TakedownUseCases = Pick<UseCases, 'web.takedown' | Extract<keyof UseCases, `web_takedowns.${string}`>>

/** Use-cases of takedown requests. A person removes the pages of each permanently, or rejects it. */
export const takedownUseCases = (parts: TakedownParts): TakedownUseCases => {
  const table = new Table(parts.records, webTakedowns, parts.now)
  const turns = new RowTurns()
  const found = async ({ project }: Scope, id: string): Promise<Row<TakedownData>> => {
    const row = await table.get(projectScope(project), id)
    if (row === null)
      throw new ServiceError('not_found', { param: 'takedown_id', message: 'There is no such request.' })
    return row
  }
  return {
    'web.takedown': async (call) => {
      const { scope, body } = call
      requirePages('urls', body.urls)
      const id = newIdFor(call, 'wtd')
      const data: TakedownData = {
        ...{ status: 'pending', urls: body.urls, basis: body.basis, statement: body.statement, removed_pages: 0 },
        ...{ requester_name: body.requesterName, requester_email: body.requesterEmail },
        ...{ reason: null, decided_by: null, decided_at: null },
      }
      const notices = [new Audited(call, 'web_takedown').line('created', id)]
      const made = await table.insert({ id, project: scope.project, data, notices })
      const { created_at, data: stored } = made ?? (await found(scope, id))
      return { id, status: stored.status, createdAt: timestampOf(created_at) }
    },
    'web_takedowns.list': ({ scope, query: { status, ...query } }) =>
      pageOf(table, projectScope(scope.project), {
        query: { ...query, ...(status !== undefined && { where: { status } }) },
        shown: { idPrefix: 'wtd', view },
      }),
    'web_takedowns.get': async ({ scope, params }) => view(await found(scope, params.takedown_id)),
    'web_takedowns.decide': ({ params, ...call }) =>
      turns.take(params.takedown_id, async () => {
        const isRemoval = call.body.decision === 'remove'
        const row = pending(await found(call.scope, params.takedown_id))
        const removed = isRemoval ? await removedPages(parts, await claimed(table, row)) : 0
        const decided = await table.change(projectScope(row.project), row.id, {
          edit: (now) => {
            const { removing: _, ...data } = (isRemoval ? pending(now) : undecided(now)).data
            return {
              ...data,
              status: isRemoval ? 'removed' : 'rejected',
              removed_pages: removed,
              reason: call.body.reason ?? null,
              decided_by: actorOf(call),
              decided_at: parts.now(),
            }
          },
          notices: () => [new Audited(call, 'web_takedown').line(isRemoval ? 'removed' : 'rejected', row.id)],
        })
        return view(decided ?? row)
      }),
  }
}

/** Notes that the pages are to be removed, so that no other node rejects the request meanwhile. */
const claimed = async (table: Table<TakedownData>, row: Row<TakedownData>): Promise<Row<TakedownData>> => {
  const edit = (now: Row<TakedownData>): TakedownData | null =>
    pending(now).data.removing === true ? null : { ...now.data, removing: true }
  return (await table.change(projectScope(row.project), row.id, { edit })) ?? row
}

/** Removes the pages before the decision is stored, so that a repetition after a crash continues there. */
const removedPages = async (
  { store, dropped }: TakedownParts,
  { id, project, data }: Row<TakedownData>,
): Promise<number> => {
  let removed = 0
  for (const url of data.urls) if (await store.block(project, url, id)) removed += 1
  await store.purge(project)
  await dropped(project)
  return removed
}

/** Requires a pending request. @throws {ServiceError} `invalid_transition` when it was already decided */
const pending = (row: Row<TakedownData>): Row<TakedownData> => {
  if (row.data.status === 'pending') return row
  throw new ServiceError('invalid_transition', {
    message: `The request is ${row.data.status}; only a pending one can be decided. Make another one.`,
  })
}

/** Requires a request whose pages are not being removed. @throws {ServiceError} `invalid_transition` */
const undecided = (row: Row<TakedownData>): Row<TakedownData> => {
  if (pending(row).data.removing !== true) return row
  throw new ServiceError('invalid_transition', {
    message: 'The pages of the request are being removed. Read it again in a moment.',
  })
}

const view = ({ id, data, ...times }: Row<TakedownData>): ResultOf<'web_takedowns.get'> => ({
  ...{ id, status: data.status, urls: data.urls, basis: data.basis, statement: data.statement },
  ...{ requester_name: data.requester_name, requester_email: data.requester_email },
  ...{ removed_pages: data.removed_pages, reason: data.reason },
  decided_by: data.decided_by === null ? null : (data.decided_by.id ?? data.decided_by.kind),
  decided_at: timestampOrNull(data.decided_at),
  ...rowTimes(times),
})
