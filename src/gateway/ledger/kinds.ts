import type { AnyKind, TypedKind } from '#records/schema.ts'
import { type JsonObject, projectScope, type Scope } from '#storage/index.ts'
import type { FailedAttempt } from '../call/accounting/call-ledger.ts'
import type { GuardFinding } from '../call/guarding/guard-finding.ts'
import type { KeySource, Need } from '../call/routes.ts'

/** The caller of a call; shared by many calls of a segment. */
export type SegmentOrigin = {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly key_id: string | null
  readonly agent_id: string | null
  readonly credential: string
  /** Whose entry in the request log it is; absent: that of the charged tenant and user. */
  readonly texts_of?: { readonly tenant: string | null; readonly user: string | null }
}

/** The request type and the route of a call; shared by many calls of a segment. */
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

/** Tokens of input, output, cache reads, cache writes and reasoning, and whether they are estimates (0 or 1). */
type SegmentTokens = readonly [
  input: number,
  output: number,
  cached: number,
  written: number,
  reasoning: number,
  estimated: number,
]

/**
 * Whether the texts of a call were logged: `kept`; `off` by the settings; `none` because the call has none; `busy`
 * because there was no time.
 */
type KeptBodies = 'kept' | 'off' | 'none' | 'busy'

/** One call, without its shared data: a server under load writes many thousands per second. */
export type SegmentCall = {
  /** Indexes in `origins` and `targets`. */
  readonly origin: number
  readonly target: number
  /** When the call ended, in ms since the epoch. */
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
  readonly guarded?: readonly GuardFinding[]
  /** How stored answers were used; absent for a project that stores none. */
  readonly reuse?: SegmentReuse
  readonly usd: string | null
  /** null: nothing was used, and there is no usage row. */
  readonly units: SegmentUnits | null
  /** null: it has no entry in the request log. */
  readonly log: SegmentLog | null
}

/** How a call used stored answers. `saved`: what the answer had cost, in USD; null: unknown, or no hit. */
type SegmentReuse = { readonly status: 'hit' | 'miss' | 'bypass'; readonly saved: string | null }

/** The usage of a call. */
export type SegmentUnits = {
  readonly tokens: SegmentTokens | null
  readonly characters?: number
  readonly seconds?: number
  readonly images?: number
}

/** The request log's part of a call. */
export type SegmentLog = {
  /** Expiry of the entry, in ms since the epoch. */
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
 * Calls of all projects that one process collected in a batching window, in one record. Usage rows and entries of the
 * request log are derived from them, with ids derived from that of the segment; then the segment is deleted.
 */
export const callSegments: TypedKind<SegmentData> = { name: 'call_segments', exported: null }

/** Value in place of a project id, so that no project's scope includes a segment. */
export const segmentOwner = '@calls'

export const segmentScope: Scope = projectScope(segmentOwner)

/** Prefix of segments' ids. */
export const segmentPrefix = 'seg'

/** Maximum time in ms between the end of a call and the creation of its segment. */
export const segmentSpanMs = 250

/** One entry of the request log. */
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
  /** The next four fields are absent for none, and in entries of earlier releases. */
  readonly failed_attempts?: readonly FailedAttempt[]
  readonly redactions?: Readonly<Record<string, number>>
  readonly guardrails?: readonly GuardFinding[]
  readonly price?: JsonObject
  /** Absent for a project that stores no answers. */
  readonly cache?: SegmentReuse['status']
  readonly saved_usd?: string | null
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

/** The request log: an entry for each request to the gateway, for the retention time of the project. */
export const requestLog: TypedKind<RequestLogData> = {
  name: 'request_log',
  filters: ['model', 'error', { fields: ['request_id'], narrow: true }],
}

/** Prefix of the ids of entries. */
export const logPrefix = 'log'

export type RequestLogSettingsData = {
  /** `off`: no entries; `metadata`: entries without texts; `bodies`: with requests and answers. */
  readonly mode: 'off' | 'metadata' | 'bodies'
  readonly retention_days: number
}

/** Settings of a project's request log; one row per project. */
export const requestLogSettings: TypedKind<RequestLogSettingsData> = { name: 'request_log_settings', outbox: true }

/** All record kinds of the ledger, for `RecordStore.prepare`. */
export const ledgerKinds: readonly AnyKind[] = [callSegments, requestLog, requestLogSettings]
