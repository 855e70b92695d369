import type { JsonObject, StoredEvent } from '#specs/dsl/json.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'

/** How an effect may be repeated after a crash (specs/decisions/0002-effects.md). */
export type EffectPolicy = 'idempotent' | 'at_most_once' | 'stream'

/**
 * What machines say to the runtime. Each is a declared action with plain params; the host turns them into the
 * commit document (src/actors/runtime/step/step.ts). Nothing here runs anything.
 */

/** A client-visible event to journal. */
export interface Emission {
  readonly event_type: string
  readonly turn_number?: number
  readonly payload: JsonObject
  /** Kept beside the payload, for the fold of the log; never shown. */
  readonly hidden?: JsonObject
}

/** A message to another actor. A `create` event starts the actor with its `input`. */
export interface Message {
  readonly to: string
  readonly event: StoredEvent
}

/**
 * Notifies the project's webhooks of an event: a message to the sink `webhooks`, without an effect or a commit of its own.
 * `data` is what specs/events/webhook-events.ts declares, but for `tenant_id`, which is filled in from the actor's owner.
 */
export interface Notice {
  readonly event_type: WebhookEventType
  readonly data: JsonObject
}

/**
 * Writes a line of the audit log about the actor itself: a message to the sink `audit`. `by` is who did it, as the
 * command said (src/actors/records/audit-note.ts, `actorOf`); `changes` names fields, never values.
 */
export interface AuditLine {
  /** `<resource>.<past participle>`. */
  readonly action: string
  readonly by: { readonly kind: string; readonly id: string | null }
  /** Name of the resource, such as `run`. */
  readonly resource: string
  readonly changes?: readonly string[]
  /** What a person gave as the reason. */
  readonly reason?: string
}

/** What an event that a state does not take is answered with: nothing is committed. */
export interface Refusal {
  readonly code: ErrorCode
  readonly param?: string
  readonly message?: string
}

/** Ends the named effects that are in flight; their late results are dropped. */
export interface Abortion {
  readonly effects: readonly string[]
}

/** Stands in a payload for the text of the turn so far; the host fills it from the log, so that it equals the deltas. */
export const turnText = { $turn_text: true } as const

/** Which effects a machine may declare, and how each may be repeated; `from_params`: the effect's `policy` param says. */
export type EffectPolicies = Readonly<Record<string, EffectPolicy | 'from_params'>>

/** The declared actions that every machine of ours shares; spread into `setup({ actions })`. */
export const vocabulary = {
  /** Journals events in order; XState's own `emit` is something else. */
  journal: (_: unknown, _params: { events: readonly Emission[] }) => {},
  /** Sends messages in order. */
  send: (_: unknown, _params: { messages: readonly Message[] }) => {},
  /** Notifies the project's webhooks. */
  notify: (_: unknown, _params: Notice) => {},
  /** Writes lines of the audit log. */
  audit: (_: unknown, _params: { lines: readonly AuditLine[] }) => {},
  /** Ends effects in flight. */
  abort: (_: unknown, _params: Abortion) => {},
}
