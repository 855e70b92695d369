import { createHash, randomBytes } from 'node:crypto'
import type { Api } from '#test/e2e/api.ts'
import type { EstatePart } from './estate-part.ts'

const password = 'twelve letters'

const address = (): string => `${randomBytes(6).toString('hex')}@example.com`

const redirect_uri = 'http://127.0.0.1/callback'

/** A provider that does not exist, so that no sign-in at it starts. */
const providerBody = { name: 'Provider', issuer: 'https://provider.invalid', client_id: 'troupe' }

/** An app that has registered itself. @returns its client id */
const registered = async (api: Api): Promise<string> =>
  (await api.post('/oauth/register', { client_name: 'App', redirect_uris: [redirect_uri] })).body.client_id

const requestOf = (client_id: string, state: string) => ({
  ...{ client_id, redirect_uri, state, response_type: 'code', origin: 'http://127.0.0.1' },
  ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
})

/** An app, and the access that a member granted it. The code is exchanged, since a grant without tokens soon ends. */
const appOf = async (dashboard: Api, project: string) => {
  const app_id = await registered(dashboard)
  const verifier = 'v'.repeat(43)
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  const consent = { ...requestOf(app_id, 's'), code_challenge, decision: 'approve' }
  const { body } = await dashboard.post('/api/oauth/consents', consent)
  const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri, client_id: app_id, code_verifier: verifier }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  await dashboard.post('/oauth/token', new URLSearchParams(form).toString(), { headers })
  const { data } = (await dashboard.get(`/api/projects/${project}/oauth-grants`)).body
  return { app_id, grant_id: data[0].id }
}

/** The estate of the accounts: projects, their keys and members. */
export const accounts: EstatePart = {
  // members and providers belong to the organisation, so they do not contain the mark
  make: async ({ project, dashboard, mark, made }) => ({
    ...(await appOf(dashboard, project)),
    project_id: project,
    key_id: await made(`/api/projects/${project}/keys`, { name: `Key ${mark}` }, dashboard),
    organization_id: (await dashboard.get('/api/organizations')).body.data[0].id,
    member_id: await made(`/api/projects/${project}/members`, { email: address(), password }, dashboard),
    oidc_connection_id: await made('/api/oidc-connections', providerBody, dashboard),
  }),
  bodies: {
    'projects.create': ({ mark }, n) => ({ name: `Project ${mark} ${n}` }),
    'project_keys.create': ({ mark }, n) => ({ name: `Key ${mark} ${n}` }),
    'oauth_consents.preview': (site, n) => requestOf(site.id('app_id'), `${n}`),
    'oauth_consents.create': (site, n) => ({ ...requestOf(site.id('app_id'), `${n}`), decision: 'approve' }),
    'project_members.create': () => ({ email: address(), password }),
    'oidc_connections.create': (_, n) => ({ ...providerBody, name: `Provider ${n}` }),
  },
  // the answer has the end of the secret of before that signs longest, which may be of an earlier rotation
  shownBy: { 'project_signing_secret.rotate grace_s': 'test/actors/accounts/signing-secret.test.ts' },
  common: ['project_id', 'member_id', 'organization_id', 'oidc_connection_id', 'connection_id', 'app_id'],
  // ending a session would end that of the sweep
  absent: { auth_session_id: 'dse' },
  changing: ['project_keys.list', 'oauth_grants.list', 'auth_sessions.list'],
  beyondSchema: {
    'project_keys.create': 'expires_at lies in the future',
    'oauth_consents.preview': 'the app has registered, and has the redirect_uri',
    'oauth_consents.create': 'the app has registered, and has the redirect_uri',
    'oidc_sign_in.start': 'the provider can be reached',
    'oidc_sign_in.link': 'the provider can be reached',
    'oidc_sign_in.callback': 'the browser has started the sign-in',
    'organizations.update': 'the member has the second factor, and the organization the provider, that is required',
    'second_factor.enrol': 'the password is that of the member',
    'second_factor.confirm': 'a second factor waits for its confirmation, and the code is one of it',
    'second_factor.recovery_codes': 'the member has a second factor, and the code is one of it',
    'second_factor.disable': 'the member has a second factor, and the code is one of it',
    'projects.delete': 'the name is the one of the project',
  },
}
