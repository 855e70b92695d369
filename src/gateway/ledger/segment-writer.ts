import type { JsonObject } from '#storage/index.ts'
import type { GatewayCall } from '../call/accounting/call-ledger.ts'
import { routePrice } from '../call/accounting/route-price.ts'
import type { Caller } from '../call/caller.ts'
import type { Route } from '../call/routes.ts'
import { priceSnapshot } from '../prices/prices.ts'
import type { SegmentCall, SegmentData, SegmentLog, SegmentOrigin, SegmentTarget, SegmentUnits } from './kinds.ts'

/** The part of a call that is written to a segment; its texts are passed separately. */
type CountedCall = Omit<GatewayCall, 'bodies'>

/** A call whose entry in the request log is determined when its segment is written. */
export type OpenCall = Omit<SegmentCall, 'at' | 'log' | 'failed' | 'redacted' | 'guarded' | 'reuse'> & {
  at: number
  log: SegmentLog | null
  failed?: NonNullable<SegmentCall['failed']>
  redacted?: NonNullable<SegmentCall['redacted']>
  guarded?: NonNullable<SegmentCall['guarded']>
  reuse?: NonNullable<SegmentCall['reuse']>
}

/**
 * Encodes calls in the compact form of a segment, as soon as they end: what waits to be written outlives the nursery,
 * and a call with its caller and its route is four times as large.
 */
export class SegmentWriter {
  readonly #origins = new Index<SegmentOrigin>()
  readonly #targets = new Index<SegmentTarget>()
  readonly calls: OpenCall[] = []
  /** The previous call, since most calls have the same origin and target as the one before. */
  #lastOrigin: { readonly caller: Caller; readonly place: number } | null = null
  #lastTarget: { readonly call: CountedCall; readonly place: number } | null = null

  /** Adds a call without an entry in the request log. */
  add(call: CountedCall): void {
    const { caller, status, error, streamed, firstByteMs, durationMs, attempts, costUsd } = call
    const { failedAttempts, redactions, guardrails, reuse } = call
    const open: OpenCall = {
      origin: this.#origin(call),
      target: this.#target(call),
      at: Math.round(call.startedAt + durationMs),
      id: caller.requestId,
      status,
      error,
      streamed,
      firstByteMs: firstByteMs === null ? null : rounded(firstByteMs),
      ms: rounded(durationMs),
      attempts,
      usd: costUsd,
      units: unitsOf(call),
      log: null,
    }
    if (failedAttempts !== undefined) open.failed = failedAttempts
    if (redactions !== undefined) open.redacted = redactions
    if (guardrails !== undefined) open.guarded = guardrails
    if (reuse !== undefined) open.reuse = { status: reuse.status, saved: reuse.savedUsd }
    this.calls.push(open)
  }

  projectOf({ origin }: OpenCall): string {
    return this.#origins.values[origin]?.project ?? ''
  }

  get data(): SegmentData {
    return { origins: this.#origins.values, targets: this.#targets.values, calls: this.calls }
  }

  #origin({ caller }: CountedCall): number {
    const known = this.#lastOrigin
    if (known !== null && isSameOrigin(known.caller, caller)) return known.place
    const { project, tenant, externalUserId: user, keyId, agentId, principal, textsOf } = caller
    const key = `${project}\n${tenant}\n${keyId}\n${agentId}\n${principal.kind}\n${user}\n${textsOf?.tenant}\n${textsOf?.externalUserId}`
    const place = this.#origins.of(key, () => {
      const credential = principal.kind
      const texts_of = textsOf && { tenant: textsOf.tenant, user: textsOf.externalUserId }
      return { project, tenant, user, key_id: keyId, agent_id: agentId, credential, ...(texts_of && { texts_of }) }
    })
    this.#lastOrigin = { caller, place }
    return place
  }

  #target(call: CountedCall): number {
    const known = this.#lastTarget
    if (known !== null && isSameTarget(known.call, call)) return known.place
    const { operation, need, requestedModel, route } = call
    const key = `${operation}\n${need}\n${route?.provider}\n${route?.model}\n${route?.source}\n${route?.connectionId}\n${requestedModel}`
    const place = this.#targets.of(key, () => ({
      operation,
      need,
      asked: requestedModel,
      provider: route?.provider ?? null,
      model: route?.model ?? null,
      source: route?.source ?? null,
      connection_id: route?.connectionId ?? null,
      price: route === null ? null : snapshotOf(route),
    }))
    this.#lastTarget = { call, place }
    return place
  }
}

const isSameOrigin = (one: Caller, other: Caller): boolean =>
  one.keyId === other.keyId &&
  one.project === other.project &&
  one.tenant === other.tenant &&
  one.externalUserId === other.externalUserId &&
  one.agentId === other.agentId &&
  one.textsOf?.tenant === other.textsOf?.tenant &&
  one.textsOf?.externalUserId === other.textsOf?.externalUserId &&
  one.principal.kind === other.principal.kind

const isSameTarget = (one: CountedCall, other: CountedCall): boolean =>
  one.route === other.route &&
  one.requestedModel === other.requestedModel &&
  one.operation === other.operation &&
  one.need === other.need

/** Distinct values by key, with their indexes. */
class Index<T> {
  readonly values: T[] = []
  readonly #places = new Map<string, number>()

  of(key: string, make: () => T): number {
    const known = this.#places.get(key)
    if (known !== undefined) return known
    this.#places.set(key, this.values.length)
    return this.values.push(make()) - 1
  }
}

const unitsOf = ({ units }: CountedCall): SegmentUnits | null => {
  if (units === null) return null
  const { tokens } = units
  if (tokens === undefined) return { ...units, tokens: null }
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens, estimated } = tokens
  const counts = [
    inputTokens,
    outputTokens,
    cachedTokens,
    cacheWriteTokens,
    reasoningTokens,
    estimated ? 1 : 0,
  ] as const
  return { ...units, tokens: counts }
}

const snapshots = new WeakMap<Route, { readonly price: JsonObject | null }>()

/**
 * Returns the price snapshot of a route, cached because routes are the same objects from call to call. Prices of a
 * custom server are known only when its project has set them.
 */
const snapshotOf = (route: Route): JsonObject | null => {
  const known = snapshots.get(route)
  if (known !== undefined) return known.price
  const row = routePrice(route)
  const price = row === undefined ? null : priceSnapshot(row)
  snapshots.set(route, { price })
  return price
}

/** Rounds to a tenth of a millisecond, which is precise enough for readers. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10
