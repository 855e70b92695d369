import { useDecision } from './approval-form.js'
import { html } from './html.js'
import { useState } from './vendor/hooks.js'

/**
 * @typedef {{ type: string, title?: string, description?: string, default?: unknown, enum?: string[], oneOf?: { const: string, title: string }[], items?: Field, format?: string }} Field
 * @typedef {{ server: string, server_url: string, mode: 'form' | 'url', message: string, schema: { properties: Record<string, Field>, required: string[] } | null, url: string | null, secret_fields: string[] }} Input
 * @typedef {{ id: string, tool: string, input: Input | null }} Action
 */

/**
 * Input that a tool's server requests from a person, shown under the server's name, since the texts are the server's.
 *
 * @param {{ project: string, actor: import('./actor-facts.js').Actor, done: () => void }} props
 */
export const InputPanel = (props) => {
  const [values, setValues] = useState(/** @type {Record<string, unknown>} */ ({}))
  const found = (/** @type {Action} */ read) => setValues(defaultsOf(read.input))
  const { action, trouble, busy, decide } = useDecision(props, found)
  if (!action?.input) return trouble === '' ? null : html`<p class="trouble" role="alert">${trouble}</p>`
  /** @type {Input} */
  const input = action.input
  const content = input.mode === 'form' ? { content: values } : {}
  return html`
    <form class="act approval" aria-label="Answer" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <p><strong>${input.server}</strong> requests input for <strong>${action.tool}</strong> <span class="muted"><code>${input.server_url}</code></span></p>
      <blockquote class="asked">${input.message}</blockquote>
      ${input.secret_fields.length > 0 && html`<p class="trouble" role="note">${input.server} requests what looks like a secret (${input.secret_fields.join(', ')}). The protocol forbids servers to do so. Decline, unless you know why.</p>`}
      ${input.mode === 'form' && fieldsOf(input).map(([name, field]) => html`<${FieldInput} key=${name} name=${name} field=${field} value=${values[name]} change=${(/** @type {unknown} */ value) => setValues({ ...values, [name]: value })} />`)}
      ${input.url !== null && html`<p>It leads to <strong>${hostOf(input.url)}</strong>: <a href=${input.url} target="_blank" rel="noopener noreferrer">${input.url}</a></p>`}
      ${trouble !== '' && html`<p class="trouble" role="alert">${trouble}</p>`}
      <div class="act-buttons">
        <button type="button" aria-disabled=${busy} onClick=${() => decide('approve', () => content)}>${input.mode === 'form' ? `Send to ${input.server}` : 'Done'}</button>
        <button type="button" class="quiet" aria-disabled=${busy} onClick=${() => decide('reject', () => ({}))}>Decline</button>
        <button type="button" class="quiet" aria-disabled=${busy} onClick=${() => decide('reject', () => ({ response: 'cancel' }))}>Dismiss</button>
      </div>
    </form>
  `
}

/** @param {{ name: string, field: Field, value: unknown, change: (value: unknown) => void }} props */
const FieldInput = ({ name, field, value, change }) => {
  const label = field.title ?? name
  const choices = choicesOf(field.type === 'array' ? field.items : field)
  const about = field.description && html`<span class="muted">${field.description}</span>`
  if (field.type === 'boolean')
    return html`<label class="tick"><input type="checkbox" checked=${value === true} onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && change(currentTarget.checked)} /> ${label} ${about}</label>`
  if (choices !== null)
    return html`<label>${label} ${about}<select multiple=${field.type === 'array'} onChange=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLSelectElement && change(chosen(currentTarget, field.type === 'array'))}>
      ${field.type !== 'array' && html`<option value="" selected=${value === undefined}></option>`}
      ${choices.map(([key, title]) => html`<option value=${key} selected=${value === key}>${title}</option>`)}
    </select></label>`
  const isNumber = field.type === 'number' || field.type === 'integer'
  return html`<label>${label} ${about}<input type=${isNumber ? 'number' : 'text'} step="any" value=${value ?? ''}
    onInput=${(/** @type {Event} */ { currentTarget }) => currentTarget instanceof HTMLInputElement && change(typed(currentTarget.value, isNumber))} /></label>`
}

/** Parses a field; empty fields are not sent. @param {string} text @param {boolean} isNumber */
const typed = (text, isNumber) => {
  if (text === '') return undefined
  return isNumber ? Number(text) : text
}

/** @param {HTMLSelectElement} select @param {boolean} many */
const chosen = (select, many) => {
  const values = [...select.selectedOptions].map(({ value }) => value)
  return many ? values : values[0] || undefined
}

/** @param {Field | undefined} field @returns {[string, string][] | null} */
const choicesOf = (field) => {
  if (field?.oneOf) return field.oneOf.map(({ const: value, title }) => [value, title])
  return field?.enum ? field.enum.map((value) => [value, value]) : null
}

/** @param {Input} input @returns {[string, Field][]} */
const fieldsOf = ({ schema }) => Object.entries(schema?.properties ?? {})

/** @param {Input | null} input */
const defaultsOf = (input) =>
  input === null
    ? {}
    : Object.fromEntries(
        fieldsOf(input)
          .filter(([, field]) => field.default !== undefined)
          .map(([name, field]) => [name, field.default]),
      )

/** @param {string} url */
const hostOf = (url) => (URL.canParse(url) ? new URL(url).host : url)
