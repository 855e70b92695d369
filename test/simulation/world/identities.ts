import type { Call, Idempotency, Principal } from '#actors/call/call.ts'
import { projectScope, type Scope, userScope } from '#storage/scope.ts'

/** The identity of a client. */
export interface Identity {
  readonly name: string
  readonly principal: Principal
  readonly scope: Scope
}

const secretKey = (project: string): Identity => ({
  name: `key of ${project}`,
  principal: { kind: 'secret_key', project, keyId: `key_${project}` },
  scope: projectScope(project),
})

const endUser = (project: string, tenant: string, user: string): Identity => ({
  name: `${user} of ${tenant} of ${project}`,
  principal: {
    kind: 'client_token',
    project,
    tenant,
    user,
    permissions: ['sessions:turn'],
    sessionId: null,
    installationIds: [],
  },
  scope: userScope(project, tenant, user),
})

/** Two projects, each with a key for all of it and users of two tenants who see only their own data. */
export const identities: readonly Identity[] = ['prj_a', 'prj_b'].flatMap((project) => [
  secretKey(project),
  endUser(project, 'ten_1', 'usr_1'),
  endUser(project, 'ten_2', 'usr_1'),
])

/** The operator of a client's project, who decides about calls in the client's sessions: its end users may not. */
export const operatorOf = ({ name, scope }: Identity): Identity => ({
  ...secretKey(scope.project),
  name: `the operator for ${name}`,
  scope,
})

/** A call by this identity. */
export const callAs = <P, Q, B>(
  { principal, scope }: Identity,
  params: P,
  query: Q,
  body: B,
  idempotency: Idempotency | null = null,
  after: number | null = null,
): Call<P, Q, B> => ({
  principal,
  scope,
  params,
  query,
  body,
  requestId: 'req',
  remoteAddress: '127.0.0.1',
  idempotency,
  after,
  accept: '',
  files: [],
  signal: new AbortController().signal,
})
