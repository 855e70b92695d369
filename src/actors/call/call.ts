import type { Role } from '#specs/access.ts'
import type { SdkEnvelope } from '#specs/dsl/declare.ts'
import type { ReservedField } from '#specs/field-access.ts'
import type { FormFile } from '#src/pages/multipart-form.ts'
import type { Json, JsonObject, Scope } from '#storage/index.ts'
import type { EventStream, StreamControl } from '../runtime/index.ts'
import type { AgentReach, KeyLimits } from './reach.ts'

/** The caller, as identified by its credential. */
export type Principal =
  | {
      readonly kind: 'secret_key'
      readonly project: string
      readonly keyId: string
      /** Limits of the key; absent: none. */
      readonly limits?: KeyLimits
      /** Present for an ephemeral secret, which is valid for sessions of the Realtime API only: its id. */
      readonly realtimeSecret?: string
      /** Present for an app's access token: the member that granted it, who limits it, and the resource it is for. */
      readonly grant?: { readonly memberId: string; readonly role: Role; readonly resource: string }
    }
  | {
      readonly kind: 'agent_key'
      readonly project: string
      readonly keyId: string
      readonly agentId: string
      /** `public`: the key is visible in browsers, and reaches only what has no tenant and is known by its id. */
      readonly keyType: 'secret' | 'public'
      /** Domains whose pages may use the key; empty for any. The request's origin has been checked against them. */
      readonly allowedDomains: readonly string[]
      /** What the key reaches through its agent. */
      readonly reach: AgentReach
      /** Limits of the key; absent: none. */
      readonly limits?: KeyLimits
    }
  | {
      readonly kind: 'client_token'
      readonly project: string
      readonly tenant: string
      readonly user: string
      readonly permissions: readonly string[]
      /** The only session that the token reaches; null for no such restriction. */
      readonly sessionId: string | null
      readonly installationIds: readonly string[]
      /** The key that minted the token, which ends with it; absent: a token of an earlier release. */
      readonly mintedBy?: string
      readonly limits?: KeyLimits
      /** Present for an ephemeral secret of a user, which is valid for sessions of the Realtime API only: its id. */
      readonly realtimeSecret?: string
    }
  | {
      readonly kind: 'dashboard'
      readonly organization: string
      readonly memberId: string
      /** The signed-in session, for logout. */
      readonly sessionId: string
      readonly role: Role
      /** The organization requires a second factor, which the member has not set up yet. */
      readonly mustEnrol?: true
      /**
       * The project that the path or `X-Project-Id` names, checked to be the organisation's; its first one otherwise.
       */
      readonly project: string
    }
  | { readonly kind: 'public' }

/** The Idempotency-Key of a request: `cause` is unique over scope and operation, `fingerprint` hashes the request. */
export interface Idempotency {
  readonly cause: string
  readonly fingerprint: string
  /**
   * The last 26 characters of the id of the resource that this request creates (`newIdFor`): a request that is run
   * again after a crash creates the same resource, not a second one. Null for operations whose actor remembers the
   * cause.
   */
  readonly seed: string | null
}

/** The tenant and end user on whose behalf a trusted caller calls (`X-Tenant-Id`, `X-External-User-Id`). */
export interface Attribution {
  /** An existing tenant of the project; for operations that start work, one that is not suspended. */
  readonly tenant: string | null
  readonly externalUserId: string | null
}

/** A file of a multipart form. */
export type UploadedFile = FormFile

