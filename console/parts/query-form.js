import { html } from '../html.js'
import { hashAt } from '../route.js'

/**
 * @typedef {{ view: import('../route.js').PlainView, project: string, query: Query }} Place the current view; all of it is in the URL
 * @typedef {{ name: string, label: string, type?: string, choices?: readonly (readonly [value: string, text: string])[], wide?: boolean }} QueryField
 */

/**
 * A form for the URL's query. A choice applies at once; typed text applies with Enter or the button.
 *
 * @param {object} props
 * @param {Place} props.place
 * @param {string} props.label
 * @param {string} props.button
 * @param {readonly QueryField[]} props.fields
 * @param {readonly string[]} [props.fresh] parameters that are removed when the form changes
 * @param {(changes: Query) => string} [props.to] the hash with changed parameters
 * @param {import('../vendor/preact.js').ComponentChildren} [props.children] what follows the button
 */
export const QueryForm = ({
  place,
  label,
  button,
  fields,
  fresh = [],
  children,
  to = (changes) => hashAt(place, changes),
}) => {
  /** @param {Event} event */
  const apply = (event) => {
    event.preventDefault()
    const { currentTarget: form } = event
    if (!(form instanceof HTMLFormElement)) return
    const values = new FormData(form)
    const chosen = fields.map(({ name }) => [name, String(values.get(name) ?? '').trim()])
    location.hash = to(Object.fromEntries([...fresh.map((name) => [name, '']), ...chosen]))
  }
  return html`
    <form class="filters" aria-label=${label} onSubmit=${apply} key=${JSON.stringify(place.query)}>
      ${fields.map(
        (field) =>
          html`<label class=${field.wide ? 'wide' : ''}>${field.label}<${Field} field=${field} value=${place.query[field.name] ?? ''} /></label>`,
      )}
      ${fields.some(({ choices }) => choices === undefined) && html`<button type="submit" class="quiet">${button}</button>`}${children}
    </form>
  `
}

/** @param {{ field: QueryField, value: string }} props */
const Field = ({ field: { name, type = 'text', choices }, value }) => {
  /** @param {Event} event */
  const submit = ({ currentTarget }) => {
    if (currentTarget instanceof HTMLSelectElement) currentTarget.form?.requestSubmit()
  }
  if (choices === undefined)
    return html`<input name=${name} type=${type} defaultValue=${value} autocomplete="off" spellcheck=${false} />`
  return html`<select name=${name} onChange=${submit}>${choices.map(
    ([choice, text]) => html`<option value=${choice} selected=${choice === value}>${text}</option>`,
  )}</select>`
}
