import { callApi } from '../api.ts'
import { html, typed, useEffect, useState } from '../html.ts'
import { ActButton } from '../parts/act-button.ts'
import { useRead } from '../parts/use-read.ts'
import { bodyOf, JsonDraft } from '../resources/form-values.ts'
import { requestFields } from '../resources/resources.ts'
import { Fields } from '../resources/schema-form.ts'
import { codeOf, type Item, type Opened, openedPrompt, settingsOfAgent } from './request-model.ts'
import { Messages } from './talk.ts'
import type { useLane } from './use-lane.ts'

type Named = Readonly<{ id: string; name: string }>

type Sources = Readonly<{ agents: readonly Named[]; prompts: readonly Named[]; bases: readonly Named[] }>

interface LaneProps extends Props {
  readonly lane: ReturnType<typeof useLane>
  readonly sources: Sources | null
  /** the default */
  readonly model: string
  /** what it starts from, `<agent or prompt>@<version>`; '' for nothing */
  readonly from: string
  /** the next message, for the code */
  readonly draft: readonly [text: string, files: readonly Item[]]
}

const languages = ['curl', 'TypeScript', 'Python'] as const

/** One request: its model, its settings, its conversation, and its code. */
export const Lane = ({ name, project, lane, sources, model, from, draft }: LaneProps) => {
  const { settings, setSettings, switches, setSwitches, lines } = lane
  const set = (field: string, value: unknown) => setSettings((before) => ({ ...before, [field]: value }))
  // a draft of JSON is kept as typed, and used as soon as it is valid
  const [drafts, setDrafts] = useState<Readonly<Record<string, unknown>>>({})
  const setOf = (field: string) => (value: unknown) => {
    setDrafts((before) => ({ ...before, [field]: value }))
    const fields = requestFields.filter((each) => each.name === field)
    try {
      set(field, bodyOf(fields, { [field]: value })[field])
    } catch (error) {
      if (!(value instanceof JsonDraft)) throw error
    }
  }
  useEffect(() => {
    if (settings.model === undefined && model !== '') set('model', model)
  }, [model])
  return html`<section class="panel lane min-w-0 m-0" aria-label=${name}>
    <div class="row items-end gap-x-12 gap-y-8 px-(--inset) py-10 border-b border-line">
      <strong class="self-center text-15">${name}</strong>
      <label class="grid flex-[1_1_8em] min-w-0 text-soft text-12">Model<input class="w-full" list="known-models" spellcheck=${false} value=${settings.model ?? ''} onInput=${typed((text) => set('model', text))} /></label>
      <${StartFrom} project=${project} sources=${sources} from=${from} open=${lane.open} items=${lane.items} />
    </div>
    <${Messages} project=${project} lines=${lines} hint=${false} />
    <details class="panel-part"><summary>Prompt, parameters and tools</summary>
      <div class="schema-form max-w-680"><${Fields} fields=${requestFields} values=${{ ...settings, ...drafts }} setOf=${setOf} /></div>
    </details>
    <details class="panel-part"><summary>Memory and knowledge</summary>
      <div class="schema-form max-w-680">
        <label class="schema-field"><span class="schema-name">Memory of user</span><input value=${switches.user} placeholder="none" onInput=${typed((user) => setSwitches({ ...switches, user }))} /><small class="text-soft text-12">Your own id of the user. What is known of them is read before the answer, and what is said is remembered.</small></label>
        <label class="schema-field"><span class="schema-name">Knowledge base</span><select value=${switches.base} onChange=${typed((base) => setSwitches({ ...switches, base }))}><option value="">none</option>${sources?.bases.map((base) => html`<option value=${base.id}>${base.name}</option>`)}</select></label>
      </div>
    </details>
    <${Code} body=${() => lane.bodyOf(...draft)} />
  </section>`
}

const Code = ({ body }: { body: () => object }) => {
  const [language, setLanguage] = useState<(typeof languages)[number]>('curl')
  const [open, setOpen] = useState(false)
  const code = open ? codeOf(language, body(), location.origin) : ''
  return html`<details class="panel-part" onToggle=${({ currentTarget }: Event) => setOpen(currentTarget instanceof HTMLDetailsElement && currentTarget.open)}><summary>Code</summary>
    <div class="decide" role="group" aria-label="Language">${languages.map((each) => html`<button type="button" class="quiet" aria-pressed=${each === language} onClick=${() => setLanguage(each)}>${each}</button>`)}<${ActButton} label="Copy" act=${() => navigator.clipboard.writeText(code)} /></div>
    <pre class="body" tabindex="0" aria-label=${`Code in ${language}`}>${code}</pre>
  </details>`
}

/** Fills a request from an agent, a stored prompt, or a version of one. */
const StartFrom = (
  props: Props & {
    sources: Sources | null
    from: string
    items: readonly Item[]
    open: (opened: Pick<Opened, 'settings' | 'items'>) => void
  },
) => {
  const { project, sources, from, items, open } = props
  const [[source = '', version = ''], choose] = useState(from.split('@'))
  const isPrompt = source.startsWith('pmpt')
  const { data: versions } = useRead(source, async () =>
    isPrompt
      ? (await callApi(project, 'prompt_versions.list', { params: { prompt_id: source } })).data
      : (await callApi(project, 'agent_versions.list', { params: { agent_id: source }, query: { limit: 100 } })).data,
  )
  const own = useRead(isPrompt ? '' : source, () => callApi(project, 'agents.get', { params: { agent_id: source } }))
  const chosen = versions?.find((each) => each.version === version)
  const start = chosen ?? (isPrompt ? versions?.[0] : version === '' || versions !== null ? own.data : null)
  // once for what was chosen: what is read later must not undo what was typed meanwhile
  useEffect(() => {
    if (start) open('config' in start ? { settings: settingsOfAgent(start.config), items } : openedPrompt(start))
  }, [start])
  if (sources === null) return null
  const group = (title: string, rows: readonly Named[]) =>
    rows.length > 0 &&
    html`<optgroup label=${title}>${rows.map(({ id, name }) => html`<option value=${id} selected=${id === source}>${name}</option>`)}</optgroup>`
  return html`
    <label class="grid flex-[1_1_8em] min-w-0 text-soft text-12">Start from<select class="w-full" value=${source} onChange=${typed((id) => choose([id, '']))}><option value="">nothing</option>${group('Agents', sources.agents)}${group('Prompts', sources.prompts)}</select></label>
    ${versions !== null && versions.length > 0 && html`<label class="grid flex-[1_1_8em] min-w-0 text-soft text-12">Version<select class="w-full" value=${version} onChange=${typed((id) => choose([source, id]))}><option value="">${isPrompt ? 'the newest' : 'the config'}</option>${versions.map((each) => html`<option value=${each.version} selected=${each.version === version}>${each.version}</option>`)}</select></label>`}
  `
}
