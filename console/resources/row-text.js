import { html } from '../html.js'
import { linked } from '../linked-ids.js'
import { nameOf as knownName } from '../names.js'
import { nothing, StateChip, When } from '../parts/cells.js'
import { sessionNow } from '../session.js'
import { labelOf } from './form-values.js'

/** @typedef {import('./types.js').Row} Row */

/** Fields that name a row, the best first. */
const names = ['name', 'title', 'external_id', 'email', 'version', 'label', 'subject', 'tool']

/** The name of a row for people; its id where it has none. @param {Row} row */
export const nameOf = (row) => {
  if (typeof row.subject === 'string') return subjectOf(row)
  const name = names.map((field) => row[field]).find((value) => typeof value === 'string' && value !== '')
  return String(name ?? row.id ?? '')
}

/** What a limit is for. @param {Row} row */
const subjectOf = ({ subject, subject_id }) =>
  typeof subject_id === 'string' ? `${subject} ${knownName(subject_id)}` : `the whole ${subject}`

const isId = /^[a-z]{2,5}_[0-9a-z]{26}$/

/** The title of a field that is shown: `created_at` is `Created`, and `agent_id`, which is shown by its name, `Agent`. @param {string} field */
export const titleOf = (field) => labelOf(field.replace(/_(at|id)$|^is_/, ''))

/** A value as a cell of a table. @param {string} field @param {unknown} value */
export const cellOf = (field, value) => {
  if (value === null || value === undefined || value === '') return nothing
  if (field === 'status') return html`<${StateChip} state=${String(value)} />`
  if (typeof value === 'string' && field.endsWith('_at')) return html`<${When} at=${value} />`
  if (typeof value === 'string' && isId.test(value) && field !== 'id')
    return html`<span title=${value} data-id=${value}>${knownName(value) === value ? linked(sessionNow().project ?? '', value) : knownName(value)}</span>`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return shortened(value.join(', '))
  return typeof value === 'object' ? html`<code>${shortened(JSON.stringify(value))}</code>` : shortened(String(value))
}

const maxCell = 120

/** @param {string} text */
const shortened = (text) => (text.length > maxCell ? `${text.slice(0, maxCell)}…` : text)
