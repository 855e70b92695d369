import { dollars } from '../format.js'
import { html } from '../html.js'
import { nameOf } from '../names.js'
import { nothing } from '../parts/cells.js'
import { Meter } from '../parts/meter.js'
import { TablePanel } from '../parts/panel.js'
import { newResource } from '../route.js'
import { budgetsIn } from './gateway-model.js'

/**
 * @typedef {import('./gateway-model.js').Limit} Limit
 * @typedef {Answers['credits.get']} Credits
 */

/** Limits with their budgets as bars. @param {{ project: string, limits: readonly Limit[], credits: Credits | null, operates: boolean }} props */
export const Budgets = ({ project, limits, credits, operates }) => {
  const lead =
    credits?.gated &&
    html`<div class="panel-part"><${Meter} label="Organisation credits" part=${Number(credits.spent_usd)} whole=${Number(credits.granted_usd)}
      text=${`credits: ${dollars(Number(credits.spent_usd))} of ${dollars(Number(credits.granted_usd))}`} /></div>`
  const empty = html`No limit holds.${operates && html` <a href=${newResource(project, 'limits')}>Set a budget or a rate</a>.`}`
  return html`<${TablePanel} label="Budgets and limits" table="Limits" head="Budgets and limits" lead=${lead} columns=${columns} rows=${limits} empty=${empty} />`
}

/** @type {Columns<Limit>} */
const columns = {
  Subject: ({ subject, subject_id }) =>
    html`<span title=${subject_id}>${subject} ${subject_id !== null && nameOf(subject_id)}</span>`,
  Budgets: (limit) => {
    const budgets = budgetsIn(limit)
    return budgets.length === 0 ? nothing : html`<div class="meters">${budgets.map((each) => meter(limit, each))}</div>`
  },
  'Requests per minute': ({ requests_per_minute }) => requests_per_minute ?? nothing,
  'Tokens per minute': ({ tokens_per_minute }) => tokens_per_minute ?? nothing,
}

/** @param {Limit} limit @param {ReturnType<typeof budgetsIn>[number]} budget */
const meter = ({ subject, subject_id, reserved_usd }, { name, spent, budget }) => {
  const held = Number(reserved_usd ?? 0)
  const beside = held > 0 ? `, ${dollars(held)} held` : ''
  return html`<${Meter} label=${`Budget ${name} of ${subject} ${nameOf(subject_id ?? '')}`} part=${spent} whole=${budget} held=${held} text=${`${dollars(spent)} of ${dollars(budget)} ${name}${beside}`} />`
}
