import { callApi } from '../api.js'
import { age, duration } from '../format.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { nothing, Table } from '../parts/table.js'
import { When } from '../parts/when.js'
import { newResource } from '../route.js'
import { useState } from '../vendor/hooks.js'
import { byProviderOf, healthOf } from './gateway-model.js'

/**
 * @typedef {import('./gateway-model.js').Connection} Connection
 * @typedef {{ id: string, name: string, base_url: string, is_active: boolean }} Server
 * @typedef {{ project: string, recent: readonly import('./gateway-model.js').Line[], connections: readonly Connection[], servers: readonly Server[], operates: boolean, done: () => void }} Providing
 */

/** Health of the providers, by the newest requests, and the project's own keys and servers. @param {Providing} props */
export const Providers = ({ project, recent, connections, servers, operates, done }) => {
  const called = byProviderOf(recent)
  return html`
    <section class="panel" aria-label="Providers">
      <h2>Providers <span class="muted">by the newest ${recent.length} requests</span></h2>
      ${
        called.length === 0
          ? html`<p class="panel-part muted">No provider was called yet.</p>`
          : html`<${Table} label="Health of providers" columns=${['Provider', 'Requests', 'Failed', 'p50', 'p95', 'Last error']} rows=${called.map(
              ([provider, lines]) => healthRow(provider, healthOf(lines)),
            )} />`
      }
      ${
        connections.length + servers.length === 0
          ? html`<p class="panel-part muted">The project has no key or server of its own: the installation's keys serve it.${operates && html` Add <a href=${newResource(project, 'provider_connections')}>a key</a> or <a href=${newResource(project, 'custom_providers')}>a server</a>.`}</p>`
          : html`<${Table} label="Own keys and servers" columns=${['Name', 'Provider', 'Status', 'Last test', 'Test']} rows=${[
              ...connections.map((each) => connectionRow({ project, operates, done }, each)),
              ...servers.map((each) => serverRow({ project, operates }, each)),
            ]} />`
      }
    </section>
  `
}

/** @param {string} provider @param {import('./gateway-model.js').Health} health */
const healthRow = (provider, { calls, failed, p50, p95, lastError, lastErrorAt }) => ({
  key: provider,
  cells: [
    provider,
    calls,
    failed === 0 ? '0' : html`<span class="chip" data-tone=${failed / calls >= 0.2 ? 'bad' : 'wait'}>${failed}</span>`,
    p50 === null ? nothing : duration(p50),
    p95 === null ? nothing : duration(p95),
    lastError === null ? nothing : html`${lastError} <time datetime=${lastErrorAt}>${age(lastErrorAt ?? '')}</time>`,
  ],
})

/** @param {{ project: string, operates: boolean, done: () => void }} parts @param {Connection} connection */
const connectionRow = ({ project, operates, done }, { id, name, provider, is_active, status, last_tested_at }) => ({
  key: id,
  cells: [
    html`${name} <code>${id}</code>`,
    provider,
    is_active
      ? html`<span class="chip" data-tone=${status === 'failed' ? 'bad' : status === 'ok' ? 'calm' : 'wait'}>${status}</span>`
      : 'off',
    html`<${When} at=${last_tested_at} />`,
    operates
      ? html`<${ActButton} label="Test" act=${async () => {
          await callApi(project, 'provider_connections.test', { params: { connection_id: id } })
          done()
        }} />`
      : nothing,
  ],
})

/** @param {{ project: string, operates: boolean }} parts @param {Server} server */
const serverRow = ({ project, operates }, { id, name, base_url, is_active }) => ({
  key: id,
  cells: [
    html`${name} <code>${base_url}</code>`,
    `custom:${id}`,
    is_active ? 'on' : 'off',
    nothing,
    operates ? html`<${ServerTest} project=${project} id=${id} />` : nothing,
  ],
})

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
