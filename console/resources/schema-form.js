import { callById } from '../api.js'
import { html, typed, useId, useState } from '../html.js'
import { operations } from '../operations.js'
import { ActButton } from '../parts/act-button.js'
import { useRead } from '../parts/use-read.js'
import { sessionNow } from '../session.js'
import { JsonDraft, labelOf, objectOf, variantOf } from './form-values.js'
import { nameOf } from './row-text.js'

/**
 * @typedef {import('./types.js').Field} Field
 * @typedef {import('./types.js').Values} Values
 * @typedef {{ field: Field, value: unknown, set: (value: unknown) => void }} Editing
 */

/**
 * A form for the body of an operation, made from its declared fields: required ones first, the others behind a button.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.button
 * @param {string} [props.sure] label of the button that requests confirmation, by a second press
 * @param {readonly Field[]} props.fields
 * @param {Values} [props.initial]
 * @param {(values: Values) => Promise<unknown>} props.send
 */
export const SchemaForm = ({ label, button, sure, fields, initial = {}, send }) => {
  const [values, setValues] = useState(initial)
  /** @param {string} name */
  const set = (name) => (/** @type {unknown} */ value) => setValues((before) => ({ ...before, [name]: value }))
  return html`<form class="schema-form max-w-680" aria-label=${label} onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <${Fields} fields=${fields} values=${values} setOf=${set} />
    <div><${ActButton} main label=${button} sure=${sure} act=${() => send(values)} /></div>
  </form>`
}

