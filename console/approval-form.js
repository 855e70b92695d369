import { callApi } from './api.js'
import { html } from './html.js'
import { Diff } from './parts/diff.js'
import { jsonText } from './parts/turned-text.js'
import { typed } from './parts/typed.js'
import { sessionNow } from './session.js'
import { useEffect, useState } from './vendor/hooks.js'

/**
 * @typedef {{ id: string, tool: string, risk_level: string, status: string, arguments: unknown, run_by: 'caller' | 'server', execute: { url: string, method?: string } | null, expires_at: string }} Action
 * @typedef {{ project: string, actor: { id: string }, done: () => void }} Acting
 */

/** The form for deciding on a tool call, with editable arguments. @param {Acting} props */
export const Approval = ({ project, actor, done }) => {
  const [action, setAction] = useState(/** @type {Action | null} */ (null))
  const [text, setText] = useState('')
  const [reason, setReason] = useState('')
  const [output, setOutput] = useState('')
  const [trouble, setTrouble] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    void callApi(project, 'actions.get', { params: { action_id: actor.id } }).then(
      (/** @type {Action} */ found) => {
        setAction(found)
        setText(jsonText(found.arguments, 2))
      },
      (error) => setTrouble(String(error.message)),
    )
  }, [actor.id])
  if (action === null) return trouble === '' ? null : html`<p class="trouble" role="alert">${trouble}</p>`
  const proposed = jsonText(action.arguments, 2)
  /** @param {'approve' | 'reject'} verb */
  const decide = async (verb) => {
    if (busy) return
    setBusy(true)
    setTrouble('')
    try {
      const edited = verb === 'approve' && text !== proposed ? { arguments: JSON.parse(text) } : {}
      const ran = verb === 'approve' && output !== '' ? { tool_results: [{ action_id: actor.id, output }] } : {}
      const why = reason === '' ? {} : verb === 'approve' ? { note: reason } : { reason }
      await callApi(project, `actions.${verb}`, {
        params: { action_id: actor.id },
        body: { ...edited, ...ran, ...why },
      })
      done()
    } catch (error) {
      setTrouble(
        error instanceof SyntaxError
          ? 'The arguments are not valid JSON.'
          : error instanceof Error
            ? error.message
            : '',
      )
    } finally {
      setBusy(false)
    }
  }
  if (!sessionNow().decides) return html`<${Proposed} action=${action} text=${proposed} />`
  return html`
    <form class="act approval" aria-label="Decide" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <p><strong>${action.tool}</strong> ${riskChip(action.risk_level)}</p>
      ${action.execute && html`<p class="muted"><code>${action.execute.method ?? 'POST'} ${action.execute.url}</code></p>`}
      <label>Arguments<textarea rows=${Math.min(12, text.split('\n').length + 1)} spellcheck=${false} value=${text}
        onInput=${typed(setText)}></textarea></label>
      ${text !== proposed && html`<${Diff} before=${proposed} after=${text} />`}
      ${
        action.run_by === 'caller' &&
        html`<label>Output of the tool, where you run it yourself<textarea rows="2" value=${output}
        onInput=${typed(setOutput)}></textarea></label>`
      }
      <label>Reason, for the audit log<input value=${reason} maxlength="4096"
        onInput=${typed(setReason)} /></label>
      ${trouble !== '' && html`<p class="trouble" role="alert">${trouble}</p>`}
      <div class="act-buttons">
        <button type="button" aria-disabled=${busy} onClick=${() => decide('approve')}>${text === proposed ? 'Approve' : 'Approve as edited'}</button>
        <button type="button" class="quiet" aria-disabled=${busy} onClick=${() => decide('reject')}>Reject</button>
      </div>
    </form>
  `
}

/** @param {string} risk */
export const riskChip = (risk) => html`<span class="chip" data-tone=${riskTones[risk] ?? 'calm'}>${risk} risk</span>`

/** @type {Readonly<Record<string, string>>} */
const riskTones = { medium: 'wait', high: 'bad', critical: 'bad' }

/** A tool call as shown to a member who may not decide on it. @param {{ action: Action, text: string }} props */
const Proposed = ({ action, text }) => html`
  <section class="act approval" aria-label="Waits for a decision">
    <p><strong>${action.tool}</strong> ${riskChip(action.risk_level)}</p>
    <pre class="body" tabindex="0" aria-label="Arguments">${text}</pre>
    <${OthersDecide} />
  </section>
`

/** Explains why there are no buttons. */
export const OthersDecide = () => html`<p class="muted">Only approvers, admins and owners can decide this.</p>`
