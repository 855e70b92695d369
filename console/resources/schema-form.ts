import { callById } from '../api.ts'
import { html, typed, useId, useState } from '../html.ts'
import type { OperationId } from '../operation-types.ts'
import { operations } from '../operations.ts'
import { ActButton } from '../parts/act-button.ts'
import { useRead } from '../parts/use-read.ts'
import { sessionNow } from '../session.ts'
import { JsonDraft, labelOf, objectOf, variantOf } from './form-values.ts'
import { nameOf } from './row-text.ts'
import type { Field, Row, Values, Variant } from './types.ts'

type Editing = Readonly<{ field: Field; value: unknown; set: (value: unknown) => void }>

/**
 * A form for the body of an operation, made from its declared fields: required ones first, the others behind a button.
 */
export const SchemaForm = (
  props: Props & {
    button: string
    /** label of the button that requests confirmation, by a second press */
    sure?: string
    fields: readonly Field[]
    initial?: Values
    send: (values: Values) => Promise<unknown>
  },
) => {
  const { label, button, sure, fields, initial = {}, send } = props
  const [values, setValues] = useState(initial)
  const set = (name: string) => (value: unknown) => setValues((before) => ({ ...before, [name]: value }))
  return html`<form class="schema-form max-w-680" aria-label=${label} onSubmit=${(event: Event) => event.preventDefault()}>
    <${Fields} fields=${fields} values=${values} setOf=${set} />
    <div><${ActButton} main label=${button} sure=${sure} act=${() => send(values)} /></div>
  </form>`
}

/** The editors of fields: required ones first, the others behind a button. */
export const Fields = (props: {
  fields: readonly Field[]
  values: Values
  setOf: (name: string) => (value: unknown) => void
}) => {
  const { fields, values, setOf } = props
  const editor = (field: Field) =>
    html`<${Editor} key=${field.name} field=${field} value=${values[field.name]} set=${setOf(field.name)} />`
  // fixed at first: a field that moved while it is filled in would lose the focus
  const [given] = useState(
    () => new Set(fields.filter(({ name }) => values[name] !== undefined).map(({ name }) => name)),
  )
  const shownFirst = fields.filter(({ required, first, name }) => (required ?? first) === true || given.has(name))
  const others = fields.filter((field) => !shownFirst.includes(field))
  const shown = shownFirst.length === 0 ? others : shownFirst
  return html`
    ${shown.map(editor)}
    ${shownFirst.length > 0 && others.length > 0 && html`<details class="schema-more"><summary>${others.length} more ${others.length === 1 ? 'field' : 'fields'}</summary><div class="schema-fields">${others.map(editor)}</div></details>`}
  `
}

const Editor = ({ field, value, set }: Editing) => {
  const { name, title: named = labelOf(name), kind, help, list, required = false } = field
  const suggestions = useId()
  const title = html`<span class="schema-name">${named}${required && html` <abbr title="required">*</abbr>`}</span>`
  const hint = help !== undefined && html`<small class="text-soft text-12">${help.replaceAll('`', '')}</small>`
  if (kind === 'group')
    return html`<fieldset class="box schema-group"><legend>${named}</legend>${hint}<${Group} fields=${field.fields ?? []} value=${value} set=${set} /></fieldset>`
  if (kind === 'items')
    return html`<fieldset class="box schema-group"><legend>${named}</legend>${hint}<${Items} field=${field} value=${value} set=${set} /></fieldset>`
  if (kind === 'choices' || kind === 'known')
    return html`<fieldset class="box schema-group"><legend>${named}</legend>${hint}${kind === 'known' && list ? html`<${Known} field=${field} list=${list} value=${value} set=${set} />` : html`<${Boxes} field=${field} value=${value} set=${set} />`}</fieldset>`
  if (kind === 'flag')
    return html`<label class="flex flex-wrap items-baseline gap-x-8 gap-y-4"><input type="checkbox" checked=${value ?? field.default ?? false} onChange=${({ currentTarget }: Event) => currentTarget instanceof HTMLInputElement && set(currentTarget.checked)} />${title}${hint}</label>`
  return html`<label class="schema-field">${title}<${Input} field=${field} value=${value} set=${set} suggestions=${list && suggestions} />${hint}</label>${list !== undefined && html`<${Suggestions} id=${suggestions} list=${list} />`}`
}

const Group = ({ fields, value, set }: { fields: readonly Field[]; value: unknown; set: (value: unknown) => void }) => {
  const values = objectOf(value)
  return html`<div class="schema-fields"><${Fields} fields=${fields} values=${values}
    setOf=${(name: string) => (part: unknown) => set({ ...values, [name]: part })} /></div>`
}

