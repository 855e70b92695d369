import { duration } from '../age.js'
import { callApi } from '../api.js'
import { dollars, time } from '../format.js'
import { html } from '../html.js'
import { nameOf } from '../names.js'
import { CsvButton } from '../parts/csv-button.js'
import { Pages } from '../parts/pages.js'
import { QueryForm } from '../parts/query-form.js'
import { nothing, Table } from '../parts/table.js'
import { hashAt } from '../route.js'

/**
 * @typedef {import('./gateway-model.js').Line} Line
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {{ data: readonly Line[], next_cursor: string | null }} Lines
 */

/** Of a file. */
const maxPage = 100

/** Filters of the list. */
const fields = /** @type {const} */ ([
  { name: 'model', label: 'Model' },
  { name: 'provider', label: 'Provider' },
  { name: 'tenant', label: 'Tenant' },
  { name: 'key', label: 'Key' },
  { name: 'error', label: 'Error' },
  { name: 'from', label: 'From' },
  { name: 'to', label: 'To' },
])

/** The filters as query parameters of the API. @param {import('../route.js').Query} query */
export const filtersOf = ({ model, provider, tenant, key, error, failed, from, to, after }) => ({
  ...{ model, provider, tenant_id: tenant, key_id: key, error, failed, from, to, cursor: after },
})

/** @param {import('../route.js').Query} query */
const isFiltered = (query) => Object.values(filtersOf(query)).some((value) => value !== undefined && value !== '')

/** The newest requests, or those that match the filters. @param {{ place: Place, lines: Lines }} props */
export const RequestList = ({ place, lines: { data, next_cursor } }) => html`
  <section class="panel" aria-label="Requests">
    <h2>Requests <span class="muted">refreshes every 2 seconds</span>
      <nav class="filter" aria-label="Which requests">
        ${[
          ['', 'All'],
          ['true', 'Failed'],
        ].map(
          ([failed, text]) =>
            html`<a href=${hashAt(place, { failed: failed ?? '', after: '' })} aria-current=${(place.query.failed ?? '') === failed ? 'true' : undefined}>${text}</a>`,
        )}
      </nav>
      <${CsvButton} name="Requests" read=${(/** @type {string | undefined} */ cursor) => callApi(place.project, 'request_log.list', { query: { ...filtersOf(place.query), limit: maxPage, cursor } })} />
    </h2>
    <${QueryForm} place=${place} label="Filter requests" button="Apply" fields=${fields} fresh=${['after']} />
    ${
      data.length === 0
        ? html`<p class="panel-part muted">${isFiltered(place.query) ? html`No results match these filters. <a href=${hashAt({ ...place, query: {} })}>Show all</a>` : html`No requests logged yet. Send one to <code>POST /v1/chat/completions</code> with a key of this project.`}</p>`
        : html`<${Table} label="Requests" columns=${['Request', 'Model', 'Caller', 'Status', 'Attempts', 'Redacted', 'First byte', 'Duration', 'Tokens', 'Cost', 'Time']} rows=${data.map(
            (line) => rowOf(place, line),
          )} />`
    }
    <${Pages} first=${place.query.after ? hashAt(place, { after: '' }) : null} next=${next_cursor && hashAt(place, { after: next_cursor })} />
  </section>
`

/** @param {Place} place @param {Line} line */
const rowOf = (place, line) => {
  const { request_id, error, status, attempts, first_byte_ms, duration_ms, input_tokens, output_tokens, cost_usd, at } =
    line
  const taken = Object.values(line.redactions).reduce((sum, count) => sum + count, 0)
  return {
    key: `${request_id} ${at}`,
    cells: [
      html`<a href=${hashAt(place, { request: request_id })}>${request_id}</a> <span class="muted">${line.operation}</span>`,
      modelOf(place, line),
      who(place, line),
      html`<span class="chip" data-tone=${error === null ? 'calm' : 'bad'}>${error ?? status}</span>`,
      attempts > 1 ? html`<span class="chip" data-tone="wait">${attempts} times</span>` : String(attempts),
      taken === 0 ? nothing : String(taken),
      first_byte_ms === null ? nothing : duration(first_byte_ms),
      duration(duration_ms),
      `${input_tokens} + ${output_tokens}`,
      cost_usd === null ? 'unknown' : dollars(Number(cost_usd)),
      html`<time datetime=${at}>${time(at)}</time>`,
    ],
  }
}

/** The model that answered, and the requested one if it differs. @param {Place} place @param {Line} line */
const modelOf = (place, { asked_model, model, provider }) => {
  if (model === null) return asked_model
  const other = asked_model !== model && asked_model !== `${provider}/${model}`
  return html`<a href=${hashAt(place, { model, after: '' })}>${model}</a> <span class="muted">${provider}${other ? `, requested: ${asked_model}` : ''}</span>`
}

/** The caller of a request, as links that filter by it. @param {Place} place @param {Line} line */
export const who = (place, { tenant_id, key_id, external_user_id }) => {
  const tenant =
    tenant_id === null
      ? null
      : html`tenant <a href=${hashAt(place, { tenant: tenant_id, after: '' })} title=${tenant_id}>${nameOf(tenant_id)}</a>`
  const user = external_user_id === null ? null : html` user ${external_user_id}`
  const key =
    key_id === null
      ? null
      : html` key <a href=${hashAt(place, { key: key_id, after: '' })} title=${key_id}>${nameOf(key_id)}</a>`
  return tenant === null && user === null && key === null ? 'the dashboard' : html`${tenant}${user}${key}`
}
