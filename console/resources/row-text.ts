import { age, dollars, duration, machineName, stateName } from '../format.ts'
import { html } from '../html.ts'
import { ActorLink, isActorId } from '../linked-ids.ts'
import { nameOf as knownName, titleOf as titleOfId } from '../names.ts'
import { nothing, StateChip, When } from '../parts/cells.ts'
import { Meter } from '../parts/meter.ts'
import { routeHash } from '../route.ts'
import { sessionNow } from '../session.ts'
import type { ComponentChild } from '../vendor/preact.js'
import { labelOf } from './form-values.ts'
import type { Row } from './types.ts'

/** Fields that name a row, the best first. */
const names = [
  ...['name', 'title', 'filename', 'display_name', 'external_id', 'email', 'version', 'label', 'subject', 'tool'],
  ...['url', 'client_name', 'device', 'action', 'content'],
]

/** The name of a row for people; its id where it has none. */
export const nameOf = (row: Row) => {
  if ('subject_id' in row) return subjectOf(row)
  if ('overlays' in row) return `${knownName(String(row.agent_id))} for ${knownName(String(row.tenant_id))}`
  if ('asked_model' in row) return requestTitle(row)
  if (typeof row.action === 'string' && 'resource' in row) return row.action.replaceAll(/[._]/g, ' ')
  const name = names.map((field) => row[field]).find((value) => typeof value === 'string' && value !== '')
  return shortened(titleOfId(String(name ?? row.id ?? '')))
}

/** What a limit or a grant is for. */
const subjectOf = ({ subject, subject_type = subject, subject_id }: Row) =>
  typeof subject_id === 'string' ? `${subject_type} ${knownName(subject_id)}` : `the whole ${subject_type}`

/** What a request is: its operation and the model, and the requested one if another answered. */
const requestTitle = ({ operation, model, asked_model, provider }: Row) => {
  const isOther = model !== null && asked_model !== model && asked_model !== `${provider}/${model}`
  return `${labelOf(String(operation).split('.')[0] ?? '')} · ${model ?? asked_model}${isOther ? `, requested: ${asked_model}` : ''}`
}

/** What names a row in addresses: requests have an id of their own, versions of prompts none. */
export const idOf = ({ id, version, request_id = id ?? version }: Row) => String(request_id)

const isId = /^[a-z]{2,5}_[0-9a-z]{26}$/

/** Titles of fields whose cells say more. */
const titles: Readonly<Record<string, string>> = {
  at: 'Time',
  draining: 'Status',
  paused: 'Status',
  pinned: 'Valid',
  key_last4: 'Token',
  last4: 'Ends with',
  external_id: 'External ID',
}

/**
 * The title of a field that is shown: `created_at` is `Created`, and `agent_id`, which is shown by its name, `Agent`.
 */
export const titleOf = (field: string) =>
  titles[field] ?? labelOf(field.replace(/_count$/, 's').replace(/_(at|id|type|usd|ms)$|^is_/, ''))

/** The used share of a budget, and what is held of it. */
const budgetCell = (period: 'day' | 'month' | 'total', words: string) => (row: Row) => {
  const usd = (field: string) => Number(row[field] ?? 0)
  const [whole, part, held] = [usd(`budget_${period}_usd`), usd(`spent_${period}_usd`), usd('reserved_usd')]
  const text = `${dollars(part)} of ${dollars(whole)} ${words}${held > 0 ? `, ${dollars(held)} held` : ''}`
  return html`<${Meter} label=${`Budget ${words} of ${nameOf(row)}`} part=${part} whole=${whole} held=${held} text=${text} />`
}

/** Kinds of stuck work in words. */
const stuckKinds: Readonly<Record<string, string>> = {
  ...{ parked_actor: 'parked', poison_message: 'message refused', poison_result: 'result refused' },
  ...{ refused_row: 'row refused', failing_reminder: 'reminder fails', overdue_effect: 'overdue' },
  unfinished_commit: 'not finished',
}

