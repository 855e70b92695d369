import { html } from '../html.js'
import { nameOf as nameOfId } from '../names.js'
import { labelOf } from './form-values.js'
import { isEmpty, nameOf } from './row-text.js'

/** @typedef {Readonly<Record<string, unknown>>} Fields */

/** @param {unknown} value @returns {value is Fields} */
const isFields = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON schemas are read as the JSON that they are. @param {Fields} value */
const isSchema = (value) => 'properties' in value || 'anyOf' in value || '$ref' in value

/**
 * A nested value for people: its fields by their names, each thing of a list in a frame that is headed by its name, what
 * is switched on as a chip, and long texts as they are.
 *
 * @param {{ value: Fields, but?: readonly string[] }} props `but`: fields that are shown elsewhere
 */
export const Nested = ({ value, but = [] }) => {
  const said = Object.entries(value).filter(([name, each]) => !isEmpty(each) && !but.includes(name))
  const on = said.filter(([, each]) => each === true)
  return html`
    ${on.length > 0 && html`<p>${on.map(([name]) => html`<span class="chip" data-tone="work" key=${name}>${labelOf(name)}</span> `)}</p>`}
    <dl class="nested">${said
      .filter(([, each]) => each !== true)
      .map(([name, each]) => html`<dt key=${name}>${labelOf(name)}</dt><dd><${Part} value=${each} /></dd>`)}</dl>
  `
}

/** @param {{ value: unknown }} props */
const Part = ({ value }) => {
  if (Array.isArray(value))
    return value.every(isFields)
      ? value.map((each, index) => html`<${Thing} key=${index} value=${each} />`)
      : html`<code>${value.map((each) => (isFields(each) ? JSON.stringify(each) : nameOfId(String(each)))).join(', ')}</code>`
  if (isFields(value)) return isSchema(value) ? html`<${Schema} value=${value} />` : html`<${Nested} value=${value} />`
  const text = value === false ? 'no' : String(value)
  return /\n/.test(text) ? html`<pre>${text}</pre>` : text
}

/** The names of a schema's properties; opened, all of it. @param {{ value: Fields }} props */
const Schema = ({ value }) =>
  html`<details><summary>${isFields(value.properties) ? Object.keys(value.properties).join(', ') : 'schema'}</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`

/** One of a list, headed by its name and kind. @param {{ value: Fields }} props */
const Thing = ({ value }) => {
  const name = nameOf(value)
  return html`<div class="thing box [&>p]:inline">
    <strong>${name === '' ? value.type : name}</strong> ${name !== '' && html`<span class="muted">${value.type}</span>`}${' '}
    <${Nested} value=${value} but=${['type', 'name']} />
  </div>`
}
