import { callApi } from '../api.js'
import { ahead } from '../format.js'
import { html, useState } from '../html.js'
import { ActButton } from '../parts/act-button.js'

/**
 * Actions of a member on a connection: test it, refresh its token, create a link by which its owner signs in again,
 * revoke it.
 *
 * @param {{ project: string, connection: import('./connections-page.js').Connection, done: () => void }} props
 */
export const ConnectionCommands = ({ project, connection: { id, name, key_last4, expires_at, status }, done }) => {
  const [outcome, say] = useState('')
  const [link, setLink] = useState(/** @type {{ authorize_url: string, expires_at: string } | null} */ (null))
  const params = { tool_connection_id: id }
  const test = async () => {
    const { success, latency_ms, error } = await callApi(project, 'connections.test', { params })
    say(success ? `The connection works (${latency_ms} ms).` : `${error?.code ?? 'failed'}: ${error?.message ?? ''}`)
    done()
  }
  /** @param {'connections.refresh' | 'connections.delete'} operation */
  const act = (operation) => () => callApi(project, operation, { params }).then(done)
  const reconnect = async () => setLink(await callApi(project, 'connections.reconnect', { params }))
  return html`
    <span class="decide">
      <${ActButton} label="Test" act=${test} />
      ${expires_at !== null && status !== 'pending' && html`<${ActButton} label="Refresh" act=${act('connections.refresh')} />`}
      ${key_last4 === null && html`<${ActButton} label="Reconnect link" act=${reconnect} />`}
      <${ActButton} label="Revoke" sure=${`Revoke ${name} for good`} act=${act('connections.delete')} />
    </span>
    <span role="status">${outcome}</span>
    ${
      link !== null &&
      html`<label class="link-out">Link for its owner alone: anyone who has it connects an account of theirs. It ends ${ahead(link.expires_at)}
        <input readonly value=${link.authorize_url} onFocus=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && currentTarget.select()} />
        <${ActButton} label="Copy" act=${() => navigator.clipboard.writeText(link.authorize_url)} /></label>`
    }
  `
}
