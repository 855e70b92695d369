import { callApi } from '../api.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, When } from '../parts/cells.js'
import { TablePanel } from '../parts/panel.js'
import { SecondFactor } from './second-factor.js'

/** @typedef {Answers['auth_sessions.list']['data'][number]} Session */
/** @typedef {{ sessions: readonly Session[], factor: import('./second-factor.js').Factor, providers: readonly { id: string, name: string }[] }} Signed */

/** How the member signs in, and where. @param {{ signed: Signed, done: () => void }} props */
export const Account = ({ signed: { sessions, factor, providers }, done }) => {
  const end = (/** @type {string} */ auth_session_id) =>
    callApi(null, 'auth_sessions.delete', { params: { auth_session_id } }).then(done)
  const endOthers = () => callApi(null, 'auth.end_other_sessions').then(done)
  const link = async (/** @type {string} */ connection_id) =>
    location.assign((await callApi(null, 'oidc_sign_in.link', { body: { connection_id } })).url)
  /** @type {Columns<Session>} */
  const columns = {
    Device: ({ device, is_current }) =>
      html`${device ?? nothing}${is_current && html` <span class="muted">this one</span>`}`,
    'Signed in': ({ created_at }) => html`<${When} at=${created_at} />`,
    'Last used': ({ last_used_at }) => html`<${When} at=${last_used_at} />`,
    By: ({ method, address_family }) => `${method}${address_family === null ? '' : `, ${address_family}`}`,
    Actions: ({ id, is_current }) =>
      is_current ? nothing : html`<${ActButton} label="End" sure="End it now" act=${() => end(id)} />`,
  }
  return html`
    <${SecondFactor} state=${factor} done=${done} />
    <${TablePanel} label="Your sessions" head="Your sessions" columns=${columns} rows=${sessions}>
      <p class="panel-part decide">
        ${sessions.length > 1 && html`<${ActButton} label="End all others" sure="Sign out everywhere else" act=${endOthers} />`}
        ${providers.map(({ id, name }) => html`<${ActButton} label=${`Link an account at ${name}`} act=${() => link(id)} />`)}
      </p>
    <//>
  `
}
