import type { Role } from '#specs/access.ts'
import type { SdkEnvelope } from '#specs/dsl/declare.ts'
import type { ReservedField } from '#specs/field-access.ts'
import type { Scope } from '#specs/scope.ts'
import type { LogEvent } from '#storage/ports.ts'

/** Who calls, as its credential says. */
export type Principal =
  | { readonly kind: 'secret_key'; readonly project: string; readonly keyId: string }
  | {
      readonly kind: 'agent_key'
      readonly project: string
      readonly keyId: string
      readonly agentId: string
      /** `public`: it is seen in browsers, and reaches only what has no tenant and is known by its id. */
      readonly keyType: 'secret' | 'public'
      /** Whose pages may use it; empty for anywhere. The request's origin was held against them. */
      readonly allowedDomains: readonly string[]
    }
  | {
      readonly kind: 'client_token'
      readonly project: string
      readonly tenant: string
      readonly user: string
      readonly permissions: readonly string[]
      /** The token reaches this session only. */
      readonly sessionId: string | null
      readonly installationIds: readonly string[]
    }
  | {
      readonly kind: 'dashboard'
      readonly organization: string
      readonly memberId: string
      /** The signed-in session, for logout. */
      readonly sessionId: string
      readonly role: Role
      /** The project that the path or `X-Project-Id` names, checked to be the organisation's; its first one otherwise. */
      readonly project: string
    }
  | { readonly kind: 'public' }

/** The Idempotency-Key of a request, made unique over scope and operation, and the hash of what it requests. */
export interface Idempotency {
  readonly cause: string
  readonly fingerprint: string
  /**
   * 26 characters in which the id of the resource that this request creates has to end (`newIdFor`): a request that
   * is run again after a crash makes the same resource, not a second one. Null for operations whose actor remembers the cause.
   */
  readonly seed: string | null
}

/** For whom a key says that it calls (`X-Tenant-Id`, `X-External-User-Id`). */
export interface Attribution {
  /** A tenant of the project that may be served. */
  readonly tenant: string | null
  readonly externalUserId: string | null
}

/** A file of a multipart form. */
export interface UploadedFile {
  readonly field: string
  readonly filename: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** One validated call of an operation. `scope` is all that the principal may touch. */
export interface Call<Params, Query, Body> {
  readonly principal: Principal
  readonly scope: Scope
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly requestId: string
  /** Address of the client, for the limits on logins and the audit log; '' when it is gone. Costs something to find out. */
  readonly remoteAddress: string
  readonly idempotency: Idempotency | null
  /** Sequence to go on after, from `Last-Event-ID` or `?after=`; null when the caller named none. */
  readonly after: number | null
  /** The `Accept` header; '' when there is none. For operations that answer in several forms. */
  readonly accept: string
  /** The `Via` header: servers that the request came through. */
  readonly via?: string | undefined
  /** The `Cookie` header, for what binds a call to the browser that began it. */
  readonly cookies?: string | undefined
  /** Whose SDK calls, by the headers that it sends; null or absent for every other caller. */
  readonly sdk?: SdkEnvelope | null | undefined
  /** The `X-Timeout-Ms` header, for operations that call models; undefined when there is none. @throws {ServiceError} `invalid_header` */
  readonly timeoutMs?: number | undefined
  /** The caller retries what fails, by the header that its SDK counts with (`x-stainless-retry-count`). */
  readonly retriesItself?: boolean | undefined
  /** Features of Anthropic's API that the caller opts into (`anthropic-beta`). */
  readonly anthropicBeta?: string | undefined
  /** Files of a multipart form, in order. */
  readonly files: readonly UploadedFile[]
  /** Only in operations that are `attributed`, when the key named a user. */
  readonly attribution?: Attribution | undefined
  /** Fields of the body that this caller may set only with the agent's leave; none when left out. */
  readonly reserved?: readonly ReservedField[] | undefined
  /** The JSON body as it came. `body` is what it says, with defaults filled in. */
  readonly bytes?: Uint8Array | undefined
  /** Notifies the listener when the caller goes before the answer has ended, or is gone already. One listener; it costs nothing. */
  readonly onGone?: ((listener: () => void) => void) | undefined
  /** Aborts when the caller is gone before the answer has ended. Costs something: read it where work can be called off. */
  readonly signal: AbortSignal
}

/** Receives a stream's events in order. */
export interface EventSink {
  /** False: no more, please, until `resume`. The events given are taken all the same. */
  push(events: readonly LogEvent[]): boolean
  /** The stream is over. `lost`: it broke and may be resumed after the last event. */
  end(reason: 'done' | 'lost'): void
}

/** The reader's side of a running stream. */
export interface StreamControl {
  resume(): void
  stop(): void
}

/** Events of one actor, from the log and then live: no gap, no double. Nothing is read until `start`. */
export interface EventStream {
  start(sink: EventSink): StreamControl
}

/** What an operation with a stream answers. `replayed`: an Idempotency-Key met its first request again. */
export interface StreamAnswer {
  readonly stream: EventStream
  /** Whose it is: it ends when this tenant is suspended, for every reader. Null or absent: no tenant's. */
  readonly tenant?: string | null
  readonly replayed: boolean
}

/** Receives a body as it is made. */
export interface ByteSink {
  /** False: no more, please, until `resume`. The part is taken all the same. */
  push(part: string | Uint8Array): boolean
  /** The body is whole, with this last part if one is given. */
  end(last?: string | Uint8Array): void
  /** It broke: the reader sees a broken stream, never a clean end. */
  abort(): void
}

/** A body that is pushed as it is made. Nothing comes before `start`; after `stop` (the reader is gone) nothing is taken. */
export interface ByteStream {
  start(sink: ByteSink): StreamControl
}
