import type { JsonObject, StoredEvent } from './json.ts'

/** How an effect may be repeated after a crash (specs/decisions/0002-effects.md). */
export type EffectPolicy = 'idempotent' | 'at_most_once' | 'stream'

/**
 * Actions by which machines instruct the runtime. Each is a declared action with plain params, which the host turns
 * into the commit document (src/actors/runtime/step/step.ts). Nothing in this file runs anything.
 */

/** A client-visible event to journal. */
export interface Emission {
  readonly event_type: string
  readonly turn_number?: number
  readonly payload: JsonObject
  /** Stored with the event for consumers that fold the log; never shown to clients. */
  readonly hidden?: JsonObject
  /** `LogEvent.cuts`; a single event when absent. */
  readonly cuts?: readonly number[]
}

/**
 * Longest text of an event that stands for several, in UTF-16 units. A longer one stands alone: its text may be moved to
 * a blob, where it cannot be cut.
 */
export const maxPerEvent = 16 * 1024

/** A message to another actor. A `create` event starts the actor with its `input`. */
export interface Message {
  readonly to: string
  readonly event: StoredEvent
}

/**
 * Notifies the project's webhooks of an event: a message to the sink `webhooks`, without an effect or commit of its
 * own. `data` has no `tenant_id`, which is filled in from the actor's owner.
 */
export interface Notice<Type extends string = string> {
  readonly event_type: Type
  readonly data: JsonObject
}

/**
 * Writes a line of the audit log about the actor itself: a message to the sink `audit`. `by` is the caller, as given in
 * the command (src/actors/records/audit-note.ts, `actorOf`); `changes` names fields, never values.
 */
export interface AuditLine {
  /** `<resource>.<past participle>`. */
  readonly action: string
  readonly by: { readonly kind: string; readonly id: string | null }
  /** Name of the resource, such as `run`. */
  readonly resource: string
  readonly changes?: readonly string[]
  /** Reason given by a person. */
  readonly reason?: string
}

/** The error for an event that the current state does not accept. Nothing is committed. */
export interface Refusal<Code extends string = string> {
  readonly code: Code
  readonly param?: string
  readonly message?: string
}

/** Aborts the named effects in flight; their late results are dropped. */
export interface Abortion {
  readonly effects: readonly string[]
}

/**
 * Placeholder in a payload for the text of the turn so far. The host fills it in from the log, so that it equals the
 * deltas.
 */
export const turnText = { $turn_text: true } as const

/**
 * The effects that a machine may declare, and how each may be repeated; `from_params`: as the effect's `policy` param
 * says.
 */
export type EffectPolicies = Readonly<Record<string, EffectPolicy | 'from_params'>>

/** The declared actions that all machines share; spread into `setup({ actions })`. */
export const vocabulary = {
  /** Journals events in order; not to be confused with XState's own `emit`. */
  journal: (_: unknown, _params: { events: readonly Emission[] }) => {},
  /** Sends messages in order. */
  send: (_: unknown, _params: { messages: readonly Message[] }) => {},
  /** Notifies the project's webhooks. */
  notify: (_: unknown, _params: Notice) => {},
  /** Writes lines of the audit log. */
  audit: (_: unknown, _params: { lines: readonly AuditLine[] }) => {},
  /** Aborts effects in flight. */
  abort: (_: unknown, _params: Abortion) => {},
}
