import { callById } from '../api.js'
import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { typed } from '../parts/typed.js'
import { useRead } from '../parts/use-read.js'
import { sessionNow } from '../session.js'
import { useState } from '../vendor/hooks.js'
import { JsonDraft, labelOf, objectOf, variantOf } from './form-values.js'
import { nameOf } from './row-text.js'

/**
 * @typedef {import('./types.js').Field} Field
 * @typedef {import('./types.js').Values} Values
 * @typedef {{ field: Field, value: unknown, set: (value: unknown) => void, suggest: Readonly<Record<string, string>> }} Editing
 *   `suggest`: ids of lists of known values, by names of fields
 */

const few = { limit: 100 }

/**
 * A form for the body of an operation, made from its declared fields: required ones first, the others behind a button.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.button
 * @param {readonly Field[]} props.fields
 * @param {Values} [props.initial]
 * @param {(values: Values) => Promise<unknown>} props.send
 * @param {Readonly<Record<string, string>>} [props.suggest]
 */
export const SchemaForm = ({ label, button, fields, initial = {}, send, suggest = {} }) => {
  const [values, setValues] = useState(initial)
  /** @param {string} name */
  const set = (name) => (/** @type {unknown} */ value) => setValues((before) => ({ ...before, [name]: value }))
  return html`<form class="schema-form" aria-label=${label} onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <${Fields} fields=${fields} values=${values} setOf=${set} suggest=${suggest} />
    <div class="schema-send"><${ActButton} main label=${button} act=${() => send(values)} /></div>
  </form>`
}

/** The editors of fields: required ones first, the others behind a button. @param {{ fields: readonly Field[], values: Values, setOf: (name: string) => (value: unknown) => void, suggest: Editing['suggest'] }} props */
export const Fields = ({ fields, values, setOf, suggest }) => {
  /** @param {Field} field */
  const editor = (field) =>
    html`<${Editor} key=${field.name} field=${field} value=${values[field.name]} set=${setOf(field.name)} suggest=${suggest} />`
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
const Editor = ({ field, value, set, suggest }) => {
  const { name, kind, help, required = false } = field
  const title = html`<span class="schema-name">${labelOf(name)}${required && html` <abbr title="required">*</abbr>`}</span>`
  const hint = help !== undefined && html`<small class="schema-help">${help.replaceAll('`', '')}</small>`
  if (kind === 'group')
    return html`<fieldset class="schema-group"><legend>${labelOf(name)}</legend>${hint}<${Group} fields=${field.fields ?? []} value=${value} set=${set} suggest=${suggest} /></fieldset>`
  if (kind === 'items')
    return html`<fieldset class="schema-group"><legend>${labelOf(name)}</legend>${hint}<${Items} field=${field} value=${value} set=${set} suggest=${suggest} /></fieldset>`
  if (kind === 'choices' || kind === 'known')
    return html`<fieldset class="schema-group"><legend>${labelOf(name)}</legend>${hint}<${kind === 'known' ? Known : Boxes} field=${field} value=${value} set=${set} /></fieldset>`
  if (kind === 'flag')
    return html`<label class="schema-flag"><input type="checkbox" checked=${value ?? field.default ?? false} onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && set(currentTarget.checked)} />${title}${hint}</label>`
  return html`<label class="schema-field">${title}<${Input} field=${field} value=${value} set=${set} suggest=${suggest} />${hint}</label>`
}

/** @param {{ fields: readonly Field[], value: unknown, set: (value: unknown) => void, suggest: Editing['suggest'] }} props */
const Group = ({ fields, value, set, suggest }) => {
  const values = objectOf(value)
  return html`<div class="schema-fields"><${Fields} fields=${fields} values=${values} suggest=${suggest}
    setOf=${(/** @type {string} */ name) => (/** @type {unknown} */ part) => set({ ...values, [name]: part })} /></div>`
}

/** A list of entries, each of one of some kinds. @param {Editing} props */
const Items = ({ field: { variants = [], name }, value, set, suggest }) => {
  const entries = Array.isArray(value) ? value : []
  /** @param {number} at @param {unknown} entry */
  const put = (at, entry) => set(entries.map((each, index) => (index === at ? entry : each)))
  return html`
    ${entries.map((entry, at) => {
      const variant = variantOf(variants, objectOf(entry))
      return html`<fieldset class="schema-entry" key=${at}><legend>${at + 1}. ${titleOf(variant)}</legend>
        <${Group} fields=${variant?.fields ?? []} value=${entry} set=${(/** @type {unknown} */ changed) => put(at, changed)} suggest=${suggest} />
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

/** Resources of the project by their names. What was chosen and is not listed stays. @param {Pick<Editing, 'field' | 'value' | 'set'>} props */
const Known = ({ field, value, set }) => {
  const { list } = field
  const { data } = useRead(list ?? '', (signal) =>
    list === undefined ? Promise.resolve({ data: [] }) : callById(sessionNow().project, list, { query: few, signal }),
  )
  /** @type {readonly import('./types.js').Row[]} */
  const rows = data?.data ?? []
  const names = new Map(rows.map((row) => [String(row.id), nameOf(row)]))
  const choices = [...new Set([...names.keys(), ...(Array.isArray(value) ? value.map(String) : [])])]
  if (choices.length === 0) return html`<p class="muted">${data === null ? '…' : 'None yet.'}</p>`
  return html`<${Boxes} field=${{ ...field, choices }} names=${names} value=${value} set=${set} />`
}

/** @param {Pick<Editing, 'field' | 'value' | 'set'> & { names?: ReadonlyMap<unknown, string> }} props */
const Boxes = ({ field: { choices = [] }, names, value, set }) => {
  const chosen = new Set(Array.isArray(value) ? value : [])
  /** @param {unknown} choice */
  const toggle = (choice) => set(choices.filter((each) => (each === choice ? !chosen.has(each) : chosen.has(each))))
  return html`<div class="schema-boxes">${choices.map(
    (choice) =>
      html`<label class="schema-flag"><input type="checkbox" checked=${chosen.has(choice)} onChange=${() => toggle(choice)} />${names?.get(choice) ?? String(choice)}</label>`,
  )}</div>`
}

/** @param {Editing} props */
const Input = ({ field, value, set, suggest }) => {
  const { name, kind, required, max, min, choices = [] } = field
  const text = textOf(value)
  const into = typed((/** @type {string} */ changed) => set(changed))
  switch (kind) {
    case 'choice':
      return html`<select value=${text} onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLSelectElement && set(choices.find((each) => String(each) === currentTarget.value) ?? '')}>
        <option value="">${field.default === undefined ? (required === true ? 'choose' : 'not set') : `${field.default} (default)`}</option>
        ${choices.map((choice) => html`<option value=${String(choice)} selected=${String(choice) === text}>${String(choice)}</option>`)}</select>`
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
      return html`<input type="text" autocomplete="off" spellcheck=${false} maxlength=${max} list=${suggest[name]} value=${text} onInput=${into} />`
  }
}

/** @param {unknown} value */
const textOf = (value) => {
  if (value instanceof JsonDraft) return value.text
  if (value === undefined || value === null) return ''
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join('\n')
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
