import type { Action } from './answers.d.ts'
import { callApi } from './api.ts'
import { html, typed, useState } from './html.ts'
import { ActButton } from './parts/act-button.ts'
import { Diff } from './parts/diff.ts'
import { Trouble } from './parts/trouble.ts'
import { jsonText } from './parts/turned-text.ts'
import { useRead } from './parts/use-read.ts'
import { sessionNow } from './session.ts'

type Acting = Readonly<{ project: string; actor: { readonly id: string }; done: () => void }>

/** Reads an action, and sends one decision about it at a time. */
export const useDecision = ({ project, actor, done }: Acting) => {
  const params = { action_id: actor.id }
  const [busy, setBusy] = useState(false)
  const { data: action, error } = useRead(actor.id, () => callApi(project, 'actions.get', { params }))
  /** @param body may throw a SyntaxError */
  const decide = async (verb: 'approve' | 'reject', body: () => object) => {
    const sent = body()
    setBusy(true)
    await callApi(project, `actions.${verb}`, { params, body: sent }).finally(() => setBusy(false))
    done()
  }
  const unread = html`<${Trouble} error=${error} />`
  return { action, unread, decide, busy }
}

/** The form for deciding on a tool call, with editable arguments. */
export const Approval = (props: Acting) => {
  const [edited, setText] = useState<string | null>(null)
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
    <form class="act box form approval border-wait" aria-label="Decide" onSubmit=${(event: Event) => event.preventDefault()}>
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

export const riskChip = (risk: string = 'unknown') =>
  html`<span class="chip" data-tone=${riskTones[risk] ?? 'calm'}>${risk} risk</span>`

const riskTones: Readonly<Record<string, string>> = { medium: 'wait', high: 'bad', critical: 'bad' }

/** A tool call as shown to a member who may not decide on it. */
const Proposed = ({ action, text }: { action: Action; text: string }) => html`
  <section class="act box form approval border-wait" aria-label="Waits for a decision">
    <p><strong>${action.tool}</strong> ${riskChip(action.risk_level)}</p>
    <pre class="body" tabindex="0" aria-label="Arguments">${text}</pre>
    <${OthersDecide} />
  </section>
`

/** Explains why there are no buttons. */
export const OthersDecide = () => html`<p class="muted">Only approvers, admins and owners can decide this.</p>`
