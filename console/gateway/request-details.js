import { dollars, duration } from '../format.js'
import { html } from '../html.js'
import { Table } from '../parts/table.js'
import { routeHash } from '../route.js'
import { priceParts } from './gateway-model.js'

/** @typedef {import('./gateway-model.js').Entry} Entry */

/** Operations whose requests the playground can send again. */
const openable = ['chat_completions.create', 'responses.create']

/** The attempts of a request, the parts of its price, and its bodies. @param {{ place: Place, row: Entry }} props */
export const RequestDetails = ({ place: { project }, row: entry }) => {
  const { request_id: request, operation, bodies, request_body, response_body } = entry
  const opens = openable.includes(operation) && request_body !== null
  return html`
    ${opens && html`<p class="panel-part"><a href=${routeHash({ view: 'playground', project, query: { mode: 'requests', request } })}>Open in the playground</a></p>`}
    <h3>Attempts</h3>
    <${Attempts} entry=${entry} />
    <h3>Price</h3>
    <${Price} entry=${entry} />
    ${bodies === 'kept' ? html`<${Body} title="Request" text=${request_body} /><${Body} title="Response" text=${response_body} />` : html`<p class="panel-part muted">${whyNoTexts(bodies)}</p>`}
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
  const { failed_attempts: failed = [], attempts, error, provider, model, source, duration_ms } = entry
  const answered =
    error === null && provider !== null
      ? [{ provider, model, source, error: '', message: '', after_ms: duration_ms, at: Math.max(attempts, 1) }]
      : []
  const rows = [...failed.map((each, at) => ({ ...each, at: at + 1 })), ...answered]
  if (rows.length === 0)
    return html`<p class="panel-part muted">No provider was called: the request was refused before that.</p>`
  /** @type {Columns<(typeof rows)[number]>} */
  const columns = {
    Attempt: ({ at }) => String(at),
    'Provider and model': (each) => `${each.provider} ${each.model}`,
    Key: (each) => each.source,
    Outcome: ({ error: code, message }) =>
      code === ''
        ? html`<span class="chip">answered</span>`
        : html`<span class="chip" data-tone="bad">${code}</span> ${message}`,
    After: ({ after_ms }) => duration(after_ms),
  }
  return html`<${Table} label="Attempts" columns=${columns} rows=${rows} />`
}

/** @param {{ entry: Entry }} props */
const Price = ({ entry }) => {
  const { cost_usd, price } = entry
  if (cost_usd === null)
    return html`<p class="panel-part muted">The cost is unknown because the price of this model is unknown.</p>`
  const parts = priceParts(entry)
  if (parts.length === 0) return html`<p class="panel-part">${dollars(Number(cost_usd))}</p>`
  /** @type {Columns<import('./gateway-model.js').PricePart | null>} the last row is the sum */
  const columns = {
    Unit: (part) => part?.name ?? html`<strong>Cost</strong>`,
    Count: (part) => part?.count.toLocaleString('en') ?? '',
    Rate: (part) => (part === null ? (price?.date ? `prices of ${price.date}` : '') : rateOf(part)),
    Cost: (part) => (part === null ? html`<strong>$${cost_usd}</strong>` : dollars(part.usd)),
  }
  return html`<${Table} label="Price" columns=${columns} rows=${[...parts, null]} />`
}

/** Formats a rate; tokens are priced per million everywhere. @param {import('./gateway-model.js').PricePart} part */
const rateOf = ({ name, rate }) => (name.includes('token') ? `${dollars(rate * 1e6)} a million` : dollars(rate))

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
