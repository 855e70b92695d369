import { callApi } from '../api.js'
import { ahead } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { When } from '../parts/when.js'
import { sessionNow } from '../session.js'

/** @typedef {{ id: string, client_name: string, member_id: string, scopes: readonly string[], last_used_at: string | null, expires_at: string | null }} App */
/** @typedef {{ id: string, email: string }} Member */

const columns = ['App', 'It may', 'Allowed by', 'Last used', 'Ends', 'Actions']

/**
 * Apps that members allowed to use the project over OAuth.
 *
 * @param {{ project: string, apps: readonly App[], me: { id: string }, members: readonly Member[], done: () => void }} props
 */
export const Apps = ({ project, apps, me, members, done }) => html`
  <section class="panel" aria-label="Apps">
    <h2>Apps</h2>
    ${
      apps.length === 0
        ? html`<p class="panel-part muted">No app has access. Apps that speak MCP request it when they are given the address <code>${location.origin}/mcp</code>.</p>`
        : html`<${Table} label="Apps" columns=${columns} rows=${apps.map((app) => rowOf({ project, me, members, done }, app))} />`
    }
  </section>
`

/** @param {{ project: string, me: { id: string }, members: readonly Member[], done: () => void }} parts @param {App} app */
const rowOf = ({ project, me, members, done }, { id, client_name, member_id, scopes, last_used_at, expires_at }) => {
  const revoke = async () => {
    await callApi(project, 'oauth_grants.delete', { params: { grant_id: id } })
    done()
  }
  return {
    key: id,
    cells: [
      client_name,
      scopes.join(' '),
      members.find((member) => member.id === member_id)?.email ?? member_id,
      html`<${When} at=${last_used_at} none="never" />`,
      expires_at === null ? 'never' : ahead(expires_at),
      me.id === member_id || sessionNow().operates
        ? html`<${ActButton} label="Revoke" sure=${`Revoke ${client_name} now`} act=${revoke} />`
        : nothing,
    ],
  }
}
