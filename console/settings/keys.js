import { callApi } from '../api.js'
import { ahead } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { When } from '../parts/when.js'
import { routeHash } from '../route.js'
import { serverNow } from '../server-time.js'
import { useEffect, useRef, useState } from '../vendor/hooks.js'
import { NewKey, scopesText } from './new-key.js'

/** @typedef {{ id: string, name: string, prefix: string, last4: string, created_by: string | null, scopes: import('./new-key.js').Scopes | null, expires_at: string | null, last_used_at: string | null, revoked_at: string | null }} Key */

/**
 * Secret keys of the project. A new key is shown only once.
 *
 * @param {{ project: string, keys: readonly Key[], operates: boolean, done: () => void }} props
 */
export const Keys = ({ project, keys, operates, done }) => {
  const [shown, show] = useState('')
  const create = async (/** @type {ReturnType<typeof import('./new-key.js').keyBody>} */ body) => {
    show((await callApi(project, 'project_keys.create', { body })).key)
    done()
  }
  const field = useRef(/** @type {HTMLInputElement | null} */ (null))
  // focused and thereby selected, because it is copied next
  useEffect(() => field.current?.focus(), [shown])
  const live = keys.filter(({ revoked_at }) => revoked_at === null)
  return html`
    <section class="panel" aria-label="Keys">
      <h2>Secret keys</h2>
      ${
        shown !== '' &&
        html`<div class="panel-part"><label class="link-out">The new key. It is shown this once: keep it where your servers read it.
        <input readonly ref=${field} value=${shown} onFocus=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && currentTarget.select()} /></label>
        <span class="decide"><${ActButton} label="Copy" act=${() => navigator.clipboard.writeText(shown)} /><${ActButton} label="Hide" act=${async () => show('')} /></span></div>`
      }
      ${
        live.length === 0
          ? html`<p class="panel-part muted">The project has no key: nothing can call it. ${operates ? 'Create one below.' : 'An admin can create one.'}</p>`
          : html`<${Table} label="Keys" columns=${['Key', 'Name', 'Preview', 'Limits', 'Last used', 'Expires', 'Created by', 'Requests', 'Actions']} rows=${live.map(
              (key) => rowOf({ project, operates, show, done }, key),
            )} />`
      }
      ${operates && html`<${NewKey} create=${create} />`}
    </section>
  `
}

/** @param {{ project: string, operates: boolean, show: (key: string) => void, done: () => void }} parts @param {Key} key */
const rowOf = (
  { project, operates, show, done },
  { id, name, prefix, last4, created_by, scopes, expires_at, last_used_at },
) => {
  const params = { key_id: id }
  const rotate = async () => {
    show((await callApi(project, 'project_keys.rotate', { params, body: {} })).key)
    done()
  }
  const revoke = async () => {
    await callApi(project, 'project_keys.delete', { params })
    done()
  }
  return {
    key: id,
    cells: [
      id,
      name,
      html`<code>${prefix}…${last4}</code>`,
      scopesText(scopes) || nothing,
      html`<${When} at=${last_used_at} none="never" />`,
      expires_at === null ? 'never' : ahead(expires_at, serverNow()),
      created_by ?? nothing,
      html`<a href=${routeHash({ view: 'gateway', project, query: { key: id } })}>requests</a>`,
      operates
        ? html`<span class="decide"><${ActButton} label="Rotate" sure=${`A new key; ${name} ends in a day`} act=${rotate} /><${ActButton} label="Revoke" sure=${`Revoke ${name} now`} act=${revoke} /></span>`
        : nothing,
    ],
  }
}