/** The editors of fields: required ones first, the others behind a button. @param {{ fields: readonly Field[], values: Values, setOf: (name: string) => (value: unknown) => void }} props */
export const Fields = ({ fields, values, setOf }) => {
  /** @param {Field} field */
  const editor = (field) =>
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

/** @param {Editing} props */
const Editor = ({ field, value, set }) => {
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
    return html`<label class="flex flex-wrap items-baseline gap-x-8 gap-y-4"><input type="checkbox" checked=${value ?? field.default ?? false} onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && set(currentTarget.checked)} />${title}${hint}</label>`
  return html`<label class="schema-field">${title}<${Input} field=${field} value=${value} set=${set} suggestions=${list && suggestions} />${hint}</label>${list !== undefined && html`<${Suggestions} id=${suggestions} list=${list} />`}`
}

/** @param {{ fields: readonly Field[], value: unknown, set: (value: unknown) => void }} props */
const Group = ({ fields, value, set }) => {
  const values = objectOf(value)
  return html`<div class="schema-fields"><${Fields} fields=${fields} values=${values}
    setOf=${(/** @type {string} */ name) => (/** @type {unknown} */ part) => set({ ...values, [name]: part })} /></div>`
}

/** A list of entries, each of one of some kinds. @param {Editing} props */
const Items = ({ field: { variants = [], name }, value, set }) => {
  const entries = Array.isArray(value) ? value : []
  /** @param {number} at @param {unknown} entry */
  const put = (at, entry) => set(entries.map((each, index) => (index === at ? entry : each)))
  return html`
    ${entries.map((entry, at) => {
      const variant = variantOf(variants, objectOf(entry))
      return html`<fieldset class="box schema-group" key=${at}><legend>${at + 1}. ${titleOf(variant)}</legend>
        <${Group} fields=${variant?.fields ?? []} value=${entry} set=${(/** @type {unknown} */ changed) => put(at, changed)} />
        <button type="button" class="quiet" onClick=${() => set(entries.filter((_, index) => index !== at))}>Remove ${titleOf(variant)} ${at + 1}</button>
      </fieldset>`
    })}
    <div class="decide">${variants.map(
      (variant) =>
        html`<button type="button" class="quiet" onClick=${() => set([...entries, { ...variant.fixed }])}>Add ${variants.length === 1 ? labelOf(name).toLowerCase() : titleOf(variant)}</button>`,
    )}</div>
  `
}

/** @param {import('./types.js').Variant | undefined} variant */
const titleOf = (variant) => labelOf(variant?.title ?? 'entry').toLowerCase()

/** The rows of a list of the project: the first hundred, none until they are read. @param {import('../operation-types.js').OperationId} list */
const useRows = (list) => {
  /** @type {readonly string[]} */
  const names = operations[list][2]
  const query = {
    ...(names.includes('limit') && { limit: 100 }),
    ...(names.includes('available') && { available: true }),
  }
  const { data, error } = useRead(list, (signal) => callById(sessionNow().project, list, { query, signal }))
  return { rows: /** @type {readonly import('./types.js').Row[]} */ (data?.data ?? []), isRead: data ?? error }
}

/** Values of the project that a field suggests by their names. @param {{ id: string, list: import('../operation-types.js').OperationId }} props */
export const Suggestions = ({ id, list }) =>
  html`<datalist id=${id}>${useRows(list).rows.map((row) => html`<option value=${String(row.id)}>${nameOf(row)}</option>`)}</datalist>`

/** Resources of the project by their names. What was chosen and is not listed stays. @param {Editing & { list: import('../operation-types.js').OperationId }} props */
const Known = ({ field, list, value, set }) => {
  const { rows, isRead } = useRows(list)
  const titles = Object.fromEntries(rows.map((row) => [String(row.id), nameOf(row)]))
  const choices = [...new Set([...Object.keys(titles), ...(Array.isArray(value) ? value.map(String) : [])])]
  if (choices.length === 0) return html`<p class="muted">${isRead ? 'None yet.' : '…'}</p>`
  return html`<${Boxes} field=${{ ...field, choices, titles }} value=${value} set=${set} />`
}

/** @param {Editing} props */
const Boxes = ({ field: { choices = [], titles: names = {} }, value, set }) => {
  const chosen = new Set(Array.isArray(value) ? value : [])
  /** @param {unknown} choice */
  const toggle = (choice) => set(choices.filter((each) => (each === choice ? !chosen.has(each) : chosen.has(each))))
  return html`<div class="grid grid-cols-[repeat(auto-fill,minmax(210px,1fr))] gap-x-12 gap-y-4">${choices.map(
    (choice) =>
      html`<label class="flex flex-wrap items-baseline gap-x-8 gap-y-4"><input type="checkbox" checked=${chosen.has(choice)} onChange=${() => toggle(choice)} />${names[String(choice)] ?? String(choice)}</label>`,
  )}</div>`
}

/** @param {Editing & { suggestions: string | undefined }} props */
const Input = ({ field, value, set, suggestions }) => {
  const { kind, required, max, min, choices = [], titles = {} } = field
  const text = textOf(value)
  const into = typed((/** @type {string} */ changed) => set(changed))
  switch (kind) {
    case 'choice':
      return html`<select value=${text} onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLSelectElement && set(choices.find((each) => String(each) === currentTarget.value) ?? '')}>
        <option value="">${field.default === undefined ? (required === true ? 'choose' : 'not set') : `${field.default} (default)`}</option>
        ${choices.map((choice) => html`<option value=${String(choice)} selected=${String(choice) === text}>${titles[String(choice)] ?? String(choice)}</option>`)}</select>`
    case 'long':
      return html`<textarea rows="4" value=${text} onInput=${into}></textarea>`
    case 'json':
      return html`<textarea rows="4" class="code" spellcheck=${false} placeholder="JSON" value=${text} onInput=${typed((/** @type {string} */ changed) => set(new JsonDraft(changed)))}></textarea>`
    case 'lines':
      return html`<textarea rows="3" placeholder="one a line" value=${text} onInput=${typed((/** @type {string} */ changed) => set(changed.split('\n').filter((line) => line.trim() !== '')))}></textarea>`
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

/** @param {unknown} value */
const textOf = (value) => {
  if (value instanceof JsonDraft) return value.text
  if (value === undefined || value === null) return ''
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join('\n')
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
