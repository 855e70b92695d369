import { age, duration } from '../format.js'
import { html } from '../html.js'
import { nothing } from '../parts/cells.js'
import { Table } from '../parts/table.js'
import { byProviderOf, healthOf } from './gateway-model.js'

/** Health of the providers, by the newest requests. @param {{ recent: readonly import('./gateway-model.js').Line[] }} props */
export const Health = ({ recent }) => {
  const called = byProviderOf(recent).map(([provider, lines]) => ({ id: provider, ...healthOf(lines) }))
  return called.length === 0
    ? html`<p class="panel-part muted">No provider was called yet.</p>`
    : html`<${Table} label="Health of providers" columns=${columns} rows=${called} />`
}

/** @type {Columns<{ id: string } & import('./gateway-model.js').Health>} */
const columns = {
  Provider: ({ id }) => id,
  Requests: ({ calls }) => calls,
  Failed: ({ calls, failed }) =>
    failed === 0 ? '0' : html`<span class="chip" data-tone=${failed / calls >= 0.2 ? 'bad' : 'wait'}>${failed}</span>`,
  p50: ({ p50 }) => (p50 === null ? nothing : duration(p50)),
  p95: ({ p95 }) => (p95 === null ? nothing : duration(p95)),
  'Last error': ({ lastError, lastErrorAt }) =>
    lastError === null ? nothing : html`${lastError} <time datetime=${lastErrorAt}>${age(lastErrorAt ?? '')}</time>`,
}
