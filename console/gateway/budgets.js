import { dollars } from '../format.js'
import { html } from '../html.js'
import { nameOf } from '../names.js'
import { Meter } from '../parts/meter.js'
import { nothing, Table } from '../parts/table.js'
import { newResource } from '../route.js'
import { budgetsIn } from './gateway-model.js'

/**
 * @typedef {import('./gateway-model.js').Limit} Limit
 * @typedef {{ gated: boolean, granted_usd: string | null, spent_usd: string | null, balance_usd: string | null }} Credits
 */

/** Limits with their budgets as bars. @param {{ project: string, limits: readonly Limit[], credits: Credits | null, operates: boolean }} props */
export const Budgets = ({ project, limits, credits, operates }) => html`
  <section class="panel" aria-label="Budgets and limits">
    <h2>Budgets and limits</h2>
    ${
      credits?.gated &&
      html`<div class="panel-part"><${Meter} label="Organisation credits" part=${Number(credits.spent_usd)} whole=${Number(credits.granted_usd)}
        text=${`credits: ${dollars(Number(credits.spent_usd))} of ${dollars(Number(credits.granted_usd))}`} /></div>`
    }
    ${
      limits.length === 0
        ? html`<p class="panel-part muted">No limit holds.${operates && html` <a href=${newResource(project, 'limits')}>Set a budget or a rate</a>.`}</p>`
        : html`<${Table} label="Limits" columns=${['Subject', 'Budgets', 'Requests per minute', 'Tokens per minute']} rows=${limits.map(
            rowOf,
          )} />`
    }
  </section>
`

/** @param {Limit} limit */
const rowOf = (limit) => {
  const { id, subject, subject_id, requests_per_minute, tokens_per_minute, reserved_usd } = limit
  const budgets = budgetsIn(limit)
  const held = Number(reserved_usd ?? 0)
  const meters = budgets.map(({ name, spent, budget }) => {
    const beside = held > 0 ? `, ${dollars(held)} held` : ''
    return html`<${Meter} label=${`Budget ${name} of ${subject} ${nameOf(subject_id ?? '')}`} part=${spent} whole=${budget} held=${held} text=${`${dollars(spent)} of ${dollars(budget)} ${name}${beside}`} />`
  })
  return {
    key: id,
    cells: [
      html`<span title=${subject_id}>${subject} ${subject_id !== null && nameOf(subject_id)}</span>`,
      budgets.length === 0 ? nothing : html`<div class="meters">${meters}</div>`,
      requests_per_minute ?? nothing,
      tokens_per_minute ?? nothing,
    ],
  }
}
