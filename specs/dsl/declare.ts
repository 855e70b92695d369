import { type Access, accessFor } from '../access.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { FieldRule } from '../field-access.ts'
import { isSecretKeyRow } from '../interface-rows.ts'
import { type Answer, eventsOf } from './answer.ts'
import {
  boolean,
  described,
  type Infer,
  type InferShape,
  integer,
  oneOf,
  optional,
  type Schema,
  type Shape,
} from './schema.ts'

/** HTTP methods of operations. HEAD and OPTIONS are derived from them. */
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Format of errors in responses.
 * - `platform`: `{ error: { type, code, message, request_id, param } }`
 * - `openai`: like `platform`, with status 400 for every malformed request, as in OpenAI's own API
 * - `flat`: `{ error: code, message, request_id, … }` (chat, vision, voice)
 * - `web`: like `flat`, with `details`
 * - `custom_providers`: `{ error: message }`
 * - `anthropic`: `{ type: 'error', error: { type, message, code, param }, request_id }`, with Anthropic's types
 * - `a2a`: `{ error: { code, status, message, details } }`, a google.rpc.Status as in A2A; `a2a_rpc`: an error of JSON-RPC
 * - `google`: `error.{code, message, status, details}`, with the code, field and request id in the first of `details`
 * - `memory`: like `platform`, with `upgradeUrl, used, limit, retryAfterMs` next to `error` for quotas
 */
export type EnvelopeName =
  | 'platform'
  | 'openai'
  | 'flat'
  | 'web'
  | 'custom_providers'
  | 'memory'
  | 'anthropic'
  | 'a2a'
  | 'a2a_rpc'
  | 'google'

/**
 * An SDK that receives errors of an operation in its own envelope, since it understands no other. All other callers
 * receive the envelope of the operation.
 */
export type SdkEnvelope = Extract<EnvelopeName, 'openai' | 'anthropic' | 'google'>

/**
 * Effect of an Idempotency-Key.
 * - `stored`: the response is stored for 24 hours and repeated (src/actors/records/idempotent.ts).
 * - `journaled`: the key is the cause of an actor's commit, which stores it.
 * - `ignored`: the operation neither creates nor executes anything.
 */
type IdempotencyMode = 'stored' | 'journaled' | 'ignored'

/** Files of a multipart form, in addition to the body's fields. */
export interface FileParts {
  /** Names of the form's file fields. */
  readonly fields: readonly string[]
  /** Whether the operation also accepts a JSON body. */
  readonly orJson: boolean
}

/** Declaration of one operation. */
export interface OperationSpec {
  /** One line of the API reference, in the imperative, without a full stop. */
  readonly summary: string
  /** Whole sentences for the API reference, in Markdown: effects, limits, defaults. */
  readonly description?: string
  readonly method: Method
  /** Path with parameters in braces. A path that starts with `/v1/` is also served under `/api`. */
  readonly path: string
  /** Further paths of the same operation, with the same parameters. */
  readonly alsoAt?: readonly string[]
  /** The last path parameter may contain slashes, as model ids do (`meta-llama/llama-4`). */
  readonly slashesInLast?: true
  readonly access: Access
  /** Fields of the body that not every credential in `access` may set. */
  readonly fields?: readonly FieldRule[]
  readonly query?: Shape
  /** Undeclared query parameters that are ignored, because SDKs of other APIs send them. All others are refused. */
  readonly passedOver?: readonly string[]
  readonly body?: Schema<unknown>
  readonly files?: FileParts
  readonly answer: Answer
  /** Error codes in addition to those that follow from the declaration (401, 403, 404, 413, 422 …). */
  readonly errors?: readonly ErrorCode[]
  /**
   * Codes of refused values by their places in the body, such as `url` or `urls[]`, instead of `invalid_field`. They apply to
   * everything within the place.
   */
  readonly refusals?: Readonly<Record<string, ErrorCode>>
  readonly envelope?: EnvelopeName
  /** SDKs that receive errors in their own envelope instead. */
  readonly sdkEnvelopes?: readonly SdkEnvelope[]
  /** `refuse` on the agent platform; `ignore` in the OpenAI-compatible APIs. */
  readonly unknownFields?: 'refuse' | 'ignore'
  readonly idempotency?: IdempotencyMode
  /** Maximum size of the body in bytes. Default: 1 MiB; 8 MiB for chats. */
  readonly maxBodyBytes?: number
  /** Maximum number of names, strings, objects and arrays of the body. Default: 20,000 in 1 MiB, else 100,000. */
  readonly maxBodyValues?: number
  /** The body is a conversation. `MAX_CHAT_BODY_MB` sets its maximum size, up to this many bytes. */
  readonly chatBodyBytes?: number
  /** Whether browsers of other origins may call it. Default: true for operations for client tokens or public keys, and public GETs. */
  readonly cors?: boolean
  /** Headers of every successful response, such as a cache rule. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Keys may name a tenant and a user (`X-Tenant-Id`, `X-External-User-Id`), who are charged and limited. */
  readonly attributed?: boolean
  /** Owner of the resources: a tenant or a user. Those headers limit the call to resources of that owner. */
  readonly ofTenants?: 'tenant' | 'user' | undefined
  /** Responses carry an entity tag, and a matching `If-None-Match` results in 304. For GETs. */
  readonly tagged?: true
  /** Event that the operation sends to the resource's machine. */
  readonly event?: string
  /**
   * Frames from clients by their `type`. The operation upgrades to a WebSocket, on which frames to the client carry the
   * events of the response.
   */
  readonly frames?: Shape
}

