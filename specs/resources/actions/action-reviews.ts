import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, described, id, integer, nullable, object, string, timestamp } from '#specs/dsl/schema.ts'

const path = '/v1/actions/{action_id}/review'

/** As for decisions about actions. */
const access = { ...secretKeyOrDashboard('member'), changes: 'approver' } as const

/** Maximum number of comments of an action. */
export const maxComments = 200

const assignee = () =>
  described(nullable(string({ minLength: 1, maxLength: 128 })), 'Member who is to decide; null for none.')
const snoozedUntil = () =>
  described(nullable(timestamp()), 'Time until which the action is set aside; null if it is not. It still expires.')

/** What lists of actions show of the review. */
export const reviewSummary = object(
  {
    assignee_id: assignee(),
    snoozed_until: snoozedUntil(),
    comment_count: integer({ description: 'Number of comments.' }),
    version: integer({ description: 'Increases when the assignee or the time changes; 0 before.' }),
  },
  { title: 'ActionReviewSummary', description: 'Who is to decide about an action, and when.' },
)

const comment = object(
  {
    id: id('cmt'),
    text: string({ description: 'The comment.' }),
    by: object(
      { kind: string({ description: '`dashboard` for a member, else a kind of key.' }), id: nullable(string()) },
      { title: 'ActionCommentAuthor' },
    ),
    created_at: timestamp(),
  },
  { title: 'ActionComment', description: 'A comment of an action.' },
)

const review = object(
  {
    action_id: id('act'),
    assignee_id: assignee(),
    snoozed_until: snoozedUntil(),
    comments: described(array(comment), `Oldest first, at most ${maxComments}.`),
    version: integer({ description: 'Increases when the assignee or the time changes; 0 before.' }),
  },
  { title: 'ActionReview', description: 'How people work on an action before it is decided.' },
)

const resource = { name: 'action_reviews', ofTenants: 'user' } as const

/** Who is to decide about an action and when, and what people say about it. It never changes the action's status. */
export const actionReviews = defineOperations(resource, {
  get: {
    summary: 'Retrieve the review of an action',
    description: 'Every action has one, which is empty at first.',
    method: 'GET',
    path,
    access,
    answer: isJsonResponse(review),
  },
  update: {
    summary: 'Assign or snooze an action',
    description:
      'Sets both fields. `version` is that of the review that you read: if another request has changed it meanwhile, the answer is `version_conflict` and nothing changes, unless both fields already have these values.',
    method: 'PATCH',
    path,
    access,
    body: object({
      assignee_id: assignee(),
      snoozed_until: snoozedUntil(),
      version: integer({ min: 0, description: '`version` of the review that you read.' }),
    }),
    answer: isJsonResponse(review),
    errors: ['version_conflict'],
  },
  comment: {
    summary: 'Comment an action',
    description: `Adds a comment, up to ${maxComments}. Comments never conflict with each other, and cannot be changed.`,
    method: 'POST',
    path: `${path}/comments`,
    access,
    body: object({ text: string({ minLength: 1, maxLength: 2000, description: 'The comment.' }) }),
    answer: isJsonResponse(review, { status: 201 }),
  },
})

declare module '../../index.ts' {
  interface Resources {
    readonly actionReviews: typeof actionReviews
  }
}
