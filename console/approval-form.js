import { callApi, wordsOf } from './api.js'
import { html, typed, useState } from './html.js'
import { ActButton } from './parts/act-button.js'
import { Diff } from './parts/diff.js'
import { jsonText } from './parts/turned-text.js'
import { useRead } from './parts/use-read.js'
import { sessionNow } from './session.js'

/**
 * @typedef {import('./answers.js').Action} Action
 * @typedef {{ project: string, actor: { id: string }, done: () => void }} Acting
 */

/** Reads an action, and sends one decision about it at a time. @param {Acting} props */
export const useDecision = ({ project, actor, done }) => {
  const params = { action_id: actor.id }
  const [busy, setBusy] = useState(false)
  const { data: action, error } = useRead(actor.id, () => callApi(project, 'actions.get', { params }))
  /** @param {'approve' | 'reject'} verb @param {() => object} body may throw a SyntaxError */
  const decide = async (verb, body) => {
    const sent = body()
    setBusy(true)
    await callApi(project, `actions.${verb}`, { params, body: sent }).finally(() => setBusy(false))
    done()
  }
  const unread = error !== null && html`<p class="trouble" role="alert">${wordsOf(error)}</p>`
  return { action, unread, decide, busy }
}

/** The form for deciding on a tool call, with editable arguments. @param {Acting} props */
export const Approval = (props) => {
  const [edited, setText] = useState(/** @type {string | null} */ (null))
  const [reason, setReason] = useState('')
  const [output, setOutput] = useState('')
  const { action, unread, decide, busy } = useDecision(props)
  if (action === null) return unread
  const proposed = jsonText(action.arguments, 2)
  const text = edited ?? proposed
  const approve = () => {
    const changed = text === proposed ? {} : { arguments: JSON.parse(text) }
    const ran = output === '' ? {} : { tool_results: [{ action_id: action.id, output }] }
    return { ...changed, ...ran, ...(reason === '' ? {} : { note: reason }) }
  }
  if (!sessionNow().decides) return html`<${Proposed} action=${action} text=${proposed} />`
  return html`
    <form class="act box form approval border-wait" aria-label="Decide" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
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
      <div class="act-buttons">
        <${ActButton} disabled=${busy} quiet=${false} label=${text === proposed ? 'Approve' : 'Approve as edited'} act=${() => decide('approve', approve)} />
        <${ActButton} disabled=${busy} label="Reject" act=${() => decide('reject', () => (reason === '' ? {} : { reason }))} />
      </div>
    </form>
  `
}

/** @param {string} [risk] */
export const riskChip = (risk = 'unknown') =>
  html`<span class="chip" data-tone=${riskTones[risk] ?? 'calm'}>${risk} risk</span>`

/** @type {Readonly<Record<string, string>>} */
const riskTones = { medium: 'wait', high: 'bad', critical: 'bad' }

/** A tool call as shown to a member who may not decide on it. @param {{ action: Action, text: string }} props */
const Proposed = ({ action, text }) => html`
  <section class="act box form approval border-wait" aria-label="Waits for a decision">
    <p><strong>${action.tool}</strong> ${riskChip(action.risk_level)}</p>
    <pre class="body" tabindex="0" aria-label="Arguments">${text}</pre>
    <${OthersDecide} />
  </section>
`

/** Explains why there are no buttons. */
export const OthersDecide = () => html`<p class="muted">Only approvers, admins and owners can decide this.</p>`
