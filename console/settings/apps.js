import { callApi } from '../api.js'
import { ahead } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, When } from '../parts/cells.js'
import { TablePanel } from '../parts/panel.js'
import { sessionNow } from '../session.js'

/** @typedef {Answers['oauth_grants.list']['data'][number]} App */
/** @typedef {{ id: string, email: string }} Member */

/**
 * Apps that members allowed to use the project over OAuth.
 *
 * @param {{ project: string, apps: readonly App[], me: { id: string }, members: readonly Member[], done: () => void }} props
 */
export const Apps = ({ project, apps, me, members, done }) => {
  const revoke = (/** @type {string} */ grant_id) =>
    callApi(project, 'oauth_grants.delete', { params: { grant_id } }).then(done)
  /** @type {Columns<App>} */
  const columns = {
    App: ({ client_name }) => client_name,
    'It may': ({ scopes }) => scopes.join(' '),
    'Allowed by': ({ member_id }) => members.find(({ id }) => id === member_id)?.email ?? member_id,
    'Last used': ({ last_used_at }) => html`<${When} at=${last_used_at} none="never" />`,
    Ends: ({ expires_at }) => (expires_at === null ? 'never' : ahead(expires_at)),
    Actions: ({ id, client_name, member_id }) =>
      me.id === member_id || sessionNow().operates
        ? html`<${ActButton} label="Revoke" sure=${`Revoke ${client_name} now`} act=${() => revoke(id)} />`
        : nothing,
  }
  return html`<${TablePanel} label="Apps" head="Apps" columns=${columns} rows=${apps} empty=${html`No app has access. Apps that speak MCP request it when they are given the address <code>${location.origin}/mcp</code>.`} />`
}
