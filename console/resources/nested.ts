import { html } from '../html.ts'
import { nameOf as nameOfId } from '../names.ts'
import { labelOf } from './form-values.ts'
import { isEmpty, nameOf } from './row-text.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON schemas are read as the JSON that they are. */
const isSchema = (value: Fields) => 'properties' in value || 'anyOf' in value || '$ref' in value

/**
 * A nested value for people: its fields by their names, each thing of a list in a frame that is headed by its name,
 * what is switched on as a chip, and long texts as they are.
 *
 * @param props `but`: fields that are shown elsewhere
 */
export const Nested = ({ value, but = [] }: { value: Fields; but?: readonly string[] }) => {
  const said = Object.entries(value).filter(([name, each]) => !isEmpty(each) && !but.includes(name))
  const on = said.filter(([, each]) => each === true)
  return html`
    ${on.length > 0 && html`<p>${on.map(([name]) => html`<span class="chip" data-tone="work" key=${name}>${labelOf(name)}</span> `)}</p>`}
    <dl class="nested">${said
      .filter(([, each]) => each !== true)
      .map(([name, each]) => html`<dt key=${name}>${labelOf(name)}</dt><dd><${Part} value=${each} /></dd>`)}</dl>
  `
}

const Part = ({ value }: { value: unknown }) => {
  if (Array.isArray(value))
    return value.every(isFields)
      ? value.map((each, index) => html`<${Thing} key=${index} value=${each} />`)
      : html`<code>${value.map((each) => (isFields(each) ? JSON.stringify(each) : nameOfId(String(each)))).join(', ')}</code>`
  if (isFields(value)) return isSchema(value) ? html`<${Schema} value=${value} />` : html`<${Nested} value=${value} />`
  const text = value === false ? 'no' : String(value)
  return /\n/.test(text) ? html`<pre>${text}</pre>` : text
}

/** The names of a schema's properties; opened, all of it. */
const Schema = ({ value }: { value: Fields }) =>
  html`<details><summary>${isFields(value.properties) ? Object.keys(value.properties).join(', ') : 'schema'}</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`

/** One of a list, headed by its name and kind. */
const Thing = ({ value }: { value: Fields }) => {
  const name = nameOf(value)
  return html`<div class="thing box [&>p]:inline">
    <strong>${name === '' ? value.type : name}</strong> ${name !== '' && html`<span class="muted">${value.type}</span>`}${' '}
    <${Nested} value=${value} but=${['type', 'name']} />
  </div>`
}
