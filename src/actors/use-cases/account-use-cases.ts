import type { RateLimits } from '../../storage/cluster-ports.ts'
import type { RecordStore } from '../../storage/ports.ts'
import type { Auth } from '../auth/open-auth.ts'
import { authUseCases } from './auth.ts'
import { clientTokenUseCases } from './client-tokens.ts'
import { projectKeyUseCases } from './project-keys.ts'
import { projectMemberUseCases } from './project-members.ts'
import { projectUseCases } from './projects.ts'
import { tenantUseCases } from './tenants.ts'

/** What the operations on accounts and plain records need. */
export interface AccountDeps {
  readonly records: RecordStore
  readonly auth: Auth
  /** The dashboard is served over https. */
  readonly secureCookies: boolean
  /** ms since the epoch. */
  readonly now: () => number
  readonly limits: RateLimits
}

/** Every operation on what is a plain record: the dashboard's accounts, client tokens, tenants. */
export const accountUseCases = ({ records, auth, secureCookies, now, limits }: AccountDeps) => ({
  ...authUseCases({ records, secureCookies, now, limits, dashboardSessions: auth.dashboardSessions }),
  ...projectUseCases({ records, now, projects: auth.projects }),
  ...projectKeyUseCases({ records, now, apiKeys: auth.apiKeys }),
  ...projectMemberUseCases({ records, now, dashboardSessions: auth.dashboardSessions }),
  ...clientTokenUseCases({ records, now, clientTokens: auth.clientTokens }),
  ...tenantUseCases({ records, now }),
})
