import type { Attribution, Call, Idempotency, Principal, UploadedFile } from '#actors/call/call.ts'
import type { SdkEnvelope } from '#specs/dsl/declare.ts'
import type { ReservedField } from '#specs/field-access.ts'
import type { Scope } from '#storage/index.ts'
import type { HttpRequest } from '../http/http-port.ts'
import { cutSignal, type Exchange, goneSignal, onCut, onGone } from './exchange.ts'
import { sdkOf } from './sdk-callers.ts'
import { timeoutOf } from './timeout-header.ts'

/** Values that the dispatcher has determined for a call. */
export interface CallParts {
  readonly principal: Principal
  readonly scope: Scope
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly bytes: Uint8Array | undefined
  readonly files: readonly UploadedFile[]
  readonly idempotency: Idempotency | null
  readonly after: number | null
  readonly attribution: Attribution | undefined
  readonly reserved: readonly ReservedField[]
  readonly clientAddress: (request: HttpRequest) => string
}

/**
 * One validated call. Costly properties are computed when they are read.
 *
 * This is a class because a getter in an object literal makes V8 create a hidden class for every call. That took longer
 * than the rest of the dispatcher, and kept in-flight data alive until the next full collection.
 */
export class ServedCall implements Call<unknown, unknown, unknown> {
  readonly principal: Principal
  readonly scope: Scope
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly bytes: Uint8Array | undefined
  readonly files: readonly UploadedFile[]
  readonly idempotency: Idempotency | null
  readonly after: number | null
  readonly attribution: Attribution | undefined
  readonly reserved: readonly ReservedField[]
  readonly #exchange: Exchange
  readonly #parts: CallParts
  /** Whether the call continues after its caller has disconnected. */
  readonly #outlives: boolean

  constructor(exchange: Exchange, parts: CallParts, outlives = false) {
    this.principal = parts.principal
    this.scope = parts.scope
    this.params = parts.params
    this.query = parts.query
    this.body = parts.body
    this.bytes = parts.bytes
    this.files = parts.files
    this.idempotency = parts.idempotency
    this.after = parts.after
    this.attribution = parts.attribution
    this.reserved = parts.reserved
    this.#exchange = exchange
    this.#parts = parts
    this.#outlives = outlives
  }

  get requestId(): string {
    return this.#exchange.requestId
  }

  get accept(): string {
    return this.#exchange.request.header('accept') ?? ''
  }

  get userAgent(): string | undefined {
    return this.#exchange.request.header('user-agent')
  }

  get via(): string | undefined {
    return this.#exchange.request.header('via')
  }

  get cookies(): string | undefined {
    return this.#exchange.request.header('cookie')
  }

  get sdk(): SdkEnvelope | null {
    return sdkOf(this.#exchange.request)
  }

  get retriesItself(): boolean {
    return this.#exchange.request.header('x-stainless-retry-count') !== undefined
  }

  get anthropicBeta(): string | undefined {
    return this.#exchange.request.header('anthropic-beta')
  }

  get a2aVersion(): string | undefined {
    const { request } = this.#exchange
    return request.header('a2a-version') ?? new URLSearchParams(request.query).get('A2A-Version') ?? undefined
  }

  get cacheControl(): string | undefined {
    return this.#exchange.request.header('cache-control')
  }

  get cacheMode(): string | undefined {
    return this.#exchange.request.header('x-cache')
  }

  get guardrails(): string | undefined {
    return this.#exchange.request.header('x-guardrails')
  }

  get routeTags(): string | undefined {
    return this.#exchange.request.header('x-route-tags')
  }

  get timeoutMs(): number | undefined {
    return timeoutOf(this.#exchange.request)
  }

  get remoteAddress(): string {
    return this.#parts.clientAddress(this.#exchange.request)
  }

  get signal(): AbortSignal {
    return this.#outlives ? cutSignal(this.#exchange) : goneSignal(this.#exchange)
  }

  onGone(listener: () => void): void {
    if (this.#outlives) onCut(this.#exchange, listener)
    else onGone(this.#exchange, listener)
  }

  /**
   * Returns the same call, whose creations get the ids reserved for its Idempotency-Key.
   *
   * @param outlives whether the call continues after its caller has disconnected, so that a repeated request gets its
   * answer.
   */
  seeded(idempotency: Idempotency, outlives: boolean): ServedCall {
    return new ServedCall(this.#exchange, { ...this.#parts, idempotency }, outlives)
  }
}