/** A list of entries, each of one of some kinds. */
const Items = ({ field: { variants = [], name }, value, set }: Editing) => {
  const entries = Array.isArray(value) ? value : []
  const put = (at: number, entry: unknown) => set(entries.map((each, index) => (index === at ? entry : each)))
  return html`
    ${entries.map((entry, at) => {
      const variant = variantOf(variants, objectOf(entry))
      return html`<fieldset class="box schema-group" key=${at}><legend>${at + 1}. ${titleOf(variant)}</legend>
        <${Group} fields=${variant?.fields ?? []} value=${entry} set=${(changed: unknown) => put(at, changed)} />
        <button type="button" class="quiet" onClick=${() => set(entries.filter((_, index) => index !== at))}>Remove ${titleOf(variant)} ${at + 1}</button>
      </fieldset>`
    })}
    <div class="decide">${variants.map(
      (variant) =>
        html`<button type="button" class="quiet" onClick=${() => set([...entries, { ...variant.fixed }])}>Add ${variants.length === 1 ? labelOf(name).toLowerCase() : titleOf(variant)}</button>`,
    )}</div>
  `
}

const titleOf = (variant: Variant | undefined) => labelOf(variant?.title ?? 'entry').toLowerCase()

/** The rows of a list of the project: the first hundred, none until they are read. */
const useRows = (list: OperationId) => {
  const names: readonly string[] = operations[list][2]
  const query = {
    ...(names.includes('limit') && { limit: 100 }),
    ...(names.includes('available') && { available: true }),
  }
  const { data, error } = useRead(list, (signal) => callById(sessionNow().project, list, { query, signal }))
  const rows: readonly Row[] = data?.data ?? []
  return { rows, isRead: data ?? error }
}

/** Values of the project that a field suggests by their names. */
export const Suggestions = ({ id, list }: { id: string; list: OperationId }) =>
  html`<datalist id=${id}>${useRows(list).rows.map((row) => html`<option value=${String(row.id)}>${nameOf(row)}</option>`)}</datalist>`

/** Resources of the project by their names. What was chosen and is not listed stays. */
const Known = ({ field, list, value, set }: Editing & { list: OperationId }) => {
  const { rows, isRead } = useRows(list)
  const titles = Object.fromEntries(rows.map((row) => [String(row.id), nameOf(row)]))
  const choices = [...new Set([...Object.keys(titles), ...(Array.isArray(value) ? value.map(String) : [])])]
  if (choices.length === 0) return html`<p class="muted">${isRead ? 'None yet.' : '…'}</p>`
  return html`<${Boxes} field=${{ ...field, choices, titles }} value=${value} set=${set} />`
}

const Boxes = ({ field: { choices = [], titles: names = {} }, value, set }: Editing) => {
  const chosen = new Set(Array.isArray(value) ? value : [])
  const toggle = (choice: unknown) =>
    set(choices.filter((each) => (each === choice ? !chosen.has(each) : chosen.has(each))))
  return html`<div class="grid grid-cols-[repeat(auto-fill,minmax(210px,1fr))] gap-x-12 gap-y-4">${choices.map(
    (choice) =>
      html`<label class="flex flex-wrap items-baseline gap-x-8 gap-y-4"><input type="checkbox" checked=${chosen.has(choice)} onChange=${() => toggle(choice)} />${names[String(choice)] ?? String(choice)}</label>`,
  )}</div>`
}

const Input = ({ field, value, set, suggestions }: Editing & { suggestions: string | undefined }) => {
  const { kind, required, max, min, choices = [], titles = {} } = field
  const text = textOf(value)
  const into = typed((changed: string) => set(changed))
  switch (kind) {
    case 'choice':
      return html`<select value=${text} onChange=${typed((chosen) => set(choices.find((each) => String(each) === chosen) ?? ''))}>
        <option value="">${field.default === undefined ? (required === true ? 'choose' : 'not set') : `${field.default} (default)`}</option>
        ${choices.map((choice) => html`<option value=${String(choice)} selected=${String(choice) === text}>${titles[String(choice)] ?? String(choice)}</option>`)}</select>`
    case 'long':
      return html`<textarea rows="4" value=${text} onInput=${into}></textarea>`
    case 'json':
      return html`<textarea rows="4" class="code" spellcheck=${false} placeholder="JSON" value=${text} onInput=${typed((changed: string) => set(new JsonDraft(changed)))}></textarea>`
    case 'lines':
      return html`<textarea rows="3" placeholder="one a line" value=${text} onInput=${typed((changed: string) => set(changed.split('\n').filter((line) => line.trim() !== '')))}></textarea>`
    case 'integer':
    case 'number':
      return html`<input type="number" step=${kind === 'integer' ? 1 : 'any'} min=${min} max=${max} value=${text} onInput=${into} />`
    case 'time':
      return html`<input type="datetime-local" value=${text} onInput=${into} />`
    case 'secret':
      return html`<input type="password" autocomplete="off" maxlength=${max} value=${text} onInput=${into} />`
    default:
      return html`<input type="text" autocomplete="off" spellcheck=${false} maxlength=${max} list=${suggestions} value=${text} onInput=${into} />`
  }
}

const textOf = (value: unknown) => {
  if (value instanceof JsonDraft) return value.text
  if (value === undefined || value === null) return ''
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join('\n')
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