/** The types of one operation. */
export interface Signature {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly answer: unknown
}

declare const signature: unique symbol

/** A declared operation, with all defaults filled in. */
export interface Operation<S extends Signature = Signature> {
  /** `<resource>.<verb>`, e.g. `sessions.create`. */
  readonly id: string
  readonly summary: string
  readonly description: string | null
  readonly method: Method
  /** All paths of the operation, the declared one first. */
  readonly paths: readonly [string, ...string[]]
  /** Names of the path parameters in order. */
  readonly params: readonly string[]
  readonly slashesInLast: boolean
  readonly access: Access
  readonly fields: readonly FieldRule[]
  readonly query: Shape
  readonly passedOver: readonly string[]
  readonly body: Schema<unknown> | null
  readonly files: FileParts | null
  readonly answer: Answer
  readonly errors: readonly ErrorCode[]
  readonly refusals: Readonly<Record<string, ErrorCode>>
  readonly envelope: EnvelopeName
  readonly sdkEnvelopes: readonly SdkEnvelope[]
  readonly unknownFields: 'refuse' | 'ignore'
  readonly idempotency: IdempotencyMode
  readonly maxBodyBytes: number
  readonly maxBodyValues?: number | undefined
  readonly chatBodyBytes: number | null
  readonly cors: boolean
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly attributed: boolean
  readonly ofTenants: 'tenant' | 'user' | null
  readonly tagged: boolean
  readonly event: string | null
  readonly frames: Shape | null
  readonly [signature]?: S
}

/** Type of the parameters in a path template: `/v1/x/{x_id}` has `{ x_id: string }`. */
export type PathParams<P extends string> = { readonly [K in ParamNames<P>]: string }

type ParamNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamNames<Rest> : never

type QueryOf<S extends OperationSpec> = S extends { readonly query: infer Q extends Shape }
  ? InferShape<Q>
  : Record<never, never>

type BodyOf<S extends OperationSpec> = S extends { readonly body: infer B } ? Infer<B> : undefined

/** Types that a declaration implies. */
export interface SignatureOf<S extends OperationSpec> extends Signature {
  readonly params: PathParams<S['path']>
  readonly query: QueryOf<S>
  readonly body: BodyOf<S>
  readonly answer: S['answer']
}

/** Operations by id, as `defineOperations` returns them. */
export type Operations<N extends string, T extends Readonly<Record<string, OperationSpec>>> = {
  readonly [K in keyof T & string as `${N}.${K}`]: Operation<SignatureOf<T[K]>>
}

/** 1 MiB. */
export const defaultMaxBodyBytes = 1024 * 1024

/** 8 MiB, unless the installation sets another size. */
const defaultChatBodyBytes = 8 * 1024 * 1024

/** Declares one operation by its full id. */
export function defineOperation<const S extends OperationSpec>(id: string, spec: S): Operation<SignatureOf<S>>
export function defineOperation(id: string, spec: OperationSpec): Operation {
  return {
    id,
    summary: spec.summary,
    description: spec.description ?? null,
    method: spec.method,
    paths: [spec.path, ...pathsBeside(spec)],
    params: Array.from(spec.path.matchAll(/\{(\w+)\}/g), (match) => match[1] ?? ''),
    slashesInLast: spec.slashesInLast ?? false,
    access: accessOf(spec),
    fields: spec.fields ?? [],
    query: { ...spec.query, ...streamQuery(spec.answer) },
    passedOver: spec.passedOver ?? [],
    body: spec.body ?? null,
    files: spec.files ?? null,
    answer: spec.answer,
    errors: spec.errors ?? [],
    refusals: spec.refusals ?? {},
    envelope: spec.envelope ?? 'platform',
    sdkEnvelopes: spec.sdkEnvelopes ?? [],
    unknownFields: spec.unknownFields ?? 'refuse',
    idempotency: spec.idempotency ?? idempotencyByDefault(spec),
    maxBodyBytes: spec.maxBodyBytes ?? (spec.chatBodyBytes ? defaultChatBodyBytes : defaultMaxBodyBytes),
    maxBodyValues: spec.maxBodyValues,
    chatBodyBytes: spec.chatBodyBytes ?? null,
    cors: spec.cors ?? corsByDefault(spec),
    headers: spec.headers ?? [],
    attributed: spec.attributed ?? false,
    ofTenants: spec.ofTenants ?? null,
    tagged: spec.tagged ?? false,
    event: spec.event ?? null,
    frames: spec.frames ?? null,
  }
}

