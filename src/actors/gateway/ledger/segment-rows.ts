import type { RecordKind, StoredRecord } from '../../../storage/ports.ts'
import { derivedId } from '../../ids.ts'
import type { Row } from '../../records/schema.ts'
import { tenantAgent, type UsageData, usageRows } from '../../usage/kinds.ts'
import { usagePrefix } from '../../usage/usage-ledger.ts'
import type { KeySource } from '../calls/routes.ts'
import {
  logPrefix,
  type RequestLogData,
  requestLog,
  type SegmentCall,
  type SegmentData,
  type SegmentOrigin,
  type SegmentTarget,
} from './kinds.ts'

/** What follows from one call of a segment. */
export interface CallRows {
  readonly usage: Row<UsageData> | null
  readonly line: Row<RequestLogData> | null
}

/** The rows that follow from calls `from` up to `to` of a segment; the same ones whoever asks and however often. */
export const rowsIn = ({ id, data }: Row<SegmentData>, from = 0, to: number = data.calls.length): readonly CallRows[] =>
  data.calls.slice(from, to).flatMap((call, n) => {
    const [origin, target] = [data.origins[call.origin], data.targets[call.target]]
    if (origin === undefined || target === undefined) return []
    const known = { call, origin, target, units: unitsOf(call) }
    const name = derivedId('', call.at, `${id}:${from + n}`)
    return [{ usage: usageRow(name, known), line: logLine(name, known) }]
  })

/** The same as the store takes it. */
export const projected = ({ usage, line }: CallRows): readonly { kind: RecordKind; record: StoredRecord }[] => [
  ...(usage === null ? [] : [{ kind: usageRows, record: usage }]),
  ...(line === null ? [] : [{ kind: requestLog, record: line }]),
]

interface Known {
  readonly call: SegmentCall
  readonly origin: SegmentOrigin
  readonly target: SegmentTarget
  readonly units: Units
}

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

const usageRow = (name: string, { call, origin, target, units }: Known): Row<UsageData> | null => {
  if (call.units === null || target.provider === null || target.source === null) return null
  const { tenant, agent_id, user, key_id } = origin
  return {
    ...recordOf(usagePrefix + name, origin, call.at, null),
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
      ...units,
      request_id: call.id,
      key_id,
      estimated: call.units.tokens?.[5] === 1,
      provider_cost_usd: call.usd,
      service_charge_usd: isOwnKey(target.source) ? '0' : call.usd,
      billing_mode: target.source,
      price_snapshot: target.price,
    },
  }
}

/** Calls by the project's own key carry no service charge (interface "Voice", billing). */
const isOwnKey = (source: KeySource): boolean => source === 'byok' || source === 'custom'

const logLine = (name: string, { call, origin, target, units }: Known): Row<RequestLogData> | null => {
  if (call.log === null) return null
  const { user, key_id, agent_id, credential } = origin
  const { operation, need, asked, provider, model, source, connection_id } = target
  return {
    ...recordOf(logPrefix + name, origin, call.at, call.log.until),
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
      ...units,
      cost_usd: call.usd,
      bodies: call.log.bodies,
      request_body: call.log.request ?? null,
      response_body: call.log.response ?? null,
    },
  }
}

const recordOf = (id: string, { project, tenant, user }: SegmentOrigin, at: number, until: number | null) => ({
  id,
  project,
  tenant,
  user,
  version: 1,
  created_at: at,
  updated_at: at,
  expires_at: until,
})
