import type { Row } from '#records/schema.ts'
import { idWithTail, tailOf } from '#runtime/internal.ts'
import type { RecordKind, StoredRecord } from '#storage/index.ts'
import type { KeySource } from '../call/routes.ts'
import {
  logPrefix,
  type RequestLogData,
  requestLog,
  type SegmentCall,
  type SegmentData,
  type SegmentOrigin,
} from './kinds.ts'
import { tenantAgent, type UsageData, usagePrefix, usageRows } from './usage-rows.ts'

/** The rows derived from one call of a segment. */
export interface CallRows {
  readonly usage: Row<UsageData> | null
  readonly line: Row<RequestLogData> | null
}

/** A call and its position in its segment. */
export interface CallPlace {
  readonly segment: Row<SegmentData>
  readonly n: number
  readonly call: SegmentCall
}

/** Returns the calls from `from` up to `to` of a segment, in the order in which they were recorded. */
export const placesIn = (segment: Row<SegmentData>, from = 0, to?: number): readonly CallPlace[] =>
  segment.data.calls.slice(from, to).map((call, n) => ({ segment, n: from + n, call }))

/** Returns the rows derived from a call; deterministic, so every derivation gives the same rows. */
export const rowsOf = (place: CallPlace): CallRows => ({ usage: usageRowOf(place), line: logLineOf(place) })

/** Number of characters that identify a segment, and a call within it. */
const segmentChars = 12
const callChars = 4

/** Suffix of the ids derived from a call. Within a millisecond, ids of one segment sort by position. */
const tail = ({ segment, n }: CallPlace): string =>
  tailOf(segment.id).slice(-segmentChars) + n.toString(16).padStart(callChars, '0')

/** Returns the rows in the form that the store accepts. */
export const projected = ({ usage, line }: CallRows): readonly { kind: RecordKind; record: StoredRecord }[] => [
  ...(usage === null ? [] : [{ kind: usageRows, record: usage }]),
  ...(line === null ? [] : [{ kind: requestLog, record: line }]),
]

type Units = Pick<
  RequestLogData,
  | 'input_tokens'
  | 'output_tokens'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'characters'
  | 'seconds'
  | 'images'
>

const unitsOf = ({ units }: SegmentCall): Units => {
  const [input = 0, output = 0, cached = 0, written = 0, reasoning = 0] = units?.tokens ?? []
  return {
    input_tokens: input,
    output_tokens: output,
    cached_tokens: cached,
    cache_write_tokens: written,
    reasoning_tokens: reasoning,
    characters: units?.characters ?? null,
    seconds: units?.seconds ?? null,
    images: units?.images ?? null,
  }
}

/** Returns null for a call that used nothing. */
export const usageRowOf = (place: CallPlace): Row<UsageData> | null => {
  const { segment, call } = place
  const [origin, target] = [segment.data.origins[call.origin], segment.data.targets[call.target]]
  if (origin === undefined || target === undefined) return null
  if (call.units === null || target.provider === null || target.source === null) return null
  const { tenant, agent_id, user, key_id } = origin
  return {
    ...recordOf(idWithTail(usagePrefix, call.at, tail(place)), origin, { at: call.at, until: null }),
    data: {
      operation: target.need,
      provider: target.provider,
      model: target.model ?? target.asked,
      agent_id,
      installation_id: null,
      session_id: null,
      run_id: null,
      rate_plan_id: null,
      tenant_agent: tenant === null || agent_id === null ? null : tenantAgent(tenant, agent_id),
      external_user_id: user,
      ...unitsOf(call),
      request_id: call.id,
      key_id,
      ...(call.reuse?.status === 'hit' && { cache_hit: true, saved_usd: call.reuse.saved }),
      estimated: call.units.tokens?.[5] === 1,
      provider_cost_usd: call.usd,
      service_charge_usd: isOwnKey(target.source) ? '0' : call.usd,
      billing_mode: target.source,
      price_snapshot: target.price,
    },
  }
}

/** Calls by the project's own key carry no service charge (specs/decisions/0086-metering-and-limits.md). */
const isOwnKey = (source: KeySource): boolean => source === 'byok' || source === 'custom'

/** Returns null for a call that is not in the request log. */
export const logLineOf = (place: CallPlace): Row<RequestLogData> | null => {
  const { segment, call } = place
  const [origin, target] = [segment.data.origins[call.origin], segment.data.targets[call.target]]
  if (origin === undefined || target === undefined || call.log === null) return null
  const { project, key_id, agent_id, credential } = origin
  const { tenant, user } = origin.texts_of ?? origin
  const { operation, need, asked, provider, model, source, connection_id } = target
  return {
    ...recordOf(
      idWithTail(logPrefix, call.at, tail(place)),
      { project, tenant, user },
      { at: call.at, until: call.log.until },
    ),
    data: {
      request_id: call.id,
      operation,
      need,
      credential,
      key_id,
      agent_id,
      external_user_id: user,
      asked_model: asked,
      provider,
      model,
      source,
      connection_id,
      status: call.status,
      error: call.error,
      streamed: call.streamed,
      started_at: Math.round(call.at - call.ms),
      first_byte_ms: call.firstByteMs,
      duration_ms: call.ms,
      attempts: call.attempts,
      ...(call.failed !== undefined && { failed_attempts: call.failed }),
      ...(call.redacted !== undefined && { redactions: call.redacted }),
      ...(call.guarded !== undefined && { guardrails: call.guarded }),
      ...(call.reuse !== undefined && { cache: call.reuse.status, saved_usd: call.reuse.saved }),
      ...(target.price !== null && call.usd !== null && { price: target.price }),
      ...unitsOf(call),
      cost_usd: call.usd,
      bodies: call.log.bodies,
      request_body: call.log.request ?? null,
      response_body: call.log.response ?? null,
    },
  }
}

const recordOf = (
  id: string,
  { project, tenant, user }: Pick<SegmentOrigin, 'project' | 'tenant' | 'user'>,
  { at, until }: { readonly at: number; readonly until: number | null },
) => ({
  id,
  project,
  tenant,
  user,
  version: 1,
  created_at: at,
  updated_at: at,
  expires_at: until,
})