const accessOf = (spec: OperationSpec): Access => {
  const { access, method, path } = spec
  const given = accessFor(access, method)
  const isRow = [path, ...pathsBeside(spec)].some((each) => isSecretKeyRow(method, each))
  return isRow ? { ...forSecretKeys(given), secretKeyRow: true } : given
}

/** The interface keeps a row that requires a secret key from members, who call it at the path of the console. */
const forSecretKeys = (access: Access): Access => {
  const { role, ...given } = access
  if (role === undefined || access.rowForMembers) return access
  return { ...given, kinds: given.kinds.filter((kind) => kind !== 'dashboard'), console: role }
}

/** A resource whose operations all have the same `ofTenants`. */
export interface OwnedBy<N extends string> {
  readonly name: N
  readonly ofTenants?: 'tenant' | 'user' | undefined
}

/** Declares the operations of one resource, with the ids `<name>.<key>`. */
export function defineOperations<const N extends string, const T extends Readonly<Record<string, OperationSpec>>>(
  name: N | OwnedBy<N>,
  specs: T,
): Operations<N, T>
export function defineOperations(
  resource: string | OwnedBy<string>,
  specs: Readonly<Record<string, OperationSpec>>,
): Readonly<Record<string, Operation>> {
  const { name, ...common } = typeof resource === 'string' ? { name: resource } : resource
  return Object.fromEntries(
    Object.entries(specs).map(([verb, spec]) => {
      const id = `${name}.${verb}`
      return [id, defineOperation(id, { ...common, ...spec })]
    }),
  )
}

/** Returns the parameters of every SSE stream. The transport reads them; use-cases receive `call.after`. */
const streamQuery = (answer: Answer): Shape => {
  const events = eventsOf(answer)
  if (events === null || events.foreign) return {}
  return {
    event_names: optional(oneOf('short', 'long')),
    ...(events.resumable ? afterQuery : {}),
    ...('turn.restarted' in events.events ? restartsQuery : {}),
  }
}

const restartsQuery = {
  restarts: described(
    optional(boolean()),
    'Whether to send `turn.restarted` and the deltas after it when a crash made a turn begin its model call again. Without it, the deltas end where the crash was, and `turn.completed` has the text.',
  ),
}

const afterQuery = { after: optional(integer({ min: 0 })) }

const pathsBeside = ({ path, alsoAt = [] }: OperationSpec): readonly string[] => {
  const declared = [path, ...alsoAt]
  const twins = declared.filter((each) => each.startsWith('/v1/')).map((each) => `/api${each}`)
  return [...new Set([...alsoAt, ...twins])].filter((each) => each !== path)
}

/**
 * Whether keys may name a tenant and user by headers: on operations that attribute or limit calls by them, and on every
 * `/v1` operation for secret keys, where an unknown tenant is refused.
 */
export const namesTenants = ({ attributed, ofTenants, paths, access }: Operation): boolean =>
  attributed || ofTenants !== null || (paths[0].startsWith('/v1/') && access.kinds.includes('secret_key'))

/** Whether the response of an operation may be a stream of events. */
export const streams = ({ answer }: Pick<Operation, 'answer'>): boolean => {
  if (answer.kind !== 'choice') return answer.kind === 'events'
  return answer.others.some((each) => each.kind === 'events' || each.contentTypes.includes('text/event-stream'))
}

const idempotencyByDefault = ({ method, answer }: OperationSpec): IdempotencyMode => {
  if (method !== 'POST') return 'ignored'
  return answer.kind === 'json' ? 'stored' : 'journaled'
}

const corsByDefault = ({ method, access }: OperationSpec): boolean =>
  access.publicKeys === true ||
  access.kinds.includes('client_token') ||
  (method === 'GET' && access.kinds.includes('public'))
