import { html } from '../html.js'
import { ActButton } from '../parts/act-button.js'
import { typed } from '../parts/typed.js'
import { useState } from '../vendor/hooks.js'

/** @typedef {{ models?: readonly string[], tenants?: readonly string[], operations?: readonly string[], guardrails?: readonly string[] }} Scopes */

const none = { name: '', models: '', tenants: '', operations: '', guardrails: '', expires: '' }

/** The entries of a list that is separated by commas or spaces. @param {string} text */
const entriesOf = (text) => text.split(/[\s,]+/).filter((each) => each !== '')

/**
 * The body of `project_keys.create`. A list that is left empty is no limit.
 *
 * @param {typeof none} typed
 */
export const keyBody = ({ name, expires, ...lists }) => {
  const given = Object.entries(lists).map(([field, text]) => [field, entriesOf(text)])
  const scopes = given.filter(([, entries]) => (entries ?? []).length > 0)
  return {
    name,
    ...(scopes.length > 0 && { scopes: Object.fromEntries(scopes) }),
    ...(expires !== '' && { expires_at: new Date(expires).toISOString() }),
  }
}

/** The limits of a key in one line; '' for none. @param {Scopes | null} scopes */
export const scopesText = (scopes) =>
  Object.entries(scopes ?? {})
    .map(([field, entries]) => `${field}: ${entries.join(', ')}`)
    .join(' · ')

/**
 * Form for a new secret key. Empty limits mean that the key can do everything.
 *
 * @param {{ create: (body: ReturnType<typeof keyBody>) => Promise<void> }} props
 */
export const NewKey = ({ create }) => {
  const [fields, set] = useState(none)
  /** @param {keyof typeof none} field */
  const into = (field) => typed((text) => set({ ...fields, [field]: text }))
  const submit = async () => {
    await create(keyBody(fields))
    set(none)
  }
  return html`<form class="filters" aria-label="New key" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label class="wide">New key name<input value=${fields.name} maxlength="256" onInput=${into('name')} /></label>
    <label>Only these models<input value=${fields.models} placeholder="all" onInput=${into('models')} /></label>
    <label>Only these tenants<input value=${fields.tenants} placeholder="all" onInput=${into('tenants')} /></label>
    <label>Only these operations<input value=${fields.operations} placeholder="all; read, sessions, runs:read …" onInput=${into('operations')} /></label>
    <label>Guardrails<input value=${fields.guardrails} placeholder="those of the project" onInput=${into('guardrails')} /></label>
    <label>Expires<input type="datetime-local" value=${fields.expires} onInput=${into('expires')} /></label>
    <${ActButton} main label="Create key" disabled=${fields.name.trim() === ''} act=${submit} /></form>`
}
