import { type Access, accessFor } from '../access.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { FieldRule } from '../field-access.ts'
import { type Answer, eventsOf } from './answer.ts'
import { type Infer, type InferShape, integer, oneOf, optional, type Schema, type Shape } from './schema.ts'

/** HTTP methods of operations; HEAD and OPTIONS follow from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * How errors look on the wire.
 * - `platform`: `{ error: { type, code, message, request_id, param } }`
 * - `openai`: as `platform`, with 400 for every malformed request, as OpenAI's own API has it
 * - `flat`: `{ error: code, message, request_id, … }` (chat, vision, voice)
 * - `web`: flat with `details`
 * - `custom_providers`: `{ error: message }`
 * - `anthropic`: `{ type: 'error', error: { type, message, code, param }, request_id }`, with Anthropic's types
 * - `memory`: platform, with `upgradeUrl, used, limit, retryAfterMs` beside `error` for quotas
 */
export type EnvelopeName = 'platform' | 'openai' | 'flat' | 'web' | 'custom_providers' | 'memory' | 'anthropic'

/** An SDK whose envelope an operation has for it: it reads no other. Every other caller has the operation's own. */
export type SdkEnvelope = Extract<EnvelopeName, 'openai' | 'anthropic'>

/**
 * Effect of an Idempotency-Key.
 * - `stored`: the answer is kept for 24 hours and repeated (src/actors/records/idempotent.ts).
 * - `journaled`: the key is the cause of an actor's commit, which keeps it.
 * - `ignored`: the operation neither creates nor executes anything.
 */
export type IdempotencyMode = 'stored' | 'journaled' | 'ignored'

/** Files of a multipart form, beside the body's fields. */
export interface FileParts {
  /** Names of the form's file fields. */
  readonly fields: readonly string[]
  /** The operation also takes a JSON body. */
  readonly orJson: boolean
}

