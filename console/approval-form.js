import { callApi, wordsOf } from './api.js'
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

/** Reads an action, and sends a decision about it, one at a time. @param {Acting} props @param {(action: any) => void} found called once it was read */
export const useDecision = ({ project, actor, done }, found) => {
  const params = { action_id: actor.id }
  const [action, setAction] = useState(/** @type {any} */ (null))
  const [trouble, setTrouble] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    void callApi(project, 'actions.get', { params }).then(
      (read) => {
        setAction(read)
        found(read)
      },
      (error) => setTrouble(wordsOf(error)),
    )
  }, [actor.id])
  /** @param {'approve' | 'reject'} verb @param {() => object} body may throw a SyntaxError */
  const decide = async (verb, body) => {
    if (busy) return
    setBusy(true)
    setTrouble('')
    try {
      await callApi(project, `actions.${verb}`, { params, body: body() })
      done()
    } catch (error) {
      setTrouble(wordsOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { action, trouble, busy, decide }
}

/** The form for deciding on a tool call, with editable arguments. @param {Acting} props */
export const Approval = (props) => {
  const [text, setText] = useState('')
  const [reason, setReason] = useState('')
  const [output, setOutput] = useState('')
  const found = (/** @type {Action} */ read) => setText(jsonText(read.arguments, 2))
  const { action, trouble, busy, decide } = useDecision(props, found)
  if (action === null) return trouble === '' ? null : html`<p class="trouble" role="alert">${trouble}</p>`
  const proposed = jsonText(action.arguments, 2)
  const approve = () => {
    const edited = text === proposed ? {} : { arguments: JSON.parse(text) }
    const ran = output === '' ? {} : { tool_results: [{ action_id: action.id, output }] }
    return { ...edited, ...ran, ...(reason === '' ? {} : { note: reason }) }
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
        <button type="button" aria-disabled=${busy} onClick=${() => decide('approve', approve)}>${text === proposed ? 'Approve' : 'Approve as edited'}</button>
        <button type="button" class="quiet" aria-disabled=${busy} onClick=${() => decide('reject', () => (reason === '' ? {} : { reason }))}>Reject</button>
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
