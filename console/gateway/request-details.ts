import type { RequestLogEntry as Entry } from '#client/api/index.ts'
import { dollars, duration } from '../format.ts'
import { html } from '../html.ts'
import { Table } from '../parts/table.ts'
import { routeHash } from '../route.ts'
import { type PricePart, priceParts } from './gateway-model.ts'

/** Operations whose requests the playground can send again. */
const openable = ['chat_completions.create', 'responses.create']

/** The attempts of a request, the parts of its price, and its bodies. */
export const RequestDetails = ({ place: { project }, row: entry }: { place: Place; row: Entry }) => {
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

const whyNoTexts = (bodies: string) => {
  if (bodies === 'off') return 'The request log is set to store no bodies.'
  return bodies === 'busy'
    ? 'The bodies were not stored because the server was under load.'
    : 'The request had no bodies.'
}

/** Each attempt in order, the one that answered last. */
const Attempts = ({ entry }: { entry: Entry }) => {
  const { failed_attempts: failed = [], attempts, error, provider, model, source, duration_ms } = entry
  const answered =
    error === null && provider !== null
      ? [{ provider, model, source, error: '', message: '', after_ms: duration_ms, at: Math.max(attempts, 1) }]
      : []
  const rows = [...failed.map((each, at) => ({ ...each, at: at + 1 })), ...answered]
  if (rows.length === 0)
    return html`<p class="panel-part muted">No provider was called: the request was refused before that.</p>`
  const columns: Columns<(typeof rows)[number]> = {
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

const Price = ({ entry }: { entry: Entry }) => {
  const { cost_usd, price } = entry
  if (cost_usd === null)
    return html`<p class="panel-part muted">The cost is unknown because the price of this model is unknown.</p>`
  const parts = priceParts(entry)
  if (parts.length === 0) return html`<p class="panel-part">${dollars(Number(cost_usd))}</p>`
  /** the last row is the sum */
  const columns: Columns<PricePart | null> = {
    Unit: (part) => part?.name ?? html`<strong>Cost</strong>`,
    Count: (part) => part?.count.toLocaleString('en') ?? '',
    Rate: (part) => (part === null ? (price?.date ? `prices of ${price.date}` : '') : rateOf(part)),
    Cost: (part) => (part === null ? html`<strong>$${cost_usd}</strong>` : dollars(part.usd)),
  }
  return html`<${Table} label="Price" columns=${columns} rows=${[...parts, null]} />`
}

/** Formats a rate; tokens are priced per million everywhere. */
const rateOf = ({ name, rate }: PricePart) =>
  name.includes('token') ? `${dollars(rate * 1e6)} a million` : dollars(rate)

const Body = ({ title, text }: { title: string; text: string | null }) =>
  text === null
    ? null
    : html`<details class="panel-part"><summary>${title}</summary><pre class="body" tabindex="0">${pretty(text)}</pre></details>`

const pretty = (text: string) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
