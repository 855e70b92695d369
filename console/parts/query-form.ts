import { html } from '../html.ts'
import { hashAt } from '../route.ts'

export interface QueryField {
  readonly name: string
  readonly label: string
  readonly type?: string
  readonly choices?: readonly (readonly [value: string, text: string])[]
  readonly wide?: boolean
}

/** A form for the URL's query. A choice applies at once; typed text applies with Enter or the button. */
export const QueryForm = (
  props: Props & {
    button: string
    fields: readonly QueryField[]
    /** parameters that are removed when the form changes */
    fresh?: readonly string[]
    /** the hash with changed parameters */
    to?: (changes: Query) => string
  },
) => {
  const { place, label, button, fields, fresh = [], children, to = (changes) => hashAt(place, changes) } = props
  const apply = (event: Event) => {
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

const Field = ({ field: { name, type = 'text', choices }, value }: { field: QueryField; value: string }) => {
  const submit = ({ currentTarget }: Event) => {
    if (currentTarget instanceof HTMLSelectElement) currentTarget.form?.requestSubmit()
  }
  if (choices === undefined)
    return html`<input name=${name} type=${type} defaultValue=${value} autocomplete="off" spellcheck=${false} />`
  return html`<select name=${name} onChange=${submit}>${choices.map(
    ([choice, text]) => html`<option value=${choice} selected=${choice === value}>${text}</option>`,
  )}</select>`
}
