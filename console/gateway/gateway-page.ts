import { callApi } from '../api.ts'
import { dollars } from '../format.ts'
import { html } from '../html.ts'
import { livePage } from '../live-page.ts'
import { nameOf } from '../names.ts'
import { Meter } from '../parts/meter.ts'
import { Listing, readListing, resourceAt } from '../resources/resource-page.ts'
import { Rows } from '../resources/row-panel.ts'
import { troublesOf } from './gateway-model.ts'
import { Health } from './providers.ts'
import { daysOf, dimensionOf, Sums } from './sums.ts'

const maxOthers = 100

const readGateway = async (place: Place) => {
  const { project, query } = place
  const few = { query: { limit: maxOthers } }
  const [recent, lines, usage, limits, credits, connections, { providers }] = await Promise.all([
    callApi(project, 'request_log.list', few),
    readListing(place, resourceAt(place)),
    callApi(project, 'usage.summary', { query: { days: daysOf(query), group_by: dimensionOf(query) } }),
    callApi(project, 'limits.list', few),
    callApi(project, 'credits.get').catch(() => null),
    callApi(project, 'provider_connections.list', few),
    callApi(project, 'custom_providers.list'),
  ])
  return { recent, lines, usage, limits: limits.data, credits, connections: connections.data, servers: providers }
}

/** Requests to the gateway, their cost, budgets, and the health of providers. */
export const gatewayPage = livePage({
  everyMs: 2_000,
  read: readGateway,
  show: ({ place, data, done }) => html`<${Gateway} place=${place} shown=${data} done=${done} />`,
})

const Gateway = ({ place, shown, done }: Props & { shown: Made<typeof readGateway> }) => {
  const { recent, lines, usage, limits, credits, connections, servers } = shown
  const troubles = troublesOf({ recent: recent.data, limits, connections, unpriced: usage.totals.unpriced_calls })
  return html`
    <div class="view-head"><h1>Gateway</h1><span class="muted" role="status">${troubles.length === 0 ? 'Nothing needs attention.' : `${troubles.length} ${troubles.length === 1 ? 'item needs' : 'items need'} attention.`}</span></div>
    ${
      troubles.length > 0 &&
      html`<section class="panel needs" aria-label="Needs attention"><ul>${troubles.map(
        ({ id, tone, what, cause }) =>
          html`<li key=${id}><div class="row items-baseline gap-x-10 gap-y-2 wrap-anywhere"><strong>${what.split(' ').map(nameOf).join(' ')}</strong> <span class="chip" data-tone=${tone}>${tone === 'bad' ? 'failing' : 'soon'}</span></div><p class="wrap-anywhere">${cause}</p></li>`,
      )}</ul></section>`
    }
    <${Listing} place=${place} resource=${resourceAt(place)} listed=${lines} done=${done} />
    <${Sums} place=${place} usage=${usage} recent=${recent.data} />
    <${Rows} whole place=${place} name="limits" rows=${limits} done=${done}>
      ${credits?.gated && html`<${Meter} label="Organisation credits" part=${Number(credits.spent_usd)} whole=${Number(credits.granted_usd)} text=${`credits: ${dollars(Number(credits.spent_usd))} of ${dollars(Number(credits.granted_usd))}`} />`}
    <//>
    <section class="panel" aria-label="Providers">
      <h2>Providers <span class="muted">by the newest ${recent.data.length} requests</span></h2>
      <${Health} recent=${recent.data} />
      <${Rows} place=${place} name="provider_connections" rows=${connections} done=${done} />
      <${Rows} place=${place} name="custom_providers" rows=${servers} done=${done} />
    </section>
  `
}
