import { callApi } from '../api.js'
import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { nameOf } from '../names.js'
import { nothing, When } from '../parts/cells.js'
import { ListView } from '../parts/list-view.js'
import { labelOf } from '../resources/form-values.js'
import { hashAt } from '../route.js'

/**
 * @typedef {import('./gateway-model.js').Line} Line
 * @typedef {Answers['request_log.list']} Lines
 */

/** Of a file. */
const maxPage = 100

/** Filters of the list. */
const fields = [
  {
    ...{ name: 'failed', label: 'Which' },
    choices: /** @type {const} */ ([
      ['', 'all'],
      ['true', 'failed'],
    ]),
  },
  { name: 'model', label: 'Model' },
  { name: 'provider', label: 'Provider' },
  { name: 'tenant', label: 'Tenant' },
  { name: 'key', label: 'Key' },
  { name: 'error', label: 'Error' },
  { name: 'from', label: 'From' },
  { name: 'to', label: 'To' },
]

/** The filters as query parameters of the API. @param {Query} query */
export const filtersOf = ({ model, provider, tenant, key, error, failed, from, to, after }) => ({
  ...{ model, provider, tenant_id: tenant, key_id: key, error, failed, from, to, cursor: after },
})

/** @param {Query} query */
const isFiltered = (query) => Object.values(filtersOf(query)).some((value) => value !== undefined && value !== '')

/** The newest requests, or those that match the filters. @param {{ place: Place, lines: Lines }} props */
export const RequestList = ({ place, lines: { data, next_cursor } }) => html`
  <section class="panel" aria-label="Requests">
    <h2>Requests</h2>
    <${ListView} place=${{ ...place, page: 'gateway', to: (/** @type {Query} */ changes) => hashAt(place, changes) }} title="Requests" columns=${columnsOf(place)} rows=${data} keyOf=${(/** @type {Line} */ { request_id, at }) => `${request_id} ${at}`}
      fields=${fields} next=${next_cursor} read=${(/** @type {string | undefined} */ cursor) => callApi(place.project, 'request_log.list', { query: { ...filtersOf(place.query), limit: maxPage, cursor } })}
      empty=${html`<p class="empty">${isFiltered(place.query) ? html`No results match these filters. <a href=${hashAt({ ...place, query: {} })}>Show all</a>` : html`No requests logged yet. Send one to <code>POST /v1/chat/completions</code> with a key of this project.`}</p>`} />
  </section>
`

/** What a request is, for people: its operation and the model. @param {Pick<Line, 'operation' | 'model' | 'asked_model'>} line */
export const requestTitle = ({ operation, model, asked_model }) =>
  `${labelOf(operation.split('.')[0] ?? operation)} · ${model ?? asked_model}`

/** @param {Place} place @returns {readonly import('../parts/list-view.js').Column[]} */
const columnsOf = (place) => [
  {
    ...{ name: 'name', title: 'Request', value: requestTitle },
    cell: (line) =>
      html`<a class="named" href=${hashAt(place, { request: line.request_id })} title=${line.request_id} data-id=${line.request_id}>${requestTitle(line)}</a>${isOther(line) && html` <span class="muted">requested: ${line.asked_model}</span>`}`,
  },
  {
    ...{ name: 'status', title: 'Status', value: ({ error, status }) => error ?? status },
    cell: ({ error, status }) =>
      html`<span class="chip" data-tone=${error === null ? 'calm' : 'bad'}>${error ?? status}</span>`,
  },
  {
    ...{ name: 'time', title: 'Time', field: 'at' },
    cell: ({ at }) => html`<${When} at=${at} />`,
  },
  { name: 'caller', title: 'Caller', cell: (line) => who(place, line) },
  {
    ...{ name: 'duration', title: 'Duration', field: 'duration_ms' },
    cell: ({ duration_ms }) => duration(duration_ms),
  },
  {
    ...{ name: 'first_byte', title: 'First byte', field: 'first_byte_ms' },
    cell: ({ first_byte_ms }) => (first_byte_ms === null ? nothing : duration(first_byte_ms)),
  },
  {
    ...{ name: 'tokens', title: 'Tokens', value: ({ input_tokens, output_tokens }) => input_tokens + output_tokens },
    cell: ({ input_tokens, output_tokens }) => `${input_tokens} + ${output_tokens}`,
  },
  {
    ...{ name: 'cost', title: 'Cost', value: ({ cost_usd }) => (cost_usd === null ? null : Number(cost_usd)) },
    cell: ({ cost_usd }) => (cost_usd === null ? 'unknown' : dollars(Number(cost_usd))),
  },
  {
    ...{ name: 'attempts', title: 'Attempts', field: 'attempts' },
    cell: ({ attempts }) =>
      attempts > 1 ? html`<span class="chip" data-tone="wait">${attempts} times</span>` : String(attempts),
  },
  { name: 'redacted', title: 'Redacted', value: redacted, cell: (line) => redacted(line) || nothing },
  { name: 'model', title: 'Model', off: true, field: 'model', cell: (line) => modelOf(place, line) },
  { name: 'id', title: 'Id', off: true, cell: ({ request_id }) => html`<code>${request_id}</code>` },
]

/** @param {Pick<Line, 'redactions'>} line */
const redacted = ({ redactions }) => Object.values(redactions).reduce((sum, count) => sum + count, 0)

/** Whether another model answered than the requested one. @param {Pick<Line, 'asked_model' | 'model' | 'provider'>} line */
const isOther = ({ asked_model, model, provider }) =>
  model !== null && asked_model !== model && asked_model !== `${provider}/${model}`

/** The model that answered, and the requested one if it differs. @param {Place} place @param {Line} line */
const modelOf = (place, { asked_model, model, provider }) => {
  if (model === null) return asked_model
  const other = isOther({ asked_model, model, provider })
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
