import { callApi } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { Account } from './account.js'
import { Apps } from './apps.js'

/** @typedef {{ apps: readonly import('./apps.js').App[], members: readonly import('./apps.js').Member[], account: import('./account.js').Signed, me: { id: string } }} Shown */

const few = { query: { limit: 100 } }

/** Apps with access, and the member's own account. */
export const settingsPage = livePage({
  read: async ({ project }) => {
    const [apps, members, { member }, sessions, factor, providers] = await Promise.all([
      callApi(project, 'oauth_grants.list', few),
      callApi(project, 'project_members.list', few),
      callApi(null, 'auth.me'),
      callApi(null, 'auth_sessions.list', few),
      callApi(null, 'second_factor.get'),
      callApi(null, 'oidc_sign_in.providers'),
    ])
    const account = { sessions: sessions.data, factor, providers: providers.data }
    return { account, apps: apps.data, members: members.data, me: member }
  },
  show: ({ place: { project }, data, done }) => html`<${Settings} project=${project} shown=${data} done=${done} />`,
})

/** @param {{ project: string, shown: Shown, done: () => void }} props */
const Settings = ({ project, shown: { account, apps, members, me }, done }) => html`
  <div class="view-head"><h1>Settings</h1></div>
  <${Apps} project=${project} apps=${apps} me=${me} members=${members} done=${done} />
  <${Account} signed=${account} done=${done} />
`