/** A validated call of an operation. `scope` is everything that the principal may access. */
export interface Call<Params, Query, Body> {
  readonly principal: Principal
  readonly scope: Scope
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly requestId: string
  /**
   * Address of the client, for login limits and the audit log; '' when the client has gone. Has a cost to determine.
   */
  readonly remoteAddress: string
  readonly idempotency: Idempotency | null
  /** Sequence after which a stream resumes, from `Last-Event-ID` or `?after=`; null when the caller gave none. */
  readonly after: number | null
  /** The `Accept` header; '' when there is none. For operations with several response formats. */
  readonly accept: string
  /** The `User-Agent` header. */
  readonly userAgent?: string | undefined
  /** The `Via` header: proxies that the request passed. */
  readonly via?: string | undefined
  /** The `Cookie` header, for operations that bind a call to the browser that started a flow. */
  readonly cookies?: string | undefined
  /** Vendor of the SDK that calls, recognised by its headers; null or absent for every other caller. */
  readonly sdk?: SdkEnvelope | null | undefined
  /** The `X-Timeout-Ms` header, for operations that call models; undefined when there is none. @throws {ServiceError} `invalid_header` */
  readonly timeoutMs?: number | undefined
  /** Whether the caller's SDK retries failures, recognised by its retry header (`x-stainless-retry-count`). */
  readonly retriesItself?: boolean | undefined
  /** The `Cache-Control` and `X-Cache` headers, for operations that may give stored answers of models. */
  readonly cacheControl?: string | undefined
  readonly cacheMode?: string | undefined
  /** The `X-Guardrails` header, for operations that call models. */
  readonly guardrails?: string | undefined
  /** The `X-Route-Tags` header, for operations that call models. */
  readonly routeTags?: string | undefined
  /** Features of Anthropic's API that the caller opts into (`anthropic-beta`). */
  readonly anthropicBeta?: string | undefined
  /** Version of A2A in which the caller wants to be answered (`A2A-Version`, as a header or a parameter of the query). */
  readonly a2aVersion?: string | undefined
  /** Present when the call is a line of a batch: gathers the model calls that it makes (src/gateway/batches). */
  readonly line?: object | undefined
  /** Files of a multipart form, in order. */
  readonly files: readonly UploadedFile[]
  /**
   * Present when the caller named a tenant or user in the headers, in operations that accept these (`namesTenants`).
   */
  readonly attribution?: Attribution | undefined
  /** Fields of the body that this caller may set only if the agent permits it; none when absent. */
  readonly reserved?: readonly ReservedField[] | undefined
  /** The JSON body as received. `body` is its parsed form, with defaults filled in. */
  readonly bytes?: Uint8Array | undefined
  /**
   * Registers a listener that is called when the caller disconnects before the response has ended, or has already done
   * so. Only one listener; it costs nothing.
   */
  readonly onGone?: ((listener: () => void) => void) | undefined
  /** Aborts when the caller disconnects before the response has ended. Costs something: use it only to cancel work. */
  readonly signal: AbortSignal
}

/** How a stream is written for the client of another product. */
export type StreamProtocol = UiMessageProtocol | AgUiProtocol | A2aProtocol

/** The stream of UI messages of Vercel's AI SDK. */
export interface UiMessageProtocol {
  readonly name: 'ui_messages'
  /** Id of the message that the stream continues; null: it begins the message of its first turn. */
  readonly messageId: string | null
  /** The tool calls that the continued message has. */
  readonly calls: readonly string[]
  readonly approves: Approves
}

/** The events of AG-UI. */
export interface AgUiProtocol {
  readonly name: 'ag_ui'
  readonly threadId: string
  readonly runId: string
  readonly sessionId: string
  /** State of the page. */
  readonly state: Json
  readonly approves: Approves
  /** The tool calls whose outputs the page has. */
  readonly answered: readonly string[]
  /** Messages before those of the stream; null where they are not known. */
  readonly earlier: readonly JsonObject[] | null
  /** Whether the stream begins with all messages. */
  readonly showsAll: boolean
}

/** The updates of a task in A2A. */
export interface A2aProtocol {
  readonly name: 'a2a'
  /** Id of the request over JSON-RPC; null: over HTTP. */
  readonly rpcId: string | number | null
  readonly task: JsonObject
  readonly taskId: string
  readonly contextId: string
  /** The last sequence that `task` includes. */
  readonly seen: number
}

/** The calls about which a stream's reader may decide: those whose approver is the end user, every call, or none. */
export type Approves = 'end_user' | 'every' | 'none'

/** Result of an operation with a stream. `replayed`: the stream is that of an earlier request with the same key. */
export interface StreamAnswer {
  readonly stream: EventStream
  /** The tenant of the stream, which ends for every reader when the tenant is suspended. Null or absent: no tenant. */
  readonly tenant?: string | null
  /** The installation of the session; a token for installations ends with it. Null or absent: none. */
  readonly installation?: string | null
  readonly replayed: boolean
  /** Absent: the stream has the events of the log. */
  readonly protocol?: StreamProtocol
  /** There is nothing to stream: the answer is 204. */
  readonly isEmpty?: true
}

/** Receives a body as it is produced. */
export interface ByteSink {
  /** Returns false to pause the source until `resume`; the part passed is accepted all the same. */
  push(part: string | Uint8Array): boolean
  /** Completes the body, with this last part if one is given. */
  end(last?: string | Uint8Array): void
  /** Aborts the body: the reader sees a broken stream, never a clean end. */
  abort(): void
}

/**
 * A body that is pushed as it is produced. Nothing is pushed before `start`, nor accepted after `stop` (the reader has
 * disconnected).
 */
export interface ByteStream {
  start(sink: ByteSink): StreamControl
}
