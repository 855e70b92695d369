import { callById } from '../api.ts'
import { html, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { may, sessionNow } from '../session.ts'
import { Made, onceIn } from './create-panel.ts'
import { bodyOf, pathIn } from './form-values.ts'
import { Nested } from './nested.ts'
import { idOf, nameOf } from './row-text.ts'
import { SchemaForm } from './schema-form.ts'
import type { Act, Answered, Resource, Row, Values } from './types.ts'

interface Acting {
  readonly project: string
  readonly resource: Resource
  readonly row: Row
  /** those of the paths that name what the row belongs to */
  readonly params: Params
  /** called after each act */
  readonly done: () => unknown
  /** only what a list offers */
  readonly quick?: boolean
  readonly removed?: () => void
}

/** The parameters of the paths that name a row. */
export const paramsOf = (of: Pick<Acting, 'resource' | 'row' | 'params'>): Params => {
  const { resource, row, params } = of
  return resource.key === null ? params : { ...params, [resource.key]: String(row[resource.key] ?? idOf(row)) }
}

/**
 * The operations on a row that the member may call now, each a button, or a form where it has fields; then what the
 * last one answered.
 */
export const RowActs = (props: Acting) => {
  const { project, resource, row, done, quick = false, removed } = props
  const [answer, setAnswer] = useState<Row | null>(null)
  const own = paramsOf(props)
  const { remove, key, quick: ids, get } = resource
  // the panel of a row says what it is: `Test a webhook` is `Test` there
  const ofIt = new RegExp(`( of)?${get?.summary.replace('Retrieve', '') ?? ''}$`)
  const acts = [...resource.acts, remove].filter(
    (act) => act !== null && isFor(act, row, own) && (!quick || ids.includes(act.id)),
  )
  /** @param further parameters of the path */
  const call = async (act: Act, body?: object, further: Params = {}) => {
    const named = act.fields.some(({ name }) => name === key) ? own : {}
    const given = { params: { ...own, ...further }, ...(body && { body: { ...body, ...named } }) }
    const answered = await callById(project, act.id, given)
    setAnswer(answered)
    await done()
    if (act === remove) removed?.()
  }
  return html`
    ${acts.map((act) => act && html`<${RowAct} key=${act.id} act=${act} label=${act.summary.replace(ofIt, '')} fields=${act.fields.filter(({ name }) => name !== key)} name=${nameOf(row)} quick=${quick} removes=${act === remove} call=${call} />`)}
    <${Outcome} row=${row} answer=${answer} quick=${quick} />
  `
}

const isFinal = /^(Remove|Discard|Delete|Revoke|End) /

const RowAct = (
  props: Props & {
    act: Act
    fields: Act['fields']
    quick: boolean
    removes: boolean
    call: (act: Act, body?: object, further?: Params) => Promise<void>
  },
) => {
  const { act, label, fields, name, quick, removes, call } = props
  const { summary } = act
  const verb = summary.split(' ')[0]
  const sure = removes ? `${verb} ${name}` : isFinal.test(summary) ? `${summary}: ${name}` : undefined
  if (fields.length > 0 && !quick)
    return html`<details class="row-form open:flex-[1_0_100%]"><summary class="button quiet">${label}</summary><${SchemaForm} label=${summary} button=${summary} sure=${sure} fields=${fields} send=${(values: Values) => call(act, bodyOf(fields, values), pathIn(fields, values))} /></details>`
  return html`<${ActButton} label=${quick || removes ? verb : label} sure=${sure} act=${() => call(act, removes ? undefined : {})} />`
}

/** Whether a row has all parameters of an operation's path, and what it needs, and is none of another member. */
const isFor = (act: Act, row: Row, own: Params) => {
  const { operates, member } = sessionNow()
  const isOwn = row.member_id === undefined || row.member_id === member || operates
  const has = (act.needs ?? []).every(meets(row))
  return may(act) && isOwn && has && row.status !== 'revoked' && act.params.every((name) => own[name] !== undefined)
}

/** Whether a row has what an operation needs (`Act.needs`). */
const meets = (row: Row) => (need: string) => {
  const [name = '', values] = need.split('=')
  if (values !== undefined) return values.split('|').includes(String(row[name]))
  return name.startsWith('!') ? !row[name.slice(1)] : Boolean(row[name])
}

/** What an operation answered that its row does not show. */
const Outcome = ({ row, answer, quick }: { row: Row; answer: Answered | null; quick: boolean }) => {
  if (answer === null || answer.deleted === true) return null
  if (onceIn(answer).length > 0) return html`<div><${Made} row=${answer} /></div>`
  const { success, ok = success, latency_ms, error, added, changed, removed } = answer
  const failure = typeof error === 'string' ? error : `${error?.code ?? 'failed'}: ${error?.message ?? ''}`
  if (typeof ok === 'boolean') return html`<span role="status">${ok ? `It works (${latency_ms} ms).` : failure}</span>`
  if (Array.isArray(added) && Array.isArray(changed) && Array.isArray(removed))
    return html`<span role="status">${added.length} new, ${changed.length} changed, ${removed.length} gone.</span>`
  if (answer.id === row.id) return null
  return quick ? html`<span role="status">Sent.</span>` : html`<div class="w-full"><${Nested} value=${answer} /></div>`
}