/** Declaration of one operation. */
export interface OperationSpec {
  /** One line of the API reference, in the imperative, without a full stop. */
  readonly summary: string
  /** Whole sentences for the API reference, in Markdown: effects, limits, defaults. */
  readonly description?: string
  readonly method: Method
  /** With parameters in braces. A path that starts with `/v1/` also answers under `/api`. */
  readonly path: string
  /** Further paths of the same operation, with the same parameters. */
  readonly alsoAt?: readonly string[]
  /** The last parameter of the path may contain slashes, as model ids do (`meta-llama/llama-4`). */
  readonly slashesInLast?: true
  readonly access: Access
  /** Fields of the body that not everybody in `access` may set. */
  readonly fields?: readonly FieldRule[]
  readonly query?: Shape
  /** Further query parameters, which others' SDKs send and which change nothing here. All that is not declared is refused else. */
  readonly passedOver?: readonly string[]
  readonly body?: Schema<unknown>
  readonly files?: FileParts
  readonly answer: Answer
  /** Codes beside those that follow from the declaration (401, 403, 404, 413, 422 …). */
  readonly errors?: readonly ErrorCode[]
  readonly envelope?: EnvelopeName
  /** SDKs that receive errors in their own envelope instead. */
  readonly sdkEnvelopes?: readonly SdkEnvelope[]
  /** The agent platform refuses undeclared fields; the OpenAI-compatible APIs ignore them. */
  readonly unknownFields?: 'refuse' | 'ignore'
  readonly idempotency?: IdempotencyMode
  /** Default 1 MiB; of a chat 8 MiB. */
  readonly maxBodyBytes?: number
  /** The body is a conversation: `MAX_CHAT_BODY_MB` says how large it may be, up to so many bytes. */
  readonly chatBodyBytes?: number
  /** Browsers of other origins may call the operation. Default: operations for client tokens, and public GETs. */
  readonly cors?: boolean
  /** Headers of every successful response, such as a cache rule. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** A key may name a tenant and a user by `X-Tenant-Id` and `X-External-User-Id`: usage and limits count towards them. */
  readonly attributed?: boolean
  /** What it reads or makes is of tenants, or of their users: those headers narrow the call to what is of that tenant, or user. */
  readonly ofTenants?: 'tenant' | 'user' | undefined
  /** Responses carry an entity tag, and a current `If-None-Match` is answered with 304. For GETs. */
  readonly tagged?: true
  /** The event that the operation sends to the resource's machine. */
  readonly event?: string
  /** Frames of clients by their `type`: the operation upgrades to a WebSocket, whose frames to the client carry the answer's events. */
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

/** A declared operation with every default filled in. */
export interface Operation<S extends Signature = Signature> {
  /** `<resource>.<verb>`, e.g. `sessions.create`. */
  readonly id: string
  readonly summary: string
  readonly description: string | null
  readonly method: Method
  /** Every path that answers, the declared one first. */
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
  readonly envelope: EnvelopeName
  readonly sdkEnvelopes: readonly SdkEnvelope[]
  readonly unknownFields: 'refuse' | 'ignore'
  readonly idempotency: IdempotencyMode
  readonly maxBodyBytes: number
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

/** The parameters of a path template: `/v1/x/{x_id}` has `{ x_id: string }`. */
export type PathParams<P extends string> = { readonly [K in ParamNames<P>]: string }

type ParamNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamNames<Rest> : never

type QueryOf<S extends OperationSpec> = S extends { readonly query: infer Q extends Shape }
  ? InferShape<Q>
  : Record<never, never>

type BodyOf<S extends OperationSpec> = S extends { readonly body: infer B } ? Infer<B> : undefined

/** The types that a declaration implies. */
export interface SignatureOf<S extends OperationSpec> extends Signature {
  readonly params: PathParams<S['path']>
  readonly query: QueryOf<S>
  readonly body: BodyOf<S>
  readonly answer: S['answer']
}

/** Operations by id, as `defineOperations` makes them. */
export type Operations<N extends string, T extends Readonly<Record<string, OperationSpec>>> = {
  readonly [K in keyof T & string as `${N}.${K}`]: Operation<SignatureOf<T[K]>>
}

/** 1 MiB. */
export const defaultMaxBodyBytes = 1024 * 1024

/** 8 MiB, unless the installation says otherwise. */
export const defaultChatBodyBytes = 8 * 1024 * 1024

/** Declares one operation under its full id. */
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
    access: accessFor(spec.access, spec.method),
    fields: spec.fields ?? [],
    query: { ...spec.query, ...streamQuery(spec.answer) },
    passedOver: spec.passedOver ?? [],
    body: spec.body ?? null,
    files: spec.files ?? null,
    answer: spec.answer,
    errors: spec.errors ?? [],
    envelope: spec.envelope ?? 'platform',
    sdkEnvelopes: spec.sdkEnvelopes ?? [],
    unknownFields: spec.unknownFields ?? 'refuse',
    idempotency: spec.idempotency ?? idempotencyByDefault(spec),
    maxBodyBytes: spec.maxBodyBytes ?? (spec.chatBodyBytes ? defaultChatBodyBytes : defaultMaxBodyBytes),
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

/** A resource whose operations are all `ofTenants`. */
export interface OwnedBy<N extends string> {
  readonly name: N
  readonly ofTenants?: 'tenant' | 'user' | undefined
}

/** Declares the operations of one resource: ids are `<name>.<key>`. */
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

/** Parameters of every SSE stream; transport reads them, use-cases get `call.after`. */
const streamQuery = (answer: Answer): Shape => {
  const events = eventsOf(answer)
  if (events === null) return {}
  return { event_names: optional(oneOf('short', 'long')), ...(events.resumable ? afterQuery : {}) }
}

const afterQuery = { after: optional(integer({ min: 0 })) }

const pathsBeside = ({ path, alsoAt = [] }: OperationSpec): readonly string[] => {
  const declared = [path, ...alsoAt]
  const twins = declared.filter((each) => each.startsWith('/v1/')).map((each) => `/api${each}`)
  return [...new Set([...alsoAt, ...twins])].filter((each) => each !== path)
}

/** Whether keys may say by headers for whom they call: where it is charged or narrows the call, and on every `/v1` route of secret keys, where an unknown tenant is refused. */
export const namesTenants = ({ attributed, ofTenants, paths, access }: Operation): boolean =>
  attributed || ofTenants !== null || (paths[0].startsWith('/v1/') && access.kinds.includes('secret_key'))

/** Whether an operation may answer a stream of events. */
export const streams = ({ answer }: Pick<Operation, 'answer'>): boolean => {
  if (answer.kind !== 'choice') return answer.kind === 'events'
  return answer.others.some((each) => each.kind === 'events' || each.contentTypes.includes('text/event-stream'))
}

const idempotencyByDefault = ({ method, answer }: OperationSpec): IdempotencyMode => {
  if (method !== 'POST') return 'ignored'
  return answer.kind === 'json' ? 'stored' : 'journaled'
}

const corsByDefault = ({ method, access }: OperationSpec): boolean =>
  access.kinds.includes('client_token') || (method === 'GET' && access.kinds.includes('public'))
