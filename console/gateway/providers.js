import { callApi } from '../api.js'
import { age, duration } from '../format.js'
import { html, useState } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, When } from '../parts/cells.js'
import { Table } from '../parts/table.js'
import { newResource } from '../route.js'
import { byProviderOf, healthOf } from './gateway-model.js'

/**
 * @typedef {import('./gateway-model.js').Connection} Connection
 * @typedef {Answers['custom_providers.list']['providers'][number]} Server
 * @typedef {{ project: string, recent: readonly import('./gateway-model.js').Line[], connections: readonly Connection[], servers: readonly Server[], operates: boolean, done: () => void }} Providing
 */

/** Health of the providers, by the newest requests, and the project's own keys and servers. @param {Providing} props */
export const Providers = ({ recent, ...own }) => {
  const called = byProviderOf(recent).map(([provider, lines]) => ({ id: provider, ...healthOf(lines) }))
  return html`
    <section class="panel" aria-label="Providers">
      <h2>Providers <span class="muted">by the newest ${recent.length} requests</span></h2>
      ${called.length === 0 ? html`<p class="panel-part muted">No provider was called yet.</p>` : html`<${Table} label="Health of providers" columns=${ofHealth} rows=${called} />`}
      <${Own} ...${own} />
    </section>
  `
}

/** @type {Columns<{ id: string } & import('./gateway-model.js').Health>} */
const ofHealth = {
  Provider: ({ id }) => id,
  Requests: ({ calls }) => calls,
  Failed: ({ calls, failed }) =>
    failed === 0 ? '0' : html`<span class="chip" data-tone=${failed / calls >= 0.2 ? 'bad' : 'wait'}>${failed}</span>`,
  p50: ({ p50 }) => (p50 === null ? nothing : duration(p50)),
  p95: ({ p95 }) => (p95 === null ? nothing : duration(p95)),
  'Last error': ({ lastError, lastErrorAt }) =>
    lastError === null ? nothing : html`${lastError} <time datetime=${lastErrorAt}>${age(lastErrorAt ?? '')}</time>`,
}

/** Whether it is a server, and not a key. @param {Connection | Server} each @returns {each is Server} */
const isServer = (each) => !('last_tested_at' in each)

/** Keys and servers of the project. @param {Omit<Providing, 'recent'>} props */
const Own = ({ project, connections, servers, operates, done }) => {
  if (connections.length + servers.length === 0)
    return html`<p class="panel-part muted">The project has no key or server of its own: the installation's keys serve it.${operates && html` Add <a href=${newResource(project, 'provider_connections')}>a key</a> or <a href=${newResource(project, 'custom_providers')}>a server</a>.`}</p>`
  const test = (/** @type {string} */ connection_id) =>
    callApi(project, 'provider_connections.test', { params: { connection_id } }).then(done)
  /** @type {Columns<Connection | Server>} */
  const columns = {
    Name: (each) => html`${each.name} <code>${isServer(each) ? each.base_url : each.id}</code>`,
    Provider: (each) => (isServer(each) ? `custom:${each.id}` : each.provider),
    Status: (each) => {
      if (isServer(each)) return each.is_active ? 'on' : 'off'
      const tone = each.status === 'failed' ? 'bad' : each.status === 'ok' ? 'calm' : 'wait'
      return each.is_active ? html`<span class="chip" data-tone=${tone}>${each.status}</span>` : 'off'
    },
    'Last test': (each) => (isServer(each) ? nothing : html`<${When} at=${each.last_tested_at} />`),
    Test: (each) => {
      if (!operates) return nothing
      if (isServer(each)) return html`<${ServerTest} project=${project} id=${each.id} />`
      return html`<${ActButton} label="Test" act=${() => test(each.id)} />`
    },
  }
  return html`<${Table} label="Own keys and servers" columns=${columns} rows=${[...connections, ...servers]} />`
}

/** A button that tests a server. The result is only shown here, not stored. @param {{ project: string, id: string }} props */
const ServerTest = ({ project, id }) => {
  const [outcome, say] = useState('')
  const test = async () => {
    say('')
    const result = await callApi(project, 'custom_providers.test', { body: { provider_id: id } })
    say(result.success ? `responded in ${duration(result.latency_ms)}` : result.error)
  }
  return html`<${ActButton} label="Test" act=${test} /> <span role="status">${outcome}</span>`
}
