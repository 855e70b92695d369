import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
import {
  array,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { ofWeb, pageUrl } from './web-fields.ts'
import { maxTakedownUrls } from './web-limits.ts'

const basis = oneOf('copyright', 'privacy', 'legal', 'robots', 'other')
const status = oneOf('pending', 'removed', 'rejected')

const takedown = object(
  {
    id: id('wtd'),
    status: described(status, 'Status of the request. It stays `pending` until a person decides.'),
    urls: array(string()),
    basis,
    requester_name: string(),
    requester_email: string(),
    statement: string(),
    removed_pages: described(integer(), 'Pages that were removed from the index.'),
    reason: described(nullable(string()), 'Reason for the decision.'),
    decided_by: nullable(string()),
    decided_at: nullable(timestamp()),
    created_at: described(timestamp(), 'Time at which the resource was created.'),
    updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
  },
  { title: 'WebTakedown', description: 'A request to remove pages from the index.' },
)

const takedowns = '/v1/web/takedowns'

/** Submission of takedown requests. */
export const webTakedown = defineOperations('web', {
  takedown: {
    ...ofWeb,
    summary: 'Request the removal of pages',
    description:
      'The request is pending until a person reviews it; nothing is removed before then. It is written to the audit log.',
    method: 'POST',
    path: '/v1/web/takedown',
    body: object({
      urls: array(pageUrl, { minItems: 1, maxItems: maxTakedownUrls }),
      basis,
      requesterName: string({ minLength: 1, maxLength: 200 }),
      requesterEmail: string({ maxLength: 254, format: 'email' }),
      statement: string({ minLength: 20, maxLength: 20_000 }),
    }),
    answer: isJsonResponse(
      object(
        { id: id('wtd'), status, createdAt: timestamp() },
        { title: 'WebTakedownReceipt', description: 'Confirmation of a removal request.' },
      ),
      { status: 202 },
    ),
    errors: ['invalid_url', 'unsafe_url'],
    refusals: { 'urls[]': 'invalid_url' },
  },
})

/** Review of takedown requests. */
export const webTakedowns = defineOperations('web_takedowns', {
  list: {
    summary: 'List removal requests',
    description: 'Newest first. `status=pending` lists the requests that wait for a decision.',
    method: 'GET',
    path: takedowns,
    access: secretKeyOrDashboard('member'),
    query: { ...cursorQuery, status: optional(status) },
    answer: isJsonResponse(cursorPage(takedown)),
  },
  get: {
    summary: 'Retrieve a removal request',
    description: 'Returns the request with its status and, once it is decided, the decision.',
    method: 'GET',
    path: `${takedowns}/{takedown_id}`,
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(takedown),
  },
  decide: {
    summary: 'Decide a removal request',
    description:
      "`remove` deletes the pages from the project's index and keeps them out: later crawls skip them as `taken_down`. The decision is written to the audit log.",
    method: 'POST',
    path: `${takedowns}/{takedown_id}/decision`,
    access: secretKeyOrDashboard('admin'),
    body: object({
      decision: oneOf('remove', 'reject'),
      reason: optional(string({ minLength: 1, maxLength: 2_000 })),
    }),
    answer: isJsonResponse(takedown),
    errors: ['invalid_transition'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webTakedown: typeof webTakedown
    readonly webTakedowns: typeof webTakedowns
  }
}
