import { maxSessionMs, realtimeSecrets } from '#gateway/realtime/secrets/secret-budget.ts'
import { isId, newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type RecordStore, tenantScope } from '#storage/index.ts'
import type { ClientTokens } from '../accounts/client-tokens.ts'
import type { RealtimeGrant } from '../accounts/realtime-tokens.ts'
import { agentInstallations } from '../agents/kinds.ts'
import { noTenant } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import { Table } from '../records/table.ts'
import { tenants } from '../tenants/kinds.ts'

export interface RealtimeSecretDeps {
  readonly clientTokens: Pick<ClientTokens, 'mintRealtime'>
  readonly records: RecordStore
  readonly now: () => number
}

type SecretCall = Parameters<UseCases['realtime_secrets.create']>[0]

/** Use-case that mints ephemeral secrets for realtime sessions. */
export const realtimeSecretUseCases = (deps: RealtimeSecretDeps): Pick<UseCases, 'realtime_secrets.create'> => {
  const table = new Table(deps.records, realtimeSecrets, deps.now)
  const known = new Table(deps.records, tenants, deps.now)
  const installations = new Table(deps.records, agentInstallations, deps.now)
  const userOf = async ({ scope, body }: SecretCall): Promise<RealtimeGrant['user']> => {
    const { tenant_id, external_user_id, permissions = ['sessions:turn', 'sessions:tools'] } = body
    if (tenant_id === undefined && external_user_id === undefined) {
      if (body.installation_id !== undefined) throw missing('tenant_id')
      return null
    }
    if (tenant_id === undefined) throw missing('tenant_id')
    if (external_user_id === undefined) throw missing('external_user_id')
    const tenant = await known.get(scope, tenant_id)
    if (tenant === null) throw noTenant('tenant_id')
    return { tenant: tenant.id, user: external_user_id, permissions }
  }
  return {
    'realtime_secrets.create': async (call) => {
      const { scope, body, principal } = call
      const { model = null, ...session } = body.session ?? {}
      const user = await userOf(call)
      if (user === null && model !== null && isId(model, 'agt')) throw missing('tenant_id')
      const { installation_id: installationId = null } = body
      if (user !== null && installationId !== null) {
        const row = await installations.get(tenantScope(scope.project, user.tenant), installationId)
        if (row?.data.status !== 'active') throw new ServiceError('not_found', { param: 'installation_id' })
      }
      const secretId = newId('rts')
      const mintedBy = principal.kind === 'secret_key' ? principal.keyId : ''
      const grant = { project: scope.project, secretId, mintedBy, user, installationId }
      const { token, expiresAtMs } = await deps.clientTokens.mintRealtime(grant, body.expires_after?.seconds ?? 600)
      await table.insert({
        ...{ id: secretId, project: scope.project, tenant: user?.tenant ?? null, user: user?.user ?? null },
        expiresAtMs: expiresAtMs + maxSessionMs,
        data: {
          ...{ model, installation_id: installationId, session: JSON.parse(JSON.stringify(session)) },
          ...{ budget_usd: body.budget_usd ?? null, spent_usd: '0' },
        },
      })
      const shown = { ...session, type: 'realtime', object: 'realtime.session' } as const
      return {
        value: token,
        expires_at: Math.floor(expiresAtMs / 1000),
        session: { ...shown, id: secretId, ...(model !== null && { model }) },
      }
    },
  }
}

const missing = (param: string): ServiceError =>
  new ServiceError('missing_field', { param, message: `${param} is required: the secret acts for an end user.` })
