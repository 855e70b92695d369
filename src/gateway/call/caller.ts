import type { Attribution, Principal } from '#actors/call/call.ts'
import { viaBehind } from '#outgoing/via.ts'
import type { Owner } from '#runtime/step/actor-state.ts'
import type { Scope } from '#specs/scope.ts'

/** Who a gateway request is for: limits, budgets, usage rows and the request log go by it. */
export interface Caller {
  readonly principal: Principal
  readonly scope: Scope
  readonly requestId: string
  readonly project: string
  /** The tenant that the request is charged to; null: the project's own. */
  readonly tenant: string | null
  readonly externalUserId: string | null
  /** The key that called; null for client tokens and dashboard sessions. */
  readonly keyId: string | null
  readonly agentId: string | null
  /** What its requests to providers say in `Via`, when it came from a server like this one. */
  readonly via?: string | undefined
  /** How long its providers may be silent, in ms; absent: as the connection or the installation says. */
  readonly timeoutMs?: number | undefined
  /** It retries what fails: a rate limit of a provider is met by one retry here, so that both do not multiply. */
  readonly retriesItself?: boolean | undefined
}

/** The fields of a caller that limits, budgets and policies go by. */
export type Payer = Pick<Caller, 'project' | 'tenant' | 'externalUserId' | 'keyId' | 'agentId'>

/**
 * An actor that calls, for a turn or a run. What it used is a usage row of its own commit, once however often it is called
 * again after a crash: the ledger takes none of its calls.
 */
export interface ActorCaller extends Payer {
  readonly meteredBy: 'commit'
  readonly timeoutMs?: number | undefined
}

/** The actor of this owner. @param keyId of the request that started it; null where it is unknown, as for all that outlives a request. */
export const actorCaller = (
  { project, tenant, user }: Pick<Owner, 'project' | 'tenant' | 'user'>,
  agentId: string | null,
  keyId: string | null = null,
): ActorCaller => ({ meteredBy: 'commit', project, tenant, externalUserId: user, keyId, agentId })

/** Whether the ledger takes what it calls. */
export const isRequest = (caller: Caller | ActorCaller): caller is Caller => !('meteredBy' in caller)

/** Whether it may use the models of its agent only: every visitor of a page has a public key. */
export const usesOwnModels = (caller: Caller | ActorCaller): boolean =>
  isRequest(caller) && caller.principal.kind === 'agent_key' && caller.principal.keyType === 'public'

/** The caller of a validated call. @throws {ServiceError} `request_loop` */
export const callerOf = ({
  principal,
  scope,
  requestId,
  attribution,
  via,
  timeoutMs,
  retriesItself,
}: Pick<Caller, 'principal' | 'scope' | 'requestId' | 'via' | 'timeoutMs' | 'retriesItself'> & {
  readonly attribution?: Attribution | undefined
}): Caller => ({
  principal,
  scope,
  requestId,
  project: scope.project,
  tenant: attribution?.tenant ?? scope.tenant,
  externalUserId: attribution?.externalUserId ?? scope.user,
  keyId: 'keyId' in principal ? principal.keyId : null,
  agentId: 'agentId' in principal ? principal.agentId : null,
  via: viaBehind(via),
  timeoutMs,
  retriesItself,
})
