import type { RequestLogLine } from '#client/api/index.ts'
import { age, duration } from '../format.ts'
import { html } from '../html.ts'
import { nothing } from '../parts/cells.ts'
import { Table } from '../parts/table.ts'
import { byProviderOf, healthOf } from './gateway-model.ts'

/** Health of the providers, by the newest requests. */
export const Health = ({ recent }: { recent: readonly RequestLogLine[] }) => {
  const called = byProviderOf(recent).map(([provider, lines]) => ({ id: provider, ...healthOf(lines) }))
  return called.length === 0
    ? html`<p class="panel-part muted">No provider was called yet.</p>`
    : html`<${Table} label="Health of providers" columns=${columns} rows=${called} />`
}

const columns: Columns<{ id: string } & Made<typeof healthOf>> = {
  Provider: ({ id }) => id,
  Requests: ({ calls }) => calls,
  Failed: ({ calls, failed }) =>
    failed === 0 ? '0' : html`<span class="chip" data-tone=${failed / calls >= 0.2 ? 'bad' : 'wait'}>${failed}</span>`,
  p50: ({ p50 }) => (p50 === null ? nothing : duration(p50)),
  p95: ({ p95 }) => (p95 === null ? nothing : duration(p95)),
  'Last error': ({ lastError, lastErrorAt }) =>
    lastError === null ? nothing : html`${lastError} <time datetime=${lastErrorAt}>${age(lastErrorAt ?? '')}</time>`,
}
