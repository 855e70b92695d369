import { ServiceError } from '../../../specs/errors.ts'
import type { RecordStore } from '../../storage/ports.ts'
import type { ClientTokens } from '../auth/client-tokens.ts'
import { tenants } from '../records/kinds.ts'
import { timestampOf } from '../records/row-times.ts'
import { Table } from '../records/table.ts'
import type { UseCases } from './use-cases.ts'

/** What minting needs. */
export interface ClientTokenDeps {
  readonly records: RecordStore
  readonly clientTokens: ClientTokens
  readonly now: () => number
}

/** Tokens for the browsers of one end user of a tenant. */
export const clientTokenUseCases = (deps: ClientTokenDeps): Pick<UseCases, 'client_tokens.create'> => {
  const table = new Table(deps.records, tenants, deps.now)
  return {
    'client_tokens.create': async ({ scope, body }) => {
      const tenant = await table.get(scope, body.tenant_id)
      if (tenant === null) throw new ServiceError('not_found', { param: 'tenant_id' })
      const { token, expiresAtMs } = await deps.clientTokens.mint(
        {
          project: scope.project,
          tenant: tenant.id,
          user: body.external_user_id,
          permissions: body.permissions,
          sessionId: body.session_id ?? null,
          installationIds: body.installation_ids ?? [],
        },
        body.expires_in,
      )
      return { token, expires_at: timestampOf(expiresAtMs) }
    },
  }
}
