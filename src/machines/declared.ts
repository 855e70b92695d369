import type { ErrorCode } from '#specs/errors/errors.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import {
  type Notice as AnyNotice,
  type Refusal as AnyRefusal,
  type Refusing as AnyRefusing,
  vocabulary as shared,
} from './index.ts'

/** A refusal with an error of the API (specs/errors/errors.ts). */
export type Refusal = AnyRefusal<ErrorCode>

/** A state's `meta`: refusals of events, with errors of the API. */
export type Refusing<Context, Event extends { readonly type: string }> = AnyRefusing<Context, Event, ErrorCode>

/** A notice to webhooks, of an event that specs/events/webhook-events.ts declares. */
export type Notice = AnyNotice<WebhookEventType>

/** The actions that machines share, limited to declared webhook events. */
export const vocabulary = { ...shared, notify: (_: unknown, _params: Notice) => {} }
