import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { actorOf } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { futureOf } from '#records/future-time.ts'
import { timestampOf, timestampOrNull } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { type Change, Table } from '#records/table.ts'
import { newIdFor, type Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxComments } from '#specs/resources/actions/action-reviews.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { Scope } from '#storage/index.ts'
import { type ActionReviewData, actionReviews } from '../kinds.ts'

type Review = ResultOf<'action_reviews.get'>
type Summary = ResultOf<'actions.get'>['review']
type UpdateCall = Parameters<UseCases['action_reviews.update']>[0]
type ReviewCall = UpdateCall | Parameters<UseCases['action_reviews.comment']>[0]

interface ReviewParts extends Pick<Services, 'host' | 'now' | 'records'> {
  /** Whether the id is that of a member of the project's organization. */
  readonly isMember: (project: string, id: string) => Promise<boolean>
}

/** Number of reviews that are read in one turn of the event loop. */
const readAtOnce = 4

const none: ActionReviewData = { assignee_id: null, snoozed_until_ms: null, revision: 0, comments: [] }

/** Use-cases of the reviews of actions: each change is one write of one record, with its audit log entry. */
export const actionReviewUseCases = (parts: ReviewParts): UseCasesOf<'action_reviews'> => {
  const { host, records, now } = parts
  const table = new Table(records, actionReviews, now)
  const find = ({ scope, params }: Pick<ReviewCall, 'scope' | 'params'>) =>
    host.find(scope, actionDefinition, params.action_id)
  const shown = (id: string, data: ActionReviewData) => reviewOf(id, currentOf(data, now()))
  const changed = async (call: ReviewCall, action: Resident, change: Change<ActionReviewData>): Promise<Review> => {
    const { row, isNew } = await upserted(table, call.scope, { action, change })
    if (isNew) await removedWithAction(call, action.id)
    return shown(action.id, row.data)
  }
  /** An action that is deleted meanwhile has removed its review before this one was made. @throws {ServiceError} `not_found` */
  const removedWithAction = async (call: ReviewCall, id: string): Promise<void> => {
    try {
      await find(call)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') await table.remove(call.scope, id)
      throw error
    }
  }
  return {
    'action_reviews.get': async (call) => {
      const { id } = await find(call)
      return shown(id, (await table.get(call.scope, id))?.data ?? none)
    },
    'action_reviews.update': async (call) => {
      const action = await find(call)
      const { assignee_id, snoozed_until, version } = call.body
      const snoozed_until_ms = futureOf('snoozed_until', snoozed_until, now())
      if (assignee_id !== null && !(await parts.isMember(call.scope.project, assignee_id)))
        throw new ServiceError('not_found', { param: 'assignee_id' })
      const edit = ({ data }: Row<ActionReviewData>) => {
        const current = currentOf(data, now())
        if (current.assignee_id === assignee_id && current.snoozed_until_ms === snoozed_until_ms) return null
        if (data.revision !== version) throw new ServiceError('version_conflict', { param: 'version' })
        return { ...data, assignee_id, snoozed_until_ms, revision: version + 1 }
      }
      const notices = (next: Row<ActionReviewData>, before: Row<ActionReviewData>) => {
        const fields = [
          ...(next.data.assignee_id === before.data.assignee_id ? [] : ['assignee_id']),
          ...(next.data.snoozed_until_ms === before.data.snoozed_until_ms ? [] : ['snoozed_until']),
        ]
        return [audited(call).line('updated', next.id, fields)]
      }
      return changed(call, action, { edit, notices })
    },
    'action_reviews.comment': async (call) => {
      const action = await find(call)
      const id = newIdFor(call, 'cmt')
      const { kind, id: by } = actorOf(call)
      const comment = { id, text: call.body.text, by: { kind, id: by }, created_at_ms: now() }
      const edit = ({ data }: Row<ActionReviewData>) => {
        if (data.comments.some((each) => each.id === id)) return null
        if (data.comments.length >= maxComments)
          throw new ServiceError('invalid_field', {
            param: 'text',
            message: 'The action has its maximum number of comments.',
          })
        return { ...data, comments: [...data.comments, comment] }
      }
      return changed(call, action, { edit, notices: (next) => [audited(call).line('commented', next.id)] })
    },
  }
}

const audited = (call: ReviewCall) => new Audited(call, 'action_review')

/** Changes the review, which is created with the first change. */
const upserted = async (
  table: Table<ActionReviewData>,
  scope: Scope,
  { action, change }: { readonly action: Resident; readonly change: Change<ActionReviewData> },
): Promise<{ readonly row: Row<ActionReviewData>; readonly isNew: boolean }> => {
  const { project, tenant, user } = action.owner
  const known = await table.change(scope, action.id, change)
  if (known !== null) return { row: known, isNew: false }
  const times = { created_at: 0, updated_at: 0, expires_at: null }
  const before = { id: action.id, project, tenant, user, version: 0, ...times, data: none }
  const data = change.edit(before)
  if (data === null) return { row: before, isNew: false }
  const notices = change.notices?.({ ...before, data }, before) ?? []
  const made = await table.insert({ id: action.id, project, tenant, user, data, notices })
  // another request has created it meanwhile
  const row = made ?? (await table.change(scope, action.id, change))
  if (row === null) throw new ServiceError('not_found')
  return { row, isNew: true }
}

/** The review without a time to which it was set aside that has passed. */
const currentOf = (data: ActionReviewData, now: number): ActionReviewData =>
  data.snoozed_until_ms !== null && data.snoozed_until_ms <= now ? { ...data, snoozed_until_ms: null } : data

const reviewOf = (action: string, { assignee_id, snoozed_until_ms, revision, comments }: ActionReviewData): Review => ({
  action_id: action,
  assignee_id,
  snoozed_until: timestampOrNull(snoozed_until_ms),
  comments: comments.map(({ created_at_ms, ...comment }) => ({ ...comment, created_at: timestampOf(created_at_ms) })),
  version: revision,
})

/**
 * What these actions show of their reviews, by their ids: read few at a time, since each may have 800 KB of comments.
 *
 * @returns a function, since an action without a change has an empty review
 */
export const summariesOf = async (
  { records, now }: Pick<ReviewParts, 'records' | 'now'>,
  scope: Scope,
  ids: readonly string[],
): Promise<(id: string) => Summary> => {
  const table = new Table(records, actionReviews, now)
  const rows = new Map<string, Row<ActionReviewData>>()
  for (let at = 0; at < ids.length; at += readAtOnce) {
    if (at > 0) await nextSlice()
    for (const [id, row] of await table.getMany(scope, ids.slice(at, at + readAtOnce))) rows.set(id, row)
  }
  return (id) => {
    const { assignee_id, snoozed_until_ms, comments, revision } = currentOf(rows.get(id)?.data ?? none, now())
    const snoozed_until = timestampOrNull(snoozed_until_ms)
    return { assignee_id, snoozed_until, comment_count: comments.length, version: revision }
  }
}
