import type { Attribution, Principal } from '#actors/call/call.ts'
import { limitsOf, modelsOf } from '#actors/call/reach.ts'
import { viaBehind } from '#outgoing/via.ts'
import type { Owner } from '#runtime/index.ts'
import { projectScope, type Scope, tenantScope } from '#storage/index.ts'
import { LineCalls } from './accounting/line-calls.ts'
import type { TurnFinding } from './guarding/guard-finding.ts'
import type { CacheHeaders } from './reuse.ts'

/** The caller of a gateway request, by which limits, budgets, usage rows and the request log are assigned. */
export interface Caller {
  readonly principal: Principal
  readonly scope: Scope
  readonly requestId: string
  readonly project: string
  /** The tenant that is charged for the request; null: the project itself. */
  readonly tenant: string | null
  readonly externalUserId: string | null
  /** Whose texts the call carries, if another than the charged one: its entry in the request log is theirs. */
  readonly textsOf?: { readonly tenant: string | null; readonly externalUserId: string | null } | undefined
  /** The API key of the request; null for client tokens and dashboard sessions. */
  readonly keyId: string | null
  readonly agentId: string | null
  /** The models that its credential reaches; null for any. */
  readonly models: ReadonlySet<string> | null
  /** The `Via` header for its requests to providers, when the request came through a server like this one. */
  readonly via?: string | undefined
  /** Timeout in ms for silence of providers; absent: that of the connection or the installation. */
  readonly timeoutMs?: number | undefined
  /**
   * Whether the caller retries failures itself: then a rate limit of a provider is retried only once here, so that the
   * retries do not multiply.
   */
  readonly retriesItself?: boolean | undefined
  /** The headers of the request, read where they are needed. */
  readonly headers?: CacheHeaders | undefined
  /** Guardrails that the key or its agent names, in addition to those of the project and of the headers. */
  readonly guardrails?: readonly string[] | undefined
  /** Present for a line of a batch, whose calls are metered by the commit of the line instead of the ledger. */
  readonly line?: LineCalls | undefined
}

/** The fields of a caller that determine its limits, budgets and policies. */
export type Payer = Pick<Caller, 'project' | 'tenant' | 'externalUserId' | 'keyId' | 'agentId'> & {
  readonly models?: Caller['models']
  readonly line?: Caller['line']
}

/**
 * An actor that makes model calls, for a turn or a run. Its usage becomes one usage row in the actor's own commit, even
 * when the call is repeated after a crash; so the ledger records none of its calls.
 */
export interface ActorCaller extends Payer {
  readonly meteredBy: 'commit'
  /** Guardrails that its agent names, in addition to those of the project. */
  readonly guardrails?: readonly string[] | undefined
  /** Receives the guardrails of its call, which gather what they find. */
  readonly onGuarded?: (report: { readonly ofTurn: readonly TurnFinding[] }) => void
  /** Id of the actor; absent for work that no conversation sees. */
  readonly actor?: string
  readonly timeoutMs?: number | undefined
}

/**
 * Returns the caller for the actor of an owner.
 * @param keyId API key of the request that started it; null when unknown, as for work that outlives a request.
 */
export const actorCaller = (
  { project, tenant, user }: Pick<Owner, 'project' | 'tenant' | 'user'>,
  agentId: string | null,
  keyId: string | null = null,
): ActorCaller => ({ meteredBy: 'commit', project, tenant, externalUserId: user, keyId, agentId })

/** The caller for a call that an actor's work causes beside its own calls, and that the ledger therefore records. */
export const recordedCaller = (caller: Caller | ActorCaller): Caller => {
  if (isRequest(caller)) return caller
  const { project, tenant, externalUserId, keyId, agentId, models = null, actor = '' } = caller
  return {
    principal: { kind: 'secret_key', project, keyId: keyId ?? '' },
    scope: tenant === null ? projectScope(project) : tenantScope(project, tenant),
    ...{ requestId: actor, project, tenant, externalUserId, keyId, agentId, models },
  }
}

/** Whether the caller is a request, whose calls the ledger records. */
export const isRequest = (caller: Caller | ActorCaller): caller is Caller => !('meteredBy' in caller)

/** Whether the caller may use only certain models, so that an image must not lead to another one. */
export const usesOwnModels = (caller: Caller | ActorCaller): boolean => (caller.models ?? null) !== null

/** Returns the caller of a validated API call. @throws {ServiceError} `request_loop` */
export const callerOf = (call: Answerable): Caller => {
  const { principal, scope, requestId, attribution, via, timeoutMs, retriesItself, line } = call
  return {
    principal,
    scope,
    requestId,
    project: scope.project,
    tenant: attribution?.tenant ?? scope.tenant,
    externalUserId: attribution?.externalUserId ?? scope.user,
    keyId: 'keyId' in principal ? principal.keyId : null,
    agentId: 'agentId' in principal ? principal.agentId : null,
    models: modelsOf(principal),
    via: viaBehind(via),
    timeoutMs,
    retriesItself,
    headers: call,
    guardrails: guardrailsOf(principal),
    ...(line instanceof LineCalls && { line }),
  }
}

const guardrailsOf = (principal: Principal): readonly string[] | undefined => {
  const ofKey = limitsOf(principal)?.guardrails
  if (principal.kind !== 'agent_key') return ofKey
  const { guardrails } = principal.reach
  return ofKey === undefined ? guardrails : [...guardrails, ...ofKey]
}

/** A validated API call, as far as it determines its caller. */
type Answerable = CacheHeaders &
  Pick<Caller, 'principal' | 'scope' | 'requestId' | 'via' | 'timeoutMs' | 'retriesItself'> & {
    readonly attribution?: Attribution | undefined
    readonly line?: object | undefined
  }

const maxHeaderChars = 2_048

/** The names in a header of a request, separated by commas. Credentials of browsers name none. */
export const namesInHeader = (
  { principal }: Pick<Caller, 'principal'>,
  written: string | undefined,
): readonly string[] => {
  if (written === undefined || principal.kind === 'client_token' || principal.kind === 'public') return []
  const names = written.slice(0, maxHeaderChars).split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '')
}
