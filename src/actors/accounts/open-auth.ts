import type { Services } from '../capability/services.ts'
import { AgentKeys, type ReachOfAgent } from './agent-keys.ts'
import { ApiKeys } from './api-keys.ts'
import { ClientTokens } from './client-tokens.ts'
import { type ActiveInstallations, Credentials } from './credentials.ts'
import { DashboardSessions } from './dashboard-sessions.ts'
import { OAuthGrants } from './oauth/oauth-grants.ts'
import { ProjectDirectory } from './project-directory.ts'
import { SecondFactors } from './sign-in/second-factors.ts'

/** Dependencies of authentication. */
export interface AuthDeps extends Pick<Services, 'box' | 'keys' | 'now' | 'records' | 'credentialChanges'> {
  /** What the keys of an agent reach. */
  readonly reachOfAgent: ReachOfAgent
  /** Installations that client tokens may be restricted to. */
  readonly activeInstallations: ActiveInstallations
}

/** The verifiers and minters of all credentials, one of each per process. */
export interface Auth {
  readonly apiKeys: ApiKeys
  readonly agentKeys: AgentKeys
  readonly clientTokens: ClientTokens
  readonly dashboardSessions: DashboardSessions
  readonly oauthGrants: OAuthGrants
  readonly projects: ProjectDirectory
  readonly secondFactors: SecondFactors
  readonly credentials: Credentials
}

/** Opens authentication on a store whose `authKinds` are prepared. */
export const openAuth = (deps: AuthDeps): Auth => {
  const parts = {
    apiKeys: new ApiKeys(deps),
    agentKeys: new AgentKeys(deps),
    clientTokens: new ClientTokens(deps),
    dashboardSessions: new DashboardSessions(deps),
    oauthGrants: new OAuthGrants(deps),
    projects: new ProjectDirectory(deps),
    secondFactors: new SecondFactors(deps),
  }
  return { ...parts, credentials: new Credentials({ ...parts, activeInstallations: deps.activeInstallations }) }
}
