import { ServiceError } from '#specs/errors/errors.ts'
import { type Scope, tenantScope, userScope } from '#storage/index.ts'
import type { ClientTokens } from '../accounts/client-tokens.ts'
import { agentInstallations } from '../agents/kinds.ts'
import { noTenant, nullWhenNotFound, orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { timestampOf } from '../records/row-times.ts'
import { Table } from '../records/table.ts'
import { tenants } from '../tenants/kinds.ts'

export interface ClientTokenDeps extends Pick<Services, 'now' | 'records'> {
  readonly clientTokens: ClientTokens
  /** Finds a session. @throws {ServiceError} `not_found` */
  readonly findSession: (scope: Scope, id: string) => Promise<unknown>
}

/** Use-case that mints tokens for the browsers of a tenant's end user. */
export const clientTokenUseCases = (deps: ClientTokenDeps): Pick<UseCases, 'client_tokens.create'> => {
  const table = new Table(deps.records, tenants, deps.now)
  const installations = new Table(deps.records, agentInstallations, deps.now)
  const requireActive = async (project: string, tenant: string, ids: readonly string[]): Promise<void> => {
    for (const [index, id] of ids.entries()) {
      const row = await installations.get(tenantScope(project, tenant), id)
      if (row?.data.status !== 'active') throw new ServiceError('not_found', { param: `installation_ids[${index}]` })
    }
  }
  const requireOwn = async (
    project: string,
    { tenant, user, id }: { readonly tenant: string; readonly user: string; readonly id: string },
  ): Promise<void> => {
    orNotFound(await deps.findSession(userScope(project, tenant, user), id).catch(nullWhenNotFound), 'session_id')
  }
  return {
    'client_tokens.create': async ({ scope, body, principal }) => {
      const tenant = await table.get(scope, body.tenant_id)
      if (tenant === null) throw noTenant('tenant_id')
      await requireActive(scope.project, tenant.id, body.installation_ids ?? [])
      if (body.session_id !== undefined)
        await requireOwn(scope.project, { tenant: tenant.id, user: body.external_user_id, id: body.session_id })
      const { token, expiresAtMs } = await deps.clientTokens.mint(
        {
          project: scope.project,
          tenant: tenant.id,
          user: body.external_user_id,
          permissions: body.permissions,
          sessionId: body.session_id ?? null,
          installationIds: body.installation_ids ?? [],
          ...(principal.kind === 'secret_key' && { mintedBy: principal.keyId }),
        },
        body.expires_in,
      )
      return { token, expires_at: timestampOf(expiresAtMs) }
    },
  }
}
