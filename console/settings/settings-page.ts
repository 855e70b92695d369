import { callApi } from '../api.ts'
import { html, useState } from '../html.ts'
import { livePage } from '../live-page.ts'
import { ActButton } from '../parts/act-button.ts'
import { Children } from '../resources/row-panel.ts'
import { type Factor, SecondFactor } from './second-factor.ts'

type Signed = Readonly<{ factor: Factor; providers: readonly { readonly id: string; readonly name: string }[] }>

/** Apps with access, and how and where the member signs in. */
export const settingsPage = livePage({
  read: async () => {
    const [factor, providers] = await Promise.all([
      callApi(null, 'second_factor.get'),
      callApi(null, 'oidc_sign_in.providers'),
    ])
    return { factor, providers: providers.data }
  },
  show: ({ place, data, done }) => html`<${Settings} place=${place} ...${data} done=${done} />`,
})

const Settings = ({ place, factor, providers, done }: { place: Place; done: () => void } & Signed) => {
  const [ends, setEnds] = useState(0)
  const endOthers = () => callApi(null, 'auth.end_other_sessions').then(() => setEnds(ends + 1))
  const link = async (connection_id: string) =>
    location.assign((await callApi(null, 'oidc_sign_in.link', { body: { connection_id } })).url)
  return html`
    <div class="view-head"><h1>Settings</h1></div>
    <${SecondFactor} state=${factor} done=${done} />
    <section class="panel" aria-label="Access">
      <h2>Access</h2>
      <${Children} place=${place} name="oauth_grants" of=${factor} />
      <${Children} key=${ends} place=${place} name="auth_sessions" of=${factor} />
      <p class="panel-part decide">
        <${ActButton} label="End all other sessions" sure="Sign out everywhere else" act=${endOthers} />
        ${providers.map(({ id, name }) => html`<${ActButton} label=${`Link an account at ${name}`} act=${() => link(id)} />`)}
      </p>
    </section>
  `
}
