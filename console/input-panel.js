import { useDecision } from './approval-form.js'
import { html, useState } from './html.js'
import { ActButton } from './parts/act-button.js'
import { bodyOf } from './resources/form-values.js'
import { Fields } from './resources/schema-form.js'

/**
 * @typedef {{ type: string, title?: string, description?: string, default?: unknown, enum?: string[], oneOf?: { const: string, title: string }[], items?: Schema }} Schema
 * @typedef {NonNullable<import('./answers.js').Action['input']>} Input
 */

/**
 * Input that a tool's server requests from a person, shown under the server's name, since the texts are the server's.
 *
 * @param {{ project: string, actor: import('./actor-facts.js').Actor, done: () => void }} props
 */
export const InputPanel = (props) => {
  const [filledIn, setValues] = useState(/** @type {Record<string, unknown>} */ ({}))
  const { action, unread, decide, busy } = useDecision(props)
  if (!action?.input) return unread
  const { input } = action
  const fields = fieldsOf(input)
  const values = { ...Object.fromEntries(fields.map((field) => [field.name, field.default])), ...filledIn }
  const content = () => (input.mode === 'form' ? { content: bodyOf(fields, values) } : {})
  const setOf = (/** @type {string} */ name) => (/** @type {unknown} */ value) =>
    setValues((before) => ({ ...before, [name]: value }))
  return html`
    <form class="act box form approval border-wait" aria-label="Answer" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <p><strong>${input.server}</strong> requests input for <strong>${action.tool}</strong> <span class="muted"><code>${input.server_url}</code></span></p>
      <blockquote>${input.message}</blockquote>
      ${input.secret_fields.length > 0 && html`<p class="trouble" role="note">${input.server} requests what looks like a secret (${input.secret_fields.join(', ')}). The protocol forbids servers to do so. Decline, unless you know why.</p>`}
      ${input.mode === 'form' && html`<${Fields} fields=${fields} values=${values} setOf=${setOf} />`}
      ${input.url !== null && html`<p>It leads to <strong>${hostOf(input.url)}</strong>: <a href=${input.url} target="_blank" rel="noopener noreferrer">${input.url}</a></p>`}
      <div class="act-buttons">
        <${ActButton} disabled=${busy} quiet=${false} label=${input.mode === 'form' ? `Send to ${input.server}` : 'Done'} act=${() => decide('approve', content)} />
        <${ActButton} disabled=${busy} label="Decline" act=${() => decide('reject', () => ({}))} />
        <${ActButton} disabled=${busy} label="Dismiss" act=${() => decide('reject', () => ({ response: 'cancel' }))} />
      </div>
    </form>
  `
}

/** The fields of the form, all of which are shown at once. @param {Input} input @returns {readonly import('./resources/types.js').Field[]} */
const fieldsOf = ({ schema }) => {
  const { properties = {}, required = [] } =
    /** @type {{ properties?: Record<string, Schema>, required?: string[] }} */ (schema ?? {})
  return Object.entries(properties).map(([name, { type, title = name, description, items, ...own }]) => {
    /** @type {Partial<Schema>} */
    const given = (type === 'array' ? items : own) ?? {}
    const { oneOf = [], enum: choices = oneOf.map((each) => each.const) } = given
    return {
      ...{ name, title, first: true, kind: kindOf(type, choices), default: own.default, choices },
      titles: Object.fromEntries(oneOf.map((each) => [each.const, each.title])),
      ...(description !== undefined && { help: description }),
      ...(required.includes(name) && { required: true }),
    }
  })
}

/** @param {string} type @param {readonly string[]} choices @returns {import('./resources/types.js').Field['kind']} */
const kindOf = (type, choices) => {
  if (choices.length > 0) return type === 'array' ? 'choices' : 'choice'
  if (type === 'boolean') return 'flag'
  return type === 'number' || type === 'integer' ? type : 'text'
}

/** @param {string} url */
const hostOf = (url) => (URL.canParse(url) ? new URL(url).host : url)
