import { callById } from '../api.js'
import { html, useState } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { may, sessionNow } from '../session.js'
import { Made, onceIn } from './create-panel.js'
import { bodyOf, pathIn } from './form-values.js'
import { Nested } from './nested.js'
import { idOf, nameOf } from './row-text.js'
import { SchemaForm } from './schema-form.js'

/**
 * @typedef {import('./types.js').Act} Act
 * @typedef {import('./types.js').Row} Row
 * @typedef {object} Acting
 * @property {string} project
 * @property {import('./types.js').Resource} resource
 * @property {Row} row
 * @property {Readonly<Record<string, string>>} params those of the paths that name what the row belongs to
 * @property {() => unknown} done called after each act
 * @property {boolean} [quick] only what a list offers
 * @property {() => void} [removed]
 */

/** The parameters of the paths that name a row. @param {Pick<Acting, 'resource' | 'row' | 'params'>} acting @returns {Readonly<Record<string, string>>} */
export const paramsOf = ({ resource: { key }, row, params }) =>
  key === null ? params : { ...params, [key]: String(row[key] ?? idOf(row)) }

/** The operations on a row that the member may call now, each a button, or a form where it has fields; then what the last one answered. @param {Acting} props */
export const RowActs = (props) => {
  const { project, resource, row, done, quick = false, removed } = props
  const [answer, setAnswer] = useState(/** @type {Row | null} */ (null))
  const own = paramsOf(props)
  const { remove, key, quick: ids } = resource
  const acts = [...resource.acts, remove].filter(
    (act) => act !== null && isFor(act, row, own) && (!quick || ids.includes(act.id)),
  )
  /** @param {Act} act @param {object} [body] @param {Readonly<Record<string, string>>} [further] parameters of the path */
  const call = async (act, body, further = {}) => {
    const named = act.fields.some(({ name }) => name === key) ? own : {}
    const given = { params: { ...own, ...further }, ...(body && { body: { ...body, ...named } }) }
    const answered = await callById(project, act.id, given)
    setAnswer(answered)
    await done()
    if (act === remove) removed?.()
  }
  return html`
    ${acts.map((act) => act && html`<${RowAct} key=${act.id} act=${act} fields=${act.fields.filter(({ name }) => name !== key)} name=${nameOf(row)} quick=${quick} removes=${act === remove} call=${call} />`)}
    <${Outcome} row=${row} answer=${answer} quick=${quick} />
  `
}

const isFinal = /^(Remove|Discard|Delete|Revoke|End) /

/** @param {{ act: Act, fields: Act['fields'], name: string, quick: boolean, removes: boolean, call: (act: Act, body?: object, further?: Readonly<Record<string, string>>) => Promise<void> }} props */
const RowAct = ({ act, fields, name, quick, removes, call }) => {
  const { summary } = act
  const verb = summary.split(' ')[0]
  const sure = removes ? `${verb} ${name}` : isFinal.test(summary) ? `${summary}: ${name}` : undefined
  if (fields.length > 0 && !quick)
    return html`<details class="row-form open:flex-[1_0_100%]"><summary class="button quiet">${summary}</summary><${SchemaForm} label=${summary} button=${summary} sure=${sure} fields=${fields} send=${(/** @type {import('./types.js').Values} */ values) => call(act, bodyOf(fields, values), pathIn(fields, values))} /></details>`
  return html`<${ActButton} label=${quick || removes ? verb : summary} sure=${sure} act=${() => call(act, removes ? undefined : {})} />`
}

/** Whether a row has all parameters of an operation's path, and what it needs, and is none of another member. @param {Act} act @param {Row} row @param {Readonly<Record<string, string>>} own */
const isFor = (act, row, own) => {
  const { operates, member } = sessionNow()
  const isOwn = row.member_id === undefined || row.member_id === member || operates
  const has = (act.needs ?? []).every(meets(row))
  return may(act) && isOwn && has && row.status !== 'revoked' && act.params.every((name) => own[name] !== undefined)
}

/** Whether a row has what an operation needs (`Act.needs`). @param {Row} row */
const meets = (row) => (/** @type {string} */ need) => {
  const [name = '', values] = need.split('=')
  if (values !== undefined) return values.split('|').includes(String(row[name]))
  return name.startsWith('!') ? !row[name.slice(1)] : Boolean(row[name])
}

/** What an operation answered that its row does not show. @param {{ row: Row, answer: any, quick: boolean }} props */
const Outcome = ({ row, answer, quick }) => {
  if (answer === null || answer.deleted === true) return null
  if (onceIn(answer).length > 0) return html`<div><${Made} row=${answer} /></div>`
  const { success, ok = success, latency_ms, error, added, changed, removed } = answer
  const failure = typeof error === 'string' ? error : `${error?.code ?? 'failed'}: ${error?.message ?? ''}`
  if (typeof ok === 'boolean') return html`<span role="status">${ok ? `It works (${latency_ms} ms).` : failure}</span>`
  if (Array.isArray(added))
    return html`<span role="status">${added.length} new, ${changed.length} changed, ${removed.length} gone.</span>`
  if (answer.id === row.id) return null
  return quick ? html`<span role="status">Sent.</span>` : html`<div class="w-full"><${Nested} value=${answer} /></div>`
}
