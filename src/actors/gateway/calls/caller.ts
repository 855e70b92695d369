import type { Scope } from '../../../../specs/scope.ts'
import type { Attribution, Principal } from '../../use-cases/call.ts'

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
}

/** The caller of a validated call. */
export const callerOf = ({
  principal,
  scope,
  requestId,
  attribution,
}: Pick<Caller, 'principal' | 'scope' | 'requestId'> & { readonly attribution?: Attribution | undefined }): Caller => ({
  principal,
  scope,
  requestId,
  project: scope.project,
  tenant: attribution?.tenant ?? scope.tenant,
  externalUserId: attribution?.externalUserId ?? scope.user,
  keyId: 'keyId' in principal ? principal.keyId : null,
  agentId: 'agentId' in principal ? principal.agentId : null,
})
