import type { Action } from './answers.d.ts'
import { useDecision } from './approval-form.ts'
import { html, useState } from './html.ts'
import { ActButton } from './parts/act-button.ts'
import { bodyOf } from './resources/form-values.ts'
import { Fields } from './resources/schema-form.ts'
import type { Field } from './resources/types.ts'

interface Schema {
  readonly type: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: string[]
  readonly oneOf?: { readonly const: string; readonly title: string }[]
  readonly items?: Schema
}

type Input = NonNullable<Action['input']>

/**
 * Input that a tool's server requests from a person, shown under the server's name, since the texts are the server's.
 */
export const InputPanel = (props: Props) => {
  const [filledIn, setValues] = useState<Record<string, unknown>>({})
  const { action, unread, decide, busy } = useDecision(props)
  if (!action?.input) return unread
  const { input } = action
  const fields = fieldsOf(input)
  const values = { ...Object.fromEntries(fields.map((field) => [field.name, field.default])), ...filledIn }
  const content = () => (input.mode === 'form' ? { content: bodyOf(fields, values) } : {})
  const setOf = (name: string) => (value: unknown) => setValues((before) => ({ ...before, [name]: value }))
  return html`
    <form class="act box form approval border-wait" aria-label="Answer" onSubmit=${(event: Event) => event.preventDefault()}>
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

/** The fields of the form, all of which are shown at once. */
const fieldsOf = ({ schema }: Input): readonly Field[] => {
  const { properties = {}, required = [] }: { properties?: Record<string, Schema>; required?: string[] } = schema ?? {}
  return Object.entries(properties).map(([name, { type, title = name, description, items, ...own }]) => {
    const given: Partial<Schema> = (type === 'array' ? items : own) ?? {}
    const { oneOf = [], enum: choices = oneOf.map((each) => each.const) } = given
    return {
      ...{ name, title, first: true, kind: kindOf(type, choices), default: own.default, choices },
      titles: Object.fromEntries(oneOf.map((each) => [each.const, each.title])),
      ...(description !== undefined && { help: description }),
      ...(required.includes(name) && { required: true }),
    }
  })
}

const kindOf = (type: string, choices: readonly string[]): Field['kind'] => {
  if (choices.length > 0) return type === 'array' ? 'choices' : 'choice'
  if (type === 'boolean') return 'flag'
  return type === 'number' || type === 'integer' ? type : 'text'
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)
