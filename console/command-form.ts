import type { Command } from './commands.ts'
import { html, typed, useEffect, useState } from './html.ts'
import { Diff } from './parts/diff.ts'
import { Trouble } from './parts/trouble.ts'
import { jsonText } from './parts/turned-text.ts'
import { routeHash } from './route.ts'

/** outcome of an action; `href` and `id`: of a new actor, else '' */
export type Status = Readonly<{ text: string; id: string; href: string }>

const statusOf = (project: string, answer: unknown): Status => {
  const id = typeof answer === 'object' && answer !== null ? String(Reflect.get(answer, 'id') ?? '') : ''
  const isNew = /^(ses|run|dlv)_/.test(id)
  return { text: 'Done.', id, href: isNew ? routeHash({ view: 'actor', project, id }) : '' }
}

/** The form of one action: its input, its reason, and its button. Escape closes it. */
export const CommandForm = (props: Omit<Props, 'done'> & { command: Command; done: (said: Status) => void }) => {
  const { project, command, done, close } = props
  const { name, send, says, field, body = () => ({}), load, keep, unreasoned = false } = command
  const [before, setBefore] = useState(field?.value ?? '')
  const [text, setText] = useState(before)
  const [reason, setReason] = useState('')
  const [trouble, setTrouble] = useState('')
  // read-only until the text is loaded, which would overwrite earlier input
  const [busy, setBusy] = useState(load !== undefined)
  useEffect(() => {
    if (load === undefined) return
    void load(project).then(
      ({ input }) => {
        const shown = jsonText(input, 2)
        setBefore(shown)
        setText(shown)
        setBusy(false)
      },
      (error) => setTrouble(String(error.message)),
    )
  }, [name])
  const act = async () => {
    if (busy) return
    setBusy(true)
    setTrouble('')
    try {
      const why = reason === '' ? {} : { reason }
      const unchanged = load !== undefined && text === before
      const request = { ...(unchanged ? {} : body(text)), ...why }
      done(statusOf(project, await send(project, request)))
    } catch (error) {
      setBusy(false)
      setTrouble(error instanceof SyntaxError ? 'This is not valid JSON.' : error instanceof Error ? error.message : '')
    }
  }
  return html`
    <form class="act box form command border-edge" aria-label=${name} onKeyDown=${({ key }: KeyboardEvent) => key === 'Escape' && close()} onSubmit=${(event: Event) => event.preventDefault()}>
      <p>${says}</p>
      ${field?.kind === 'number' && html`<label>${field.label}<input inputmode="numeric" value=${text} onInput=${typed(setText)} /></label>`}
      ${(field?.kind === 'json' || field?.kind === 'text') && html`<label>${field.label}<textarea rows=${field.rows} spellcheck=${false} readonly=${busy} value=${text} onInput=${typed(setText)}></textarea></label>`}
      ${(load !== undefined || field?.kind === 'text') && text !== before && html`<${Diff} before=${before} after=${text} />`}
      ${!unreasoned && html`<label>Reason, for the audit log<input value=${reason} maxlength="4096" onInput=${typed(setReason)} /></label>`}
      <${Trouble} error=${trouble} />
      <div class="act-buttons"><button type="button" aria-disabled=${busy} onClick=${act}>${name}</button>${keep !== undefined && html`<button type="button" class="quiet" onClick=${close}>${keep}</button>`}</div>
    </form>
  `
}
