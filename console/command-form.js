import { html, typed, useEffect, useState } from './html.js'
import { Diff } from './parts/diff.js'
import { jsonText } from './parts/turned-text.js'
import { routeHash } from './route.js'

/** @typedef {{ text: string, id: string, href: string }} Status outcome of an action; `href` and `id`: of a new actor, else '' */

/** @param {string} project @param {unknown} answer @returns {Status} */
const statusOf = (project, answer) => {
  const id = typeof answer === 'object' && answer !== null ? String(Reflect.get(answer, 'id') ?? '') : ''
  const isNew = /^(ses|run|dlv)_/.test(id)
  return { text: 'Done.', id, href: isNew ? routeHash({ view: 'actor', project, id }) : '' }
}

/**
 * The form of one action: its input, its reason, and its button. Escape closes it.
 *
 * @param {{ project: string, command: import('./commands.js').Command, done: (said: Status) => void, close: () => void }} props
 */
export const CommandForm = ({ project, command, done, close }) => {
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
    <form class="act box form command border-edge" aria-label=${name} onKeyDown=${(/** @type {KeyboardEvent} */ { key }) => key === 'Escape' && close()} onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <p>${says}</p>
      ${field?.kind === 'number' && html`<label>${field.label}<input inputmode="numeric" value=${text} onInput=${typed(setText)} /></label>`}
      ${(field?.kind === 'json' || field?.kind === 'text') && html`<label>${field.label}<textarea rows=${field.rows} spellcheck=${false} readonly=${busy} value=${text} onInput=${typed(setText)}></textarea></label>`}
      ${(load !== undefined || field?.kind === 'text') && text !== before && html`<${Diff} before=${before} after=${text} />`}
      ${!unreasoned && html`<label>Reason, for the audit log<input value=${reason} maxlength="4096" onInput=${typed(setReason)} /></label>`}
      ${trouble !== '' && html`<p class="trouble" role="alert">${trouble}</p>`}
      <div class="act-buttons"><button type="button" aria-disabled=${busy} onClick=${act}>${name}</button>${keep !== undefined && html`<button type="button" class="quiet" onClick=${close}>${keep}</button>`}</div>
    </form>
  `
}