/** Cells of fields that others of their row add to. */
const cells: Readonly<Record<string, (row: Row) => ComponentChild>> = {
  status: ({ status, error, is_active, failing_since }) =>
    typeof error === 'string'
      ? html`<span class="chip" data-tone="bad">${error}</span>`
      : html`<${StateChip} state=${is_active === false ? 'off' : String(status)} />${error?.code && html` <span class="trouble">${error.code}${failing_since && ` since ${age(failing_since)}`}: ${error.message}</span>`}`,
  at: ({ at }) => html`<${When} at=${at} />`,
  is_current: ({ is_current }) => (is_current ? 'this one' : nothing),
  attempts: ({ attempts = 0 }) =>
    attempts > 1 ? html`<span class="chip" data-tone="wait">${attempts} times</span>` : attempts,
  redactions: ({ redactions = {} }) =>
    Object.entries(redactions)
      .map(([type, count]) => `${count} ${type.replaceAll('_', ' ')}`)
      .join(', ') || nothing,
  state: ({ state, failures = 0 }) =>
    html`<${StateChip} state=${state} />${failures > 0 && html` <span class="chip" data-tone="bad" title="Failures in the last 24 hours">${failures} failed</span>`}`,
  error: ({ error }) => html`<span class="chip" data-tone="bad">${error}</span>`,
  kind: ({ kind = '' }) =>
    html`<span class="chip" data-tone=${kind in stuckKinds ? 'bad' : 'calm'} title=${kind}>${stuckKinds[kind] ?? stateName(kind)}</span>`,
  key_last4: ({ key_last4 }) => `key …${key_last4}`,
  chunk_count: ({ chunk_count, embedder, embedded_count }) =>
    `${chunk_count}, ${embedder === null ? 'keywords only' : `${embedded_count} with vectors`}`,
  changes: ({ changes = [] }) =>
    'added' in changes ? `+${changes.added} −${changes.removed} =${changes.unchanged}` : changes.join(', ') || nothing,
  owner_type: ({ owner_type = '', tenant_id, external_user_id }) =>
    html`${owner_type.replace('end_', '')} ${external_user_id}${external_user_id && tenant_id && ' of '}${tenant_id && html`<a href=${routeHash({ view: 'connections', project: sessionNow().project, query: { tenant: tenant_id } })} title=${tenant_id}>${knownName(tenant_id)}</a>`}`,
  budget_day_usd: budgetCell('day', 'for today'),
  budget_month_usd: budgetCell('month', 'for this month'),
  budget_total_usd: budgetCell('total', 'in all'),
  pinned: ({ superseded_by, valid_to = null, pinned }) => {
    if (superseded_by !== null) return html`<span class="chip" data-tone="wait">superseded</span>`
    return valid_to === null
      ? html`<span class="chip">${pinned ? 'pinned' : 'now'}</span>`
      : `until ${valid_to.slice(0, 10)}`
  },
  draining: ({ alive, draining }) => {
    const state = alive === false ? 'not answering' : draining ? 'draining' : alive === null ? 'not known' : 'running'
    return html`<${StateChip} state=${state} />`
  },
  current: ({ current }) => (current ? 'this one' : nothing),
  paused: ({ paused, paused_by, paused_at }) =>
    html`<${StateChip} state=${paused ? 'paused' : 'running'} />${paused && html` <${When} at=${paused_at} /> by ${knownName(paused_by ?? '')}`}`,
  actor: ({ actor }) =>
    actor && html`<span title=${actor.id}>${actor.id === null ? actor.kind : knownName(actor.id)}</span>`,
  resource: ({ resource }) =>
    resource &&
    (resource.name === null
      ? named(resource.id, resource.type)
      : html`<span title=${resource.id}>${resource.name}</span>`),
}

/** Whether a field is shown in its own way. */
export const hasCell = (field: string) => field in cells

/** What has an id, by its name; else by its type, where that is known, with the end of the id. */
const named = (id: string, type?: string) =>
  isActorId(id)
    ? html`<${ActorLink} project=${sessionNow().project ?? ''} id=${id} />`
    : html`<span title=${id} data-id=${id}>${type && isId.test(knownName(id)) ? `${machineName(type)} …${id.slice(-5)}` : knownName(id)}</span>`

export const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

/** A field as a cell of a table. @param empty what it says without a value */
export const cellOf = (field: string, row: Row, empty: string = nothing) => {
  const value = row[field]
  if (isEmpty(value)) return empty
  if (cells[field] !== undefined) return cells[field](row)
  if (typeof value === 'string' && /_(at|since)$/.test(field)) return html`<${When} at=${value} />`
  // as OpenAI's clients read it
  if (typeof value === 'number' && field.endsWith('_at'))
    return html`<${When} at=${new Date(value * 1000).toISOString()} />`
  if (typeof value === 'number' && field.endsWith('_ms')) return duration(value)
  if (field.endsWith('_usd')) return dollars(Number(value))
  if (typeof value === 'string' && isId.test(value) && field !== 'id') return named(value)
  if (typeof value === 'number') return value.toLocaleString('en')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return shortened(value.join(', '))
  return typeof value === 'object' ? html`<code>${shortened(JSON.stringify(value))}</code>` : shortened(String(value))
}

const maxCell = 120

const shortened = (text: string) => (text.length > maxCell ? `${text.slice(0, maxCell)}…` : text)
