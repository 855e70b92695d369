import { toneOf } from '../format.js'
import { html } from '../html.js'
import { nothing } from '../parts/table.js'
import { When } from '../parts/when.js'

/** @typedef {import('./types.js').Row} Row */

/** Fields that name a row, the best first. */
const names = ['name', 'title', 'external_id', 'version', 'label', 'subject']

/** The name of a row for people; its id where it has none. @param {Row} row */
export const nameOf = (row) => {
  const name = names.map((field) => row[field]).find((value) => typeof value === 'string' && value !== '')
  return String(name ?? row.id ?? '')
}

/** A value as a cell of a table. @param {string} field @param {unknown} value */
export const cellOf = (field, value) => {
  if (value === null || value === undefined || value === '') return nothing
  if (field === 'status') return html`<span class="chip" data-tone=${toneOf(String(value))}>${value}</span>`
  if (typeof value === 'string' && field.endsWith('_at')) return html`<${When} at=${value} />`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return shortened(value.join(', '))
  return typeof value === 'object' ? html`<code>${shortened(JSON.stringify(value))}</code>` : shortened(String(value))
}

const maxCell = 120

/** @param {string} text */
const shortened = (text) => (text.length > maxCell ? `${text.slice(0, maxCell)}…` : text)
