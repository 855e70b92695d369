import type { AnyKind, TypedKind } from '#records/schema.ts'
import { projectScope, type Scope } from '#specs/scope.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { FailedAttempt } from '../call/accounting/call-ledger.ts'
import type { KeySource, Need } from '../call/routes.ts'

/** Whose calls they are: what many calls of a segment have in common. */
export type SegmentOrigin = {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly key_id: string | null
  readonly agent_id: string | null
  /** Kind of the credential. */
  readonly credential: string
}

/** The request and its provider, likewise. */
export type SegmentTarget = {
  readonly operation: string
  readonly need: Need
  readonly asked: string
  /** null: no provider was called. */
  readonly provider: string | null
  readonly model: string | null
  readonly source: KeySource | null
  readonly connection_id: string | null
  readonly price: JsonObject | null
}

/** Input, output, cached, written to the cache, reasoning; whether they are estimates (0, 1). */
export type SegmentTokens = readonly [
  input: number,
  output: number,
  cached: number,
  written: number,
  reasoning: number,
  estimated: number,
]

/** What became of the texts of a call. */
export type KeptBodies = 'kept' | 'off' | 'none' | 'busy'

/** One call, without what it has in common with others: a server under load writes many thousand a second. */
export type SegmentCall = {
  /** Places in `origins` and `targets`. */
  readonly origin: number
  readonly target: number
  /** When it was over, in ms since the epoch. */
  readonly at: number
  readonly id: string
  readonly status: number
  readonly error: string | null
  readonly streamed: boolean
  readonly firstByteMs: number | null
  readonly ms: number
  readonly attempts: number
  /** Absent for none. */
  readonly failed?: readonly FailedAttempt[]
  readonly redacted?: Readonly<Record<string, number>>
  readonly usd: string | null
  /** null: nothing was used, and there is no usage row. */
  readonly units: SegmentUnits | null
  /** null: it has no line in the request log. */
  readonly log: SegmentLog | null
}

/** What was used. */
export type SegmentUnits = {
  readonly tokens: SegmentTokens | null
  readonly characters?: number
  readonly seconds?: number
  readonly images?: number
}

/** What the request log keeps. */
export type SegmentLog = {
  /** When the line expires, in ms since the epoch. */
  readonly until: number
  readonly bodies: KeptBodies
  readonly request?: string
  readonly response?: string
}

export type SegmentData = {
  readonly origins: readonly SegmentOrigin[]
  readonly targets: readonly SegmentTarget[]
  readonly calls: readonly SegmentCall[]
}

/**
 * Calls of all projects that one process gathered for a moment, written at once. Usage rows and lines of the request log
 * follow from them, under ids that follow from the segment's; then the segment goes.
 */
export const callSegments: TypedKind<SegmentData> = { name: 'call_segments', exported: null }

/** What stands where other records have a project's id: no project's scope reaches a segment. */
export const segmentOwner = '@calls'

export const segmentScope: Scope = projectScope(segmentOwner)

/** Prefix of segments' ids. */
export const segmentPrefix = 'seg'

/** Every call of a segment was over so many ms before the segment was made, at most. */
export const segmentSpanMs = 250

/** One line of the request log. */
export type RequestLogData = {
  readonly request_id: string
  readonly operation: string
  readonly need: Need
  readonly credential: string
  readonly key_id: string | null
  readonly agent_id: string | null
  readonly external_user_id: string | null
  readonly asked_model: string
  readonly provider: string | null
  readonly model: string | null
  readonly source: KeySource | null
  readonly connection_id: string | null
  readonly status: number
  readonly error: string | null
  readonly streamed: boolean
  readonly started_at: number
  readonly first_byte_ms: number | null
  readonly duration_ms: number
  readonly attempts: number
  /** These three are absent for none, and in lines of earlier releases. */
  readonly failed_attempts?: readonly FailedAttempt[]
  readonly redactions?: Readonly<Record<string, number>>
  readonly price?: JsonObject
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly characters: number | null
  readonly seconds: number | null
  readonly images: number | null
  readonly cost_usd: string | null
  readonly bodies: KeptBodies
  readonly request_body: string | null
  readonly response_body: string | null
}

/** A line for each request to the gateway, for as long as the project keeps them. */
export const requestLog: TypedKind<RequestLogData> = {
  name: 'request_log',
  filters: ['model', 'error', { fields: ['request_id'], narrow: true }],
}

/** Prefix of the ids of the log's lines. */
export const logPrefix = 'log'

export type RequestLogSettingsData = {
  /** `off`: no lines; `metadata`: lines without texts; `bodies`: with requests and answers. */
  readonly mode: 'off' | 'metadata' | 'bodies'
  readonly retention_days: number
}

/** How a project wants its request log; one row a project. */
export const requestLogSettings: TypedKind<RequestLogSettingsData> = { name: 'request_log_settings', outbox: true }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const ledgerKinds: readonly AnyKind[] = [callSegments, requestLog, requestLogSettings]
