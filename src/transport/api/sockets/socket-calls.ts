import type { Call } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject } from '#storage/index.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import { attributionOf } from '../attribution.ts'
import { checkFields } from '../check-fields.ts'
import type { Authenticator } from '../credentials/authenticator.ts'
import { authorise, scopeFor } from '../credentials/authorise.ts'
import type { Tenants } from '../credentials/named-tenant.ts'
import { checkReach, limitedScope } from '../credentials/reached-tenant.ts'
import type { Endpoint } from '../endpoint.ts'

export interface SocketCallParts {
  readonly endpoints: readonly Endpoint[]
  readonly authenticator: Authenticator
  readonly tenants: Tenants
  /** Returns the client's address, which behind a proxy is not the address of the connection. */
  readonly clientAddress: (request: HttpRequest) => string
}

/** A request for a socket, whose credential makes the calls. */
export interface SocketRequest {
  readonly request: HttpRequest
  readonly requestId: string
}

/** An operation to call, with the parts that it takes. */
export interface SocketCall {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: unknown
  readonly body?: JsonObject | undefined
  readonly after?: number | null
}

/** Signal of calls made over a WebSocket: they are not aborted, and their work continues when the socket closes. */
const never = new AbortController().signal
const nothing = { tenant: null, user: null }

/**
 * Calls operations on behalf of an open socket: same access, validation and use-case as a request. The credential is
 * checked again for each call, so that a revoked or expired one can issue no more commands.
 */
export class SocketCalls {
  readonly #parts: SocketCallParts
  readonly #endpoints: ReadonlyMap<string, Endpoint>

  constructor(parts: SocketCallParts) {
    this.#parts = parts
    this.#endpoints = new Map(parts.endpoints.map((endpoint) => [endpoint.operation.id, endpoint]))
  }

  /** @throws {ServiceError} */
  async obey(id: string, socket: SocketRequest, call: SocketCall): Promise<unknown> {
    const { operation, validator, useCase } = this.#endpoint(id)
    const made = await this.call(id, socket, call)
    authorise(operation, made.principal)
    validator.body(call.body)
    const reserved = checkFields(operation, made.principal, { body: call.body })
    return useCase({ ...made, reserved, after: call.after ?? null })
  }

  /** Calls an operation without checking that the credential may call it: for what its access implies. */
  async read(id: string, socket: SocketRequest, call: SocketCall): Promise<unknown> {
    return this.#endpoint(id).useCase(await this.call(id, socket, call))
  }

  /** Returns the call of an operation by the credential of the socket. @throws {ServiceError} */
  async call(
    id: string,
    { request, requestId }: SocketRequest,
    { params = {}, query = {}, body }: SocketCall,
  ): Promise<Call<unknown, unknown, unknown>> {
    const principal = await this.#parts.authenticator.authenticate(request)
    const { operation } = this.#endpoint(id)
    const naming = { principal, request, params: {}, query: {}, body }
    await checkReach(operation, naming)
    const about = { principal, request, about: nothing, query: {} }
    const attribution = await attributionOf(this.#parts.tenants, operation, about)
    return {
      principal,
      scope: limitedScope(operation, naming, scopeFor(operation, principal, attribution)),
      attribution,
      params,
      query,
      body,
      requestId,
      remoteAddress: this.#parts.clientAddress(request),
      idempotency: null,
      after: null,
      accept: '',
      files: [],
      signal: never,
    }
  }

  #endpoint(id: string): Endpoint {
    const endpoint = this.#endpoints.get(id)
    if (endpoint === undefined) throw new Error(`${id} is not served`)
    return endpoint
  }
}

/** Reserves memory for a frame that is in memory already. @throws {ServiceError} `overloaded` */
export const reserved = (reservation: { leave(): void } | null): (() => void) => {
  if (reservation === null) throw new ServiceError('overloaded', { retryAfterS: 1 })
  return () => reservation.leave()
}
