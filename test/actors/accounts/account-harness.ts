import { bootstrap } from '#actors/accounts/bootstrap.ts'
import { members, projects } from '#actors/accounts/kinds.ts'
import { authUseCases } from '#actors/accounts/login-use-cases.ts'
import { projectMemberUseCases } from '#actors/accounts/member-use-cases.ts'
import { OAuthClients } from '#actors/accounts/oauth/oauth-clients.ts'
import { oauthUseCases } from '#actors/accounts/oauth/oauth-use-cases.ts'
import { oidcConnectionUseCases } from '#actors/accounts/oidc/oidc-connection-use-cases.ts'
import { oidcSignInUseCases } from '#actors/accounts/oidc/oidc-sign-in-use-cases.ts'
import { openAuth } from '#actors/accounts/open-auth.ts'
import { organizationUseCases } from '#actors/accounts/organization-use-cases.ts'
import { hashPassword } from '#actors/accounts/passwords.ts'
import { projectKeyUseCases } from '#actors/accounts/project-key-use-cases.ts'
import { projectUseCases } from '#actors/accounts/project-use-cases.ts'
import { secondFactorUseCases } from '#actors/accounts/sign-in/second-factor-use-cases.ts'
import { sessionUseCases } from '#actors/accounts/sign-in/session-use-cases.ts'
import { activeInstallations } from '#actors/agents/active-installations.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { auditLines } from '#actors/audit/audit-log.ts'
import { auditLogUseCases } from '#actors/audit/audit-use-cases.ts'
import type { Call, Principal } from '#actors/call/call.ts'
import type { DashboardPrincipal } from '#actors/call/dashboard-principal.ts'
import { kinds } from '#actors/capabilities.ts'
import { clientTokenUseCases } from '#actors/client-tokens/client-token-use-cases.ts'
import { endUserUseCases } from '#actors/tenants/end-user-use-cases.ts'
import { OwnerEraser } from '#actors/tenants/owner-eraser.ts'
import { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import { TenantExport } from '#actors/tenants/tenant-export.ts'
import { tenantUseCases } from '#actors/tenants/tenant-use-cases.ts'
import { tenantUserUseCases } from '#actors/tenants/tenant-user-use-cases.ts'
import { erasureSink } from '#machines/erasure/erasure.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { auditSink, webhookSink } from '#runtime/sinks.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import type { MessageRecord } from '#storage/ports.ts'
import { organizationScope, projectScope, type Scope } from '#storage/scope.ts'
import { noted } from '#test/support/called-operations.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { openNoticedServices, readableBox } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

export const ownerEmail = 'ada@example.org'
export const ownerPassword = 'correct horse battery'

const noNetwork = {
  request: async (url: string) => {
    throw new Error(`no network for ${url}`)
  },
}

/** A fresh installation on the memory store with its use-cases and clock. */
export const openAccounts = async ({
  secureCookies = false,
  now: startMs = 1_800_000_000_000,
  guard = noNetwork,
}: {
  readonly secureCookies?: boolean
  readonly now?: number
  readonly guard?: Pick<SsrfGuard, 'request'>
} = {}) => {
  const clock = { now: startMs }
  const now = () => clock.now
  const services = await openNoticedServices({
    storage: openMemoryStorage({ now }),
    clock: new VirtualClock(clock.now),
  })
  const { inner: storage, records, notices: delivery } = services
  const erasures: MessageRecord[] = []
  delivery.start({
    host: { deliver: notExpected, create: notExpected },
    sinks: {
      [auditSink]: auditLines(storage.records),
      [webhookSink]: async () => {},
      [erasureSink]: async (_owner, message) => void erasures.push(message),
    },
  })
  const deps = { records, keys: keysOf({ masterKey: Buffer.alloc(32, 1) }), box: readableBox, now }
  const auth = openAuth({ ...deps, reachOfAgent: agentReaches(deps), activeInstallations: activeInstallations(deps) })
  const given = { secretKey: `csk_${'k'.repeat(43)}`, ownerEmail, ownerPassword }
  const { organization, project } = await bootstrap({ ...deps, apiKeys: auth.apiKeys, projects: auth.projects, given })
  const directory = new TenantDirectory({ records, now })
  const shared = { ...auth, records, now, limits: new LocalLimits({ steady: now }), directory, notices: delivery }
  const eraser = { deliver: notExpected, drop: () => {}, rows: { shown: async () => {} } }
  const owned = new OwnerEraser({ storage, kinds, actorRows: [], host: eraser, clock: services.clock })
  const exports = new TenantExport({ storage, host: { rows: { shown: async () => {} } }, kinds, actorRows: [], now })
  const redirectUri = (id: string) => `http://127.0.0.1/api/auth/oidc/callback/${id}`
  const log = { warn: () => {} }
  const oauthClients = new OAuthClients({ ...shared, guard })
  const useCases = noted({
    ...authUseCases({ ...shared, secureCookies }),
    ...sessionUseCases(shared),
    ...secondFactorUseCases(shared),
    ...organizationUseCases(shared),
    ...oidcConnectionUseCases({ ...shared, box: readableBox, redirectUri }),
    ...oidcSignInUseCases({ ...shared, box: readableBox, secureCookies, redirectUri, guard, log }),
    ...projectUseCases(shared),
    ...projectKeyUseCases(shared),
    ...projectMemberUseCases(shared),
    ...oauthUseCases({ ...shared, oauthClients, publicOrigin: null }),
    ...clientTokenUseCases({ ...shared, findSession: async () => ({}) }),
    ...tenantUseCases({ ...shared, exports }),
    ...tenantUserUseCases({ ...shared, owned }),
    ...endUserUseCases(shared),
    ...auditLogUseCases(shared),
  })
  const memberTable = new Table(records, members, now)
  const owner = await memberTable.findGlobal({ email: ownerEmail })
  if (owner === null) throw new Error('the first start made no owner')

  const dashboard: DashboardPrincipal = {
    kind: 'dashboard',
    organization,
    memberId: owner.id,
    sessionId: 'dse_1',
    role: 'owner',
    project,
  }
  const secret: Principal = { kind: 'secret_key', project, keyId: 'key_1' }

  return {
    clock,
    records,
    auth,
    oauthClients,
    useCases,
    /** The use-cases and second factors of another process on the same store, whose counts are its own. */
    otherNode: () => {
      const other = openAuth({
        ...deps,
        reachOfAgent: agentReaches(deps),
        activeInstallations: activeInstallations(deps),
      })
      const parts = { ...shared, ...other, limits: new LocalLimits({ steady: now }) }
      return { auth: other, useCases: authUseCases({ ...parts, secureCookies }) }
    },
    organization,
    project,
    owner,
    dashboard,
    secret,
    memberTable,
    now,
    directory,
    delivery,
    erasures,
  }
}

const notExpected = (): never => {
  throw new Error('no actor is told anything')
}

/** Adds another organisation with one project to the same store. */
export const addForeign = async ({ records, auth, now }: Awaited<ReturnType<typeof openAccounts>>) => {
  const organization = newId('org')
  const project = newId('prj')
  await new Table(records, projects, now).insert({
    id: project,
    project: organization,
    data: auth.projects.newData(project, 'Foreign', []),
  })
  const member = await new Table(records, members, now).insert({
    id: newId('usr'),
    project: organization,
    data: { email: 'eve@example.org', name: null, role: 'owner', password_hash: await hashPassword('x') },
  })
  if (member === null) throw new Error('member exists')
  const dashboard: DashboardPrincipal = {
    kind: 'dashboard',
    organization,
    memberId: member.id,
    sessionId: 'dse_2',
    role: 'owner',
    project,
  }
  return { organization, project, dashboard, scope: organizationScope(organization) }
}

/** A validated call, as the dispatcher creates it. */
export const callOf = <Params, Query, Body>(
  principal: Principal,
  params: Params,
  query: Query,
  body: Body,
  remoteAddress = '10.0.0.1',
): Call<Params, Query, Body> => ({
  principal,
  scope: scopeOf(principal),
  params,
  query,
  body,
  requestId: 'req_test',
  remoteAddress,
  idempotency: null,
  after: null,
  accept: '',
  files: [],
  signal: new AbortController().signal,
})

const scopeOf = (principal: Principal): Scope => projectScope(principal.kind === 'public' ? '' : principal.project)
