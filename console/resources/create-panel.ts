import { callById } from '../api.ts'
import { ahead } from '../format.ts'
import { html, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { hashAt } from '../route.ts'
import { bodyOf, labelOf } from './form-values.ts'
import { nameOf } from './row-text.ts'
import { SchemaForm } from './schema-form.ts'
import type { Row, Values } from './types.ts'

/** A form for a new resource. What the answer shows once, such as a secret, stays until the panel is closed. */
export const CreatePanel = (
  props: Props & {
    /** of the paths, for a resource that belongs to another */
    params: Params
    initial?: Values
    /** beneath a list that is a part of a page */
    nested?: boolean
  },
) => {
  const { place, resource, params, initial = {}, nested = false, done } = props
  const { create, one, parent } = resource
  const [made, setMade] = useState<Row | null>(null)
  if (create === null) return null
  const send = async (values: Values) => {
    const row = await callById(place.project, create.id, { params, body: bodyOf(create.fields, values) })
    const isShownOnce = onceIn(row).length > 0
    const id = String(row.id ?? '')
    // the page of memories shows those of one user
    const { user = '', userId = user } = values
    if (isShownOnce || parent !== null) setMade(row)
    else location.hash = hashAt(place, nested ? { child: id } : { new: '', open: id, after: '', user: String(userId) })
    done()
  }
  return html`<section class="panel" aria-label=${`New ${one}`}>
    ${!nested && html`<h2>New ${one} <a class="close" href=${hashAt(place, { new: '' })}>Close</a></h2>`}
    <div class="panel-part">
      ${made === null ? html`<${SchemaForm} label=${create.summary} button=${create.id.endsWith('.create') ? 'Create' : create.summary.split(' ')[0]} fields=${create.fields} initial=${initial} send=${send} />` : html`<${Made} row=${made} />`}
    </div>
  </section>`
}

/** Fields of an answer that no later answer contains. */
const shownOnce = {
  ...Object.fromEntries(
    ['secret', 'key', 'signing_secret', 'client_secret'].map((name) => [
      name,
      `${labelOf(name)}. It is shown this once: keep it where your servers read it.`,
    ]),
  ),
  authorize_url: 'Link for its owner alone: anyone who has it connects an account of theirs.',
}

export const onceIn = (row: Row) =>
  Object.entries(shownOnce).flatMap(([name, label]) =>
    typeof row[name] === 'string' ? [{ name, label, value: row[name] }] : [],
  )

export const Made = ({
  row,
}: Props) => html`${nameOf(row) !== '' && html`<p>${nameOf(row)} is ready.</p>`}${typeof row.expires_at === 'string' && html`<p class="muted">It ends ${ahead(row.expires_at)}.</p>`}
  ${onceIn(row).map(
    ({ name, label, value }) =>
      html`<label class="schema-field" key=${name}><span class="schema-name">${label}</span><input readonly ref=${focused} value=${value} onFocus=${({ currentTarget }: Event) => currentTarget instanceof HTMLInputElement && currentTarget.select()} /></label>
      <p class="decide"><${ActButton} label="Copy" act=${() => navigator.clipboard.writeText(String(value))} /></p>`,
  )}`

/** Focused and thereby selected, because it is copied next. */
const focused = (field: HTMLInputElement | null) => field?.focus()
