import { oauthConsents, oauthGrants } from '#specs/resources/console/oauth.ts'
import { oidcConnections, oidcSignIn } from '#specs/resources/console/oidc.ts'
import { authSessions, organizations, secondFactor } from '#specs/resources/console/sign-in.ts'
import { auth as login, projectKeys, projectMembers, projects } from '#specs/resources/dashboard.ts'
import { projectSigningSecret } from '#specs/resources/signing-secret.ts'
import { capability } from '../capability/capability.ts'
import { Port } from '../capability/port.ts'
import type { ReachOfAgent } from './agent-keys.ts'
import { installations } from './bootstrap.ts'
import type { ActiveInstallations } from './credentials.ts'
import { authKinds } from './kinds.ts'
import { authUseCases } from './login-use-cases.ts'
import { projectMemberUseCases } from './member-use-cases.ts'
import { oauthKinds } from './oauth/kinds.ts'
import { OAuthClients } from './oauth/oauth-clients.ts'
import { oauthUseCases } from './oauth/oauth-use-cases.ts'
import { oidcConnectionUseCases } from './oidc/oidc-connection-use-cases.ts'
import { oidcSignInUseCases } from './oidc/oidc-sign-in-use-cases.ts'
import { type Auth, openAuth } from './open-auth.ts'
import { organizationUseCases } from './organization-use-cases.ts'
import { projectKeyUseCases } from './project-key-use-cases.ts'
import { projectUseCases } from './project-use-cases.ts'
import { secondFactorUseCases } from './sign-in/second-factor-use-cases.ts'
import { sessionUseCases } from './sign-in/session-use-cases.ts'
import { signingSecretUseCases } from './signing-secret-use-cases.ts'

/** Port for the verification of credentials. */
export const authPort = new Port<Auth>('authentication')

/** Port for what the keys of an agent reach, and whether the agent exists. */
export const agentReachPort = new Port<ReachOfAgent>('the reach of agents')

/** Port for which installations of a tenant are active. */
export const activeInstallationsPort = new Port<ActiveInstallations>('the active installations')

/** Port for whether the dashboard is served over https. */
export const secureCookiesPort = new Port<boolean>('whether cookies are secure')

/** Port for the server's origin as browsers see it; null: unknown. */
export const browserOriginPort = new Port<string | null>('the origin of the console')

/** Public base URL of the server. */
export const serverUrlPort = new Port<string>('the address of the server')

/** Port for the apps that may request access. */
export const oauthClientsPort = new Port<OAuthClients>('the clients of OAuth')

/** Capability `accounts`: dashboard sign-in, projects, their keys and members. */
export const accounts = capability({
  name: 'accounts',
  operations: {
    ...login,
    ...authSessions,
    ...secondFactor,
    ...organizations,
    ...oidcConnections,
    ...oidcSignIn,
    ...projects,
    ...projectKeys,
    ...projectMembers,
    ...projectSigningSecret,
    ...oauthConsents,
    ...oauthGrants,
  },
  kinds: [...authKinds, ...oauthKinds, installations],
  open: (services) => {
    const auth = openAuth({
      ...services,
      reachOfAgent: (project, agent) => agentReachPort.of(services)(project, agent),
      activeInstallations: (tenant, ids) => activeInstallationsPort.of(services)(tenant, ids),
    })
    authPort.give(services, auth)
    const oauthClients = new OAuthClients(services)
    oauthClientsPort.give(services, oauthClients)
    const secureCookies = secureCookiesPort.of(services)
    const serverUrl = serverUrlPort.of(services).replace(/\/$/, '')
    const redirectUri = (connection: string) => `${serverUrl}/api/auth/oidc/callback/${connection}`
    return {
      useCases: {
        ...authUseCases({ ...services, ...auth, secureCookies }),
        ...oidcConnectionUseCases({ ...services, ...auth, redirectUri }),
        ...oidcSignInUseCases({ ...services, ...auth, secureCookies, redirectUri }),
        ...sessionUseCases({ ...services, ...auth }),
        ...secondFactorUseCases({ ...services, ...auth }),
        ...organizationUseCases({ ...services, ...auth }),
        ...projectUseCases({ ...services, ...auth }),
        ...projectKeyUseCases({ ...services, ...auth }),
        ...projectMemberUseCases({ ...services, ...auth }),
        ...signingSecretUseCases({ ...services, ...auth }),
        ...oauthUseCases({ ...auth, oauthClients, publicOrigin: browserOriginPort.of(services) }),
      },
    }
  },
})
