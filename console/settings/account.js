import { callApi } from '../api.js'
import { age } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { SecondFactor } from './second-factor.js'

/** @typedef {{ id: string, is_current: boolean, method: string, device: string | null, address_family: string | null, created_at: string, last_used_at: string }} Session */
/** @typedef {{ sessions: readonly Session[], factor: import('./second-factor.js').Factor, providers: readonly { id: string, name: string }[] }} Signed */

const columns = ['Device', 'Signed in', 'Last used', 'By', 'Actions']

/** How the member signs in, and where. @param {{ signed: Signed, done: () => void }} props */
export const Account = ({ signed: { sessions, factor, providers }, done }) => {
  const endOthers = async () => {
    await callApi(null, 'auth.end_other_sessions')
    done()
  }
  const link = async (/** @type {string} */ connection_id) =>
    location.assign((await callApi(null, 'oidc_sign_in.link', { body: { connection_id } })).url)
  return html`
    <${SecondFactor} state=${factor} done=${done} />
    <section class="panel" aria-label="Your sessions">
      <h2>Your sessions</h2>
      <${Table} label="Your sessions" columns=${columns} rows=${sessions.map((session) => rowOf(session, done))} />
      <p class="panel-part decide">
        ${sessions.length > 1 && html`<${ActButton} label="End all others" sure="Sign out everywhere else" act=${endOthers} />`}
        ${providers.map(({ id, name }) => html`<${ActButton} label=${`Link an account at ${name}`} act=${() => link(id)} />`)}
      </p>
    </section>
  `
}

/** @param {Session} session @param {() => void} done */
const rowOf = ({ id, is_current, method, device, address_family, created_at, last_used_at }, done) => {
  const end = async () => {
    await callApi(null, 'auth_sessions.delete', { params: { auth_session_id: id } })
    done()
  }
  return {
    key: id,
    cells: [
      html`${device ?? nothing}${is_current && html` <span class="muted">this one</span>`}`,
      html`<time datetime=${created_at} title=${created_at}>${age(created_at)}</time>`,
      html`<time datetime=${last_used_at} title=${last_used_at}>${age(last_used_at)}</time>`,
      `${method}${address_family === null ? '' : `, ${address_family}`}`,
      is_current ? nothing : html`<${ActButton} label="End" sure="End it now" act=${end} />`,
    ],
  }
}
