import { callApi } from '../api.js'
import { html } from '../html.js'
import { livePage } from '../live-page.js'
import { nameOf } from '../names.js'
import { sessionNow } from '../session.js'
import { Budgets } from './budgets.js'
import { troublesOf } from './gateway-model.js'
import { Providers } from './providers.js'
import { filtersOf, RequestList } from './request-list.js'
import { RequestPanel } from './request-panel.js'
import { daysOf, dimensionOf, Sums } from './sums.js'

/**
 * @typedef {object} Shown
 * @property {import('./request-list.js').Lines} recent
 * @property {import('./request-list.js').Lines} lines
 * @property {import('./sums.js').Usage} usage
 * @property {readonly import('./budgets.js').Limit[]} limits
 * @property {import('./budgets.js').Credits | null} credits
 * @property {readonly import('./providers.js').Connection[]} connections
 * @property {readonly import('./providers.js').Server[]} servers
 */

const shownLines = 30
const maxOthers = 100

/** @param {Place} place @returns {Promise<Shown>} */
const readGateway = async ({ project, query }) => {
  const few = { query: { limit: maxOthers } }
  const [recent, lines, usage, limits, credits, connections, { providers }] = await Promise.all([
    callApi(project, 'request_log.list', few),
    callApi(project, 'request_log.list', { query: { limit: shownLines, ...filtersOf(query) } }),
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

/** @param {{ place: Place, shown: Shown, done: () => void }} props */
const Gateway = ({ place, shown, done }) => {
  const { recent, lines, usage, limits, credits, connections, servers } = shown
  const { project, query } = place
  const troubles = troublesOf({ recent: recent.data, limits, connections, unpriced: usage.totals.unpriced_calls })
  return html`
    <div class="view-head"><h1>Gateway</h1><span class="muted" role="status">${troubles.length === 0 ? 'Nothing needs attention.' : `${troubles.length} ${troubles.length === 1 ? 'item needs' : 'items need'} attention.`}</span></div>
    ${
      troubles.length > 0 &&
      html`<section class="panel needs" aria-label="Needs attention"><ul>${troubles.map(
        ({ id, tone, what, cause }) =>
          html`<li key=${id}><div class="need-head"><strong>${what.split(' ').map(nameOf).join(' ')}</strong> <span class="chip" data-tone=${tone}>${tone === 'bad' ? 'failing' : 'soon'}</span></div><p class="cause">${cause}</p></li>`,
      )}</ul></section>`
    }
    ${query.request && html`<${RequestPanel} key=${query.request} place=${place} id=${query.request} />`}
    <${RequestList} place=${place} lines=${lines} />
    <${Sums} place=${place} usage=${usage} recent=${recent.data} />
    <${Budgets} project=${project} limits=${limits} credits=${credits} operates=${sessionNow().operates} />
    <${Providers} project=${project} recent=${recent.data} connections=${connections} servers=${servers} operates=${sessionNow().operates} done=${done} />
  `
}
