import type { RateLimits } from '../../storage/cluster-ports.ts'
import type { RecordStore } from '../../storage/ports.ts'
import { auditLogUseCases } from '../audit/audit-use-cases.ts'
import { type ClientTokenDeps, clientTokenUseCases } from '../client-tokens/client-token-use-cases.ts'
import type { NoticeDelivery } from '../records/notice-delivery.ts'
import { endUserUseCases } from '../tenants/end-user-use-cases.ts'
import type { TenantDirectory } from '../tenants/tenant-directory.ts'
import type { TenantExport } from '../tenants/tenant-export.ts'
import { tenantUseCases } from '../tenants/tenant-use-cases.ts'
import { tenantUserUseCases } from '../tenants/tenant-user-use-cases.ts'
import { authUseCases } from './login-use-cases.ts'
import { projectMemberUseCases } from './member-use-cases.ts'
import type { Auth } from './open-auth.ts'
import { projectKeyUseCases } from './project-key-use-cases.ts'
import { projectUseCases } from './project-use-cases.ts'

/** What the operations on accounts and plain records need. */
export interface AccountDeps {
  readonly records: RecordStore
  readonly auth: Auth
  /** The dashboard is served over https. */
  readonly secureCookies: boolean
  /** ms since the epoch. */
  readonly now: () => number
  readonly limits: RateLimits
  readonly findSession: ClientTokenDeps['findSession']
  readonly tenants: TenantDirectory
  readonly exports: TenantExport
  readonly notices: Pick<NoticeDelivery, 'told'>
}

/** Every operation on what is a plain record: the dashboard's accounts, client tokens, tenants. */
export const accountUseCases = ({
  records,
  auth,
  secureCookies,
  now,
  limits,
  tenants,
  exports,
  notices,
  findSession,
}: AccountDeps) => ({
  ...authUseCases({ records, secureCookies, now, limits, dashboardSessions: auth.dashboardSessions }),
  ...projectUseCases({ records, now, projects: auth.projects }),
  ...projectKeyUseCases({ records, now, apiKeys: auth.apiKeys }),
  ...projectMemberUseCases({ records, now, dashboardSessions: auth.dashboardSessions }),
  ...clientTokenUseCases({ records, now, clientTokens: auth.clientTokens, findSession }),
  ...tenantUseCases({ records, now, directory: tenants, exports }),
  ...tenantUserUseCases({ records, now, directory: tenants }),
  ...endUserUseCases({ records, now }),
  ...auditLogUseCases({ records, now, notices }),
})
