import type { Call, Principal } from '#actors/call/call.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope, type Scope, userScope } from '#storage/scope.ts'

/** A secret key of a project. */
export const secretOf = (project = 'prj_a'): Principal => ({ kind: 'secret_key', project, keyId: `key_${project}` })

const scopeOf = (principal: Principal): Scope => {
  if (principal.kind === 'client_token') return userScope(principal.project, principal.tenant, principal.user)
  return projectScope(principal.kind === 'public' ? '' : (principal.project ?? ''))
}

/** A validated call as the dispatcher creates it, by default with a secret key of project `prj_a`. */
export const callOf = <P, Q, B>(params: P, query: Q, body: B, principal: Principal = secretOf()): Call<P, Q, B> => ({
  principal,
  scope: scopeOf(principal),
  params,
  query,
  body,
  requestId: newId('req'),
  remoteAddress: '127.0.0.1',
  idempotency: null,
  after: null,
  accept: '',
  files: [],
  signal: new AbortController().signal,
})
