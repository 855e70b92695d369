import { callApi } from '../api.js'
import { dollars, duration, preciseTime } from '../format.js'
import { html } from '../html.js'
import { nothing, Table } from '../parts/table.js'
import { useRead } from '../parts/use-read.js'
import { hashAt, routeHash } from '../route.js'
import { priceParts } from './gateway-model.js'
import { requestTitle, who } from './request-list.js'

/** @typedef {import('./gateway-model.js').Entry} Entry */

/** Operations whose requests the playground can send again. */
const openable = ['chat_completions.create', 'responses.create']

/** One request: its attempts, its redactions, the parts of its price, and its bodies. @param {{ place: import('../parts/query-form.js').Place, id: string }} props */
export const RequestPanel = ({ place, id }) => {
  const { data, error } = useRead(id, () => callApi(place.project, 'request_log.get', { params: { request_id: id } }))
  return html`
    <section class="panel" aria-label=${`Request ${id}`}>
      <h2>${data === null ? 'Request' : requestTitle(data)} <code>${id}</code> ${data !== null && openable.includes(data.operation) && data.request_body !== null && html`<a href=${routeHash({ view: 'playground', project: place.project, query: { mode: 'requests', request: id } })}>Open in the playground</a>`}<a class="close" href=${hashAt(place, { request: '' })}>Close</a></h2>
      ${error !== null && html`<p class="panel-part trouble" role="alert">The request log has no entry for this request: it was not logged, or its entry has expired.</p>`}
      ${data !== null && html`<${Shown} place=${place} entry=${data} />`}
    </section>
  `
}

/** @param {{ place: import('../parts/query-form.js').Place, entry: Entry }} props */
const Shown = ({ place, entry }) => {
  const { error, status, operation, asked_model, at, duration_ms, first_byte_ms, redactions, bodies } = entry
  const taken = Object.entries(redactions)
  return html`
    ${error !== null && html`<p class="panel-part trouble" role="alert"><strong>${error}</strong> answered with ${status}.</p>`}
    <dl class="facts">
      <dt>Ended</dt><dd><time datetime=${at}>${preciseTime(at)}</time></dd>
      <dt>Operation</dt><dd>${operation}</dd>
      <dt>Caller</dt><dd>${who(place, entry)}</dd>
      <dt>Requested model</dt><dd>${asked_model}</dd>
      <dt>First byte</dt><dd>${first_byte_ms === null ? nothing : duration(first_byte_ms)}</dd>
      <dt>Duration</dt><dd>${duration(duration_ms)}</dd>
      <dt>Redacted</dt><dd>${taken.length === 0 ? 'nothing' : taken.map(([type, count]) => `${count} ${type.replaceAll('_', ' ')}`).join(', ')}</dd>
    </dl>
    <h3>Attempts</h3>
    <${Attempts} entry=${entry} />
    <h3>Price</h3>
    <${Price} entry=${entry} />
    ${bodies === 'kept' ? html`<${Body} title="Request" text=${entry.request_body} /><${Body} title="Response" text=${entry.response_body} />` : html`<p class="panel-part muted">${whyNoTexts(bodies)}</p>`}
  `
}

/** @param {string} bodies */
const whyNoTexts = (bodies) => {
  if (bodies === 'off') return 'The request log is set to store no bodies.'
  return bodies === 'busy'
    ? 'The bodies were not stored because the server was under load.'
    : 'The request had no bodies.'
}

/** Each attempt in order, the one that answered last. @param {{ entry: Entry }} props */
const Attempts = ({ entry }) => {
  const { failed_attempts: failed, attempts, error, provider, model, source, duration_ms } = entry
  const rows = failed.map(({ provider: tried, model: as, source: by, error: code, message, after_ms }, at) => ({
    key: String(at),
    cells: [
      String(at + 1),
      `${tried} ${as}`,
      by,
      html`<span class="chip" data-tone="bad">${code}</span> ${message}`,
      duration(after_ms),
    ],
  }))
  const answered =
    error === null && provider !== null
      ? [
          {
            key: 'answer',
            cells: [
              String(Math.max(attempts, 1)),
              `${provider} ${model}`,
              source,
              html`<span class="chip">answered</span>`,
              duration(duration_ms),
            ],
          },
        ]
      : []
  if (rows.length + answered.length === 0)
    return html`<p class="panel-part muted">No provider was called: the request was refused before that.</p>`
  return html`<${Table} label="Attempts" columns=${['Attempt', 'Provider and model', 'Key', 'Outcome', 'After']} rows=${[...rows, ...answered]} />`
}

/** @param {{ entry: Entry }} props */
const Price = ({ entry }) => {
  const { cost_usd, price } = entry
  if (cost_usd === null)
    return html`<p class="panel-part muted">The cost is unknown because the price of this model is unknown.</p>`
  const parts = priceParts(entry)
  if (parts.length === 0) return html`<p class="panel-part">${dollars(Number(cost_usd))}</p>`
  const rows = parts.map(({ name, count, rate, usd }) => ({
    key: name,
    cells: [name, count.toLocaleString('en'), rateOf(name, rate), dollars(usd)],
  }))
  return html`
    <${Table} label="Price" columns=${['Unit', 'Count', 'Rate', 'Cost']} rows=${[...rows, { key: 'sum', cells: [html`<strong>Cost</strong>`, '', price?.date ? `prices of ${price.date}` : '', html`<strong>$${cost_usd}</strong>`] }]} />
  `
}

/** Formats a rate; tokens are priced per million everywhere. @param {string} name @param {number} rate */
const rateOf = (name, rate) => (name.includes('token') ? `${dollars(rate * 1e6)} a million` : dollars(rate))

/** @param {{ title: string, text: string | null }} props */
const Body = ({ title, text }) =>
  text === null
    ? null
    : html`<details class="panel-part"><summary>${title}</summary><pre class="body" tabindex="0">${pretty(text)}</pre></details>`

/** @param {string} text */
const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
